import { type NamedDatabase, readDatabases } from '../../../consumer/into/databases.ts'

/** How a person names the databases. */
export interface DatabaseOptions {
  /** Names, or `<name>=<url>`. */
  database: string[]
  /** A file with JSON: the connection string of each name. */
  databases?: string
}

/** The databases of the file and of the options, or the problem, which never has a connection string. */
export async function givenDatabases(
  { database, databases }: DatabaseOptions,
  env: Readonly<Record<string, string | undefined>>,
  readFile: (path: string) => Promise<string>,
): Promise<NamedDatabase[] | string> {
  const given: string[] = []
  if (databases !== undefined) {
    const read = await readNames(databases, readFile)
    if (typeof read === 'string') return `--databases ${databases} ${read}`
    given.push(...read)
  }
  return readDatabases([...given, ...database], env, '--database')
}

async function readNames(
  path: string,
  readFile: (path: string) => Promise<string>,
): Promise<string[] | string> {
  let json: unknown
  try {
    json = JSON.parse(await readFile(path))
  } catch (error) {
    // The error of the parser quotes the text.
    return error instanceof SyntaxError ? 'is not JSON' : 'cannot be read'
  }
  const entries = typeof json === 'object' && json !== null && !Array.isArray(json)
    ? Object.entries(json)
    : []
  if (entries.length === 0 || entries.some(([, url]) => typeof url !== 'string')) {
    return 'is not an object such as {"eu-1": "postgresql://…"}'
  }
  return entries.map(([name, url]) => `${name}=${url}`)
}
