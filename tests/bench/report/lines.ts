/** A line for each series over the sizes or loads, which stand at equal distances. */

import { colourOf, label, type Point, RIGHT, round, TOP, WIDTH } from './svg.ts'
import { format } from './table.ts'

const HEIGHT = 240
const LEGEND_STEP = 20
const GRID = 4

/** Lines with their points, a grid with figures, and a legend below. */
export function lines(
  points: Point[],
  digits: number,
  isLog: boolean,
): { height: number; body: string[] } {
  const names = [...new Set(points.map(({ series }) => series))]
  const sizes = [...new Set(points.map(({ at }) => at ?? ''))]
  const values = points.map(({ value }) => value)
  const most = Math.max(...values, Number.MIN_VALUE)
  const least = isLog ? Math.max(Math.min(...values), most / 10_000, Number.MIN_VALUE) : 0
  const left = 70
  const xOf = (size: string): number =>
    left + (WIDTH - left - RIGHT) * (sizes.indexOf(size) + 0.5) / sizes.length
  const share = (value: number): number =>
    isLog
      ? Math.log(Math.max(value, least) / least) / Math.max(Math.log(most / least), 1e-9)
      : value / most
  const yOf = (value: number): number => TOP + HEIGHT * (1 - share(value))
  const valueAt = (part: number): number => isLog ? least * (most / least) ** part : most * part

  const grid = Array.from({ length: GRID + 1 }, (_, n) => {
    const value = valueAt(n / GRID)
    const y = round(yOf(value))
    return `<path class="axis" d="M${left} ${y}H${WIDTH - 16}"/>` +
      label(left - 8, yOf(value) + 4, format(value, digits), 'end')
  })
  const axis = sizes.map((size) => label(xOf(size), TOP + HEIGHT + 20, size, 'middle'))
  const drawn = names.flatMap((name, n) => {
    const colour = colourOf(name, names)
    const own = points.filter(({ series }) => series === name)
    const path = own.map(({ at, value }) => `${round(xOf(at ?? ''))} ${round(yOf(value))}`).join(
      'L',
    )
    const x = left + (n % 3) * ((WIDTH - left) / 3)
    const y = TOP + HEIGHT + 46 + Math.floor(n / 3) * LEGEND_STEP
    return [
      `<path class="line" stroke="${colour}" d="M${path}"/>`,
      ...own.map(({ at, value }) =>
        `<circle cx="${round(xOf(at ?? ''))}" cy="${round(yOf(value))}" r="3.5" fill="${colour}"/>`
      ),
      `<rect x="${round(x)}" y="${y - 10}" width="12" height="12" fill="${colour}"/>`,
      label(x + 18, y + 1, name),
    ]
  })
  const height = TOP + HEIGHT + 60 + Math.ceil(names.length / 3) * LEGEND_STEP
  return { height, body: [...grid, ...axis, ...drawn] }
}
