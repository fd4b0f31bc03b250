/**
 * Whether many workers deliver as much as one, and far from the database many times as much:
 *
 *   deno run -A tests/bench/beside.ts [--small]
 *
 * The workers are loops of run() in this process, and their sends are timers. So it measures the calls of
 * dispatch() beside each other, and not the HTTP client. The CPU time of Postgres for a delivery depends least on
 * what else the machine does.
 */

import { type RunOptions, workerOptions } from '../../functions/deliver/options.ts'
import { runMeasurements } from './engine/command.ts'
import { type Bench, withBench } from './engine/database.ts'
import type { Finding, Measurement, Size } from './engine/measurement.ts'
import { pause } from './engine/pause.ts'
import { cpuMsOf, type Relay, startRelay } from './engine/relay.ts'
import { startTimedWorker } from './engine/timed_worker.ts'

const ENDPOINTS = 20
const MAX_IN_FLIGHT = 50
const WORKERS = 8
const WARM_UP_MS = 1_500

interface Scene {
  name: string
  /** How long a receiver takes. */
  sendMs: number
  /** The delay of each direction to the database. */
  delayMs: number
  options: RunOptions
  /** What one worker delivers, to what all of them do. */
  atMost: number
}

/** In the second scene a worker has few slots, which it fills in one call: else one alone would use all of the machine. */
const scenes: Scene[] = [
  { name: 'near', sendMs: 2, delayMs: 0, options: workerOptions, atMost: 1 },
  {
    ...{ name: 'far', sendMs: 100, delayMs: 5, atMost: 0.167 },
    options: { ...workerOptions, slots: 64, slowMs: 1_000, maxDispatches: 1, enoughShare: 7 / 8 },
  },
]

/** What some workers did in a second, and what it cost. */
interface Done {
  perSecond: number
  calls: number
  each: number
  callMs: number
  cpuUs: number
  relayPercent: number
}

export const beside: Measurement = {
  name: 'beside',
  title: 'Many workers beside each other',
  minutes: 2,
  run,
}

async function run(size: Size, say: (line: string) => void): Promise<Finding> {
  const seconds = size === 'full' ? 10 : 1
  const rows: Finding['rows'] = []
  const targets: Finding['targets'] = []
  await withBench({ script: 'engine/dispatch.sql', jobs: [] }, async (bench) => {
    for (const scene of scenes) {
      const [one, all] = [
        await measure(bench, scene, 1, seconds),
        await measure(bench, scene, WORKERS, seconds),
      ]
      for (const [count, done] of [[1, one], [WORKERS, all]] as const) {
        rows.push({ series: `${scene.name}, ${count}`, values: { ...done } })
      }
      say(`${scene.name}: ${one.perSecond.toFixed(0)}/s, ${all.perSecond.toFixed(0)}/s`)
      targets.push({
        what: `${scene.name}: deliveries of one worker, to those of ${WORKERS}`,
        ...{ value: one.perSecond / all.perSecond, unit: '×', atMost: scene.atMost },
      })
    }
  })
  return {
    note: `${seconds} s at saturation, ${ENDPOINTS} endpoints with ${MAX_IN_FLIGHT} requests in ` +
      'flight each; near: receivers of 2 ms; far: receivers of 100 ms, 5 ms to the database in ' +
      'each direction, 64 slots and one call at a time for each worker; a call is one of outbox.dispatch(); CPU is ' +
      'that of Postgres for a delivery, and that of the relay, of one core',
    columns: [
      { key: 'perSecond', label: 'deliveries/s', digits: 0 },
      { key: 'calls', label: 'calls/s', digits: 0 },
      { key: 'each', label: 'deliveries a call', digits: 0 },
      { key: 'callMs', label: 'ms a call', digits: 1 },
      { key: 'cpuUs', label: 'Postgres µs', digits: 0 },
      { key: 'relayPercent', label: 'relay %', digits: 1 },
    ],
    rows,
    targets,
  }
}

async function load({ sql }: Bench, seconds: number): Promise<void> {
  await sql`
    truncate outbox.event, outbox.unrouted, outbox.endpoint, outbox.endpoint_secret, outbox.gate, outbox.lane,
      outbox.delivery, outbox.attempt, outbox.run, outbox.run_batch`
  // More than any machine delivers in this time.
  const each = Math.ceil(15_000 * (seconds + WARM_UP_MS / 1000) / ENDPOINTS)
  await sql`call bench.load(${ENDPOINTS}, ${each}, 0, false)`
  await sql`update outbox.endpoint set max_in_flight = ${MAX_IN_FLIGHT}, quantum = 100 where true`
  for (const table of ['event', 'endpoint', 'gate', 'lane', 'delivery']) {
    await sql.unsafe(`vacuum analyze outbox.${table}`)
  }
  await sql`checkpoint`
}

async function measure(
  bench: Bench,
  scene: Scene,
  count: number,
  seconds: number,
): Promise<Done> {
  const { sql } = bench
  await load(bench, seconds)
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

if (import.meta.main) await runMeasurements('deno run -A tests/bench/beside.ts', [beside])
