import { createHash } from 'node:crypto'
import { isDatabaseName } from './databases.ts'

/** The databases that have organisations by their hash, and the organisations whose databases were chosen. */
export type Routes = {
  /** The names of the databases. None: the routes do not say them. */
  names: readonly string[]
  /** The databases of an organisation, at least one. All others have one by their hash. */
  entries: ReadonlyMap<string, readonly string[]>
}

/** The member whose value is the list of the databases by hash. */
const byHash = '*'

/**
 * The names of an organisation's databases: each of them gets all its events. Without an entry it has one, by its
 * hash. None: the routes do not say it.
 */
export function databasesOf({ names, entries }: Routes, org: string): readonly string[] {
  return entries.get(org) ?? (names.length === 0 ? [] : [databaseByHash(names, org)])
}

/**
 * The database of a key: the one whose name has the highest hash with it, so that a further database takes over
 * only its own part, and each key of another database keeps its own. `names` has at least one.
 */
export function databaseByHash(names: readonly string[], key: string): string {
  let best = { name: names[0] ?? '', weight: '' }
  for (const name of names) {
    const weight = createHash('sha256').update(`${name}\n${key}`).digest('hex')
    if (weight > best.weight) best = { name, weight }
  }
  return best.name
}

/**
 * Parses `{"*": ["<database>", …], "<organisation>": "<database>" or a list of them}`, or returns the problem as a
 * sentence. `names`: those of all databases. Without `*`, each of them has organisations by their hash. null: the
 * caller does not know them, and every name is accepted.
 */
export function readRoutes(text: string, names: readonly string[] | null): Routes | string {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return 'is not JSON'
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    return 'is not an object such as {"org-9": "eu-2"}'
  }
  const isName = (value: unknown): value is string =>
    typeof value === 'string' && (names?.includes(value) ?? isDatabaseName(value))
  const isList = (value: unknown): value is string[] =>
    Array.isArray(value) && value.length > 0 && value.every(isName) &&
    new Set(value).size === value.length
  const some = names === null ? 'names such as eu-1' : `some of ${names.join(', ')}`
  const one = names === null ? 'a name such as eu-1' : names.join(' or ')
  // Who does not know the names has no --into.
  const of = names === null ? '' : ' of --into'
  let own = names ?? []
  const entries = new Map<string, readonly string[]>()
  for (const [org, value] of Object.entries(json)) {
    if (org === byHash) {
      if (!isList(value)) {
        return `has a * that is not a list of databases${of}: expected ${some}`
      }
      own = value
    } else if (isName(value)) entries.set(org, [value])
    else if (isList(value)) entries.set(org, value)
    else if (Array.isArray(value)) {
      return `has no list of databases${of} for ${org}: expected ${some}, each once`
    } else return `has no database${of} for ${org}: expected ${one}`
  }
  return { names: own, entries }
}
