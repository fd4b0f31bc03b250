/**
 * Each loop of the noisy organisation alone, one after the other on one stack: which of them makes another
 * organisation wait, and what it costs. `--loop NAME` takes one alone.
 */

import type { Finding, Size } from '../engine/measurement.ts'
import { percentile } from '../run/stats.ts'
import { beyond, type Shares } from './cpu.ts'
import { type LoopName, loopNames } from './options.ts'
import { removeNoise } from './organisation.ts'
import { type Measured, RATIO, ratio } from './report.ts'
import { PIECE_MS, RATE, type Scene, startScene, warmUp } from './scene.ts'
import { longestStatements, resetStatements, statementLine } from './statements.ts'

/** Seconds of each measurement, and endpoints of the noisy organisation. */
const plans: Record<Size, { seconds: number; endpoints: number }> = {
  full: { seconds: 30, endpoints: 1000 },
  small: { seconds: 10, endpoints: 50 },
}

type Of = { loop: LoopName; beside: Measured; control: Measured; more: Shares }

export async function measureLoops(
  only: readonly string[],
  size: Size,
  say: (line: string) => void,
): Promise<Finding> {
  const { seconds, endpoints } = plans[size]
  const scene = await startScene()
  try {
    await scene.measure(2)
    const without = await scene.measure(seconds)
    const chosen = loopNames.filter((name) => only.length === 0 || only.includes(name))
    const found: Of[] = []
    for (const loop of chosen) {
      const of = await measureLoop(scene, loop, without, { seconds, endpoints, say })
      say(`${loop}: p99 ${p99(of.beside)} ms, control ${p99(of.control)} ms`)
      found.push(of)
    }
    return findingOf(without, found, { seconds, endpoints })
  } finally {
    await scene.end()
  }
}

async function measureLoop(
  scene: Scene,
  loop: LoopName,
  without: Measured,
  { seconds, endpoints, say }: {
    seconds: number
    endpoints: number
    say: (line: string) => void
  },
): Promise<Of> {
  const part = { name: loop, title: loop, loops: [loop], filtered: 2, most: null } as const
  const noise = await scene.addNoise({ ...part, responses: ['ok', 'fail', 'hang'] }, endpoints)
  await noise.start()
  await warmUp()
  await resetStatements(scene.admin)
  const beside = await scene.measure(seconds, noise)
  for (const one of await longestStatements(scene.admin, 3)) say(statementLine(one))
  for (const [answer, times] of Object.entries(await noise.stop())) say(`  ${answer}: ${times}`)
  await removeNoise(scene.sql)
  const more = beyond(beside.shares, without.shares)
  const control = await scene.measureControl(more, seconds, noise)
  return { loop, beside, control, more }
}

function p99({ times }: Measured): string {
  return percentile(times, 99).toFixed(1)
}

function findingOf(
  without: Measured,
  found: readonly Of[],
  { seconds, endpoints }: { seconds: number; endpoints: number },
): Finding {
  const most = (times: number[]): number => Math.max(...times)
  return {
    note:
      `${seconds} s at ${RATE} events a second for each loop and each control, one worker, ${endpoints} ` +
      `endpoints. Control: the CPU time of the loop in statements of ${PIECE_MS} ms`,
    columns: [
      { key: 'p50', label: 'p50 ms', digits: 1 },
      { key: 'p99', label: 'p99 ms', digits: 1 },
      { key: 'most', label: 'most ms', digits: 1 },
      { key: 'control', label: 'p99 of the control', digits: 1 },
      { key: 'ratio', label: '× control', digits: 2 },
      { key: 'postgres', label: 'processors, Postgres', digits: 2 },
      { key: 'others', label: 'processors, others', digits: 2 },
    ],
    rows: [
      {
        series: 'nothing',
        values: {
          p50: percentile(without.times, 50),
          p99: percentile(without.times, 99),
          most: most(without.times),
          ...without.shares,
        },
      },
      ...found.map(({ loop, beside, control, more }) => ({
        series: loop,
        values: {
          p50: percentile(beside.times, 50),
          p99: percentile(beside.times, 99),
          most: most(beside.times),
          control: percentile(control.times, 99),
          ratio: ratio(beside, control),
          ...more,
        },
      })),
    ],
    targets: found.map(({ loop, beside, control }) => ({
      what: `p99 beside the loop ${loop}, as a multiple of that beside its control`,
      unit: '×',
      atMost: RATIO,
      value: ratio(beside, control),
    })),
  }
}
