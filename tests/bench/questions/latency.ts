/** How long from commit to arrival? At 10 a second, and at shares of what each side can do at most. */

import type { Bench } from '../run/bench.ts'
import { attempt, type Contestant, enter, leave } from '../run/enter.ts'
import { saturate } from '../run/saturate.ts'
import { percentile } from '../run/stats.ts'
import { steady } from '../run/steady.ts'
import { pickSides } from '../sides/catalog.ts'
import type { Answer, Plan, Question, Row } from './_question.ts'
import { empty } from './sustained.ts'

const ENDPOINTS = 10
const BACKLOG = 2_000
const SHARES = [10, 50, 80]
const QUICK_SHARES = [50]
const SLOW_RATE = 10
const SIDES = [
  ...['outhook direct', 'outhook node', 'outhook rpc', 'graphile deno', 'graphile node'],
  ...['pg-boss node', 'bullmq node', 'naive deno', 'naive node'],
]

const QUICK_SIDES = ['outhook node', 'graphile node', 'pg-boss node']

export const latency: Question = {
  name: 'latency',
  title: 'From commit to arrival',
  run: answer,
}

/** How long each load lasts. */
function secondsOf(quick: boolean): number {
  return quick ? 2 : 8
}

async function answer(bench: Bench, plan: Plan): Promise<Answer> {
  const seconds = secondsOf(plan.quick)
  const problems: string[] = []
  const rows: Row[] = []
  const names = plan.quick ? QUICK_SIDES : SIDES
  for (const spec of pickSides(plan.sides, names)) {
    const options = { endpoints: ENDPOINTS, hasPublisher: true }
    const [contestant] = await enter(bench, [spec], options, problems)
    if (contestant === undefined) continue
    await attempt(bench, problems, () => measure(bench, contestant, plan, rows))
    await leave([contestant])
  }
  return {
    note:
      `${seconds} s for each load. At most every 20 ms, one transaction publishes the events due by ` +
      'then. 100 % is the rate that the side sustained while another process published, measured just ' +
      "before. The time is from the return of the publisher's commit to the arrival at the receiver",
    columns: [
      { key: 'rate', label: 'events/s', digits: 0 },
      { key: 'p50', label: 'p50 ms', digits: 1 },
      { key: 'p95', label: 'p95 ms', digits: 1 },
      { key: 'p99', label: 'p99 ms', digits: 1 },
    ],
    rows,
    chart: 'p95',
    isLog: true,
    problems,
  }
}

async function measure(
  bench: Bench,
  { spec, worker, publisher }: Contestant,
  { quick }: Plan,
  rows: Row[],
): Promise<void> {
  if (publisher === null) return
  const seconds = secondsOf(quick)
  const most = await saturate(bench, {
    ...{ spec, publisher, backlog: BACKLOG, loaded: 0, seconds: Math.min(seconds, 5) },
    workers: [worker],
  })
  await empty(bench, worker)
  bench.log(`${spec.name.padEnd(20)} sustains ${most.toFixed(0)}/s`)
  await worker.ask({ do: 'work' })
  const loads = [
    { at: `${SLOW_RATE}/s`, rate: SLOW_RATE },
    ...(quick ? QUICK_SHARES : SHARES).map((share) => ({
      at: `${share} %`,
      rate: most * share / 100,
    })),
  ]
  for (const { at, rate } of loads) {
    const waits = await steady(bench, { spec, worker, publisher, rate, seconds })
    const [p50, p95, p99] = [50, 95, 99].map((percent) => percentile(waits, percent))
    rows.push({
      series: spec.name,
      at,
      values: { rate, p50: p50 ?? null, p95: p95 ?? null, p99: p99 ?? null },
    })
    bench.log(
      `${spec.name.padEnd(20)} ${at.padEnd(5)} p50 ${p50?.toFixed(1)} p99 ${p99?.toFixed(1)} ms`,
    )
  }
  await worker.ask({ do: 'rest' })
}
