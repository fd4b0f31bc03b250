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
 * Applies the files as the role postgres, all in one psql: each in a transaction of its own, as the
 * Supabase CLI does. Throws a SetupError with the file's name and psql's message, whose line is the
 * file's, at the first that fails.
 */
export async function applyFiles(pg: Postgres, files: readonly SqlFile[]): Promise<void> {
  const scripts = files.map(({ path, text }) => `\\echo ${path}\nbegin;\n${text}\n;\ncommit;\n`)
  const { code, stdout, stderr } = await pg.psql(scripts.join(''))
  if (code === 0) return
  const begun = stdout.split('\n')
  const at = files.findLastIndex(({ path }) => begun.includes(path))
  const before = scripts.slice(0, at).join('').split('\n').length + 1
  const message = stderr.replace(
    /^psql:<stdin>:(\d+):/gm,
    (_, line: string) => `line ${Number(line) - before}:`,
  )
  throw new SetupError(`Cannot apply ${files[at]?.path ?? 'the schema'}:\n${message}`)
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
