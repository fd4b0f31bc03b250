import { type Postgres, startPostgres } from '../../supabase/local/postgres/mod.ts'
import { databaseFolder, sweepTestFolders } from './folder.ts'
import { copyPrepared } from './prepared.ts'

/**
 * A Postgres of the test's own, with its data folder; disposing of it stops it and removes the
 * folder.
 */
export interface TestPostgres extends Postgres, AsyncDisposable {
  readonly dataDir: string
  /** Stops it and keeps the folder. */
  halt(): Promise<void>
}

/** How a test's Postgres begins. */
export interface TestPostgresOptions {
  /** Whether the migrations are applied, without the seed; false by default. */
  migrated?: boolean
  /** Whether to make the cluster anew instead of copying a prepared one; false by default. */
  own?: boolean
}

/**
 * Starts a Postgres with the platform's roles, vault, net and pg_cron on a free port, as a copy of a
 * prepared one. Durability is off. Takes about half a second: share one per file.
 */
export async function startTestPostgres(
  { migrated = false, own = false }: TestPostgresOptions = {},
): Promise<TestPostgres> {
  await sweepTestFolders()
  const dataDir = databaseFolder()
  if (!own) await copyPrepared(dataDir, migrated ? 'migrations' : 'platform')
  const postgres = await startPostgres({ dataDir, port: 'free', fsync: false, log: () => {} })
  const stop = async (): Promise<void> => {
    await postgres.stop()
    await Deno.remove(dataDir, { recursive: true }).catch(() => {})
  }
  return { ...postgres, dataDir, halt: postgres.stop, stop, [Symbol.asyncDispose]: stop }
}

/** Hands a Postgres with the migrations to `use`, and removes it whatever happens. */
export async function withMigrations<T>(use: (pg: TestPostgres) => Promise<T>): Promise<T> {
  await using pg = await startTestPostgres({ migrated: true })
  return await use(pg)
}
