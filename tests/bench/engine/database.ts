/** A database of its own for a bench of the engine, with the schema and the SQL that the bench needs. */

import postgres, { type Sql } from 'postgres'
import { prepareDatabase } from '../../../supabase/local/database/mod.ts'
import { startPostgres } from '../../../supabase/local/postgres/mod.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { testFolder } from '../../_support/folder.ts'

/**
 * What a bench works with: `sql` is one session, `open()` makes more. All are superusers. `dbUrl` is that of the role
 * of a worker.
 */
export interface Bench {
  sql: Sql
  open: () => Sql
  dbUrl: string
}

/** Which of pg_cron's jobs go on, by name; the others would disturb what is measured. */
export interface BenchOptions {
  script: string
  jobs: string[]
}

/** Runs a bench and takes its database away again. `script` is a file in this folder's parent. */
export async function withBench(
  { script, jobs }: BenchOptions,
  run: (bench: Bench) => Promise<void>,
): Promise<void> {
  const dataDir = testFolder()
  const pg = await startPostgres({ dataDir, port: 'free', fsync: true, log: () => {} })
  const sessions: Sql[] = []
  function open(): Sql {
    const sql = postgres(pg.adminDbUrl, {
      max: 1,
      onnotice: () => {},
      connection: { statement_timeout: 0 },
    })
    sessions.push(sql)
    return sql
  }
  try {
    await prepareDatabase({ dbUrl: pg.dbUrl, projectDir: projectRoot, log: () => {} })
    const sql = open()
    await sql`update cron.job set active = jobname = any (${jobs}) where true`
    await sql.file(new URL(`../${script}`, import.meta.url).pathname)
    await run({ sql, open, dbUrl: pg.dbUrl })
  } finally {
    await Promise.all(sessions.map((sql) => sql.end()))
    await pg.stop()
    await Deno.remove(dataDir, { recursive: true })
  }
}
