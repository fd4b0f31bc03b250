/** A database with the whole schema, and sessions of it that the test drives one by one. */

import postgres, { type Sql } from 'postgres'
import { prepareDatabase } from '../../../supabase/local/database/mod.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { startTestPostgres } from '../../_support/postgres.ts'
import { patienceMs } from '../../_support/patience.ts'
import { installTestClock } from '../../_support/test_clock.ts'

/** One connection: its statements run one after the other, so `begin` and `commit` may stand alone. */
export interface Session {
  readonly sql: Sql
  /** The backend's process id, as pg_locks and pg_stat_activity name it. */
  readonly pid: number
  /** Every warning so far: the tick makes one of each error of its upkeep. */
  readonly warnings: readonly string[]
}

/** The test's own database. Disposing of it ends every session, stops the server and removes its folder. */
export interface OutboxDatabase extends AsyncDisposable {
  /** The connection string of the role postgres. */
  readonly dbUrl: string
  /** Superuser: watches the others, and changes what belongs to the platform. */
  readonly admin: Sql
  /** Opens a session of the role postgres. */
  open(): Promise<Session>
  /** Empties every table that the migration left empty, and puts the clock and the router back. */
  reset(): Promise<void>
}

/**
 * Starts a Postgres with the migrations applied and without cron jobs, which would act beside the test.
 * Deadlocks are looked for after 20 ms instead of a second.
 */
export async function startOutbox(): Promise<OutboxDatabase> {
  const pg = await startTestPostgres({ migrated: true })
  const opened: Sql[] = []
  const connect = (url: string, warnings: string[] = []): Sql => {
    const sql = postgres(url, {
      max: 1,
      onnotice: ({ severity, message }) => {
        if (severity === 'WARNING' && message !== undefined) warnings.push(message)
      },
      // A longer wait is for a lock that is never released.
      connection: { application_name: 'test', statement_timeout: patienceMs },
    })
    opened.push(sql)
    return sql
  }
  const dispose = async (): Promise<void> => {
    await Promise.all(opened.map((sql) => sql.end({ timeout: 0 })))
    await pg.stop()
  }
  try {
    await prepareDatabase({ dbUrl: pg.dbUrl, projectDir: projectRoot, log: () => {} })
    const admin = connect(pg.adminDbUrl)
    await admin`alter database postgres set deadlock_timeout = '20ms'`
    const owner = connect(pg.dbUrl)
    await stopCron(admin, owner)
    await installTestClock(owner)
    const tables = await emptyTables(admin)
    return {
      dbUrl: pg.dbUrl,
      admin,
      open: async () => {
        const warnings: string[] = []
        const sql = connect(pg.dbUrl, warnings)
        const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
        if (row === undefined) throw new Error('the session does not know its process id')
        return { sql, pid: row.pid, warnings }
      },
      reset: () => reset(admin, tables),
      [Symbol.asyncDispose]: dispose,
    }
  } catch (error) {
    await dispose()
    throw error
  }
}

/** Removes the jobs, and ends one that a full minute started in between. */
async function stopCron(admin: Sql, owner: Sql): Promise<void> {
  await owner`select cron.unschedule(j.jobid) from cron.job as j`
  await admin`
    select pg_terminate_backend(a.pid) from pg_stat_activity as a where a.query like '%outbox.try_tick(%' and a.pid <> pg_backend_pid()`
}

async function reset(admin: Sql, tables: string[]): Promise<void> {
  // A test that failed may have left a transaction open: it must not fail the next one.
  await admin`
    select pg_terminate_backend(a.pid, 10000) from pg_stat_activity as a
    where a.application_name = 'test' and a.pid <> pg_backend_pid() and a.state <> 'idle'`
  const filled = await filledTables(admin, tables)
  if (filled.length > 0) await admin.unsafe(`truncate ${filled.join(', ')} cascade`)
  await admin`
    update outbox.router set watermark = default, seen_below = default, open_xids = default, batch = default where true`
  await admin`select setval('outbox.last_kick', 0), setval('outbox.kicks_without_run', 0, false),
    setval('outbox.passed_pairs', 0), setval('outbox.event_clock', 0, false),
    setval('outbox.workers_asleep', 0), setval('outbox.last_work', 0)`
}

/** Those of the tables, and of their partitions, that have pages: to truncate all of them takes half a second. */
async function filledTables(admin: Sql, tables: string[]): Promise<string[]> {
  const rows = await admin<{ name: string }[]>`
    select c.oid::regclass::text as name from pg_class as c
    left join pg_inherits as i on i.inhrelid = c.oid
    where c.relkind = 'r' and pg_relation_size(c.oid) > 0
      and coalesce(i.inhparent, c.oid)::regclass::text = any(${tables})`
  return rows.map(({ name }) => name)
}

/**
 * The tables that are empty in a new database, besides the audit trail, which has its settings: what the migration
 * fills is not the tests' to empty.
 */
async function emptyTables(admin: Sql): Promise<string[]> {
  const rows = await admin<{ name: string }[]>`
    select c.oid::regclass::text as name from pg_class as c
    where c.relnamespace = 'outbox'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`
  const empty = ['outbox.audit_event']
  for (const { name } of rows) {
    if ((await admin.unsafe(`select from ${name} limit 1`)).length === 0) empty.push(name)
  }
  return empty
}
