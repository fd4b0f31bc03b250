/** What does publishing add to the caller's transaction? Rows alone, and rows with an event each. */

import postgres from 'postgres'
import { type Bench, storeOf } from '../run/bench.ts'
import { attempt } from '../run/enter.ts'
import {
  measurePublishing,
  PER_TRANSACTION,
  type PublishCost,
  PUBLISHING_WAYS,
} from '../run/publish_cost.ts'
import type { Stored } from '../sides/_protocol.ts'
import { pickSides, type SideSpec } from '../sides/catalog.ts'
import type { Answer, Plan, Question, Row } from './_question.ts'

/**
 * How one event is published, by the way that the side's own documents show for SQL; {from}: where
 * it can read from the statement that inserts the row.
 */
export const calls: Partial<Record<SideSpec['source'], string>> = {
  outhook: 'select outbox.publish($1, $2::text::jsonb) {from}',
  graphile: 'select graphile_worker.add_job($1, $2::text::json) {from}',
  naive: 'insert into public.job (payload) select $2::text::json {from} where $1::text is not null',
}

export const publish: Question = {
  name: 'publish',
  title: 'The cost of publishing in a transaction',
  run: answer,
}

async function answer(bench: Bench, plan: Plan): Promise<Answer> {
  const events = plan.events ?? (plan.quick ? 1_000 : 10_000)
  const rounds = plan.rounds ?? (plan.quick ? 2 : 3)
  const problems: string[] = []
  const rows: Row[] = []
  for (const spec of pickSides(plan.sides, ['outhook direct', 'graphile node', 'naive node'])) {
    const values = await attempt(bench, problems, () => measure(bench, spec, events, rounds))
    if (values === undefined) continue
    rows.push({ series: spec.name.split(' ')[0] ?? spec.name, values: { ...values } })
    bench.log(
      `${spec.name.padEnd(20)} ${values.added.toFixed(3)} ms added for each event, ` +
        `${values.addedInOne.toFixed(3)} within the row's statement`,
    )
  }
  return {
    note:
      `${events} rows in transactions of ${PER_TRANSACTION}. Each row is published by a separate ` +
      'statement after its insert, or by the statement that inserts it. The cost is the difference to ' +
      `the same transactions without publishing. Median of ${rounds} alternating rounds; nothing is ` +
      'delivered in the meantime',
    columns: [
      { key: 'added', label: 'ms added by a separate statement', digits: 3 },
      { key: 'addedInOne', label: 'ms added in the same statement', digits: 3 },
      { key: 'without', label: 'ms without publishing', digits: 3 },
    ],
    rows,
    chart: 'added',
    problems,
  }
}

async function measure(
  bench: Bench,
  spec: SideSpec,
  events: number,
  rounds: number,
): Promise<PublishCost> {
  await bench.prepare(spec, 10)
  // The worker makes its peer's tables, and then rests.
  const worker = await bench.start(spec, 'worker', 10)
  await bench.turn(spec)
  const url = new URL(bench.server.stack.adminDbUrl)
  if (spec.source !== 'outhook') url.pathname = `/${storeOf(spec)}`
  const sql = postgres(url.href, { max: 1, onnotice: () => {} })
  try {
    const call = calls[spec.source]
    if (call === undefined) throw new Error(`nothing is known of publishing to ${spec.name}`)
    // What earlier questions wrote is not to be written back during this one.
    await bench.server.sql`checkpoint`
    const cost = await measurePublishing(sql, { call, events, rounds })
    const { unfinished } = await worker.ask<Stored>({ do: 'stored' })
    const published = PUBLISHING_WAYS * events * (rounds + 1)
    if (unfinished !== published) {
      throw new Error(`${spec.name}: the store holds ${unfinished} of ${published} events`)
    }
    return cost
  } finally {
    await sql.end()
    await worker.end()
  }
}
