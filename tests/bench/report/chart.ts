/** An answer as a picture: bars for single figures, lines where a figure changes with a size. */

import type { NamedAnswer } from './results.ts'
import { bars } from './bars.ts'
import { lines } from './lines.ts'
import { escape, frame } from './svg.ts'

/** The chart of one question. */
export function toSvg(answer: NamedAnswer): string {
  const column = answer.columns.find(({ key }) => key === answer.chart)
  if (column === undefined) throw new Error(`${answer.name} has no column ${answer.chart}`)
  const points = answer.rows.map(({ series, at, values }) => ({
    series,
    at,
    value: values[column.key] ?? 0,
  }))
  const { height, body } = points.some(({ at }) => at !== undefined)
    ? lines(points, column.digits, answer.isLog ?? false)
    : bars(points, column.digits)
  return frame(height, `${escape(answer.title)}: ${escape(column.label)}`, body)
}
