/** Workers at saturation, in this process: their sends are timers. */

import type { Sql } from 'postgres'
import type { RunOptions } from '../../../functions/deliver/options.ts'
import type { Column } from '../questions/_question.ts'
import type { Bench } from './database.ts'
import { pause } from './pause.ts'
import { cpuMsOf, type Relay, startRelay } from './relay.ts'
import { startTimedWorker } from './timed_worker.ts'

export const ENDPOINTS = 20
export const MAX_IN_FLIGHT = 50
const WARM_UP_MS = 1_500

/** Where the workers are. */
export interface Place {
  name: string
  /** How long a receiver takes. */
  sendMs: number
  /** The delay of each direction to the database. */
  delayMs: number
  options: RunOptions
}

/** What is measured, with ENDPOINTS endpoints of so many organisations. */
export interface Load {
  workers: number
  seconds: number
  /** Divides ENDPOINTS. 1 unless it is given. */
  organisations?: number
  /** Called when the backlog is there, and no worker yet. */
  before?: (sql: Sql) => Promise<unknown>
}

/** What some workers did in a second, and what it cost. */
export interface Done {
  perSecond: number
  calls: number
  each: number
  callMs: number
  cpuUs: number
  relayPercent: number
}

/** The columns of a table for it, without those of the relay. */
export const columnsOfDone: Column[] = [
  { key: 'perSecond', label: 'deliveries/s', digits: 0 },
  { key: 'calls', label: 'calls/s', digits: 0 },
  { key: 'each', label: 'deliveries a call', digits: 0 },
  { key: 'callMs', label: 'ms a call', digits: 1 },
  { key: 'cpuUs', label: 'Postgres µs', digits: 0 },
]

async function load({ sql }: Bench, seconds: number, organisations: number): Promise<void> {
  await sql`
    truncate outbox.event, outbox.unrouted, outbox.endpoint, outbox.endpoint_secret, outbox.gate, outbox.lane,
      outbox.delivery, outbox.attempt, outbox.run, outbox.run_batch`
  // More than any machine delivers in this time.
  const each = Math.ceil(15_000 * (seconds + WARM_UP_MS / 1000) / ENDPOINTS)
  for (let n = 0; n < organisations; n++) {
    await sql`call bench.load(${ENDPOINTS / organisations}, ${each}, 0, false)`
  }
  await sql`update outbox.endpoint set max_in_flight = ${MAX_IN_FLIGHT}, quantum = 100 where true`
  for (const table of ['event', 'endpoint', 'gate', 'lane', 'delivery']) {
    await sql.unsafe(`vacuum analyze outbox.${table}`)
  }
  await sql`checkpoint`
}

/** What so many workers deliver in so many seconds, with a backlog of ENDPOINTS endpoints. */
export async function measure(
  bench: Bench,
  scene: Place,
  { workers: count, seconds, organisations = 1, before: prepare }: Load,
): Promise<Done> {
  const { sql } = bench
  await load(bench, seconds, organisations)
  await prepare?.(sql)
  const { host: [host], port: [port = 0], user, pass, database } = sql.options
  await using relays = new AsyncDisposableStack()
  const relay: Relay | null = scene.delayMs === 0
    ? null
    : relays.use(await startRelay(port, scene.delayMs))
  const url = `postgres://${user}:${encodeURIComponent(`${pass}`)}@${host}:${
    relay?.port ?? port
  }/${database}`
  const stop = new AbortController()
  const calls: number[] = []
  let delivered = 0
  const workers = Array.from(
    { length: count },
    () => startTimedWorker(url, { ...scene, calls, delivered: () => delivered++ }, stop.signal),
  )
  await pause(WARM_UP_MS)
  const backends = await sql<{ pid: number }[]>`
    select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`
  const cpuMs = (): number => backends.reduce((sum, { pid }) => sum + cpuMsOf(pid), 0)
  const [before, beforeMs, relayMs] = [delivered, cpuMs(), relay?.cpuMs() ?? 0]
  calls.length = 0
  const begun = performance.now()
  await pause(seconds * 1000)
  const passed = (performance.now() - begun) / 1000
  const done = delivered - before
  const made = calls.length
  if (done === 0) throw new Error(`${scene.name}: ${count} workers delivered nothing`)
  const result = {
    perSecond: done / passed,
    calls: made / passed,
    each: done / made,
    callMs: calls.reduce((sum, ms) => sum + ms, 0) / made,
    cpuUs: (cpuMs() - beforeMs) * 1000 / done,
    relayPercent: ((relay?.cpuMs() ?? 0) - relayMs) / 10 / passed,
  }
  stop.abort()
  await Promise.all(workers)
  return result
}
