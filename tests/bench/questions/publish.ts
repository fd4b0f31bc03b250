/** What does publishing add to the caller's transaction? Rows alone, and rows with a call each. */

import postgres, { type Sql } from 'postgres'
import { type Bench, storeOf } from '../run/bench.ts'
import { attempt } from '../run/enter.ts'
import { median } from '../run/stats.ts'
import { eventOf } from '../sides/_event.ts'
import { pickSides, type SideSpec } from '../sides/catalog.ts'
import type { Answer, Plan, Question, Row } from './_question.ts'

const PER_TRANSACTION = 100

/** How one event is published, by the way that the side's own documents show for SQL. */
const calls: Partial<Record<SideSpec['source'], string>> = {
  outhook: 'select outbox.publish($1, $2::text::jsonb)',
  graphile: 'select from graphile_worker.add_job($1, $2::text::json)',
  naive: 'insert into public.job (payload) select $2::text::json where $1::text is not null',
}

export const publish: Question = {
  name: 'publish',
  title: 'What publishing adds to a transaction',
  run: answer,
}

async function answer(bench: Bench, plan: Plan): Promise<Answer> {
  const events = plan.events ?? (plan.quick ? 2_000 : 10_000)
  const rounds = plan.rounds ?? (plan.quick ? 2 : 5)
  const problems: string[] = []
  const rows: Row[] = []
  for (const spec of pickSides(plan.sides, ['outhook direct', 'graphile deno', 'naive deno'])) {
    const values = await attempt(bench, problems, () => measure(bench, spec, events, rounds))
    if (values === undefined) continue
    rows.push({ series: spec.name.split(' ')[0] ?? spec.name, values })
    bench.log(`${spec.name.padEnd(20)} ${values.added.toFixed(3)} ms added for each event`)
  }
  return {
    note:
      `${events} rows in transactions of ${PER_TRANSACTION}, each row inserted and then published ` +
      `by a statement of its own, against the same transactions without; median of ${rounds} ` +
      'alternating rounds, nothing delivered meanwhile',
    columns: [
      { key: 'added', label: 'ms added for each', digits: 3 },
      { key: 'without', label: 'ms without', digits: 3 },
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
): Promise<{ added: number; without: number }> {
  await bench.prepare(spec, 10)
  // The worker makes its peer's tables, and then rests.
  const worker = await bench.start(spec, 'worker', 10)
  await bench.turn(spec)
  const url = new URL(bench.server.stack.adminDbUrl)
  if (spec.source !== 'outhook') url.pathname = `/${storeOf(spec)}`
  const sql = postgres(url.href, { max: 1, onnotice: () => {} })
  try {
    await sql`create table if not exists public.bench_order (id bigint, note text)`
    const [added, without]: [number[], number[]] = [[], []]
    // Round 0 warms up.
    for (let round = 0; round <= rounds; round++) {
      const alone = await time(sql, events, undefined)
      const both = await time(sql, events, calls[spec.source])
      if (round === 0) continue
      without.push(alone)
      added.push(both - alone)
    }
    return { added: median(added), without: median(without) }
  } finally {
    await sql.end()
    await worker.end()
  }
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
