import postgres from 'postgres'
import { migrate, readMigrations } from './migrate.ts'
import { seed } from './seed.ts'

const SUPABASE = new URL('../../', import.meta.url)

/**
 * Brings the database at `dbUrl` (role postgres) to what supabase/migrations and supabase/seed.sql say.
 * Throws a SetupError that names the file when one cannot be applied or has changed since it was.
 */
export async function prepareDatabase(
  { dbUrl, log }: { dbUrl: string; log: (line: string) => void },
): Promise<void> {
  const sql = postgres(dbUrl, { max: 1, onnotice: () => {} })
  try {
    const applied = await migrate(sql, await readMigrations(new URL('migrations/', SUPABASE)))
    for (const version of applied) log(`migration ${version} applied`)
    if (await seed(sql, 'supabase/seed.sql', new URL('seed.sql', SUPABASE))) log('seed.sql run')
  } finally {
    await sql.end()
  }
}

/**
 * Tells the product where its functions are and which secret starts them, through outbox.configure(),
 * which puts both into Vault. A database without that function is left alone.
 */
export async function configureOutbox(
  { dbUrl, functionsUrl, workerSecret }: {
    dbUrl: string
    functionsUrl: string
    workerSecret: string
  },
): Promise<void> {
  const sql = postgres(dbUrl, { max: 1, onnotice: () => {} })
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
