import { databasesOf, readRoutes } from '../../../consumer/into/routes.ts'

/** What the command line says. */
export interface Given {
  org: string
  /** The file with the routes of `outhook consume`. */
  routes: string
  /** The names of the databases. */
  names: readonly string[]
  /** Those that are emptied. */
  empty: readonly string[]
}

/**
 * Why the databases of the command line are not those that take the events of the organisation, with the remedy;
 * null: they are. One that is emptied has to take them, too, until its last endpoint has left it.
 */
export async function whyNotRouted(
  { org, routes: file, names, empty }: Given,
  readFile: (path: string) => Promise<string>,
): Promise<string | null> {
  const text = await readFile(file).catch(() => null)
  if (text === null) return `--routes ${file} cannot be read`
  const routes = readRoutes(text, null)
  if (typeof routes === 'string') return `--routes ${file} ${routes}`
  const routed = databasesOf(routes, org)
  if (routed.length === 0) {
    return `--routes ${file} has neither ${org} nor *, so it does not say the databases of ${org}. Write the list ` +
      `of its databases for ${org}, and ${restart}`
  }
  const missing = routed.filter((name) => !names.includes(name))
  const leaving = names.filter((name) => !routed.includes(name) && empty.includes(name))
  const unrouted = names.filter((name) => !routed.includes(name) && !empty.includes(name))
  const problems = [
    ...missing.map((name) => `${name} takes them, and may have endpoints: add --database ${name}`),
    ...unrouted.map((name) =>
      `${name} takes none: leave out --database ${name}, or write it into the list of ${org} and ${restart}`
    ),
    ...leaving.map((name) =>
      `${name} takes none, and its endpoints would get no event until they have left it: write it into the list ` +
      `of ${org} again, ${restart}, and take it out when this command has ended with code 0`
    ),
  ]
  return problems.length === 0
    ? null
    : [`--routes ${file} sends the events of ${org} to ${routed.join(', ')}`, ...problems]
      .join('\n')
}

const restart = 'start all processes of outhook consume again'
