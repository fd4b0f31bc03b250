/** Which system is the best one of those that are compared in a row. */

import type { Answer, Row } from '../questions/_question.ts'

/** HTTP clients without a queue, and a queue that may lose what it confirmed. */
export const noQueue = /^undici|^fetch|everysec$/

/** Columns of which the larger figure is the better one. */
const more = new Set(['perSecond', 'toUndici'])

/** A series whose name ends with one of these is compared only with those that end in the same way. */
const condition = / (with it|without it)$/

/** The winner of each row, null without one, and the column by which it wins. */
export interface Winners {
  by: string
  of: (string | null)[]
}

/**
 * The winners by the column that the chart shows: of the rows with the same size or load, the series with the best
 * figure, without those that are no durable queue. If all rows are compared with each other, only that of the winner
 * names it.
 */
export function winnersOf({ rows, columns, chart }: Omit<Answer, 'note' | 'problems'>): Winners {
  const best = new Map<string, Row>()
  const rivals = new Map<string, Set<string>>()
  for (const row of rows) {
    const value = row.values[chart] ?? NaN
    if (noQueue.test(row.series) || !Number.isFinite(value)) continue
    const group = groupOf(row)
    rivals.set(group, (rivals.get(group) ?? new Set()).add(systemOf(row)))
    const before = best.get(group)?.values[chart] ?? null
    if (before === null || (more.has(chart) ? value > before : value < before)) {
      best.set(group, row)
    }
  }
  const isOneRace = rows.every((row) => groupOf(row) === '')
  return {
    by: columns.find(({ key }) => key === chart)?.label ?? chart,
    of: rows.map((row) => {
      const winner = best.get(groupOf(row))
      if (winner === undefined || (rivals.get(groupOf(row))?.size ?? 0) < 2) return null
      return isOneRace && row !== winner ? null : winner.series.replace(condition, '')
    }),
  }
}

/** What a row is compared with: `10/s`, or `with it`, or nothing where all rows are one group. */
function groupOf({ series, at }: Row): string {
  return at ?? condition.exec(series)?.[1] ?? ''
}

/** `outhook` of `outhook direct`: two forms of one system are no race. */
function systemOf({ series }: Row): string {
  return series.split(' ')[0] ?? series
}
