/**
 * A noisy neighbour: one organisation does its worst with everything that it may write, at its limits,
 * while another publishes 20 events a second. The time from commit to arrival of the quiet one: without
 * the noise, with it, and beside a control. The control is a load that has nothing to do with Outhook and
 * takes as much CPU time, in Postgres and elsewhere. So the first ratio is what a customer sees on this machine,
 * and the second one is what Outhook adds to the load. The other measurements are parts of the noise alone,
 * and a bare loop on each processor.
 *
 *   deno run -A tests/bench/noisy.ts [--small] [--only noisy-filters]
 */

import postgres, { type Sql } from 'postgres'
import { startStack } from '../../supabase/local/stack.ts'
import { testFolder } from '../_support/folder.ts'
import { startTaskWorker } from '../soak/_support/processes.ts'
import { runMeasurements } from './engine/command.ts'
import type { Finding, Measurement, Size } from './engine/measurement.ts'
import { pause } from './engine/pause.ts'
import { beyond, countCpu, type Pids, type Shares } from './noisy/cpu.ts'
import { ARRIVAL_MS, type NoiseOptions } from './noisy/options.ts'
import { type Part, parts } from './noisy/parts.ts'
import { type Child, startChild } from './run/child.ts'
import { percentile } from './run/stats.ts'

const RATE = 20
const RATIO = 1.5
const WARM_UP_MS = 5_000

const measurements: readonly Measurement[] = parts.map((part) => ({
  name: part.name,
  title: part.title,
  minutes: 7,
  run: (size, say) => run(part, size, say),
}))

type Plan = {
  /** Of each of the three measurements. */
  seconds: number
  /** The endpoints of the noisy organisation, by default as many as its limit allows. */
  endpoints: number
}

const plans: Record<Size, Plan> = {
  full: { seconds: 60, endpoints: 1000 },
  small: { seconds: 20, endpoints: 50 },
}

/** Times from commit to arrival in ms, and the CPU in use meanwhile. */
type Measured = { times: number[]; shares: Shares; calls: number }

async function run(part: Part, size: Size, say: (line: string) => void): Promise<Finding> {
  const plan = plans[size]
  const dataDir = testFolder()
  const stack = await startStack({ dataDir, ports: 'free' })
  const sql = postgres(stack.dbUrl, { max: 1, onnotice: () => {} })
  const quiet = await startPart('quiet', stack.dbUrl)
  const load = await startPart('load', stack.dbUrl)
  const filters = [0, 1, 2, 3].map(heavyFilter)
  const noise = await startNoise({
    api: `${stack.apiUrl}/functions/v1/api/v1`,
    headers: { apikey: stack.keys.secretKey, 'x-org-id': 'noisy' },
    filters,
    loops: part.loops,
  })
  const worker = startTaskWorker(stack.dbUrl)
  try {
    await sql`select outbox.create_endpoint(${String(quiet.hello['origin'])}, '{quiet.*}', 'quiet')`
    await addNoisyEndpoints(sql, noise.origin, part, plan.endpoints, filters)
    await stack.functions.targets.get('api')?.origin(ARRIVAL_MS)
    const pids = {
      postmaster: Number(Deno.readTextFileSync(`${dataDir}/pg/postmaster.pid`).split('\n')[0]),
      others: [worker.pid, noise.pid, Deno.pid, stack.functions.pid('api') ?? 0],
    }
    const measure = (seconds: number): Promise<Measured> => measureQuiet(sql, quiet, pids, seconds)
    await measure(2)
    const without = await measure(plan.seconds)
    say(describeMeasured('without the noise', without))
    await noise.start()
    await pause(WARM_UP_MS)
    const beside = await measure(plan.seconds)
    const answers = await noise.stop()
    say(describeMeasured('with the noise', beside))
    say(`ratio of both p99: ${ratio(beside, without).toFixed(2)} (at most ${RATIO})`)
    for (const [answer, times] of Object.entries(answers).sort()) say(`${answer}: ${times} times`)
    say(`left of the noise: ${await describeBacklog(sql)}`)
    await removeNoise(sql)
    const more = beyond(beside.shares, without.shares)
    const pieceMs = pieceOf(more, beside.calls / plan.seconds)
    await load.ask({ ...more, pieceMs })
    await pause(WARM_UP_MS)
    const control = await measure(plan.seconds)
    await load.ask('stop')
    say(describeMeasured('control', control))
    say(`ratio to the control: ${ratio(beside, control).toFixed(2)} (at most ${RATIO})`)
    const late = beside.times.filter((ms) => ms >= ARRIVAL_MS).length
    if (late > 0) say(`${late} events had not arrived after ${ARRIVAL_MS / 1000} s`)
    return describe(part, { without, beside, control }, { ...plan, pieceMs }, failures(answers))
  } finally {
    await noise.stop()
    await worker.stop()
    await Promise.all([quiet.end(), load.end()])
    await sql.end()
    await stack.stop()
    await Deno.remove(dataDir, { recursive: true })
  }
}

function startPart(name: 'quiet' | 'load', dbUrl: string): Promise<Child> {
  const script = new URL(`./noisy/${name}.ts`, import.meta.url).pathname
  return startChild(name, [Deno.execPath(), 'run', '-A', '--cached-only', script, dbUrl])
}

async function measureQuiet(
  sql: Sql,
  quiet: Child,
  pids: Pids,
  seconds: number,
): Promise<Measured> {
  const before = await countCalls(sql)
  const read = countCpu(pids)
  const { times } = await quiet.ask<{ times: number[] }>({ rate: RATE, seconds })
  return { times, shares: read(), calls: await countCalls(sql) - before }
}

/** How many calls of outbox.dispatch() have done something. */
async function countCalls(sql: Sql): Promise<number> {
  const [row] = await sql`select coalesce(sum(seq), 0)::integer as n from (
    select max(b.seq) as seq from outbox.run_batch b group by b.run_id) s`
  return row?.n
}

/** The CPU time of Postgres for each call: what a new event waits for. */
function pieceOf({ postgres }: Shares, callsPerSecond: number): number {
  return Math.min(100, Math.max(1, 1000 * postgres / Math.max(1, callsPerSecond)))
}

/** Removes all work of the noisy organisation. The worker still reports its results, so a statement may deadlock. */
async function removeNoise(sql: Sql): Promise<void> {
  const ofNoisy = `outbox.gate g where g.org_id = 'noisy'`
  const statements = [
    `update outbox.replay_job set status = 'cancelled' where org_id = 'noisy'`,
    `update outbox.endpoint set status = 'deleted', is_purged = true where org_id = 'noisy'`,
    `delete from outbox.subscription where org_id = 'noisy'`,
    `delete from outbox.unrouted where org_id = 'noisy'`,
    `delete from outbox.waiting_part where org_id = 'noisy'`,
    `delete from outbox.delivery d where d.endpoint_id in (select g.endpoint_id from ${ofNoisy})`,
    `delete from outbox.lane l where l.gate_id in (select g.id from ${ofNoisy})`,
    `delete from outbox.gate g where g.org_id = 'noisy'`,
    'vacuum outbox.delivery, outbox.unrouted, outbox.gate, outbox.lane',
  ]
  for (const statement of statements) {
    for (let left = 20;; left--) {
      try {
        await sql.unsafe(statement)
        break
      } catch (error) {
        if (left === 0) throw error
        await pause(100)
      }
    }
  }
}

/** A filter of the greatest weight that is false for every element. */
function heavyFilter(n: number): string {
  return `$.items[*] ? (@.a == "x${n}" || @.b == "x" || @.c == "x" || @.d == "x")`
}

async function addNoisyEndpoints(
  sql: Sql,
  origin: string,
  { responses, filtered, most }: Part,
  all: number,
  filters: string[],
): Promise<void> {
  const count = Math.min(all, most ?? all)
  if (count === 0) return
  await sql`select outbox.set_org_setting('noisy', 'limit.endpoints', ${count}::integer::text::jsonb)`
  for (let n = 0; n < count; n++) {
    const url = `${origin}/${responses[n % responses.length]}/${n}`
    const types = Array.from({ length: 5 }, (_, t) => `noise.${n % 2}.${t}`)
    const [row] = await sql<{ id: string }[]>`
      select outbox.create_endpoint(${url}, ${types}, 'noisy') ->> 'id' as id`
    if (row === undefined) throw new Error('the endpoint was not created')
    if (n % 4 >= filtered) {
      await sql`select outbox.subscribe(${row.id}, '{noise.*}')`
      continue
    }
    for (const [at, filter] of filters.entries()) {
      const type = ['*', 'noise.*', 'noise.big', 'noise.small'][at] ?? '*'
      await sql`select outbox.subscribe(${row.id}, ${[type]}, ${filter})`
    }
  }
}

/** How many responses have the status 500. */
function failures(answers: Record<string, number>): number {
  return Object.entries(answers).filter(([answer]) => answer.endsWith(' 500'))
    .reduce((sum, [, times]) => sum + times, 0)
}

type Noise = {
  origin: string
  pid: number
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
    pid: child.pid,
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

function ratio(more: Measured, less: Measured): number {
  return percentile(more.times, 99) / percentile(less.times, 99)
}

function describeMeasured(what: string, { times, shares, calls }: Measured): string {
  return `${what}: p99 ${percentile(times, 99).toFixed(1)} ms, processors in use: ` +
    `${shares.postgres.toFixed(2)} by Postgres, ${
      shares.others.toFixed(2)
    } by others, ${calls} calls`
}

function describe(
  part: Part,
  { without, beside, control }: Record<'without' | 'beside' | 'control', Measured>,
  { seconds, endpoints, pieceMs }: Plan & { pieceMs: number },
  failed: number,
): Finding {
  const percents = [50, 95, 99, 100]
  const row = (series: string, { times, shares }: Measured): Finding['rows'][number] => ({
    series,
    values: {
      ...Object.fromEntries(percents.map((percent) => [`p${percent}`, percentile(times, percent)])),
      ...shares,
    },
  })
  return {
    note:
      `${seconds} s at ${RATE} events a second each, one worker. ${part.title}. The noisy organisation has ` +
      `${Math.min(endpoints, part.most ?? endpoints)} endpoints and ${part.loops.length} loops ` +
      `(${
        part.loops.join(', ')
      }), at its rate. Control: as much CPU time as the noise takes, by statements ` +
      `of ${pieceMs.toFixed(0)} ms and other processes that have nothing to do with Outhook`,
    columns: [
      ...percents.map((percent) => ({
        key: `p${percent}`,
        label: percent === 100 ? 'most ms' : `p${percent} ms`,
        digits: 1,
      })),
      { key: 'postgres', label: 'processors, Postgres', digits: 2 },
      { key: 'others', label: 'processors, others', digits: 2 },
    ],
    rows: [
      row('without the noise', without),
      row('with the noise', beside),
      row('control', control),
    ],
    targets: [
      {
        what: 'p99 from commit to arrival with the noise, as a multiple of that without it',
        ...{ unit: '×', atMost: RATIO },
        value: ratio(beside, without),
      },
      {
        what: 'p99 from commit to arrival with the noise, as a multiple of that beside the control',
        ...{ unit: '×', atMost: RATIO },
        value: ratio(beside, control),
      },
      { what: 'responses of the API with 500', unit: '', atMost: 0, value: failed },
    ],
  }
}

if (import.meta.main) await runMeasurements('deno run -A tests/bench/noisy.ts', measurements)
