import postgres from 'postgres'
import { print } from '../../supabase/local/print.ts'
import type { SqlFile } from '../../supabase/local/schema/migration.ts'

/** The locks of tables that a migration held at its end, except those that wait for nobody. */
export type Held = Record<string, string[]>

/**
 * Applies the migrations as `supabase db push` does, each in its transaction, and again if a lock was
 * not free in time. Prints how long each transaction was open, and returns the locks of each.
 */
export async function migrate(dbUrl: string, files: readonly SqlFile[]): Promise<Held> {
  const held: Held = {}
  const sql = postgres(dbUrl, { max: 1, onnotice: () => {} })
  try {
    for (const { path, text } of files) {
      for (let tries = 1;; tries++) {
        const from = performance.now()
        try {
          await sql.unsafe(`begin;\n${text}`)
          const locks = await sql`
            select c.relname || ' ' || l.mode as lock
            from pg_locks l join pg_class c on c.oid = l.relation
            where l.pid = pg_backend_pid() and c.relnamespace = 'outbox'::regnamespace
              and c.relkind in ('r', 'p')
              and l.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock',
                'AccessExclusiveLock')
            order by 1`
          await sql.unsafe('commit')
          held[path.replace(/^.*_outhook_/, '')] = locks.map(({ lock }) => lock)
          const ms = Math.round(performance.now() - from)
          print(`${path}: open for ${ms} ms, in try ${tries}`)
          break
        } catch (error) {
          await sql.unsafe('rollback')
          const isLock = error instanceof postgres.PostgresError && error.code === '55P03'
          if (!isLock || tries === 50) throw error
        }
      }
    }
  } finally {
    await sql.end({ timeout: 1 })
  }
  return held
}
