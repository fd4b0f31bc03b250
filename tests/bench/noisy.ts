/**
 * A noisy neighbour: one organisation does its worst with everything that it may write, at its limits,
 * while another publishes 20 events a second. The time from commit to arrival of the quiet one, without
 * the noise and with it, in one run; the ratio of both p99 has a target.
 *
 *   deno run -A tests/bench/noisy.ts [--small]
 */

import postgres, { type Sql } from 'postgres'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { startStack } from '../../supabase/local/stack.ts'
import { testFolder } from '../_support/folder.ts'
import { startTaskWorker } from '../soak/_support/processes.ts'
import { runMeasurements } from './engine/command.ts'
import type { Finding, Measurement, Size } from './engine/measurement.ts'
import { pause } from './engine/pause.ts'
import type { NoiseOptions } from './noisy/options.ts'
import { percentile } from './run/stats.ts'

const RATE = 20
const RATIO = 1.5
/** An event that has not arrived by then counts with this time. */
const ARRIVAL_MS = 120_000
const WARM_UP_MS = 5_000

export const noisy: Measurement = {
  name: 'noisy',
  title: 'From commit to arrival beside an organisation that does its worst',
  minutes: 5,
  run,
}

type Plan = {
  /** Of each of both measurements. */
  seconds: number
  /** The endpoints of the noisy organisation, by default as many as its limit allows. */
  endpoints: number
}

const plans: Record<Size, Plan> = {
  full: { seconds: 60, endpoints: 1000 },
  small: { seconds: 10, endpoints: 50 },
}

async function run(size: Size, say: (line: string) => void): Promise<Finding> {
  const plan = plans[size]
  const dataDir = testFolder()
  const stack = await startStack({ dataDir, ports: 'free' })
  const sql = postgres(stack.dbUrl, { max: 1, onnotice: () => {} })
  await using receiver = startReceiver()
  const filters = [0, 1, 2, 3].map(heavyFilter)
  const noise = await startNoise({
    api: `${stack.apiUrl}/functions/v1/api/v1`,
    headers: { apikey: stack.keys.secretKey, 'x-org-id': 'noisy' },
    filters,
  })
  const worker = startTaskWorker(stack.dbUrl)
  try {
    await sql`select outbox.create_endpoint(${receiver.origin}, '{quiet.*}', 'quiet')`
    await addNoisyEndpoints(sql, noise.origin, plan.endpoints, filters)
    await stack.functions.targets.get('api')?.origin(ARRIVAL_MS)
    await publishQuietly(sql, receiver, 1)
    const without = await publishQuietly(sql, receiver, plan.seconds)
    say(`without the noise: p99 ${percentile(without, 99).toFixed(1)} ms`)
    await noise.start()
    await pause(WARM_UP_MS)
    const beside = await publishQuietly(sql, receiver, plan.seconds)
    const answers = await noise.stop()
    say(`with the noise: p99 ${percentile(beside, 99).toFixed(1)} ms`)
    const ratio = percentile(beside, 99) / percentile(without, 99)
    say(`ratio of both p99: ${ratio.toFixed(2)} (at most ${RATIO})`)
    for (const [answer, times] of Object.entries(answers).sort()) say(`${answer}: ${times} times`)
    say(`left of the noise: ${await describeBacklog(sql)}`)
    const late = beside.filter((ms) => ms >= ARRIVAL_MS).length
    if (late > 0) say(`${late} events had not arrived after ${ARRIVAL_MS / 1000} s`)
    return describe({ without, beside }, plan, failures(answers))
  } finally {
    await noise.stop()
    await worker.stop()
    await sql.end()
    await stack.stop()
    await Deno.remove(dataDir, { recursive: true })
  }
}

/** A filter of the greatest weight that is false for every element. */
function heavyFilter(n: number): string {
  return `$.items[*] ? (@.a == "x${n}" || @.b == "x" || @.c == "x" || @.d == "x")`
}

/** A third of the endpoints does not respond in time, a third fails; half of all have filters. */
async function addNoisyEndpoints(
  sql: Sql,
  origin: string,
  count: number,
  filters: string[],
): Promise<void> {
  await sql`select outbox.set_org_setting('noisy', 'limit.endpoints', ${count}::integer::text::jsonb)`
  for (let n = 0; n < count; n++) {
    const url = `${origin}/${['ok', 'fail', 'hang'][n % 3]}/${n}`
    const types = Array.from({ length: 5 }, (_, t) => `noise.${n % 2}.${t}`)
    const [row] = await sql<{ id: string }[]>`
      select outbox.create_endpoint(${url}, ${types}, 'noisy') ->> 'id' as id`
    if (row === undefined) throw new Error('the endpoint was not created')
    if (n % 2 === 0) {
      await sql`select outbox.subscribe(${row.id}, '{noise.*}')`
      continue
    }
    for (const [at, filter] of filters.entries()) {
      const type = ['*', 'noise.*', 'noise.big', 'noise.small'][at] ?? '*'
      await sql`select outbox.subscribe(${row.id}, ${[type]}, ${filter})`
    }
  }
}

/** What arrived when, by the number of the event. */
interface Receiver extends AsyncDisposable {
  origin: string
  arrived: Map<number, number>
  next: number
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
    next: 0,
    [Symbol.asyncDispose]: () => server.shutdown(),
  }
}

/** Publishes at the rate for so long, and returns the times from commit to arrival, in ms. */
async function publishQuietly(sql: Sql, receiver: Receiver, seconds: number): Promise<number[]> {
  const events: [number, number][] = []
  const begun = performance.now()
  for (let n = 0; n < RATE * seconds; n++) {
    await pause(Math.max(0, begun + n * 1000 / RATE - performance.now()))
    const number = receiver.next++
    const payload = JSON.stringify({ n: number })
    await sql`select outbox.publish('quiet.done', ${payload}::text::jsonb, 'quiet')`
    events.push([number, performance.now()])
  }
  const have = (): boolean => events.every(([n]) => receiver.arrived.has(n))
  await waitUntil(have, { timeoutMs: ARRIVAL_MS, everyMs: 5 })
  return events.map(([n, at]) => {
    const arrived = receiver.arrived.get(n)
    return arrived === undefined ? ARRIVAL_MS : Math.max(0, arrived - at)
  })
}

/** How many responses have the status 500. */
function failures(answers: Record<string, number>): number {
  return Object.entries(answers).filter(([answer]) => answer.endsWith(' 500'))
    .reduce((sum, [, times]) => sum + times, 0)
}

type Noise = {
  origin: string
  start(): Promise<void>
  /** Ends it; returns how often each route returned which status. Calling it twice is no error. */
  stop(): Promise<Record<string, number>>
}

async function startNoise(options: NoiseOptions): Promise<Noise> {
  const script = new URL('./noisy/noise.ts', import.meta.url).pathname
  const child = new Deno.Command(Deno.execPath(), {
    args: ['run', '-A', '--cached-only', script, JSON.stringify(options)],
    stdin: 'piped',
    stdout: 'piped',
  }).spawn()
  const input = child.stdin.getWriter()
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader()
  const port = (await lines.read()).value?.trim()
  let stopped: Promise<Record<string, number>> | null = null

  async function end(): Promise<Record<string, number>> {
    await input.close()
    let text = ''
    for (let read = await lines.read(); !read.done; read = await lines.read()) text += read.value
    await child.status
    return JSON.parse(text)
  }

  return {
    origin: `http://127.0.0.1:${port}`,
    start: () => input.write(new TextEncoder().encode('start\n')),
    stop: () => stopped ??= end(),
  }
}

async function describeBacklog(sql: Sql): Promise<string> {
  const [row] = await sql`
    select (select count(*)::integer from outbox.unrouted) as unrouted,
      (select count(*)::integer from outbox.delivery) as deliveries,
      (select count(*)::integer from outbox.event e where e.org_id = 'noisy') as events`
  return `${row?.events} events published, ${row?.unrouted} not routed, ${row?.deliveries} deliveries open`
}

function describe(
  { without, beside }: Record<'without' | 'beside', number[]>,
  { seconds, endpoints }: Plan,
  failed: number,
): Finding {
  const percents = [50, 95, 99, 100]
  const row = (series: string, times: number[]): Finding['rows'][number] => ({
    series,
    values: Object.fromEntries(
      percents.map((percent) => [`p${percent}`, percentile(times, percent)]),
    ),
  })
  return {
    note:
      `${seconds} s at ${RATE} events a second each, one worker. The noisy organisation has ${endpoints} ` +
      'endpoints, with filters of the greatest weight, of which a third fails and a third hangs. It sends ' +
      'large events, batches of 1,000, changes, schemas and replays to the API in ten loops, at its rate',
    columns: percents.map((percent) => ({
      key: `p${percent}`,
      label: percent === 100 ? 'most ms' : `p${percent} ms`,
      digits: 1,
    })),
    rows: [row('without the noise', without), row('with the noise', beside)],
    targets: [
      {
        what: 'p99 from commit to arrival with the noise, as a multiple of that without it',
        ...{ unit: '×', atMost: RATIO },
        value: percentile(beside, 99) / percentile(without, 99),
      },
      { what: 'responses of the API with 500', unit: '', atMost: 0, value: failed },
    ],
  }
}

if (import.meta.main) await runMeasurements('deno run -A tests/bench/noisy.ts', [noisy])
