/**
 * What a database costs that has nothing to deliver: CPU of all of its processes, and WAL.
 *
 *   deno run -A tests/bench/idle.ts [--small]
 */

import postgres, { type Sql } from 'postgres'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { startStack } from '../../supabase/local/stack.ts'
import { testFolder } from '../_support/folder.ts'
import { startTaskWorker, type Watched } from '../soak/_support/processes.ts'
import { runMeasurements } from './engine/command.ts'
import type { Finding, Measurement, Size } from './engine/measurement.ts'
import { pause } from './engine/pause.ts'
import { cpuOfTree } from './run/proc.ts'

const ENDPOINTS = 100
/** What the start itself wrote is written by then. */
const SETTLE_MS = 10_000
/** A worker looks often for 5 s after its start, and rests after a minute. */
const REST_MS = 65_000
/** pg_cron 1.4 begins with the next minute. */
const TICK_MS = 90_000
const CPU_PERCENT = 1
const WAL_KB = 500

export const idle: Measurement = {
  name: 'idle',
  title: 'CPU and WAL of an idle database',
  minutes: 4,
  run,
}

/** The share of one core in percent, and kB of WAL a minute, over some seconds. */
interface Cost {
  cpu: number
  wal: number
}

async function run(size: Size, say: (line: string) => void): Promise<Finding> {
  const seconds = size === 'full' ? 60 : 5
  const dataDir = testFolder()
  const stack = await startStack({ dataDir, ports: 'free' })
  const sql = postgres(stack.adminDbUrl, { max: 1, onnotice: () => {} })
  let worker: Watched | undefined
  try {
    const postmaster = Number(Deno.readTextFileSync(`${dataDir}/pg/postmaster.pid`).split('\n')[0])
    await sql`
      select outbox.create_endpoint('http://127.0.0.1:8080/' || n, array['idle.e' || n])
      from generate_series(1, ${ENDPOINTS}::int) n`
    // What autovacuum does with the catalogs of a schema that has just come is no part of idleness:
    // 800 kB in the minute in which it finds them.
    await sql`vacuum (analyze)`
    await sql`checkpoint`

    const tell = (name: string, { cpu, wal }: Cost): void =>
      say(`${name}: ${cpu.toFixed(2)} % of a core, ${wal.toFixed(0)} kB of WAL a minute`)
    if (!await waitUntil(() => hasTicked(sql), { timeoutMs: TICK_MS })) {
      throw new Error(`the tick does not run within ${TICK_MS / 1000} s`)
    }
    const alone = await measure(sql, postmaster, seconds, SETTLE_MS)
    tell('no run', alone)
    worker = startTaskWorker(stack.dbUrl)
    const beside = await measure(sql, postmaster, seconds, REST_MS)
    tell('a worker', beside)
    if (!await hasTicked(sql)) throw new Error('the tick has stopped')
    const [runs] = await sql<{ alive: number }[]>`
      select count(*)::int as alive from outbox.run where ended_at is null`
    if (runs?.alive !== 1) throw new Error(`${runs?.alive} runs are alive, not 1`)
    const costs = { 'no run alive': alone, 'beside an idle worker': beside }
    return {
      note:
        `${seconds} s each, ${ENDPOINTS} endpoints, the tick and every function's process up; ` +
        'CPU of all Postgres processes together, of one core; WAL a minute',
      columns: [
        { key: 'cpu', label: 'CPU %', digits: 2 },
        { key: 'wal', label: 'WAL kB', digits: 0 },
      ],
      rows: Object.entries(costs).map(([series, cost]) => ({ series, values: { ...cost } })),
      targets: Object.entries(costs).flatMap(([name, { cpu, wal }]) => [
        { what: `CPU of Postgres, ${name}`, value: cpu, unit: '% of a core', atMost: CPU_PERCENT },
        { what: `WAL, ${name}`, value: wal, unit: 'kB a minute', atMost: WAL_KB },
      ]),
    }
  } finally {
    await worker?.stop()
    await sql.end()
    await stack.stop()
    await Deno.remove(dataDir, { recursive: true })
  }
}

/** Whether the tick runs: between two minutes pg_cron 1.4 leaves out some seconds. */
async function hasTicked(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ ago: number }[]>`
    select extract(epoch from clock_timestamp())::float8 * 1000 - last_value::float8 as ago
    from outbox.last_tick`
  return row !== undefined && row.ago < 5_000
}

/** Settles, then measures for so many seconds. */
async function measure(
  sql: Sql,
  postmaster: number,
  seconds: number,
  settleMs: number,
): Promise<Cost> {
  await pause(settleMs)
  const [cpuBefore, walBefore, begun] = [cpuOfTree(postmaster), await wal(sql), performance.now()]
  await pause(seconds * 1000)
  const took = (performance.now() - begun) / 1000
  return {
    cpu: (cpuOfTree(postmaster) - cpuBefore) / took * 100,
    wal: (await wal(sql) - walBefore) / took * 60 / 1000,
  }
}

/** Bytes of WAL written so far. */
async function wal(sql: Sql): Promise<number> {
  const [row] = await sql<{ bytes: string }[]>`
    select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::text as bytes`
  return Number(row?.bytes)
}

if (import.meta.main) await runMeasurements('deno run -A tests/bench/idle.ts', [idle])
