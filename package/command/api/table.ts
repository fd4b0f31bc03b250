/** Rows as a table with a head, the columns as wide as their longest value. */
export function showTable(head: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const texts = [head, ...rows].map((row) => row.map(textOf))
  const widths = head.map((_, at) => Math.max(...texts.map((row) => row[at]?.length ?? 0)))
  return texts.map((row) =>
    row.map((text, at) => text.padEnd(widths[at] ?? 0)).join('  ').trimEnd()
  )
    .join('\n')
}

/** A value on one line, without characters that move the cursor. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return '-'
  const text = Array.isArray(value) ? value.join(',') : String(value)
  return oneLine(text)
}

/** A text on one line, without characters that move the cursor, and with at most `most` characters. */
export function oneLine(text: string, most = Infinity): string {
  // deno-lint-ignore no-control-regex
  const line = text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ')
  return line.length > most ? `${line.slice(0, most)}…` : line
}
