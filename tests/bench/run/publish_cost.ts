/** What a publishing statement adds to a transaction that inserts a row. */

import type { Sql } from 'postgres'
import { eventOf } from '../sides/_event.ts'
import { median } from './stats.ts'

export const PER_TRANSACTION = 100
/** Of the three ways in a round, so many publish. */
export const PUBLISHING_WAYS = 2

/** Milliseconds for each event. */
export interface PublishCost {
  /** Published by a statement after the row's own. */
  added: number
  /** Published by the statement that inserts the row. */
  addedInOne: number
  without: number
}

type Way = 'none' | 'statement' | 'inOne'

/**
 * `rounds` alternating rounds of so many rows without the call and with it in both ways, after one
 * that warms up. `call` takes the event's type and its data, and `{from}` stands where it may read
 * from a table that has one row.
 */
export async function measurePublishing(
  sql: Sql,
  { call, events, rounds }: { call: string; events: number; rounds: number },
): Promise<PublishCost> {
  await sql`create table if not exists public.bench_order (id bigint, note text)`
  const [added, addedInOne, without]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round <= rounds; round++) {
    const alone = await time(sql, events, call, 'none')
    const both = await time(sql, events, call, 'statement')
    const inOne = await time(sql, events, call, 'inOne')
    if (round === 0) continue
    without.push(alone)
    added.push(both - alone)
    addedInOne.push(inOne - alone)
  }
  return { added: median(added), addedInOne: median(addedInOne), without: median(without) }
}

/** Milliseconds for each row. */
async function time(sql: Sql, events: number, call: string, way: Way): Promise<number> {
  const row = "insert into public.bench_order values ($1, 'paid')"
  const after = call.replace('{from}', '')
  const inOne = `with bench as (${row.replace('$1', '$3')} returning id) ${
    call.replace('{from}', 'from bench')
  }`
  const begun = performance.now()
  for (let at = 0; at < events; at += PER_TRANSACTION) {
    await sql.begin(async (sql) => {
      for (let n = at; n < at + PER_TRANSACTION; n++) {
        const { type, data } = eventOf(n, 10)
        if (way === 'inOne') await sql.unsafe(inOne, [type, data, n], { prepare: true })
        else await sql.unsafe(row, [n], { prepare: true })
        if (way === 'statement') await sql.unsafe(after, [type, data], { prepare: true })
      }
    })
  }
  return (performance.now() - begun) / events
}
