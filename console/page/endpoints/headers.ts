/** A custom header of a form: null keeps the value, which nobody can read. */
export interface HeaderRow {
  name: string
  value: string | null
}

/** The headers that an endpoint has. */
export function headerRowsOf(names: readonly string[]): HeaderRow[] {
  return names.map((name) => ({ name, value: null }))
}

/** What the form knows to be wrong: a row without a name, or two with the same one. The API checks the rest. */
export function headerProblemOf(rows: readonly HeaderRow[]): 'nameless' | 'twice' | null {
  // Header names are case-insensitive.
  const names = rows.map(({ name }) => name.trim().toLowerCase())
  if (names.includes('')) return 'nameless'
  return new Set(names).size < names.length ? 'twice' : null
}

/** `headers` of a change of the API: those with a new value, and null for those removed; undefined: no change. */
export function headerChangeOf(
  rows: readonly HeaderRow[],
  before: readonly string[],
): Record<string, string | null> | undefined {
  const kept = new Set(rows.map(({ name }) => name.trim().toLowerCase()))
  const change = [
    ...rows.filter(({ value }) => value !== null).map(({ name, value }) => [name.trim(), value]),
    ...before.filter((name) => !kept.has(name.toLowerCase())).map((name) => [name, null]),
  ]
  return change.length === 0 ? undefined : Object.fromEntries(change)
}

/** Whether a new URL leads to another scheme, host or port, for which each header must be given again. */
export function isOtherOrigin(url: string, before: string): boolean {
  return URL.canParse(url) && URL.canParse(before) && new URL(url).origin !== new URL(before).origin
}
