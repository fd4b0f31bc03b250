/** An answer as a table of text. */

import type { Answer, Column } from '../questions/_question.ts'
import type { Winners } from './winner.ts'

/** A number as people read it: 12,345.6; nothing for what was not measured. */
export function format(value: number | null | undefined, digits: number): string {
  if (value === null || value === undefined || Number.isNaN(value)) return ''
  return value.toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
}

/**
 * A table in Markdown, which a terminal shows as well. With `winners` it ends with their column, unless no
 * row has one.
 */
export function toTable(
  { columns, rows }: Pick<Answer, 'columns' | 'rows'>,
  winners: Winners = { by: '', of: [] },
): string {
  const hasAt = rows.some(({ at }) => at !== undefined)
  const hasWinner = winners.of.some((winner) => winner !== null)
  const head = [
    '',
    ...hasAt ? [''] : [],
    ...columns.map(({ label }) => label),
    ...hasWinner ? [`winner by ${winners.by}`] : [],
  ]
  const body = rows.map(({ series, at, values }, n) => [
    series,
    ...hasAt ? [at ?? ''] : [],
    ...columns.map(({ key, digits }: Column) => format(values[key], digits)),
    ...hasWinner ? [winners.of[n] ?? ''] : [],
  ])
  const names = hasAt ? 2 : 1
  const isText = (n: number): boolean => n < names || n >= names + columns.length
  // No wider than `deno fmt` leaves it.
  const widths = head.map((_, n) =>
    Math.max(n < names ? 1 : 3, ...[head, ...body].map((row) => row[n]?.length ?? 0))
  )
  const line = (cells: string[]): string =>
    `| ${
      cells.map((cell, n) =>
        isText(n) ? cell.padEnd(widths[n] ?? 0) : cell.padStart(widths[n] ?? 0)
      )
        .join(' | ')
    } |`
  const rule = widths.map((width, n) => isText(n) ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)
  return [line(head), line(rule), ...body.map(line)].join('\n')
}

/** Cells of text as a table in Markdown; the first line is its head. */
export function toTextTable(lines: readonly string[][]): string {
  const [head = [], ...body] = lines
  // No narrower than the dashes that a rule must have.
  const widths = head.map((_, n) => Math.max(3, ...lines.map((line) => line[n]?.length ?? 0)))
  const row = (cells: readonly string[]): string =>
    `| ${cells.map((cell, n) => cell.padEnd(widths[n] ?? 0)).join(' | ')} |`
  return [row(head), row(widths.map((width) => '-'.repeat(width))), ...body.map(row)].join('\n')
}
