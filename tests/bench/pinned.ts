/**
 * What a transaction costs that somebody leaves open, so that no dead row can be removed: the engine at
 * full load, minute by minute, before it, beside it and after it.
 *
 *   deno run -A tests/bench/pinned.ts [--minutes 10] [--around 2] [--runs 2]
 *
 * Each run claims 200 of 20,000 waiting deliveries of 1,000 endpoints, reports them as delivered and
 * publishes as many again; only dispatch() is timed. The ratio is to the minutes before.
 */

import { parseArgs } from 'node:util'
import { print } from '../../supabase/local/print.ts'
import { type Bench, withBench } from './engine/database.ts'

const LIMIT = 200
const ENDPOINTS = 1_000
const WAITING = 20_000

interface Minute {
  minute: number
  calls: number
  p50: number
  p95: number
  /** What the backend computed; null where the system does not say. */
  cpu50: number | null
  rows: number
}

interface Plan {
  name: string
  minutes: number
}

/** Lets the runs work for some minutes and returns what each minute was like. */
async function work(bench: Bench, minutes: number, runs: number): Promise<Minute[]> {
  await bench.sql`truncate bench.call`
  const [clock] = await bench.sql<{ begun: Date }[]>`select clock_timestamp() as begun`
  if (clock === undefined) throw new Error('the database has no clock')
  const until = new Date(clock.begun.getTime() + minutes * 60_000)
  const sessions = Array.from({ length: runs }, () => bench.open())
  await Promise.all(sessions.map((sql) => sql`call bench.work(${until}, ${LIMIT})`))
  await Promise.all(sessions.map((sql) => sql.end()))
  return await bench.sql<Minute[]>`
    select least(${
    minutes - 1
  }, floor(extract(epoch from c.at - ${clock.begun}) / 60))::integer as minute,
      count(*)::integer as calls, sum(c.claimed) / 60.0::float8 as rows,
      percentile_cont(0.5) within group (order by c.ms) as p50, percentile_cont(0.95) within group (order by c.ms) as p95,
      percentile_cont(0.5) within group (order by c.cpu_ms) as cpu50
    from bench.call c group by 1 order by 1`
}

function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN
}

async function megabytes(bench: Bench): Promise<string> {
  const rows = await bench.sql<{ name: string; mb: number }[]>`
    select c.relname as name, pg_total_relation_size(c.oid) / 1048576.0::float8 as mb
    from pg_class c where c.oid = any ('{outbox.gate,outbox.lane,outbox.delivery,outbox.unrouted}'::regclass[]) order by 1`
  return rows.map(({ name, mb }) => `${name} ${mb.toFixed(0)}`).join(', ')
}

async function measure(bench: Bench, plans: Plan[], runs: number): Promise<void> {
  await bench.sql`call bench.add_endpoints(${ENDPOINTS})`
  await bench.sql`call bench.publish(${WAITING})`
  for (const table of ['gate', 'lane', 'endpoint']) {
    await bench.sql.unsafe(`vacuum analyze outbox.${table}`)
  }
  let first: Minute[] | undefined
  for (const { name, minutes } of plans) {
    if (minutes === 0) continue
    const pin = name === 'beside' ? bench.open() : undefined
    if (pin !== undefined) {
      await pin`begin isolation level repeatable read`
      await pin`select count(*) from outbox.gate`
    }
    const seen = await work(bench, minutes, runs)
    first ??= seen
    const p50 = median(first.map((minute) => minute.p50))
    const p95 = median(first.map((minute) => minute.p95))
    for (const minute of seen) {
      const cells = [
        `${name} ${minute.minute + 1}`.padEnd(10),
        minute.calls.toFixed(0).padStart(5),
        minute.p50.toFixed(1).padStart(6),
        minute.p95.toFixed(1).padStart(6),
        (minute.cpu50?.toFixed(1) ?? '').padStart(6),
        minute.rows.toFixed(0).padStart(6),
        (minute.p50 / p50).toFixed(2).padStart(5),
        (minute.p95 / p95).toFixed(2).padStart(5),
      ]
      print(`| ${cells.join(' | ')} |`)
    }
    print(`MB: ${await megabytes(bench)}`)
    if (pin !== undefined) await pin`commit`
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      minutes: { type: 'string', default: '10' },
      around: { type: 'string', default: '2' },
      runs: { type: 'string', default: '2' },
    },
  })
  const [minutes, around, runs] = [values.minutes, values.around, values.runs].map(Number)
  if (
    minutes === undefined || around === undefined || runs === undefined ||
    ![minutes, around, runs].every((count) => Number.isInteger(count) && count > 0)
  ) {
    throw new Error('--minutes, --around and --runs take whole numbers, such as 10, 2 and 2')
  }
  print(`${runs} runs at full load; beside: one transaction is open that keeps every dead row`)
  print('| minute     | calls |    p50 |    p95 | cpu 50 | rows/s | x p50 | x p95 |')
  await withBench(
    { script: 'engine/pinned.sql', jobs: ['outhook-tick', 'outhook-vacuum'] },
    (bench) =>
      measure(bench, [
        { name: 'before', minutes: around },
        { name: 'beside', minutes },
        { name: 'after', minutes: around },
      ], runs),
  )
}

await main()
