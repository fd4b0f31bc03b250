/** A backfill beside the transactions of the application, beside the sweep, and when it dies. */

import { expect } from '@std/expect'
import {
  backfillProgress,
  backfillStep,
  beginBackfill,
  nextBackfillSecond,
  workBackfills,
} from './_support/backfill.ts'
import { expectExactCounters, expectWaitsFor } from './_support/checks.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { drain, report, Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { holdAt, type Place } from './_support/hold.ts'
import { publishMany, publishOne } from './_support/publish.ts'

let db: OutboxDatabase
let owner: Session
let app: Session
let holder: Session

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  owner = await db.open()
  app = await db.open()
  holder = await db.open()
})
Deno.test.beforeEach(async () => {
  await db.reset()
  await db.admin`drop table if exists public.goods`
})
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

/** A watched table with ten rows, and a backfill of it to a new endpoint. */
async function goods(ordering: 'none' | 'partition' = 'none', rate = 4): Promise<string> {
  await owner.sql`create table public.goods (id integer primary key, price integer)`
  await owner.sql`insert into public.goods select n, n from generate_series(1, 10) n`
  await owner.sql`select outbox.watch_table('public.goods', p_partition_column => 'id')`
  const [endpoint = ''] = await addEndpoints(owner.sql, { count: 1, ordering })
  await owner.sql`select outbox.backfill('public.goods', ${endpoint}, p_rate_per_second => ${rate})`
  await begin()
  return endpoint
}

const begin = (): Promise<void> => beginBackfill(db, owner)
const work = (): Promise<void> => workBackfills(db, owner)
const nextSecond = (): Promise<void> => nextBackfillSecond(db)
const progress = (): Promise<unknown> => backfillProgress(db)

/** The published prices, by row, in the order of the events. */
async function prices(): Promise<Record<string, string[]>> {
  const rows = await db.admin<{ id: string; price: string }[]>`
    select e.body::json -> 'record' ->> 'id' as id, e.body::json -> 'record' ->> 'price' as price
    from outbox.event e order by e.id`
  const found: Record<string, string[]> = {}
  for (const { id, price } of rows) (found[id] ??= []).push(price)
  return found
}

for (const ordering of ['none', 'partition'] as const) {
  Deno.test(`a backfill to an endpoint with the order ${ordering} stops before a row that is being changed, and sends it after that`, async () => {
    await goods(ordering)
    await app.sql`begin`
    await app.sql`update public.goods set price = 70 where id = 3`
    await work()
    expect(await progress()).toEqual({ status: 'running', replayed: 2, looked: 2 })
    await work()
    expect(await progress()).toEqual({ status: 'running', replayed: 2, looked: 2 })
    await app.sql`commit`
    await new Run(owner.sql).call()
    await work()
    // The change first, then the row with the same content: no event is older than one before it.
    expect((await prices())['3']).toEqual(['70', '70'])
    for (let n = 0; n < 4; n++) {
      await new Run(owner.sql).call()
      await work()
    }
    expect(await progress()).toEqual({ status: 'done', replayed: 10, looked: 10 })
    await expectExactCounters(db.admin)
  })
}

Deno.test('a backfill sends the old row if its change is rolled back', async () => {
  await goods()
  await app.sql`begin`
  await app.sql`update public.goods set price = 70 where id = 1`
  await work()
  await app.sql`rollback`
  await work()
  expect((await prices())['1']).toEqual(['1'])
})

Deno.test('a change waits for the step that sends its row, and its event is later', async () => {
  await goods()
  await owner.sql`begin`
  await work()
  const change = app.sql`update public.goods set price = 70 where id = 2`.execute()
  await expectWaitsFor(db.admin, app, owner)
  await owner.sql`commit`
  await change
  expect((await prices())['2']).toEqual(['2', '70'])
})

Deno.test('a deletion that is not committed keeps its row, and after the commit it is not sent', async () => {
  await goods()
  await app.sql`begin`
  await app.sql`delete from public.goods where id = 2`
  await work()
  expect(await progress()).toEqual({ status: 'running', replayed: 1, looked: 1 })
  await app.sql`commit`
  await work()
  expect(Object.keys(await prices())).toEqual(['1', '3', '4', '5', '6', 'null'])
})

Deno.test('a backfill of events begins when the transactions of before its start have ended', async () => {
  await app.sql`begin`
  const late = await publishOne(app.sql)
  const [endpoint = ''] = await addEndpoints(owner.sql, { count: 1 })
  await owner.sql`select outbox.backfill_events(${endpoint})`
  await begin()
  await work()
  expect(await progress()).toEqual({ status: 'running', replayed: 0, looked: 0 })
  await app.sql`commit`
  await new Run(owner.sql).call()
  await work()
  const sent = await db.admin`select event_id from outbox.delivery`
  expect(sent.map(({ event_id }) => event_id)).toEqual([late])
})

Deno.test('a backfill of rows sends those of a transaction that was open at its start', async () => {
  await owner.sql`create table public.goods (id integer primary key, price integer)`
  await owner.sql`insert into public.goods select n, n from generate_series(1, 3) n`
  await owner.sql`select outbox.watch_table('public.goods')`
  const [endpoint = ''] = await addEndpoints(owner.sql, { count: 1, patterns: [] })
  await app.sql`begin`
  await app.sql`insert into public.goods values (4, 4)`
  await owner.sql`select outbox.subscribe(${endpoint}, array['*'])`
  await owner.sql`select outbox.backfill('public.goods', ${endpoint})`
  await begin()
  await work()
  expect(await progress()).toEqual({ status: 'running', replayed: 0, looked: 0 })
  await app.sql`commit`
  await work()
  expect(await progress()).toEqual({ status: 'done', replayed: 4, looked: 4 })
})

Deno.test('a backfill of events sends those of between its call and its commit', async () => {
  const [endpoint = ''] = await addEndpoints(owner.sql, { count: 1, patterns: [] })
  await owner.sql`begin`
  await owner.sql`select outbox.subscribe(${endpoint}, array['*'])`
  await owner.sql`select outbox.backfill_events(${endpoint})`
  const between = await publishOne(app.sql)
  await new Run(app.sql).call()
  await owner.sql`commit`
  await new Run(owner.sql).call()
  await begin()
  await work()
  const sent = await db.admin`select event_id from outbox.delivery`
  expect(sent.map(({ event_id }) => event_id)).toEqual([between])
})

Deno.test('a step passes over a backfill that a person is changing, and waits for nobody', async () => {
  await goods()
  await nextSecond()
  await app.sql`begin`
  await app.sql`select outbox.set_replay_job(id::text, 'paused') from outbox.replay_job`
  expect(await backfillStep(owner.sql)).toBe(false)
  await app.sql`update public.goods set price = 50 where id = 1`
  await app.sql`commit`
  expect(await progress()).toEqual({ status: 'paused', replayed: 0, looked: 0 })
})

Deno.test('a step of a backfill holds the gate of its own endpoint only', async () => {
  await goods()
  const [second = ''] = await addEndpoints(owner.sql, { count: 1 })
  await owner.sql`select outbox.backfill('public.goods', ${second})`
  await begin()
  await nextSecond()
  await owner.sql`begin`
  expect(await backfillStep(owner.sql)).toBe(true)
  const free = await app.sql<{ endpoint_id: string }[]>`
    select endpoint_id from outbox.gate for no key update skip locked`
  expect(free.map(({ endpoint_id }) => endpoint_id)).toEqual([second])
  await owner.sql`commit`
})

Deno.test('two steps of backfills at the same time are one', async () => {
  await goods()
  const [endpoint = ''] = await addEndpoints(owner.sql, { count: 1 })
  await owner.sql`select outbox.backfill('public.goods', ${endpoint}, p_rate_per_second => 4)`
  await begin()
  await nextSecond()
  const replayed = async (): Promise<number[]> =>
    (await db.admin<{ n: number }[]>`
      select j.replayed::integer as n from outbox.replay_job j order by j.id`).map(({ n }) => n)
  const before = await replayed()
  await owner.sql`begin`
  expect(await backfillStep(owner.sql)).toBe(true)
  // The other job is free, and not worked on all the same.
  expect(await backfillStep(app.sql)).toBe(false)
  await owner.sql`commit`
  const more = (await replayed()).map((count, at) => count - (before[at] ?? 0))
  expect(more.sort()).toEqual([0, 4])
})

Deno.test('a row that transactions lock one after the other does not stop a backfill', async () => {
  await goods()
  await app.sql`begin`
  await app.sql`select from public.goods where id = 1 for update`
  await work()
  expect(await progress()).toEqual({ status: 'running', replayed: 0, looked: 0 })
  const [job] = await db.admin`
    select j.waits_for, s.busy_key from outbox.replay_job j
    join outbox.backfill_source s on s.job_id = j.id`
  expect(job).toEqual({ waits_for: 'a row that another transaction has locked', busy_key: '["1"]' })
  await nextSecond()
  await db.admin`
    alter function outbox.wait_for_row(outbox.backfill_source, jsonb) set lock_timeout = '1min'`
  try {
    const done = backfillStep(owner.sql)
    await expectWaitsFor(db.admin, owner, app)
    await app.sql`commit`
    await done
  } finally {
    await db.admin`
      alter function outbox.wait_for_row(outbox.backfill_source, jsonb) set lock_timeout = '100ms'`
  }
  expect(await progress()).toEqual({ status: 'running', replayed: 4, looked: 4 })
})

/** Statements of a step, before and after what it stores. */
const places: (Place & { ordering?: 'partition' })[] = [
  { when: 'after', what: 'insert', table: 'unrouted', ordering: 'partition' },
  { when: 'after', what: 'insert', table: 'event' },
  { when: 'after', what: 'insert', table: 'delivery' },
  { when: 'after', what: 'update', table: 'backfill_source' },
  { when: 'after', what: 'update', table: 'replay_job' },
]

for (const place of places) {
  const { when, what, table, ordering = 'none' } = place
  Deno.test(`a backfill that dies ${when} its ${what} of ${table} sends nothing, and then each row once`, async () => {
    await goods(ordering)
    await work()
    await new Run(owner.sql).call()
    const victim = await db.open()
    await nextSecond()
    {
      await using _hold = await holdAt(owner.sql, holder.sql, place)
      const dying = backfillStep(victim.sql)
        .then(() => 'answered', () => 'died')
      await expectWaitsFor(db.admin, victim, holder)
      await db.admin`select pg_terminate_backend(${victim.pid}::integer, 10000)`
      expect(await dying).toBe('died')
    }
    expect(await progress()).toEqual({ status: 'running', replayed: 4, looked: 4 })
    for (let n = 0; n < 3; n++) {
      await work()
      await new Run(owner.sql).call()
    }
    expect(await progress()).toEqual({ status: 'done', replayed: 10, looked: 10 })
    expect(Object.values(await prices()).every((all) => all.length === 1)).toBe(true)
    await expectExactCounters(db.admin)
  })
}

Deno.test('a backfill of events that dies sends nothing, and then each event once', async () => {
  await publishMany(owner.sql, 'thing.done', 6)
  await new Run(owner.sql).call()
  const [late = ''] = await addEndpoints(owner.sql, { count: 1 })
  await owner.sql`select outbox.backfill_events(${late}, p_rate_per_second => 4)`
  await begin()
  await nextSecond()
  const victim = await db.open()
  {
    await using _hold = await holdAt(owner.sql, holder.sql, {
      ...{ when: 'after', what: 'insert', table: 'delivery' },
    })
    const dying = backfillStep(victim.sql).then(() => 'answered', () => 'died')
    await expectWaitsFor(db.admin, victim, holder)
    await db.admin`select pg_terminate_backend(${victim.pid}::integer, 10000)`
    expect(await dying).toBe('died')
  }
  expect(await progress()).toEqual({ status: 'running', replayed: 0, looked: 0 })
  for (let n = 0; n < 3; n++) await work()
  expect(await progress()).toEqual({ status: 'done', replayed: 6, looked: 6 })
  await expectExactCounters(db.admin)
})

Deno.test('a backfill of what was delivered that dies sends nothing, and then each event once more', async () => {
  const [endpoint = ''] = await addEndpoints(owner.sql, { count: 1 })
  await publishMany(owner.sql, 'thing.done', 6)
  expect(await drain(owner.sql)).toBe(6)
  // begin() sets the job's time back, and what is delivered after that is not sent again.
  await db.admin`update outbox.attempt set at = at - interval '10 s' where true`
  await owner.sql`
    select outbox.backfill_events(${endpoint}, p_rate_per_second => 4, p_include_delivered => true)`
  await begin()
  await nextSecond()
  const victim = await db.open()
  {
    await using _hold = await holdAt(owner.sql, holder.sql, {
      ...{ when: 'after', what: 'update', table: 'replay_job' },
    })
    const dying = backfillStep(victim.sql).then(() => 'answered', () => 'died')
    await expectWaitsFor(db.admin, victim, holder)
    await db.admin`select pg_terminate_backend(${victim.pid}::integer, 10000)`
    expect(await dying).toBe('died')
  }
  expect(await progress()).toEqual({ status: 'running', replayed: 0, looked: 0 })
  for (let n = 0; n < 3; n++) await work()
  expect(await progress()).toEqual({ status: 'done', replayed: 6, looked: 6 })
  expect(await drain(owner.sql)).toBe(6)
  const ends = await db.admin`
    select array_agg(a.attempt order by a.attempt) as attempts from outbox.attempt a
    group by a.event_id`
  expect(ends.map(({ attempts }) => attempts)).toEqual(Array(6).fill([1, 2]))
  await expectExactCounters(db.admin)
})

Deno.test('a step of backfills leaves a gate that another session holds, works on all others, and on this one after that', async () => {
  const held = await goods()
  const [free = ''] = await addEndpoints(owner.sql, { count: 1 })
  await owner.sql`select outbox.backfill('public.goods', ${free}, p_rate_per_second => 4)`
  await begin()
  const jobs = async (): Promise<unknown[]> =>
    await db.admin`select j.looked::integer, j.waits_for from outbox.replay_job j order by j.id`
      .values()
  const [[before = NaN] = []] = await jobs() as [number][]
  await holder.sql`begin`
  await holder.sql`select outbox.lock_gates(array[${held}::uuid])`
  await owner.sql`set statement_timeout = '2s'`
  for (let step = 0; step < 6; step++) await work()
  await owner.sql`reset statement_timeout`
  expect(await jobs()).toEqual([[before, 'the gate of its endpoint'], [10, null]])
  // It has read no row that it has not sent.
  await app.sql`update public.goods set price = 0 where id = 10`
  await holder.sql`rollback`
  for (let step = 0; step < 6; step++) await work()
  expect(await jobs()).toEqual([[10, null], [10, null]])
  expect((await prices())['10']?.at(-1)).toBe('0')
  expect(await db.admin`select from outbox.upkeep_refusal`).toHaveLength(0)
  await expectExactCounters(db.admin)
})

Deno.test('a backfill of what was delivered leaves an event that another session holds, fails never, and goes on after that', async () => {
  const [endpoint = ''] = await addEndpoints(owner.sql, { count: 1 })
  const events = (await publishMany(owner.sql, 'thing.done', 3)).toSorted()
  expect(await drain(owner.sql)).toBe(3)
  await db.admin`update outbox.attempt set at = at - interval '10 s' where true`
  await owner.sql`select outbox.backfill_events(${endpoint}, p_include_delivered => true)`
  await begin()
  await holder.sql`begin`
  await holder.sql`select from outbox.event where id = ${events[1] ?? ''} for update`
  await owner.sql`set statement_timeout = '2s'`
  for (let step = 0; step < 6; step++) {
    await work()
    // As after the 10 s for which it is left out.
    await db.admin`update outbox.upkeep_refusal set at = at - interval '1 minute' where true`
  }
  await owner.sql`reset statement_timeout`
  const [refusal] = await db.admin`select task, sqlstate from outbox.upkeep_refusal`
  expect(refusal).toEqual({ task: 'outbox.work_backfills', sqlstate: '55P03' })
  expect(await progress()).toEqual({ status: 'running', replayed: 1, looked: 1 })
  await holder.sql`rollback`
  await work()
  expect(await progress()).toEqual({ status: 'done', replayed: 3, looked: 3 })
  expect(await db.admin`select from outbox.upkeep_refusal`).toHaveLength(0)
})

Deno.test('a backfill whose event cannot be stored because of a lock leaves its row, fails never, and goes on after that', async () => {
  await goods()
  await db.admin`
    create function public.waits() returns trigger language plpgsql as $$
    begin
      if new.body::json -> 'record' ->> 'id' = '2' then
        perform pg_advisory_xact_lock(1);
      end if;
      return new;
    end $$`
  await db.admin`
    create trigger waits before insert on outbox.event
    for each row execute function public.waits()`
  try {
    await holder.sql`select pg_advisory_lock(1)`
    for (let step = 0; step < 6; step++) {
      await work()
      await db.admin`update outbox.upkeep_refusal set at = at - interval '1 minute' where true`
    }
    expect(await progress()).toEqual({ status: 'running', replayed: 1, looked: 1 })
    await holder.sql`select pg_advisory_unlock(1)`
    for (let step = 0; step < 4; step++) await work()
    expect(await progress()).toEqual({ status: 'done', replayed: 10, looked: 10 })
  } finally {
    await holder.sql`select pg_advisory_unlock_all()`
    await db.admin`drop trigger waits on outbox.event`
    await db.admin`drop function public.waits()`
  }
})

Deno.test('a backfill of an event that the sweep is deleting waits, and leaves it out', async () => {
  await addEndpoints(owner.sql, { count: 1 })
  const [event] = await publishMany(owner.sql, 'thing.done', 1)
  const run = new Run(owner.sql)
  const { deliveries } = await run.call([], 10)
  await run.call(deliveries.map((delivery) => report(delivery, 'delivered')))
  const [late = ''] = await addEndpoints(owner.sql, { count: 1 })
  await owner.sql`select outbox.backfill_events(${late})`
  await begin()
  await holder.sql`begin`
  await holder.sql`delete from outbox.event where id = ${event ?? ''}`
  // It waits for 100 ms; a busy machine may take longer to see it.
  await db.admin`alter function outbox.work_backfills set lock_timeout = '1min'`
  try {
    const done = work()
    await expectWaitsFor(db.admin, owner, holder)
    await holder.sql`commit`
    await done
  } finally {
    await db.admin`alter function outbox.work_backfills set lock_timeout = '100ms'`
  }
  expect(await drain(owner.sql)).toBe(0)
  const [job] = await db.admin`select replayed::integer, skipped::integer from outbox.replay_job`
  expect(job).toEqual({ replayed: 0, skipped: 1 })
})
