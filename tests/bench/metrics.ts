/**
 * What a scrape costs beside a backlog: get_metrics() alone, and the function `metrics` around it.
 *
 *   deno run -A tests/bench/metrics.ts [--deliveries 5000000] [--endpoints 1000] [--calls 300]
 *
 * Tables are loaded in bulk in a database of its own; some calls of dispatch() before make counters to show. CPU is
 * that of the one backend, and of this process for the function, from /proc. An answer without series, or with
 * another count of open deliveries than there are, is a PROBLEM and the exit code 1.
 */

import { parseArgs } from 'node:util'
import type { Sql } from 'postgres'
import { createApp } from '../../functions/metrics/app.ts'
import { metricsReader } from '../../functions/metrics/database.ts'
import { print, printError } from '../../supabase/local/print.ts'
import { withBench } from './engine/database.ts'

const TARGET_MS = 50
const WARM_UP = 20
/** Calls of dispatch() before, each for so many deliveries. */
const DISPATCHES = 50
const LIMIT = 400

/** One call: what its caller waited, and what the backend and this process computed, in ms. */
interface Call {
  ms: number
  backendMs: number
  ownMs: number
}

/** User and system time of this process, in ms; the kernel counts ticks of 10 ms. */
function ownCpuMs(): number {
  const fields = Deno.readTextFileSync('/proc/self/stat').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

function quantile(numbers: number[], q: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? NaN
}

async function backendCpuMs(sql: Sql): Promise<number> {
  const [row] = await sql<{ ms: number | null }[]>`select bench.cpu_ms() as ms`
  return row?.ms ?? NaN
}

/** So many calls, one after the other, behind some that do not count. */
async function measure(sql: Sql, calls: number, call: () => Promise<void>): Promise<Call[]> {
  for (let n = 0; n < WARM_UP; n++) await call()
  const made: Call[] = []
  for (let n = 0; n < calls; n++) {
    const cpu = await backendCpuMs(sql)
    const own = ownCpuMs()
    const started = performance.now()
    await call()
    const ms = performance.now() - started
    made.push({ ms, ownMs: ownCpuMs() - own, backendMs: await backendCpuMs(sql) - cpu })
  }
  return made
}

function mean(numbers: number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0) / numbers.length
}

function line(name: string, made: Call[]): string {
  const ms = made.map((one) => one.ms)
  const p95 = quantile(ms, 0.95)
  return `${name}: p50 ${quantile(ms, 0.5).toFixed(1)}, p95 ${p95.toFixed(1)} ms ` +
    `(${p95 < TARGET_MS ? 'within' : 'OVER'} the target of ${TARGET_MS}); CPU a call ` +
    `${mean(made.map((one) => one.backendMs)).toFixed(1)} ms of Postgres, ` +
    `${mean(made.map((one) => one.ownMs)).toFixed(1)} of the caller (${made.length} calls)`
}

/** What is wrong with a scrape, given how many deliveries are open; null when nothing is. */
function problemOf(text: string, open: number): string | null {
  const samples = text.split('\n').filter((one) => one !== '' && !one.startsWith('#'))
  if (samples.length === 0) return 'the answer has no series'
  const told = samples.filter((one) => one.startsWith('outhook_deliveries_open{'))
    .reduce((sum, one) => sum + Number(one.split(' ').at(-1)), 0)
  if (told === 0 || told !== open) return `${told} deliveries are open by the answer, not ${open}`
  const attempts = samples.filter((one) => one.startsWith('outhook_attempts_total{'))
    .reduce((sum, one) => sum + Number(one.split(' ').at(-1)), 0)
  if (attempts === 0) return 'the answer counts no attempt'
  return null
}

async function openDeliveries(sql: Sql): Promise<number> {
  const [row] = await sql<{ n: number }[]>`select count(*)::integer as n from outbox.delivery`
  return row?.n ?? 0
}

type Size = Record<'deliveries' | 'endpoints' | 'calls', number>

async function bench(sql: Sql, size: Size): Promise<string | null> {
  const { deliveries, endpoints, calls } = size
  await sql`call bench.load(${endpoints}, ${Math.ceil(deliveries / endpoints)}, 0, false)`
  for (const table of ['event', 'endpoint', 'gate', 'lane', 'delivery']) {
    await sql.unsafe(`vacuum analyze outbox.${table}`)
  }
  await sql`call bench.run(${DISPATCHES}, ${LIMIT})`
  await sql`checkpoint`
  print(`loaded ${deliveries} deliveries`)

  const alone = await measure(sql, calls, async () => {
    await sql`select outbox.get_metrics()`
  })
  const token = 't'.repeat(32)
  const app = createApp({
    tokens: [token],
    readMetrics: metricsReader(async () => {
      const [row] = await sql`select outbox.get_metrics() as data`
      return { ok: true, data: row?.data }
    }),
    log: (_level, message, fields) => printError(`${message} ${JSON.stringify(fields)}`),
  })
  let text = ''
  const asked = await measure(sql, calls, async () => {
    const answer = await app.request('/metrics', { headers: { authorization: `Bearer ${token}` } })
    text = await answer.text()
    if (answer.status !== 200) throw new Error(`${answer.status} ${text}`)
  })

  const open = await openDeliveries(sql)
  print(`${open} deliveries open behind ${endpoints} endpoints, ${text.split('\n').length} lines`)
  print(line('get_metrics()', alone))
  print(line('the function metrics', asked))
  return problemOf(text, open)
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      deliveries: { type: 'string', default: '5000000' },
      endpoints: { type: 'string', default: '1000' },
      calls: { type: 'string', default: '300' },
    },
  })
  const size = {
    deliveries: Number(values.deliveries),
    endpoints: Number(values.endpoints),
    calls: Number(values.calls),
  }
  if (!Object.values(size).every((count) => Number.isInteger(count) && count > 0)) {
    throw new Error('--deliveries, --endpoints and --calls take whole numbers above 0')
  }
  let problem: string | null = 'nothing was measured'
  await withBench({ script: 'engine/dispatch.sql', jobs: [] }, async ({ sql }) => {
    problem = await bench(sql, size)
  })
  if (problem !== null) print(`PROBLEM: ${problem}`)
  return problem === null ? 0 : 1
}

Deno.exit(await main())
