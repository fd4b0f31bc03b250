/**
 * A noisy neighbour: one organisation does its worst with everything that it may write, at its limits,
 * while another publishes 20 events a second. What counts is the time from commit to arrival of the quiet one.
 * It is measured four times:
 *
 *   without   nothing else happens
 *   beside    the noise goes on
 *   after     the noise has ended, and its rows are deleted: what it leaves behind
 *   control   a load goes on that has nothing to do with Outhook and takes as much CPU time as the noise, in
 *             Postgres and elsewhere, in short statements
 *
 * `beside` to `without` is what a customer sees on this machine. `beside` to `control` is what Outhook adds to
 * the load. The statements of the control have a fixed length: long calls of Outhook are its own fault, so
 * the control must not have them. The first measurement is all of the noise. The others are parts of it
 * alone, and a bare loop on each processor.
 *
 *   deno run -A tests/bench/noisy.ts [--small] [--only noisy-filters]
 */

import postgres from 'postgres'
import { startStack } from '../../supabase/local/stack.ts'
import { testFolder } from '../_support/folder.ts'
import { startTaskWorker } from '../soak/_support/processes.ts'
import { runMeasurements } from './engine/command.ts'
import type { Finding, Measurement, Size } from './engine/measurement.ts'
import { pause } from './engine/pause.ts'
import { beyond, countCpu, type Pids } from './noisy/cpu.ts'
import { startNoise } from './noisy/noise_process.ts'
import { ARRIVAL_MS } from './noisy/options.ts'
import {
  addNoisyEndpoints,
  describeBacklog,
  heavyFilters,
  removeNoise,
} from './noisy/organisation.ts'
import { type Part, parts } from './noisy/parts.ts'
import { findingOf, lineOf, type Measured, RATIO, ratio } from './noisy/report.ts'
import { type Child, startChild } from './run/child.ts'

/** Events of the quiet organisation a second. */
const RATE = 20
const WARM_UP_MS = 5_000
/** The CPU time of a statement of the control: that of a query of a usual application. */
const PIECE_MS = 5

const measurements: readonly Measurement[] = parts.map((part) => ({
  name: part.name,
  title: part.title,
  minutes: 8,
  run: (size, say) => run(part, size, say),
}))

type Plan = {
  /** Of each of the four measurements. */
  seconds: number
  /** The endpoints of the noisy organisation, by default as many as its limit allows. */
  endpoints: number
}

const plans: Record<Size, Plan> = {
  full: { seconds: 60, endpoints: 1000 },
  small: { seconds: 20, endpoints: 50 },
}

async function run(part: Part, size: Size, say: (line: string) => void): Promise<Finding> {
  const plan = plans[size]
  const dataDir = testFolder()
  const stack = await startStack({ dataDir, ports: 'free' })
  const sql = postgres(stack.dbUrl, { max: 1, onnotice: () => {} })
  const quiet = await startPart('quiet', stack.dbUrl)
  const load = await startPart('load', stack.dbUrl)
  const noise = await startNoise({
    api: `${stack.apiUrl}/functions/v1/api/v1`,
    headers: { apikey: stack.keys.secretKey, 'x-org-id': 'noisy' },
    filters: [...heavyFilters],
    loops: part.loops,
  })
  const worker = startTaskWorker(stack.dbUrl)
  try {
    await sql`select outbox.create_endpoint(${String(quiet.hello['origin'])}, '{quiet.*}', 'quiet')`
    await addNoisyEndpoints(sql, noise.origin, part, plan.endpoints)
    await stack.functions.targets.get('api')?.origin(ARRIVAL_MS)
    const pids = {
      postmaster: Number(Deno.readTextFileSync(`${dataDir}/pg/postmaster.pid`).split('\n')[0]),
      others: [worker.pid, noise.pid, Deno.pid, stack.functions.pid('api') ?? 0],
    }
    const measure = (seconds: number): Promise<Measured> => measureQuiet(quiet, pids, seconds)
    await measure(2)
    const without = await measure(plan.seconds)
    say(lineOf('without', without))

    await noise.start()
    await pause(WARM_UP_MS)
    const beside = await measure(plan.seconds)
    const answers = await noise.stop()
    say(lineOf('beside', beside))
    for (const [answer, times] of Object.entries(answers).sort()) say(`${answer}: ${times} times`)
    say(`left of the noise: ${await describeBacklog(sql)}`)

    await removeNoise(sql)
    const after = await measure(plan.seconds)
    say(lineOf('after', after))

    const more = beyond(beside.shares, without.shares)
    say(
      `the control asks for ${more.postgres.toFixed(2)} processors in Postgres and ${
        more.others.toFixed(2)
      } elsewhere, besides what the quiet organisation takes`,
    )
    await load.ask({ ...more, pieceMs: PIECE_MS })
    await pause(WARM_UP_MS)
    const control = await measure(plan.seconds)
    await load.ask('stop')
    say(lineOf('control', control))
    say(
      `p99 with the noise: ${ratio(beside, without).toFixed(2)} times that without it, and ` +
        `${ratio(beside, control).toFixed(2)} times that of the control (at most ${RATIO})`,
    )
    const how = { ...plan, rate: RATE, pieceMs: PIECE_MS }
    return findingOf(part, { without, beside, after, control }, answers, how)
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

async function measureQuiet(quiet: Child, pids: Pids, seconds: number): Promise<Measured> {
  const read = countCpu(pids)
  const { times } = await quiet.ask<{ times: number[] }>({ rate: RATE, seconds })
  return { times, shares: read() }
}

if (import.meta.main) await runMeasurements('deno run -A tests/bench/noisy.ts', measurements)
