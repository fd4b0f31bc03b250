import { connectionUrlProblem } from '../../functions/_shared/database/url.ts'

/** A database by its name in the routes. */
export type NamedDatabase = { name: string; url: string }

/** The start of the variables that have the connection strings. */
export const variablePrefix = 'OUTHOOK_INTO_'

/** Whether a database may have this name. */
export function isDatabaseName(text: string): boolean {
  return /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/.test(text)
}

/**
 * The databases that an option names, each as `eu-1` with its connection string in OUTHOOK_INTO_EU_1, or as
 * `eu-1=postgresql://…`; or the problem as a sentence, which never has a connection string.
 */
export function readDatabases(
  given: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  option = '--into',
): NamedDatabase[] | string {
  if (given.length === 0) return `Give at least one ${option}, such as ${option} eu-1`
  const databases: NamedDatabase[] = []
  for (const text of given) {
    const [, name = '', url] = /^([^=]*)(?:=(.*))?$/s.exec(text) ?? []
    if (!isDatabaseName(name)) {
      return `${option} takes a name of at most 32 small letters, digits and -, such as eu-1, or ` +
        'eu-1=postgresql://…'
    }
    const variable = variablePrefix + name.toUpperCase().replaceAll('-', '_')
    const own = url ?? env[variable] ?? ''
    const named = url === undefined ? variable : `${option} ${name}`
    const problem = own === '' ? 'is not set' : connectionUrlProblem(own)
    if (problem !== null) return `${named} ${problem}`
    const same = databases.find((other) => other.name === name || other.url === own)
    if (same !== undefined) {
      return same.name === name
        ? `${option} ${name} is given twice`
        : `${option} ${same.name} and ${option} ${name} are the same database`
    }
    databases.push({ name, url: own })
  }
  return databases
}
