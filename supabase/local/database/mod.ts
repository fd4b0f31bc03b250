import { join, relative } from 'node:path'
import postgres from 'postgres'
import { readStackConfig } from '../config.ts'
import { abortable } from '../interrupted.ts'
import { migrate, readMigrations } from './migrate.ts'
import { seed } from './seed.ts'

/**
 * Applies supabase/migrations and the seed files in config.toml of `projectDir` (plain paths; the CLI
 * accepts patterns too) to the database at `dbUrl` (role postgres). Throws a SetupError that names the
 * file if one fails or has changed since it was applied.
 */
export async function prepareDatabase(
  { dbUrl, projectDir, log, signal }: {
    dbUrl: string
    projectDir: string
    log: (line: string) => void
    signal?: AbortSignal | undefined
  },
): Promise<void> {
  const supabase = join(projectDir, 'supabase')
  const sql = postgres(dbUrl, { max: 1, fetch_types: false, onnotice: () => {} })
  try {
    const migrations = await readMigrations(join(supabase, 'migrations'))
    await abortable(migrate(sql, migrations, log), signal)
    const { enabled, sql_paths } = (await readStackConfig(projectDir)).db.seed
    for (const file of enabled ? sql_paths.map((path) => join(supabase, path)) : []) {
      const path = relative(projectDir, file)
      if (await abortable(seed(sql, path, file), signal)) log(`${path} run`)
    }
  } finally {
    await sql.end({ timeout: signal?.aborted === true ? 0 : undefined })
  }
}

/**
 * Calls outbox.configure() with the URL of the functions and the kick secret, which it stores in Vault.
 * Does nothing if the database has no such function.
 */
export async function configureOutbox(
  { dbUrl, functionsUrl, workerSecret }: {
    dbUrl: string
    functionsUrl: string
    workerSecret: string
  },
): Promise<void> {
  const sql = postgres(dbUrl, { max: 1, fetch_types: false, onnotice: () => {} })
  try {
    const [found] = await sql`
      select from pg_catalog.pg_proc as p
      where p.pronamespace = pg_catalog.to_regnamespace('outbox') and p.proname = 'configure'`
    if (found === undefined) return
    await sql`
      select outbox.configure(
        p_functions_url => ${functionsUrl}, p_worker_secret => ${workerSecret})`
  } finally {
    await sql.end()
  }
}
