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
 * Each measurement says where the events of the quiet organisation waited, and `beside` also what the sessions
 * of Postgres did and which statements took the most time.
 *
 * `noisy-loops` takes each loop of the noise alone, beside a control of its own, and names the longest statements.
 *
 *   deno run -A tests/bench/noisy.ts [--small] [--only noisy-filters] [--only noisy-loops --loop search]
 */

import { runMeasurements } from './engine/command.ts'
import type { Finding, Measurement, Size } from './engine/measurement.ts'
import { beyond } from './noisy/cpu.ts'
import { measureLoops } from './noisy/loops.ts'
import { describeBacklog, removeNoise } from './noisy/organisation.ts'
import { type Part, parts } from './noisy/parts.ts'
import { findingOf, lineOf, RATIO, ratio } from './noisy/report.ts'
import { PIECE_MS, RATE, startScene, warmUp } from './noisy/scene.ts'
import { sampleSessions } from './noisy/samples.ts'
import { longestStatements, resetStatements, statementLine } from './noisy/statements.ts'

const measurements: readonly Measurement[] = [
  ...parts.map((part) => ({
    name: part.name,
    title: part.title,
    minutes: 8,
    run: (size: Size, say: (line: string) => void) => run(part, size, say),
  })),
  {
    name: 'noisy-loops',
    title: 'Each loop of the noise alone, or that of --loop',
    minutes: 16,
    run: (size, say, { loop }) => measureLoops(loop, size, say),
  },
]

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
  const scene = await startScene()
  try {
    const noise = await scene.addNoise(part, plan.endpoints)
    await scene.measure(2)
    const without = await scene.measure(plan.seconds, noise)
    say(lineOf('without', without))
    say(without.stages)

    await noise.start()
    await warmUp()
    await resetStatements(scene.admin)
    const endSamples = sampleSessions(scene.admin)
    const beside = await scene.measure(plan.seconds, noise)
    for (const line of await endSamples()) say(line)
    for (const one of await longestStatements(scene.admin, 12)) say(statementLine(one))
    const answers = await noise.stop()
    say(lineOf('beside', beside))
    say(beside.stages)
    for (const [answer, times] of Object.entries(answers).sort()) say(`${answer}: ${times} times`)
    say(`left of the noise: ${await describeBacklog(scene.sql)}`)

    await removeNoise(scene.sql)
    const after = await scene.measure(plan.seconds, noise)
    say(lineOf('after', after))

    const more = beyond(beside.shares, without.shares)
    say(
      `the control asks for ${more.postgres.toFixed(2)} processors in Postgres and ${
        more.others.toFixed(2)
      } elsewhere, besides what the quiet organisation takes`,
    )
    const control = await scene.measureControl(more, plan.seconds, noise)
    say(lineOf('control', control))
    say(control.stages)
    say(
      `p99 with the noise: ${ratio(beside, without).toFixed(2)} times that without it, and ` +
        `${ratio(beside, control).toFixed(2)} times that of the control (at most ${RATIO})`,
    )
    const how = { ...plan, rate: RATE, pieceMs: PIECE_MS }
    return findingOf(part, { without, beside, after, control }, answers, how)
  } finally {
    await scene.end()
  }
}

if (import.meta.main) await runMeasurements('deno run -A tests/bench/noisy.ts', measurements)
