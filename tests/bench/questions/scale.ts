/** Does it stay as fast with more endpoints, or with more workers beside each other? */

import type { Bench } from '../run/bench.ts'
import type { Child } from '../run/child.ts'
import { attempt } from '../run/enter.ts'
import { saturate } from '../run/saturate.ts'
import { besides, pickSides, quickPair, type SideSpec } from '../sides/catalog.ts'
import type { Answer, Plan, Question, Row } from './_question.ts'
import { short } from './growth.ts'

const BACKLOG = 10_000

interface Scale {
  spec: SideSpec
  endpoints: number
  workers: number
  maxInFlight?: number
  at: string
}

/**
 * The default, and twenty endpoints: a thousand requests are open at most. Eight workers would else
 * open six thousand at once, which two cores do not answer within a timeout.
 */
const MANY = { endpoints: 20, maxInFlight: 50 }

export const endpoints: Question = {
  name: 'endpoints',
  title: 'With more endpoints',
  run: async (bench, plan) => {
    const counts = plan.quick ? [10, 1_000] : [10, 100, 1_000, 10_000]
    return await answer(
      bench,
      plan,
      pickSides(plan.sides, plan.quick ? quickPair : besides).flatMap((spec) =>
        counts.map((count) => ({ spec, endpoints: count, workers: 1, at: short(count) }))
      ),
      'one worker; the events are for all endpoints in turn',
    )
  },
}

export const workers: Question = {
  name: 'workers',
  title: 'With more workers',
  run: async (bench, plan) => {
    const counts = plan.quick ? [1, 8] : [1, 2, 4, 8]
    return await answer(
      bench,
      plan,
      pickSides(plan.sides, plan.quick ? quickPair : besides).flatMap((spec) =>
        counts.map((count) => ({ spec, ...MANY, workers: count, at: String(count) }))
      ),
      '20 endpoints with 50 requests in flight each; the number is that of the worker processes, all ' +
        'on the same cores',
    )
  },
}

async function answer(bench: Bench, plan: Plan, scales: Scale[], note: string): Promise<Answer> {
  const seconds = plan.quick ? 2 : 8
  const problems: string[] = []
  const rows: Row[] = []
  for (const scale of scales) {
    const values = await attempt(bench, problems, () => measure(bench, scale, seconds))
    if (values === undefined) continue
    rows.push({ series: scale.spec.name, at: scale.at, values })
    bench.log(
      `${scale.spec.name.padEnd(20)} ${scale.at.padEnd(4)} ${values.perSecond.toFixed(0)}/s`,
    )
  }
  return {
    note:
      `${seconds} s at saturation, ${BACKLOG} deliveries waiting; ${note}. p50 and p95 are how ` +
      'long the (first) worker waits for a call of outbox.dispatch()',
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
  scale: Scale,
  seconds: number,
): Promise<{ perSecond: number; p50: number | null; p95: number | null }> {
  const { spec, endpoints: count } = scale
  const children: Child[] = []
  try {
    const { maxInFlight } = scale
    await bench.prepare(spec, count, maxInFlight === undefined ? {} : { maxInFlight })
    for (let n = 0; n < scale.workers; n++) children.push(await bench.start(spec, 'worker', count))
    const publisher = await bench.start(spec, 'publisher', count)
    children.push(publisher)
    const perSecond = await saturate(bench, {
      ...{ spec, publisher, seconds, backlog: BACKLOG, loaded: 0 },
      workers: children.slice(0, -1),
    })
    if (perSecond === 0) throw new Error(`${spec.name} delivered nothing`)
    const { dispatchP50 = null, dispatchP95 = null } =
      await children[0]?.ask<Partial<Record<string, number>>>({ do: 'extra' }) ?? {}
    return { perSecond, p50: dispatchP50, p95: dispatchP95 }
  } finally {
    for (const child of children) await child.end()
  }
}
