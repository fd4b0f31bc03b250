/** What Outhook has set itself to reach, and whether the results do. */

import type { Results } from './results.ts'
import { format, toTextTable } from './table.ts'

interface Target {
  what: string
  /** The figure, of the values that find() gives; NaN where one is missing. */
  of(find: Find): number
  /** `least`: the figure must be this or more; else it must be this or less. */
  least?: number
  most?: number
  unit: string
  digits: number
}

/** The value of a question's row: its series, its column and, where there are several, its `at`. */
type Find = (question: string, series: string, column: string, at?: string) => number

const queuesUnderNode = ['graphile node', 'pg-boss node', 'bullmq node']

const targets: readonly Target[] = [
  {
    what: 'worker, compared with graphile-worker under Deno',
    of: (find) =>
      find('throughput', 'outhook direct', 'perSecond') /
      find('throughput', 'graphile deno', 'perSecond'),
    ...{ least: 1.1, unit: '×', digits: 2 },
  },
  {
    what: 'worker, compared with undici alone under Deno',
    of: (find) => find('throughput', 'outhook direct', 'toUndici'),
    ...{ least: 0.45, unit: '×', digits: 2 },
  },
  {
    what: 'edge runs by RPC',
    of: (find) => find('throughput', 'outhook rpc', 'perSecond'),
    ...{ least: 9_000, unit: 'a second', digits: 0 },
  },
  {
    what: 'edge runs, compared with the fastest queue under Node',
    of: (find) =>
      find('throughput', 'outhook rpc', 'perSecond') /
      Math.max(...queuesUnderNode.map((name) => find('throughput', name, 'perSecond'))),
    ...{ least: 2.5, unit: '×', digits: 2 },
  },
  {
    what: 'p99 with an endpoint that hangs, compared with p99 without it',
    of: (find) =>
      find('fairness', 'outhook with it', 'p99') / find('fairness', 'outhook without it', 'p99'),
    ...{ most: 1.2, unit: '×', digits: 2 },
  },
  {
    what: 'publishing by a separate statement',
    of: (find) => find('publish', 'outhook', 'added'),
    ...{ most: 0.25, unit: 'ms', digits: 3 },
  },
  {
    what: 'publishing in the statement that inserts the row',
    of: (find) => find('publish', 'outhook', 'addedInOne'),
    ...{ most: 0.25, unit: 'ms', digits: 3 },
  },
  {
    what: 'p50 from commit to arrival at 10 a second',
    of: (find) => find('latency', 'outhook direct', 'p50', '10/s'),
    ...{ most: 30, unit: 'ms', digits: 1 },
  },
]

/** One target and what the results say of it. */
export interface Verdict {
  what: string
  value: string
  target: string
  verdict: 'met' | 'missed' | 'not measured'
}

/** Each target with its verdict, in the order of the table above. */
export function verdictsOn({ answers }: Pick<Results, 'answers'>): Verdict[] {
  const find: Find = (question, series, column, at) => {
    const rows = answers.find(({ name }) => name === question)?.rows ?? []
    return rows.find((row) => row.series === series && row.at === at)?.values[column] ?? NaN
  }
  return targets.map(({ what, of, least, most, unit, digits }) => {
    const value = of(find)
    const isMet = least === undefined ? value <= (most ?? NaN) : value >= least
    return {
      what,
      value: Number.isFinite(value) ? `${format(value, digits)} ${unit}` : '',
      target: least === undefined
        ? `≤ ${most} ${unit}`
        : `≥ ${least.toLocaleString('en-US')} ${unit}`,
      verdict: !Number.isFinite(value) ? 'not measured' : isMet ? 'met' : 'missed',
    }
  })
}

/** The verdicts as a table in Markdown. */
export function toTargets(results: Pick<Results, 'answers'>): string {
  return toTextTable([
    ['', 'measured', 'target', 'verdict'],
    ...verdictsOn(results).map((
      { what, value, target, verdict },
    ) => [what, value, target, verdict]),
  ])
}
