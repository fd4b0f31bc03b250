/**
 * The jobs of a role whose statement_timeout is two seconds, run by the real pg_cron: the tick comes every
 * second, and whatever there is to clean up is cleaned up in pieces.
 */

import { expect } from '@std/expect'
import postgres, { type Sql } from 'postgres'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { startTestPostgres } from '../_support/postgres.ts'
import { untilTickMs } from '../_support/patience.ts'

const ROWS = 60_000

/** The command of a job, as pg_cron sends it. */
async function commandOf(sql: Sql, job: string): Promise<string> {
  const [row] = await sql<{ command: string }[]>`
    select command from cron.job where jobname = ${job}`
  if (row === undefined) throw new Error(`there is no job ${job}`)
  return row.command
}

/** Calls it in a new session of the role, until it says so; returns how many calls it took. */
async function runUntil(
  dbUrl: string,
  command: string,
  isDone: () => Promise<boolean>,
): Promise<number> {
  for (let starts = 1; starts <= 100; starts++) {
    const session = postgres(dbUrl, { max: 1, onnotice: () => {} })
    try {
      await session.unsafe(command).simple()
    } finally {
      await session.end()
    }
    if (await isDone()) return starts
  }
  throw new Error('it is not done after 100 starts')
}

/** Longest time without a tick in so many seconds. */
async function longestGapMs(sql: Sql, seconds: number): Promise<number> {
  const at = async (): Promise<number> => {
    const [row] = await sql<{ at: string }[]>`select last_value as at from outbox.last_tick`
    return Number(row?.at)
  }
  let [last, longest] = [await at(), 0]
  for (const until = Date.now() + seconds * 1000; Date.now() < until;) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    const next = await at()
    longest = Math.max(longest, next - last, Date.now() - next)
    last = next
  }
  return longest
}

Deno.test('jobs whose role has a statement_timeout of 2 s end in time', async (t) => {
  await using pg = await startTestPostgres({ migrated: true })
  const admin = postgres(pg.adminDbUrl, { max: 1, onnotice: () => {} })
  const sql = postgres(pg.dbUrl, { max: 1, onnotice: () => {} })
  try {
    await admin`alter role postgres set statement_timeout = '2s'`
    await admin`
      select pg_terminate_backend(pid) from pg_stat_activity where query like '%try_tick%'
        and pid <> pg_backend_pid()`
    // With pg_cron 1.4 the first start of the job finds that its timeout is too short for a loop.
    const isReady = async (): Promise<boolean> => {
      const [row] = await sql`
        select schedule = '1 seconds' or command like 'begin;%' as yes from cron.job
        where jobname = 'outhook-tick'`
      return row?.yes
    }
    expect(await waitUntil(isReady, { timeoutMs: untilTickMs })).toBe(true)
    const [{ startedAt } = {}] = await sql<{ startedAt: Date }[]>`
      select clock_timestamp() as "startedAt"`

    await t.step('the tick comes every second, also when the job is started again', async () => {
      // With pg_cron 1.4 the start that changes the job ends early: the next one, at most a minute
      // later, has one tick a second.
      const hasTicked = async (): Promise<boolean> => {
        const [row] = await sql`
          select exists (
            select from cron.job_run_details d
            join cron.job j using (jobid)
            where j.jobname = 'outhook-tick' and d.command = j.command
              and d.start_time > ${startedAt ?? ''}
              and d.start_time < to_timestamp((select last_value from outbox.last_tick) / 1000.0)
          ) as yes`
        return row?.yes
      }
      expect(await waitUntil(hasTicked, { timeoutMs: untilTickMs })).toBe(true)
      // Longer than a minute, in which pg_cron 1.4 starts the job again.
      expect(await longestGapMs(sql, 70)).toBeLessThan(3_000)
      expect(
        await sql`
          select d.status, d.return_message from cron.job_run_details d
          join cron.job j using (jobid)
          where j.jobname = 'outhook-tick' and d.status = 'failed' and d.start_time > ${
          startedAt ?? ''
        }`,
      ).toEqual([])
    })

    await t.step('the cleanup deletes everything in several starts, and nothing else', async () => {
      await admin`
        insert into outbox.idempotency_key (org_id, key, event_id, content, created_at)
        select 'org', n::text, gen_random_uuid(), '', now() - interval '2 days'
        from generate_series(1, ${ROWS}::int) n`
      await admin`
        insert into outbox.consumer_inbox (consumer, event_id, accepted_at)
        select 'c', n::text, now() - interval '50 days' from generate_series(1, ${ROWS}::int) n`
      // One row takes a millisecond, so that a piece of the usual size does not fit the timeout.
      await admin.unsafe(`
        create function public.slow() returns trigger language plpgsql as
          $$ begin perform pg_sleep(0.001); return old; end $$;
        create trigger slow before delete on outbox.request_key
          for each row execute function public.slow()`)
      await admin`
        insert into outbox.request_key (org_id, route, key, content, response, created_at)
        select 'org', 'r', n::text, '', '{}', now() - interval '2 days'
        from generate_series(1, 3000) n`
      const event = await sql`select outbox.publish('a', '{}', p_idempotency_key => 'young')`
      await sql`update outbox.cleanup_progress set done_on = null where true`
      const starts = await runUntil(
        pg.dbUrl,
        await commandOf(sql, 'outhook-cleanup'),
        async () => {
          const [row] = await sql<{ left: number }[]>`
            select count(*)::int as left from outbox.cleanup_step s
            where not exists (
              select from outbox.cleanup_progress p
              where p.name = s.name and p.done_on = (now() at time zone 'UTC')::date)`
          return row?.left === 0
        },
      )
      expect(starts).toBeGreaterThan(1)
      expect(event.length).toBe(1)
      const [left] = await sql`
        select (select count(*)::int from outbox.idempotency_key) as keys,
          (select count(*)::int from outbox.request_key) as requests,
          (select count(*)::int from outbox.consumer_inbox) as inbox,
          (select count(*)::int from outbox.event where type = 'a') as events`
      expect(left).toEqual({ keys: 1, requests: 0, inbox: 0, events: 1 })
      await admin.unsafe('drop function public.slow() cascade')
    })

    await t.step('old partitions are dropped in several transactions', async () => {
      for (let n = 0; n < 3; n++) {
        await sql`select outbox.add_partition('attempt', current_date - 60 - ${n}::int)`
      }
      const old = async (): Promise<number> => {
        const [row] = await sql<{ n: number }[]>`
          select count(*)::int as n from outbox.partitions('attempt') p
          where p.until < now() - interval '50 days'`
        return row?.n ?? NaN
      }
      expect(await old()).toBe(3)
      await runUntil(
        pg.dbUrl,
        await commandOf(sql, 'outhook-drop-partitions'),
        async () => await old() === 0,
      )
    })
  } finally {
    await Promise.all([admin.end(), sql.end()])
  }
})
