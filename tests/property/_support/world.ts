/** Databases in which sequences are played, each in a transaction of its own that is rolled back. */

import { setTimeout as delay } from 'node:timers/promises'
import postgres, { type Sql } from 'postgres'
import { prepareDatabase } from '../../../supabase/local/database/mod.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { startTestPostgres } from '../../_support/postgres.ts'
import { installTestClock } from '../../_support/test_clock.ts'
import type { Script } from './script.ts'
import { type Ending, readTrace, type Seen, type Trace } from './trace.ts'

/** A server with the migrations and the interpreter of scripts. Disposing of it removes it. */
export interface World extends AsyncDisposable {
  /** Plays a script, then lets everything recover for at most `rounds` rounds. Throws what the database throws. */
  play(script: Script, rounds: number): Promise<Trace>
}

/**
 * Rolled-back rows are dead rows: after so many sequences they would slow the next ones down. Every
 * second time the statistics are made anew, so that plans are tried with them and without.
 */
const VACUUM_EVERY = 100

/** Starts a world; takes about three seconds. */
export async function startWorld(): Promise<World> {
  const pg = await startTestPostgres({ migrated: true })
  let sql: Sql | undefined
  let played = 0
  const dispose = async (): Promise<void> => {
    await sql?.end({ timeout: 0 })
    await pg.stop()
  }
  try {
    await prepareDatabase({ dbUrl: pg.dbUrl, projectDir: projectRoot, log: () => {} })
    await calm(pg.adminDbUrl)
    // However slow the machine is, a sequence is played to its end.
    const session = postgres(pg.dbUrl, {
      max: 1,
      onnotice: () => {},
      connection: { statement_timeout: 0 },
    })
    sql = session
    await prepare(session)
    return {
      async play(script, rounds): Promise<Trace> {
        if (++played % VACUUM_EVERY === 0) {
          await session.unsafe(played / VACUUM_EVERY % 2 === 0 ? 'vacuum analyze' : 'vacuum')
        }
        const [row] = await session<{ trace: (Seen | Ending)[] }[]>`
          select property.play(${JSON.stringify(script)}::text::jsonb, ${rounds}) as trace`
        return readTrace(row?.trace ?? [])
      },
      [Symbol.asyncDispose]: dispose,
    }
  } catch (error) {
    await dispose()
    throw error
  }
}

/**
 * Leaves the server to the sequences alone, so that a seed gives the same result at any load: a job that
 * pg_cron has begun goes on for a minute after it is unscheduled, and autovacuum comes when it likes.
 */
async function calm(adminDbUrl: string): Promise<void> {
  const admin = postgres(adminDbUrl, { max: 1, onnotice: () => {} })
  try {
    await admin`alter system set autovacuum = off`
    await admin`select pg_reload_conf()`
    await admin`select cron.unschedule(j.jobid) from cron.job as j`
    while (true) {
      const left = await admin`
        select pg_terminate_backend(a.pid) from pg_stat_activity a
        where a.pid <> pg_backend_pid() and a.backend_type in ('client backend', 'autovacuum worker')`
      if (left.length === 0) return
      await delay(20)
    }
  } finally {
    await admin.end()
  }
}

async function prepare(sql: Sql): Promise<void> {
  await installTestClock(sql)
  // The days of the sequences have their partitions, and a cleanup has few to make.
  await sql`
    select outbox.drop_partition(t.name, p.part)
    from (values ('event'), ('attempt')) t (name) cross join lateral outbox.partitions(t.name) p`
  await sql`insert into outbox.test_clock (at) values ('2026-03-01 12:00:00+00')`
  await sql`select outbox.add_partitions()`
  await sql`delete from outbox.test_clock where only_row`
  for (const file of ['world.sql', 'broken.sql', 'play.sql']) {
    await sql.unsafe(await Deno.readTextFile(new URL(file, import.meta.url)))
  }
}
