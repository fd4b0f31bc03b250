/**
 * Migrations on a server whose pg_cron is loaded and idle, as on a project that has it already: the real
 * pg_cron hears of their jobs, and that they are gone. With pg_cron 1.4 each wait takes up to a minute.
 */

import { expect } from '@std/expect'
import postgres, { type Sql } from 'postgres'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { applyFiles, readSource } from '../../supabase/local/schema/database.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { startTestPostgres, type TestPostgres } from '../_support/postgres.ts'
import { docsBlock } from '../project/_docs.ts'

/** pg_cron 1.4 starts a job with the next minute. */
const timeoutMs = 75_000

const reload = 'supabase/migrations/20260102000000_reload_jobs.sql'

async function until(condition: () => Promise<boolean>): Promise<void> {
  expect(await waitUntil(condition, { timeoutMs })).toBe(true)
}

/** The boolean result of a statement with one row and one column. */
async function says(sql: Sql, question: string): Promise<boolean> {
  const [row] = await sql.unsafe(`select (${question}) as yes`)
  return row?.yes === true
}

/** Gives pg_cron a job, and waits until it has read its list and has nothing to do. */
async function makeCronIdle(sql: Sql): Promise<{ knowsSeconds: boolean }> {
  const knowsSeconds = await says(
    sql,
    `select extversion not like '1.4%' from pg_extension where extname = 'pg_cron'`,
  )
  await sql`select cron.schedule('own', ${knowsSeconds ? '1 seconds' : '* * * * *'}, 'select 1')`
  await until(() =>
    says(
      sql,
      knowsSeconds
        ? `select count(*) > 0 from cron.job_run_details where end_time is not null`
        : `select coalesce(bool_or(state_change > (
            select backend_start from pg_stat_activity where pid = pg_backend_pid())), false)
          from pg_stat_activity where backend_type = 'pg_cron launcher' and state = 'idle'`,
    )
  )
  return { knowsSeconds }
}

/** Waits until pg_cron has run the project's own job this many more times. */
async function waitForOwnJob(sql: Sql, times: number): Promise<void> {
  const [row] = await sql`
    select count(*)::integer as n from cron.job_run_details d join cron.job j using (jobid)
    where j.jobname = 'own' and d.end_time is not null`
  await until(() =>
    says(
      sql,
      `select count(*) >= ${
        row?.n + times
      } from cron.job_run_details d join cron.job j using (jobid)
       where j.jobname = 'own' and d.end_time is not null`,
    )
  )
}

/**
 * Runs `work` while the launcher of pg_cron is stopped in a pause between two of its transactions. On a busy
 * machine it could otherwise read the invalidations during the commit that overflows their queue.
 */
async function withLauncherStopped(sql: Sql, work: () => Promise<unknown>): Promise<void> {
  const pausing = async (): Promise<number | null> => {
    const [row] = await sql`
      select pid from pg_stat_activity
      where backend_type = 'pg_cron launcher' and wait_event_type = 'Extension'`
    return row?.pid ?? null
  }
  let pid = 0
  await until(async () => {
    pid = await pausing() ?? 0
    if (pid === 0) return false
    Deno.kill(pid, 'SIGSTOP')
    if (await pausing() !== null) return true
    Deno.kill(pid, 'SIGCONT')
    return false
  })
  try {
    await work()
  } finally {
    Deno.kill(pid, 'SIGCONT')
  }
}

async function run(pg: TestPostgres, script: string): Promise<void> {
  const { code, stderr } = await pg.psql(script)
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
}

Deno.test('an idle pg_cron runs the jobs after all migrations, and none after the uninstall', async (t) => {
  await using pg = await startTestPostgres()
  const sql = postgres(pg.dbUrl, { max: 1, onnotice: () => {} })
  try {
    const { knowsSeconds } = await makeCronIdle(sql)
    const files = await readSource(projectRoot, 'migrations')
    expect(files.at(-1)?.path).toBe(reload)
    await withLauncherStopped(sql, () => applyFiles(pg, files.slice(0, -1)))

    await t.step('without the last migration none runs, and the checks say so', async () => {
      if (knowsSeconds) await waitForOwnJob(sql, 3)
      expect(await says(sql, 'select outbox.last_tick_at() is null')).toBe(true)
      await sql`
        select setval('outbox.last_tick',
          (extract(epoch from clock_timestamp() - interval '91 s') * 1000)::bigint, false)`
      const [health] = await sql`select problems from outbox.queue_health`
      expect(health?.problems).toEqual([
        'the tick does not run: it has not run since Outhook was installed, ' +
        'pg_cron may not have loaded its job yet: run select outbox.reload_jobs() (runbook: No tick)',
      ])
    })

    await t.step('with it the tick runs, and nothing is wrong any more', async () => {
      await applyFiles(pg, files.slice(-1))
      await until(() => says(sql, 'select outbox.last_tick_at() is not null'))
      const [health] = await sql`select problems from outbox.queue_health`
      expect(health?.problems).toEqual([])
    })

    await t.step('after the uninstall of the pages no job is started', async () => {
      await run(pg, docsBlock('uninstall'))
      await waitForOwnJob(sql, knowsSeconds ? 3 : 1)
      expect(
        await sql`select command, status, return_message from cron.job_run_details
          where command not in (select command from cron.job)`,
      ).toEqual([])
    })
  } finally {
    await sql.end()
  }
})

Deno.test('every migration that changes a cron job is followed by one that makes pg_cron read its jobs', async () => {
  const files = await readSource(projectRoot, 'migrations')
  const touches = files.map(({ text }) => /\bcron\.(schedule|unschedule|alter_job)\b/.test(text))
  const reloads = files.map(({ text }) => /^select outbox\.reload_jobs\(\);$/m.test(text))
  expect(touches).toContain(true)
  expect(reloads.lastIndexOf(true)).toBeGreaterThan(touches.lastIndexOf(true))
})
