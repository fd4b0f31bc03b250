/** Days are made and dropped while others publish, dispatch and replay: DDL gives way, and nobody loses a row. */

import { expect } from '@std/expect'
import type { Sql } from 'postgres'
import { expectExactCounters, expectWaitsFor } from './_support/checks.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { drain, report, Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { publishMany, publishOne } from './_support/publish.ts'

let db: OutboxDatabase
let one: Session
let other: Session

Deno.test.beforeAll(async () => {
  db = await startOutbox()
})
Deno.test.beforeEach(async () => {
  await db.reset()
  await renewDays()
  one = await db.open()
  other = await db.open()
})
Deno.test.afterEach(async () => {
  await Promise.all([one, other].map(({ sql }) => sql.end({ timeout: 0 })))
})
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

/** Makes the days that a new database has. */
async function renewDays(): Promise<void> {
  const { admin } = db
  await admin`select outbox.add_partitions()`
  await admin.unsafe(`
    do $$
    declare
      v_day text;
    begin
      for v_day in
        select i.inhrelid::regclass::text from pg_inherits i
        where i.inhparent in ('outbox.event'::regclass, 'outbox.attempt'::regclass)
          and i.inhrelid::regclass::text ~ '_p[0-9]{8}$'
          and to_date(right(i.inhrelid::regclass::text, 8), 'YYYYMMDD')
            not between (now() at time zone 'UTC')::date and (now() at time zone 'UTC')::date + 7
      loop
        execute 'drop table ' || v_day;
      end loop;
    end $$`)
}

async function setDay(day: number): Promise<void> {
  await one.sql`
    insert into outbox.test_clock (at) values (now() + ${`${day} days`}::interval)
    on conflict (only_row) do update set at = excluded.at`
}

/** Lets DDL wait until the end of the test, for `time`; by itself it gives way after 100 ms. */
async function patience(time = '2min'): Promise<AsyncDisposable> {
  const functions = [
    'outbox.add_partition(text, date)',
    'outbox.drop_partition(text, regclass)',
    'outbox.is_clean_tonight(text, timestamptz, timestamptz, date)',
  ]
  const [before] = await db.admin<{ text: string }[]>`
    select string_agg(pg_get_functiondef(f::regprocedure), ';') as text
    from unnest(${functions}::text[]) f`
  for (const f of functions) {
    await db.admin.unsafe(`alter function ${f} set lock_timeout = '${time}'`)
  }
  return {
    async [Symbol.asyncDispose](): Promise<void> {
      await db.admin.unsafe(before?.text ?? '')
    },
  }
}

async function drop(sql: Sql): Promise<number> {
  const [row] = await sql<
    { n: number }[]
  >`select (outbox.drop_partitions() ->> 'dropped')::integer as n`
  return row?.n ?? NaN
}

/** An event of today, delivered, in a partition that is past its time by the clock. */
async function deliveredLongAgo(): Promise<{ event: string; endpoint: string; day: string }> {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1 })
  const event = await publishOne(one.sql)
  expect(await drain(one.sql)).toBe(1)
  const [row] = await one.sql<{ day: string }[]>`
    select e.tableoid::regclass::text as day from outbox.event e where e.id = ${event}`
  await setDay(100)
  return { event, endpoint, day: row?.day ?? '' }
}

async function exists(table: string): Promise<boolean> {
  const [row] = await one.sql`select to_regclass(${table}) is not null as yes`
  return row?.yes
}

Deno.test('add_partitions() beside itself makes each day once', async () => {
  await using _ = await patience()
  await setDay(20)
  await one.sql`begin`
  const [first] = await one.sql`select outbox.add_partitions() as made`
  const second = other.sql`select outbox.add_partitions() as made`.then(([row]) => row?.made)
  await expectWaitsFor(db.admin, other, one)
  await one.sql`commit`
  expect(first?.made).toEqual({ made: 16, late: [] })
  expect(await second).toEqual({ made: 0, late: [] })
})

Deno.test('add_partition() of a later day waits for a row of that day in DEFAULT, and moves it', async () => {
  await using _ = await patience()
  await one.sql`begin`
  const [row] = await one.sql`
    insert into outbox.event (id, org_id, type, body, created_at)
    values (outbox.uuid_v7(now() + interval '9 days'), 'default', 'thing.done', '{}', now()) returning id`
  const making = other.sql`
    select outbox.add_partition('event', (now() at time zone 'UTC')::date + 9) as made`.execute()
  await expectWaitsFor(db.admin, other, one)
  await one.sql`commit`
  expect([...await making]).toEqual([{ made: true }])
  const [moved] = await one.sql`
    select e.tableoid::regclass::text as day from outbox.event e where e.id = ${row?.id}`
  expect(moved?.day).toMatch(/^outbox\.event_p[0-9]{8}$/)
})

for (const table of ['event', 'attempt']) {
  Deno.test(`add_partition() of ${table} holds no lock on DEFAULT while it waits for one`, async () => {
    await using _ = await patience()
    await one.sql`begin`
    await one.sql.unsafe(`lock table outbox.${table}_default in share row exclusive mode`)
    const making = other.sql`
      select outbox.add_partition(${table}, (now() at time zone 'UTC')::date + 9) as made`.execute()
    await expectWaitsFor(db.admin, other, one)
    // To attach a partition takes this lock.
    await one.sql.unsafe(`lock table outbox.${table}_default in access exclusive mode`)
    await one.sql`commit`
    expect([...await making]).toEqual([{ made: true }])
  })
}

Deno.test('drop_partitions() ends at the first lock that is not free', async () => {
  await setDay(100)
  await one.sql`begin`
  await one.sql`lock table outbox.event in row exclusive mode`
  // Those of attempt are before those of event.
  expect(await drop(other.sql)).toBe(8)
  await one.sql`commit`
  const [checks] = await db.admin`select count(*)::integer as n from outbox.partition_check`
  expect(checks).toEqual({ n: 1 })
})

Deno.test('drop_partitions() gives way to a replay that holds the check of a day', async () => {
  const { event, day } = await deliveredLongAgo()
  const name = day.replace('outbox.', '')
  await one.sql`
    insert into outbox.partition_check (name, clean_nights, checked_on) values (${name}, 0, '2026-01-10')`
  await one.sql`begin`
  await one.sql`select outbox.restart_open_checks(array[${event}]::uuid[])`
  // A wait for the replay would end with an error.
  await other.sql`set statement_timeout = '20s'`
  const [row] = await other.sql`select outbox.drop_partitions() as result`
  await other.sql`reset statement_timeout`
  // Those of attempt are before those of event.
  expect(row?.result).toEqual({ dropped: 8, more: false, late: [name] })
  await one.sql`commit`
  expect(await drop(other.sql)).toBe(8)
})

Deno.test('drop_partitions() beside itself drops each day once', async () => {
  await using _ = await patience()
  const { day } = await deliveredLongAgo()
  await one.sql`begin`
  expect(await drop(one.sql)).toBe(16)
  const second = drop(other.sql)
  await expectWaitsFor(db.admin, other, one)
  await one.sql`commit`
  expect(await second).toBe(0)
  expect(await exists(day)).toBe(false)
})

Deno.test('publish() of a row for DEFAULT, while its day is being made, waits and finds the day', async () => {
  await addEndpoints(one.sql, { count: 1 })
  await setDay(20)
  await one.sql`begin`
  await one.sql`select outbox.add_partitions()`
  const publishing = publishOne(other.sql)
  await expectWaitsFor(db.admin, other, one)
  await one.sql`commit`
  const [row] = await one.sql`
    select e.tableoid::regclass::text as day from outbox.event e where e.id = ${await publishing}`
  expect(row?.day).toMatch(/^outbox\.event_p[0-9]{8}$/)
  expect(await drain(one.sql)).toBe(1)
})

Deno.test('dispatch() whose attempts are for DEFAULT, while their day is being made, waits and finds it', async () => {
  await addEndpoints(one.sql, { count: 1 })
  await publishMany(one.sql, 'thing.done', 3)
  const run = new Run(other.sql)
  const { deliveries } = await run.call([], 3)
  expect(deliveries.length).toBe(3)
  await setDay(20)
  // The leases have ended with the day, so that a claim writes attempts too.
  await one.sql`begin`
  await one.sql`select outbox.add_partitions()`
  const claiming = new Run(other.sql).call([], 3)
  await expectWaitsFor(db.admin, other, one)
  await one.sql`commit`
  expect(await claiming).toMatchObject({ error: null })
  const [row] = await one.sql`
    select string_agg(distinct a.tableoid::regclass::text, ',') as days, count(*)::integer as n
    from outbox.attempt a`
  expect(row).toEqual({ days: expect.stringMatching(/^outbox\.attempt_p[0-9]{8}$/), n: 3 })
  await expectExactCounters(db.admin)
})

Deno.test('drop_partitions() that waited for a replay leaves the day of its event', async () => {
  await using _ = await patience()
  const { event, endpoint, day } = await deliveredLongAgo()
  await one.sql`begin`
  await one.sql`select outbox.replay(${event}, ${endpoint})`
  const dropping = drop(other.sql)
  await expectWaitsFor(db.admin, other, one)
  await one.sql`commit`
  // Seven days of event that nobody is interested in, and eight of attempt.
  expect(await dropping).toBe(15)
  expect(await exists(day)).toBe(true)
  expect(await drain(one.sql)).toBe(1)
  expect(await drop(one.sql)).toBe(1)
})

Deno.test('drop_partitions() that waited for a publisher of that day leaves it', async () => {
  await using _ = await patience()
  await addEndpoints(one.sql, { count: 1 })
  await one.sql`begin`
  await publishOne(one.sql)
  await other.sql`insert into outbox.test_clock (at) values (now() + interval '100 days')`
  const dropping = drop(other.sql)
  await expectWaitsFor(db.admin, other, one)
  await one.sql`commit`
  expect(await dropping).toBe(15)
  expect(await drain(one.sql)).toBe(1)
})

Deno.test('drop_partitions() that has dropped days of attempt waits once for those of event', async () => {
  await deliveredLongAgo()
  await using _ = await patience('3s')
  await one.sql`begin`
  await one.sql`lock table outbox.event in access share mode`
  // Eight days would take 24 seconds, and be stopped.
  await other.sql`set statement_timeout = '22s'`
  expect(await drop(other.sql)).toBe(8)
  await other.sql`reset statement_timeout`
  await one.sql`commit`
  expect(await drop(other.sql)).toBe(8)
})

/** What holds the days while it is under way: each leaves one delivery to make in its transaction. */
const deeds: [
  what: string,
  deed: (sql: Sql, key: { event: string; endpoint: string }) => unknown,
][] = [
  ['publishes', (sql) => publishOne(sql)],
  ['replays', (sql, { event, endpoint }) => sql`select outbox.replay(${event}, ${endpoint})`],
  ['routes and claims', async (sql) => {
    await publishOne(sql)
    const run = new Run(sql)
    const { deliveries } = await run.call([], 1)
    await run.call(deliveries.map((delivery) => report(delivery, 'released')))
  }],
]

for (const [what, deed] of deeds) {
  Deno.test(`drop_partitions() gives way to a transaction that ${what}, and drops the days the next time`, async () => {
    const key = await deliveredLongAgo()
    await one.sql`begin`
    await deed(one.sql, key)
    expect(await drop(other.sql)).toBeLessThan(16)
    expect(await exists(key.day)).toBe(true)
    await one.sql`commit`
    expect(await drain(one.sql)).toBe(1)
    await drop(other.sql)
    expect(await exists(key.day)).toBe(false)
    await expectExactCounters(db.admin)
  })
}

Deno.test('a replay of several days starts their counts anew in the order in which they are dropped', async () => {
  const [days] = await one.sql<{ first: string; second: string; ids: string[] }[]>`
    with day as (
      select outbox.uuid_v7(now() + n * interval '1 day') as id,
        outbox.partition_name('event', (now() at time zone 'UTC')::date + n) as name, n
      from generate_series(2, 3) n
    ), stored as (
      insert into outbox.event (id, org_id, type, body, created_at)
      select id, 'default', 'thing.done', '{}', now() from day
    )
    select min(name) as first, max(name) as second, array_agg(id order by n desc) as ids from day`
  if (days === undefined) throw new Error('there are no days')
  const { first, second, ids } = days
  await one.sql`
    insert into outbox.partition_check (name, clean_nights, checked_on)
    values (${second}, 1, '2026-01-10'), (${first}, 1, '2026-01-10')`
  // The order of the locks is not left to the plan: this one comes to the rows as they lie in the table. A
  // scan of the index would come to them by name, as the function locks them.
  const restart = 'function outbox.restart_open_checks(uuid[])'
  await db.admin.unsafe(`alter ${restart} set enable_seqscan = on`)
  for (const way of ['nestloop', 'mergejoin', 'indexscan', 'indexonlyscan']) {
    await other.sql.unsafe(`set enable_${way} = off`)
  }
  await one.sql`begin`
  await one.sql`
    update outbox.partition_check c set clean_nights = 2 where c.name = ${first}`
  const keeping = other.sql`select outbox.restart_open_checks(${ids}::uuid[])`.execute()
  await expectWaitsFor(db.admin, other, one)
  // Whoever waits for the first day does not have the second one yet.
  await one.sql`set local lock_timeout = '1ms'`
  await one.sql`
    update outbox.partition_check c set clean_nights = 2 where c.name = ${second}`
  await one.sql`commit`
  await keeping
  await db.admin.unsafe(`alter ${restart} set enable_seqscan = off`)
  expect([...await one.sql`select from outbox.partition_check where clean_nights > 0`]).toEqual([])
})
