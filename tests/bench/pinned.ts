/**
 * What a transaction costs that somebody leaves open, so that no dead row can be removed: the engine at
 * full load, minute by minute, before it, beside it and after it.
 *
 *   deno run -A tests/bench/pinned.ts [--small]
 *
 * Each run claims 200 of 20,000 waiting deliveries of 1,000 endpoints, reports them as delivered and
 * publishes as many again; only dispatch() is timed. The ratio is to the minutes before.
 */

import { runMeasurements } from './engine/command.ts'
import { type Bench, withBench } from './engine/database.ts'
import type { Finding, Measurement, Size } from './engine/measurement.ts'
import { median } from './run/stats.ts'

const LIMIT = 200
const ENDPOINTS = 1_000
const WAITING = 20_000
const RUNS = 2
/** As much as growth may cost. */
const AT_MOST = 1.5

/** A minute, or a shorter part of a small measurement. */
interface Part {
  part: number
  calls: number
  p50: number
  p95: number
  /** What the backend computed; null where the system does not say. */
  cpu50: number | null
  rows: number
}

interface Spell {
  name: 'before' | 'beside' | 'after'
  parts: number
}

export const pinned: Measurement = {
  name: 'pinned',
  title: 'dispatch() at full load beside a transaction that is left open for ten minutes',
  minutes: 13,
  run,
}

/** Lets the runs work for some parts of so many seconds, and returns what each part was like. */
async function work(bench: Bench, parts: number, seconds: number): Promise<Part[]> {
  await bench.sql`truncate bench.call`
  const [clock] = await bench.sql<{ begun: Date }[]>`select clock_timestamp() as begun`
  if (clock === undefined) throw new Error('the database has no clock')
  const until = new Date(clock.begun.getTime() + parts * seconds * 1000)
  const sessions = Array.from({ length: RUNS }, () => bench.open())
  await Promise.all(sessions.map((sql) => sql`call bench.work(${until}, ${LIMIT})`))
  await Promise.all(sessions.map((sql) => sql.end()))
  return await bench.sql<Part[]>`
    select least(${
    parts - 1
  }::int, floor(extract(epoch from c.at - ${clock.begun}) / ${seconds}::int))::integer as part,
      count(*)::integer as calls, sum(c.claimed) / ${seconds}::float8 as rows,
      percentile_cont(0.5) within group (order by c.ms) as p50, percentile_cont(0.95) within group (order by c.ms) as p95,
      percentile_cont(0.5) within group (order by c.cpu_ms) as cpu50
    from bench.call c group by 1 order by 1`
}

async function megabytes(bench: Bench): Promise<string> {
  const rows = await bench.sql<{ name: string; mb: number }[]>`
    select c.relname as name, pg_total_relation_size(c.oid) / 1048576.0::float8 as mb
    from pg_class c where c.oid = any ('{outbox.gate,outbox.lane,outbox.delivery,outbox.unrouted}'::regclass[]) order by 1`
  return rows.map(({ name, mb }) => `${name} ${mb.toFixed(0)}`).join(', ')
}

async function measure(
  bench: Bench,
  spells: Spell[],
  seconds: number,
  say: (line: string) => void,
): Promise<Map<string, Part[]>> {
  await bench.sql`call bench.add_endpoints(${ENDPOINTS})`
  await bench.sql`call bench.publish(${WAITING})`
  for (const table of ['gate', 'lane', 'endpoint']) {
    await bench.sql.unsafe(`vacuum analyze outbox.${table}`)
  }
  // What was published at once is routed first; that is no part of any minute.
  await work(bench, 1, Math.ceil(seconds / 3))
  const seen = new Map<string, Part[]>()
  for (const { name, parts } of spells) {
    const pin = name === 'beside' ? bench.open() : undefined
    if (pin !== undefined) {
      await pin`begin isolation level repeatable read`
      await pin`select count(*) from outbox.gate`
    }
    const found = await work(bench, parts, seconds)
    if (found.length < parts) throw new Error(`in ${parts - found.length} parts nothing was called`)
    if (found.some(({ rows }) => rows === 0)) throw new Error(`nothing was delivered ${name} it`)
    seen.set(name, found)
    say(
      `${name}: p50 ${found.map(({ p50 }) => p50.toFixed(1)).join(' ')} ms; MB: ${await megabytes(
        bench,
      )}`,
    )
    if (pin !== undefined) await pin`commit`
  }
  return seen
}

async function run(size: Size, say: (line: string) => void): Promise<Finding> {
  const seconds = size === 'full' ? 60 : 5
  const spells: Spell[] = [
    { name: 'before', parts: 1 },
    { name: 'beside', parts: size === 'full' ? 10 : 2 },
    { name: 'after', parts: 1 },
  ]
  let seen = new Map<string, Part[]>()
  await withBench(
    { script: 'engine/pinned.sql', jobs: ['outhook-tick', 'outhook-vacuum'] },
    async (bench) => {
      seen = await measure(bench, spells, seconds, say)
    },
  )
  const before = (key: 'p50' | 'p95'): number =>
    median((seen.get('before') ?? []).map((part) => part[key]))
  const ratio = (part: Part | undefined): number => (part?.p50 ?? NaN) / before('p50')
  return {
    note:
      `${RUNS} runs at full load, parts of ${seconds} s; beside it, one transaction is open that ` +
      'keeps every dead row; × is to the part before; the design has no figure for this, so the ' +
      'target is that of growth',
    columns: [
      { key: 'calls', label: 'calls', digits: 0 },
      { key: 'rows', label: 'deliveries/s', digits: 0 },
      { key: 'p50', label: 'p50 ms', digits: 1 },
      { key: 'p95', label: 'p95 ms', digits: 1 },
      { key: 'cpu50', label: 'CPU p50 ms', digits: 1 },
      { key: 'toP50', label: '× p50', digits: 2 },
      { key: 'toP95', label: '× p95', digits: 2 },
    ],
    rows: [...seen].flatMap(([name, parts]) =>
      parts.map((part) => ({
        series: name,
        at: String(part.part + 1),
        values: {
          ...{
            calls: part.calls,
            rows: part.rows,
            p50: part.p50,
            p95: part.p95,
            cpu50: part.cpu50,
          },
          toP50: ratio(part),
          toP95: part.p95 / before('p95'),
        },
      }))
    ),
    targets: [
      {
        what: 'p50 of the last part beside it, to that before',
        ...{ value: ratio(seen.get('beside')?.at(-1)), unit: '×', atMost: AT_MOST },
      },
      {
        what: 'p50 of the part after it, to that before',
        ...{ value: ratio(seen.get('after')?.at(-1)), unit: '×', atMost: AT_MOST },
      },
    ],
  }
}

if (import.meta.main) await runMeasurements('deno run -A tests/bench/pinned.ts', [pinned])
