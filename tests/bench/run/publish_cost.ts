/** What a publishing statement adds to a transaction that inserts a row. */

import type { Sql } from 'postgres'
import { eventOf } from '../sides/_event.ts'
import { median } from './stats.ts'

export const PER_TRANSACTION = 100

/** Milliseconds for each event. */
export interface PublishCost {
  added: number
  without: number
}

/**
 * `rounds` alternating rounds of so many rows without the call and with it, after one that warms up.
 * `call` takes the event's type and its data.
 */
export async function measurePublishing(
  sql: Sql,
  { call, events, rounds }: { call: string; events: number; rounds: number },
): Promise<PublishCost> {
  await sql`create table if not exists public.bench_order (id bigint, note text)`
  const [added, without]: [number[], number[]] = [[], []]
  for (let round = 0; round <= rounds; round++) {
    const alone = await time(sql, events, undefined)
    const both = await time(sql, events, call)
    if (round === 0) continue
    without.push(alone)
    added.push(both - alone)
  }
  return { added: median(added), without: median(without) }
}

/** Milliseconds for each row. */
async function time(sql: Sql, events: number, call: string | undefined): Promise<number> {
  const begun = performance.now()
  for (let at = 0; at < events; at += PER_TRANSACTION) {
    await sql.begin(async (sql) => {
      for (let n = at; n < at + PER_TRANSACTION; n++) {
        const { type, data } = eventOf(n, 10)
        await sql`insert into public.bench_order values (${n}, 'paid')`
        if (call !== undefined) await sql.unsafe(call, [type, data], { prepare: true })
      }
    })
  }
  return (performance.now() - begun) / events
}
