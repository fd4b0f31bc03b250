/** A bar for each series. */

import { label, LEFT, type Point, RIGHT, round, TOP, WIDTH } from './svg.ts'
import { format } from './table.ts'

const STEP = 24
const OURS = '#0f9d6e'
const OTHERS = '#8894a8'

/** Bars from the left, in the order of the rows. */
export function bars(points: Point[], digits: number): { height: number; body: string[] } {
  const most = Math.max(...points.map(({ value }) => value), Number.MIN_VALUE)
  const body = points.flatMap(({ series, value }, n) => {
    const y = TOP + n * STEP
    const width = Math.max(1, value / most * (WIDTH - LEFT - RIGHT))
    return [
      label(LEFT - 8, y + 15, series, 'end'),
      `<rect x="${LEFT}" y="${y + 3}" width="${round(width)}" height="${STEP - 6}" ` +
      `fill="${series.startsWith('outhook') ? OURS : OTHERS}"/>`,
      label(LEFT + width + 6, y + 15, format(value, digits)),
    ]
  })
  return { height: TOP + points.length * STEP + 12, body }
}
