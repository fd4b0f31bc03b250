/**
 * How much memory a worker has at full load, over endpoints that all answer.
 *
 *   deno run -A tests/bench/memory.ts [--small]
 */

import postgres, { type Sql } from 'postgres'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { startStack } from '../../supabase/local/stack.ts'
import { testFolder } from '../_support/folder.ts'
import { startSink, startTaskWorker } from '../soak/_support/processes.ts'
import { runMeasurements } from './engine/command.ts'
import type { Finding, Measurement, Size } from './engine/measurement.ts'
import { pause } from './engine/pause.ts'

const AT_MOST_MB = 200
const ENDPOINTS = 10
/** So many are published ahead of the worker. */
const AHEAD = 20_000
const BATCH = 500
const DRAIN_MS = 120_000

export const memory: Measurement = {
  name: 'memory',
  title: "A worker's memory at full load",
  minutes: 2,
  run,
}

async function run(size: Size, say: (line: string) => void): Promise<Finding> {
  const seconds = size === 'full' ? 75 : 4
  const dataDir = testFolder()
  const stack = await startStack({ dataDir, ports: 'free', functions: [] })
  const sql = postgres(stack.dbUrl, { max: 1, onnotice: () => {} })
  const sink = await startSink()
  const worker = startTaskWorker(stack.dbUrl)
  try {
    await sql`
      select outbox.create_endpoint(${`${sink.url}/`} || n, array['memory.e' || n],
        p_max_in_flight => 1000, p_quantum => 100)
      from generate_series(0, ${ENDPOINTS - 1}::int) n`
    const samples: number[] = []
    const timer = setInterval(() => samples.push(worker.rssMb()), 100)
    const begun = performance.now()
    const published = await publishFor(sql, seconds * 1000)
    const drained = await waitUntil(async () => await openOf(sql) === 0, { timeoutMs: DRAIN_MS })
      .finally(() => clearInterval(timer))
    const perSecond = published / (performance.now() - begun) * 1000
    const [row] = await sql<{ delivered: number }[]>`
      select count(*)::int as delivered from outbox.attempt
      where kind = 'attempt' and outcome = 'delivered'`
    if (!drained || row?.delivered !== published) {
      throw new Error(`${row?.delivered} of ${published} events were delivered`)
    }
    const most = Math.max(...samples)
    say(`${published} deliveries, ${perSecond.toFixed(0)}/s, ${most.toFixed(0)} MB at most`)
    return {
      note: `${published} deliveries to ${ENDPOINTS} endpoints that take 1,000 requests at once, ` +
        `published up to ${AHEAD} ahead; resident memory, looked at ten times a second`,
      columns: [
        { key: 'most', label: 'most MB', digits: 0 },
        { key: 'last', label: 'last MB', digits: 0 },
        { key: 'perSecond', label: 'deliveries/s', digits: 0 },
      ],
      rows: [{ series: 'worker', values: { most, last: samples.at(-1) ?? NaN, perSecond } }],
      targets: [{ what: 'resident memory', value: most, unit: 'MB', atMost: AT_MOST_MB }],
    }
  } finally {
    await worker.stop()
    await sink.stop()
    await sql.end()
    await stack.stop()
    await Deno.remove(dataDir, { recursive: true })
  }
}

/** Publishes ahead of the worker for so long; gives how many events. */
async function publishFor(sql: Sql, ms: number): Promise<number> {
  let published = 0
  for (const begun = performance.now(); performance.now() - begun < ms;) {
    if (await openOf(sql) >= AHEAD) {
      await pause(20)
      continue
    }
    await sql`
      select outbox.publish_many(jsonb_agg(jsonb_build_object('type', 'memory.e' || n % ${ENDPOINTS}::int,
        'payload', jsonb_build_object('data', repeat('x', 380)))))
      from generate_series(1, ${BATCH}::int) n`
    published += BATCH
  }
  return published
}

async function openOf(sql: Sql): Promise<number> {
  const [row] = await sql<{ open: number }[]>`
    select ((select coalesce(sum(depth), 0) from outbox.gate)
      + (select count(*) from outbox.unrouted))::int as open`
  return row?.open ?? NaN
}

if (import.meta.main) await runMeasurements('deno run -A tests/bench/memory.ts', [memory])
