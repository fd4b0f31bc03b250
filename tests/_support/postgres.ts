import { type Postgres, startPostgres } from '../../supabase/local/postgres/mod.ts'
import { sweepTestFolders, testFolder } from './folder.ts'

/**
 * A Postgres of the test's own, with its data folder; disposing of it stops it and removes the
 * folder.
 */
export interface TestPostgres extends Postgres, AsyncDisposable {
  readonly dataDir: string
}

/**
 * Starts a Postgres with the platform's roles, vault, net and pg_cron on a free port. Durability is
 * off. Takes about a second: share one per file.
 */
export async function startTestPostgres(): Promise<TestPostgres> {
  await sweepTestFolders()
  const dataDir = testFolder()
  const postgres = await startPostgres({ dataDir, port: 'free', fsync: false, log: () => {} })
  const stop = async (): Promise<void> => {
    await postgres.stop()
    await Deno.remove(dataDir, { recursive: true }).catch(() => {})
  }
  return { ...postgres, dataDir, stop, [Symbol.asyncDispose]: stop }
}
