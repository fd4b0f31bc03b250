/** A Postgres with the whole schema, the simulated clock and 40 receivers. Its own cron jobs are played. */

import postgres, { type Sql } from 'postgres'
import { startTestPostgres } from '../../_support/postgres.ts'
import { ORDERED_EVERY } from './receivers.ts'

/** How many receivers there are, and how many types of events: a type goes to four of them. */
const ENDPOINTS = 40
const TYPES = 10
export const FAN_OUT = ENDPOINTS / TYPES

/** The job of vacuum skips a table that autovacuum has. */
const SKIPPED = 'skipping vacuum of'

/** A part of the upkeep to leave out, to show that the checker notices. */
export type Without = 'cleanup' | 'vacuum' | null

export interface World extends AsyncDisposable {
  /** For everything but the runs. */
  readonly sql: Sql
  /** The sessions of the runs. */
  readonly sessions: readonly Sql[]
  /** Ids of the receivers, by number; receiver n takes the type n % 10. */
  readonly endpoints: readonly string[]
  /** The commands of the jobs of pg_cron, by name. */
  readonly jobs: Readonly<Record<string, string>>
  /** Warnings of the database. */
  readonly warnings: string[]
  readonly without: Without
  /** Milliseconds since 1970. */
  now(): number
  setClock(ms: number): Promise<void>
  /** Turns the clock to the next due time, rounded up to `grainMs`, and at most to `latestMs`. */
  turnClock(grainMs: number, latestMs: number): Promise<void>
}

export async function startWorld(without: Without): Promise<World> {
  await using started = new AsyncDisposableStack()
  const pg = started.use(await startTestPostgres({ migrated: true }))
  const warnings: string[] = []
  const connect = (url: string): Sql => {
    const sql = postgres(url, {
      max: 1,
      onnotice: ({ severity, message }) => {
        if (severity === 'WARNING' && message !== undefined && !message.startsWith(SKIPPED)) {
          warnings.push(message)
        }
      },
    })
    started.defer(() => sql.end({ timeout: 1 }))
    return sql
  }
  const admin = connect(pg.adminDbUrl)
  const sql = connect(pg.dbUrl)
  await compressVacuum(admin, without)
  const jobs = await takeJobs(admin, sql)
  await sql.unsafe(await Deno.readTextFile(new URL('clock.sql', import.meta.url)))
  // The day after today: the migration has made its partitions.
  let now = Math.floor(Date.now() / 86_400_000 + 1) * 86_400_000
  const setClock = async (ms: number): Promise<void> => {
    now = ms
    await sql`select setval('outbox.simulated_time', ${Math.round(ms) * 1000})`
  }
  const turnClock = async (grainMs: number, latestMs: number): Promise<void> => {
    const [row] = await sql<{ at: number }[]>`
      select outbox.turn_clock(${grainMs}, ${Math.round(latestMs)}) as at`
    if (row === undefined) throw new Error('the clock does not turn')
    now = row.at
  }
  await setClock(now)
  await sql`select outbox.set_setting('kick.on_commit', 'false'),
    outbox.set_setting('dead_letter.retention_days', '3')`
  const endpoints: string[] = []
  for (let n = 0; n < ENDPOINTS; n++) endpoints.push(await createEndpoint(sql, n))
  const sessions = [connect(pg.dbUrl), connect(pg.dbUrl)]
  const all = started.move()
  return {
    ...{ sql, sessions, endpoints, jobs, warnings, without, setClock, turnClock },
    now: () => now,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

async function createEndpoint(sql: Sql, n: number): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    select outbox.create_endpoint(${`https://receiver-${n}.example/hook`}, ${[
    `load.e${n % TYPES}`,
  ]}::text[], p_ordering => ${n % ORDERED_EVERY === 0 ? 'partition' : 'none'},
      p_max_in_flight => 200, p_quantum => 50) ->> 'id' as id`
  if (row === undefined) throw new Error('no endpoint')
  return row.id
}

/** A second of this machine is hours of the simulation, so autovacuum looks as often as it can. */
async function compressVacuum(admin: Sql, without: Without): Promise<void> {
  await admin`alter system set autovacuum_naptime = '1s'`
  if (without === 'vacuum') await admin`alter system set autovacuum = off`
  await admin`select pg_reload_conf()`
}

/** Reads the jobs and removes them from pg_cron, which would run them by the server's clock. */
async function takeJobs(admin: Sql, sql: Sql): Promise<Record<string, string>> {
  const jobs = await sql<{ name: string; command: string }[]>`
    select jobname as name, command from cron.job`
  await sql`select cron.unschedule(j.jobid) from cron.job j`
  await admin`
    select pg_terminate_backend(a.pid) from pg_stat_activity a
    where a.query like '%outbox.try_tick(%' and a.pid <> pg_backend_pid()`
  return Object.fromEntries(jobs.map(({ name, command }) => [name, command]))
}
