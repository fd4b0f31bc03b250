import { join } from 'node:path'
import { SetupError } from '../errors.ts'
import { type Postgres, startPostgres } from '../postgres/mod.ts'
import { readSqlFiles, type SqlFile } from './migration.ts'

/** The source of a database's schema. */
export type SchemaSource = 'sql' | 'migrations'

/** The SQL files of the schema in order, from sql/ or supabase/migrations/. */
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
 * Applies the files as the role postgres in one psql, each in its own transaction, as the Supabase CLI
 * does, or all of them in one. Throws a SetupError at the first failure, with the file's name and psql's
 * message with the file's line number.
 */
export async function applyFiles(
  pg: Postgres,
  files: readonly SqlFile[],
  transactions: 'of each file' | 'one' = 'of each file',
): Promise<void> {
  const [begin, commit] = transactions === 'one' ? ['', ''] : ['begin;', 'commit;']
  const scripts = files.map(({ path, text }) => `\\echo ${path}\n${begin}\n${text}\n;\n${commit}\n`)
  const all = transactions === 'one' ? ['begin;', ...scripts, 'commit;'].join('') : scripts.join('')
  const { code, stdout, stderr } = await pg.psql(all)
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
 * Starts a temporary cluster in `.outhook/` of the project at `root`, builds the schema in it, calls
 * `use`, and removes the cluster. Rejects with the error of the build or of `use`.
 */
export async function withSchema<T>(
  root: string,
  source: SchemaSource,
  use: (pg: Postgres) => Promise<T>,
): Promise<T> {
  const files = await readSource(root, source)
  return await withPostgres(root, async (pg) => {
    // The tick starts with the first files: between two files of a later module it can deadlock with the next one.
    await applyFiles(pg, files, source === 'sql' ? 'one' : 'of each file')
    return await use(pg)
  })
}

/** The same without the schema: a cluster with only the platform. */
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
