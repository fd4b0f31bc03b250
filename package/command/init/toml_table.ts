/** A table of TOML, as the parser returns it. */
export type Table = Record<string, unknown>

/** A value as a table; an empty one if it is none. */
export function tableOf(value: unknown): Table {
  // SAFETY: an object that the parser made is a table, unless it is an array or a date.
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value as Table : {}
}

/** The table at a path; an empty one if there is none. */
export function tableAt(config: Table, path: readonly string[]): Table {
  return path.reduce<Table>((at, name) => tableOf(at[name]), config)
}

/** A name as a key of TOML, in quotes if it needs them. */
export function keyOf(name: string): string {
  return /^[\w-]+$/.test(name) ? name : JSON.stringify(name)
}
