/**
 * The chart of the README, for a reader with five seconds: one bar for each system, the fastest first. Each is
 * shown under the runtime with which it is fastest; systems that are no durable queue are left out.
 */

import type { Answer } from '../questions/_question.ts'
import { bars } from './bars.ts'
import { escape, frame } from './svg.ts'
import { noQueue } from './winner.ts'

export const summaryChart = {
  file: 'summary.svg',
  title: 'Signed webhooks delivered in a second, more is better',
}

const names: Record<string, string> = {
  outhook: 'Outhook',
  graphile: 'graphile-worker',
  bullmq: 'BullMQ',
  naive: 'a plain table',
}

/** The picture of an answer to `throughput`. */
export function toSummarySvg({ rows }: Pick<Answer, 'rows'>): string {
  const best = new Map<string, { runtime: string; value: number }>()
  for (const { series, values } of rows) {
    const value = values.perSecond ?? null
    if (noQueue.test(series) || value === null) continue
    const [system = '', runtime = ''] = series.split(' ')
    if (value > (best.get(system)?.value ?? 0)) best.set(system, { runtime, value })
  }
  const points = [...best].map(([system, { runtime, value }]) => ({
    series: `${names[system] ?? system} (${runtimeName(runtime)})`,
    at: undefined,
    value,
  })).sort((a, b) => b.value - a.value)
  const { height, body } = bars(points, 0)
  return frame(height, escape(summaryChart.title), body)
}

/** `outhook direct` and `outhook rpc` run under Deno. */
function runtimeName(runtime: string): string {
  return runtime === 'node' ? 'Node' : 'Deno'
}
