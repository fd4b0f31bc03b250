import { createHash } from 'node:crypto'

/** The databases, and the organisations that have one of their own choice. */
export type Routes = {
  /** The names of the databases, at least one. */
  names: readonly string[]
  /** The database of an organisation. All others have one by their hash. */
  entries: ReadonlyMap<string, string>
}

/**
 * The name of an organisation's database. Without an entry it is the one whose name has the highest hash with
 * the organisation, so that a further database takes over only its own part, and each organisation of another
 * database keeps its own.
 */
export function databaseOf({ names, entries }: Routes, org: string): string {
  const entry = entries.get(org)
  if (entry !== undefined) return entry
  let best = { name: names[0] ?? '', weight: '' }
  for (const name of names) {
    const weight = createHash('sha256').update(`${name}\n${org}`).digest('hex')
    if (weight > best.weight) best = { name, weight }
  }
  return best.name
}

/** Parses `{"<organisation>": "<database>"}`, or returns the problem as a sentence. */
export function readEntries(
  text: string,
  names: readonly string[],
): ReadonlyMap<string, string> | string {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return 'is not JSON'
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    return 'is not an object such as {"org-9": "eu-2"}'
  }
  const entries = new Map<string, string>()
  for (const [org, name] of Object.entries(json)) {
    if (typeof name !== 'string' || !names.includes(name)) {
      return `has no database of --into for ${org}: expected ${names.join(' or ')}`
    }
    entries.set(org, name)
  }
  return entries
}
