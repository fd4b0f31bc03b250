/**
 * From commit to arrival of single events: ten a second beside a worker and beside edge runs, and one
 * event at a time when the functions are up and no run is alive, so that a kick has to start one.
 *
 *   deno run -A tests/bench/waking.ts [--small]
 */

import postgres, { type Sql } from 'postgres'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { startStack } from '../../supabase/local/stack.ts'
import { testFolder } from '../_support/folder.ts'
import { startTaskWorker } from '../soak/_support/processes.ts'
import { runMeasurements } from './engine/command.ts'
import type { Finding, Measurement, Size } from './engine/measurement.ts'
import { pause } from './engine/pause.ts'
import { percentile } from './run/stats.ts'

const RATE = 10
const ALIVE_MS = 30
const WAKING_MS = 250
/** An edge run ends 5 s after its last delivery, at the latest after its 25 s. */
const END_MS = 60_000
const ARRIVAL_MS = 30_000

export const waking: Measurement = {
  name: 'waking',
  title: 'From commit to arrival at 10 events a second, and with no run alive',
  minutes: 3,
  run,
}

/** What arrived when, by the number of the event. */
interface Receiver extends AsyncDisposable {
  origin: string
  arrived: Map<number, number>
}

function startReceiver(): Receiver {
  const arrived = new Map<number, number>()
  const server = Deno.serve(
    { hostname: '127.0.0.1', port: 0, onListen: () => {} },
    async (request) => {
      const at = performance.now()
      const { data } = await request.json()
      if (!arrived.has(data.n)) arrived.set(data.n, at)
      return new Response('ok')
    },
  )
  return {
    origin: `http://127.0.0.1:${server.addr.port}`,
    arrived,
    [Symbol.asyncDispose]: () => server.shutdown(),
  }
}

async function run(size: Size, say: (line: string) => void): Promise<Finding> {
  const [seconds, times] = size === 'full' ? [30, 15] : [3, 2]
  const dataDir = testFolder()
  const stack = await startStack({ dataDir, ports: 'free' })
  const sql = postgres(stack.dbUrl, { max: 1, onnotice: () => {} })
  await using receiver = startReceiver()
  let next = 0

  /** Publishes one event; gives its number and when its commit returned. */
  async function publish(): Promise<[number, number]> {
    const n = next++
    await sql`select outbox.publish('waking.done', ${JSON.stringify({ n })}::text::jsonb)`
    return [n, performance.now()]
  }

  async function waits(events: [number, number][]): Promise<number[]> {
    const have = (): boolean => events.every(([n]) => receiver.arrived.has(n))
    if (!await waitUntil(have, { timeoutMs: ARRIVAL_MS, everyMs: 5 })) {
      throw new Error(`not all of ${events.length} events arrived within ${ARRIVAL_MS / 1000} s`)
    }
    return events.map(([n, at]) => Math.max(0, (receiver.arrived.get(n) ?? NaN) - at))
  }

  async function steadily(): Promise<number[]> {
    await waits([await publish()])
    const events: [number, number][] = []
    const begun = performance.now()
    for (let n = 0; n < RATE * seconds; n++) {
      await pause(Math.max(0, begun + n * 1000 / RATE - performance.now()))
      events.push(await publish())
    }
    return await waits(events)
  }

  async function oneAtATime(): Promise<number[]> {
    const all: number[] = []
    for (let n = 0; n < times; n++) {
      await untilNoRun(sql)
      // Not always at the same moment of the tick's second.
      await pause(Math.random() * 1000)
      all.push(...await waits([await publish()]))
    }
    return all
  }

  try {
    await sql`select outbox.create_endpoint(${`${receiver.origin}/`}, '{waking.*}')`
    await stack.functions.targets.get('deliver')?.origin(ARRIVAL_MS)
    const worker = startTaskWorker(stack.dbUrl)
    const beside: number[] = await steadily().finally(() => worker.stop())
    say(`beside a worker: p50 ${percentile(beside, 50).toFixed(1)} ms`)
    await untilNoRun(sql)
    const edge = await steadily()
    say(`beside edge runs: p50 ${percentile(edge, 50).toFixed(1)} ms`)
    const alone = await oneAtATime()
    say(`no run alive: p50 ${percentile(alone, 50).toFixed(1)} ms`)
    return describe({ beside, edge, alone }, seconds, times)
  } finally {
    await sql.end()
    await stack.stop()
    await Deno.remove(dataDir, { recursive: true })
  }
}

async function untilNoRun(sql: Sql): Promise<void> {
  const none = async (): Promise<boolean> => {
    const [row] = await sql<{ alive: number }[]>`
      select count(*)::int as alive from outbox.run where ended_at is null`
    return row?.alive === 0
  }
  if (await waitUntil(none, { timeoutMs: END_MS, everyMs: 100 })) return
  throw new Error(`a run is still alive after ${END_MS / 1000} s without work`)
}

function describe(
  { beside, edge, alone }: Record<'beside' | 'edge' | 'alone', number[]>,
  seconds: number,
  times: number,
): Finding {
  const cases: [string, number[], number][] = [
    ['10/s, a worker alive', beside, ALIVE_MS],
    ['10/s, edge runs', edge, ALIVE_MS],
    ['no run alive', alone, WAKING_MS],
  ]
  return {
    note:
      `${seconds} s at ${RATE} events a second, each in a transaction of its own; then ${times} ` +
      "times one event after every run had ended; arrival less the return of the publisher's commit",
    columns: [50, 95, 100].map((percent) => ({
      key: `p${percent}`,
      label: percent === 100 ? 'most ms' : `p${percent} ms`,
      digits: 1,
    })),
    rows: cases.map(([series, times]) => ({
      series,
      values: Object.fromEntries(
        [50, 95, 100].map((percent) => [`p${percent}`, percentile(times, percent)]),
      ),
    })),
    targets: cases.map(([name, times, atMost]) => ({
      ...{ what: `p50 from commit to arrival, ${name}`, unit: 'ms', atMost },
      value: percentile(times, 50),
    })),
  }
}

if (import.meta.main) await runMeasurements('deno run -A tests/bench/waking.ts', [waking])
