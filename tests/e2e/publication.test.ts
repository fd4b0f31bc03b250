/**
 * A publication for all tables, as an application's replica or CDC has it, with a subscriber: what Outhook
 * updates and deletes is allowed, and arrives.
 */

import { expect } from '@std/expect'
import postgres, { type Sql } from 'postgres'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { patienceMs } from '../_support/patience.ts'
import { startTestPostgres } from '../_support/postgres.ts'

/** Stops the jobs, which would change rows on both sides. */
async function stopJobs(sql: Sql): Promise<void> {
  await sql`select cron.unschedule(jobid) from cron.job`
  await sql`
    select pg_terminate_backend(pid, 10000) from pg_stat_activity
    where query like '%outbox.try_tick%' and pid <> pg_backend_pid()`
}

/** The number of rows of each table that a publication has. */
async function counts(sql: Sql): Promise<Record<string, number>> {
  const tables = await sql<{ name: string }[]>`
    select c.relname as name from pg_class c
    where c.relnamespace = 'outbox'::regnamespace and c.relkind in ('r', 'p')
      and c.relpersistence = 'p' and not c.relispartition
    order by c.relname`
  const counted: Record<string, number> = {}
  for (const { name } of tables) {
    const [row] = await sql<{ n: number }[]>`
      select count(*)::int as n from outbox.${sql(name)}`
    counted[name] = row?.n ?? NaN
  }
  return counted
}

/** A run that delivers everything, in calls of the application's role. */
async function deliver(sql: Sql): Promise<number> {
  const run = crypto.randomUUID()
  let [results, delivered] = ['[]', 0]
  for (let seq = 1; seq < 20; seq++) {
    const [row] = await sql<{ response: { deliveries: Record<string, unknown>[] } }[]>`
      select outbox.dispatch(${run}, ${seq}, ${results}::text::jsonb, 50, 'worker') as response`
    const { deliveries } = row?.response ?? { deliveries: [] }
    results = JSON.stringify(
      deliveries.map(({ event, endpoint, attempt }) => ({
        event,
        endpoint,
        attempt,
        outcome: 'delivered',
        status: 200,
        duration_ms: 1,
      })),
    )
    delivered += deliveries.length
  }
  return delivered
}

Deno.test('with a publication for all tables everything works, and a subscriber has the same rows', async () => {
  await using source = await startTestPostgres({ migrated: true })
  await using target = await startTestPostgres({ migrated: true })
  const open = (url: string): Sql => postgres(url, { max: 1, onnotice: () => {} })
  const [admin, sql] = [open(source.adminDbUrl), open(source.dbUrl)]
  const copy = open(target.adminDbUrl)
  try {
    await stopJobs(admin)
    await stopJobs(copy)
    await admin`create publication everything for all tables
      with (publish_via_partition_root = true)`
    await copy.unsafe(`create subscription everything connection '${source.adminDbUrl}'
      publication everything with (copy_data = false)`)

    await sql`select outbox.create_endpoint('https://receiver.example.com/', '{thing.*}')`
    await sql`select outbox.publish('thing.done', '{}') from generate_series(1, 30)`
    expect(await deliver(sql)).toBe(30)
    await sql`
      insert into outbox.idempotency_key (org_id, key, event_id, content, created_at)
      select 'org', n::text, gen_random_uuid(), '', now() - interval '2 days'
      from generate_series(1, 5) n`
    const [folded] = await sql<{ n: number }[]>`select outbox.fold_counters() as n`
    expect(folded?.n).toBeGreaterThan(0)
    // Rows that lie in DEFAULT move when their partition is made.
    await sql`
      insert into outbox.event (id, org_id, type, body, created_at)
      values (outbox.uuid_v7(now() + interval '20 days'), 'default', 'thing.done', '{}', now())`
    await sql`
      insert into outbox.attempt (event_id, attempt, at, kind, outcome)
      values (gen_random_uuid(), 1, now() + interval '20 days', 'attempt', 'failed')`
    const [made] = await sql`
      select outbox.add_partition('event', (now() at time zone 'UTC')::date + 20) as event,
        outbox.add_partition('attempt', (now() at time zone 'UTC')::date + 20) as attempt`
    expect(made).toEqual({ event: true, attempt: true })
    const [moved] = await sql`
      select (select count(*)::int from outbox.event_default) as events,
        (select count(*)::int from outbox.attempt_default) as attempts`
    expect(moved).toEqual({ events: 0, attempts: 0 })
    const [cleaned] = await sql`
      select outbox.cleanup() as result, outbox.drop_partitions() as dropped, outbox.tick() as tick`
    expect(cleaned?.result).toMatchObject({ idempotency_keys: 5, more: false })
    expect(cleaned?.result.errors).toBeUndefined()

    // The last commits may not be written yet, because durability is off.
    const [end] = await sql<{ lsn: string }[]>`
      select pg_current_wal_insert_lsn()::text as lsn`
    const hasCaughtUp = async (): Promise<boolean> => {
      const [row] = await admin<{ yes: boolean }[]>`
        select coalesce(bool_or(s.confirmed_flush_lsn >= ${end?.lsn ?? ''}::pg_lsn), false) as yes
        from pg_replication_slots s`
      return row?.yes ?? false
    }
    expect(await waitUntil(hasCaughtUp, { timeoutMs: patienceMs })).toBe(true)
    expect(await counts(copy)).toEqual(await counts(sql))
  } finally {
    await copy`alter subscription everything disable`.catch(() => {})
    await Promise.all([admin.end(), sql.end(), copy.end()])
  }
})
