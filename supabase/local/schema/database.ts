import { join } from 'node:path'
import { SetupError } from '../errors.ts'
import { type Postgres, startPostgres } from '../postgres/mod.ts'
import { readSqlFiles, type SqlFile } from './migration.ts'

/** From what a database's schema is made. */
export type SchemaSource = 'sql' | 'migrations'

/** The files that make the schema, in order: those of sql/ or those of supabase/migrations/. */
export async function readSource(root: string, source: SchemaSource): Promise<SqlFile[]> {
  if (source === 'sql') return await readSqlFiles(root)
  const names: string[] = []
  for await (const entry of Deno.readDir(join(root, 'supabase/migrations'))) {
    if (entry.isFile && /^\d+_.*\.sql$/.test(entry.name)) names.push(entry.name)
  }
  const paths = names.sort().map((name) => `supabase/migrations/${name}`)
  return await Promise.all(
    paths.map(async (path) => ({ path, text: await Deno.readTextFile(join(root, path)) })),
  )
}

/**
 * Applies each file as the role postgres, in one transaction a file as the Supabase CLI does.
 * Throws a SetupError with the file's name and psql's message at the first that fails.
 */
export async function applyFiles(pg: Postgres, files: readonly SqlFile[]): Promise<void> {
  for (const file of files) {
    const { code, stderr } = await pg.psql(file.text, { args: ['--single-transaction'] })
    if (code !== 0) throw new SetupError(`Cannot apply ${file.path}:\n${stderr}`)
  }
}

/**
 * Starts a throw-away cluster below `.outhook/` of the project at `root`, builds the schema in it,
 * hands it to `use`, and removes it whatever happens. Throws what building or `use` throws.
 */
export async function withSchema<T>(
  root: string,
  source: SchemaSource,
  use: (pg: Postgres) => Promise<T>,
): Promise<T> {
  const files = await readSource(root, source)
  return await withPostgres(root, async (pg) => {
    await applyFiles(pg, files)
    return await use(pg)
  })
}

/** The same without a schema: a cluster with the platform alone. */
export async function withPostgres<T>(
  root: string,
  use: (pg: Postgres) => Promise<T>,
): Promise<T> {
  const home = join(root, '.outhook')
  await Deno.mkdir(home, { recursive: true })
  const dataDir = await Deno.makeTempDir({ dir: home, prefix: 'test-' })
  try {
    const pg = await startPostgres({ dataDir, port: 'free', fsync: false })
    try {
      return await use(pg)
    } finally {
      await pg.stop()
    }
  } finally {
    await Deno.remove(dataDir, { recursive: true })
  }
}
