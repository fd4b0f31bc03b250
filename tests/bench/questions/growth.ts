/** Does a queue get slower as it grows? The same work beside ever more that waits, or that has ended. */

import { type Loader, loadFinished, loadGraphile, loadWaiting } from '../setup/load.ts'
import type { Bench } from '../run/bench.ts'
import { attempt, enter, leave } from '../run/enter.ts'
import { saturate } from '../run/saturate.ts'
import { besides, pickSides, quickPair, type SideSpec } from '../sides/catalog.ts'
import type { Answer, Plan, Question, Row } from './_question.ts'

const ENDPOINTS = 1_000
/** So many wait while history grows. */
const BACKLOG = 5_000

/** How large the store is: what waits is there to be delivered, what has ended is not. */
interface Size {
  spec: SideSpec
  count: number
  waits: boolean
  load: Loader
}

export const waiting: Question = {
  name: 'waiting',
  title: 'With a larger backlog',
  run: async (bench, plan) => {
    const sizes = plan.quick ? [1_000, 50_000] : [1_000, 100_000, 5_000_000]
    return await answer(
      bench,
      plan,
      pickSides(plan.sides, plan.quick ? quickPair : besides).flatMap((spec) =>
        sizes.map((count) => ({
          ...{ spec, count, waits: true },
          load: spec.source === 'outhook' ? loadWaiting : loadGraphile,
        }))
      ),
      `${ENDPOINTS} endpoints. The number of waiting deliveries is constant: they are loaded in ` +
        'bulk, and a publisher replaces those that are delivered',
    )
  },
}

export const finished: Question = {
  name: 'finished',
  isLong: true,
  title: 'With more finished deliveries',
  run: async (bench, plan) => {
    const sizes = plan.quick ? [0, 100_000] : [0, 1_000_000, 20_000_000]
    return await answer(
      bench,
      plan,
      pickSides(plan.sides, ['outhook direct']).flatMap((spec) =>
        sizes.map((count) => ({ ...{ spec, count, waits: false }, load: loadFinished }))
      ),
      `${ENDPOINTS} endpoints and ${BACKLOG} waiting deliveries. The number is that of the attempts ` +
        "of finished deliveries in today's partition. graphile-worker is not in this table, because " +
        'it deletes finished jobs',
    )
  },
}

async function answer(bench: Bench, plan: Plan, sizes: Size[], note: string): Promise<Answer> {
  const seconds = plan.quick ? 2 : 10
  const problems: string[] = []
  const rows: Row[] = []
  for (const size of sizes) {
    await attempt(bench, problems, async () => {
      const row = await measure(bench, size, seconds, problems)
      if (row !== undefined) rows.push(row)
    })
  }
  return {
    note:
      `${seconds} s at saturation, ${note}. p50 and p95 are how long the worker waits for a call of ` +
      'outbox.dispatch()',
    columns: [
      { key: 'perSecond', label: 'deliveries/s', digits: 0 },
      { key: 'p50', label: 'dispatch p50 ms', digits: 1 },
      { key: 'p95', label: 'dispatch p95 ms', digits: 1 },
    ],
    rows,
    chart: 'perSecond',
    problems,
  }
}

async function measure(
  bench: Bench,
  { spec, count, waits, load }: Size,
  seconds: number,
  problems: string[],
): Promise<Row | undefined> {
  const options = { endpoints: ENDPOINTS, hasPublisher: true }
  const [contestant] = await enter(bench, [spec], options, problems)
  if (contestant === undefined || contestant.publisher === null) return undefined
  const { worker, publisher } = contestant
  try {
    const begun = performance.now()
    await load(bench, spec, { count, endpoints: ENDPOINTS })
    bench.log(`${short(count)} loaded in ${((performance.now() - begun) / 1000).toFixed(0)} s`)
    await worker.ask({ do: 'extra' })
    const perSecond = await saturate(bench, {
      ...{ spec, publisher, seconds, workers: [worker] },
      backlog: waits ? count : BACKLOG,
      loaded: waits ? count : 0,
    })
    if (perSecond === 0) problems.push(`${spec.name} delivered nothing with ${short(count)}`)
    const { dispatchP50 = null, dispatchP95 = null } = await worker.ask<
      Partial<Record<string, number>>
    >({ do: 'extra' })
    bench.log(`${spec.name.padEnd(20)} ${short(count).padEnd(5)} ${perSecond.toFixed(0)}/s`)
    return {
      series: spec.name,
      at: short(count),
      values: { perSecond, p50: dispatchP50, p95: dispatchP95 },
    }
  } finally {
    await leave([contestant])
  }
}

/** 5M, 100k, 10. */
export function short(count: number): string {
  if (count >= 1e6) return `${count / 1e6}M`
  return count >= 1e3 ? `${count / 1e3}k` : String(count)
}
