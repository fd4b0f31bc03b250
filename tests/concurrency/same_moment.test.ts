/** Pairs of deeds at the same moment that might undo each other. */

import { expect } from '@std/expect'
import type { Sql } from 'postgres'
import { expectDeliveredOnce, expectExactCounters, expectWaitsFor } from './_support/checks.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { drain, report, Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { publishMany, publishOne } from './_support/publish.ts'

let db: OutboxDatabase
let one: Session
let other: Session

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  one = await db.open()
  other = await db.open()
})
Deno.test.beforeEach(() => db.reset())
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

async function setClock(seconds: number): Promise<void> {
  await one.sql`
    insert into outbox.test_clock (at) values (now() + ${`${seconds} s`}::interval)
    on conflict (only_row) do update set at = excluded.at`
}

/** An endpoint with one dead letter, and the event of it. */
async function deadLetter(): Promise<{ event: string; endpoint: string }> {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1, patterns: ['dead'] })
  const event = await publishOne(one.sql, 'dead')
  const run = new Run(one.sql)
  const { deliveries } = await run.call([], 1)
  await run.call(deliveries.map((delivery) => ({ ...report(delivery, 'failed'), status: 404 })))
  expect(await letters(one.sql)).toBe(1)
  return { event, endpoint }
}

async function letters(sql: Sql): Promise<number> {
  return (await sql`select from outbox.dead_letter`).length
}

async function open(sql: Sql): Promise<number> {
  return (await sql`select from outbox.delivery`).length
}

Deno.test('claim() lets one probe through a half-open breaker, of 12 sessions that ask at once', async () => {
  const sessions = await Promise.all(Array.from({ length: 12 }, () => db.open()))
  await addEndpoints(one.sql, { count: 1, breakerThreshold: 1 })
  await publishMany(one.sql, 'thing.done', 50)
  const runs = sessions.map(({ sql }) => new Run(sql))
  const [first] = runs
  if (first === undefined) throw new Error('no session')
  await setClock(0)
  let results = (await first.call([], 1)).deliveries.map((d) => report(d, 'failed'))
  for (let round = 1; round <= 10; round++) {
    await first.call(results)
    await setClock(round * 2)
    const answers = await Promise.all(runs.map((run) => run.call([], 10)))
    const probes = answers.flatMap(({ deliveries }) => deliveries)
    expect(probes.length).toBe(1)
    results = probes.map((probe) => report(probe, 'failed'))
  }
  await expectExactCounters(db.admin)
})

Deno.test('replay() of a dead letter by two people at once puts it back once', async () => {
  const { event, endpoint } = await deadLetter()
  await one.sql`begin`
  await one.sql`select outbox.replay(${event}, ${endpoint})`
  const second = other.sql`select outbox.replay(${event}, ${endpoint}) as answer`
    .then(([row]) => row?.answer)
  await expectWaitsFor(db.admin, other, one)
  await one.sql`commit`
  expect(await second).toMatchObject({ replaced: true })
  expect(await open(one.sql)).toBe(1)
  await expectExactCounters(db.admin)
  expect(await drain(one.sql)).toBe(1)
})

Deno.test('replay() beside the tick of a replay job puts the letter back once, whoever is first', async () => {
  const { event, endpoint } = await deadLetter()
  await one.sql`select outbox.replay_many()`
  await one.sql`begin`
  await one.sql`select outbox.replay(${event}, ${endpoint})`
  const ticking = other.sql`select outbox.tick()`.then(() => 'ticked')
  await expectWaitsFor(db.admin, other, one)
  await one.sql`commit`
  expect(await ticking).toBe('ticked')
  const [job] = await one.sql`select j.replayed, j.skipped from outbox.replay_job j`
  expect(job).toEqual({ replayed: '0', skipped: '1' })
  expect(await open(one.sql)).toBe(1)
  await expectExactCounters(db.admin)
  expect(await drain(one.sql)).toBe(1)
})

/** One step of all replay jobs. Not by tick(), which makes a warning of what goes wrong in it. */
async function step(sql: Sql): Promise<number> {
  const [row] = await sql<{ n: number }[]>`select outbox.work_replay_jobs(outbox.clock()) as n`
  return row?.n ?? NaN
}

async function jobs(): Promise<unknown[]> {
  return [
    ...await one.sql`
    select j.status, j.replayed::integer, j.skipped::integer from outbox.replay_job j order by j.id`,
  ]
}

Deno.test('a step of replay jobs waits for no other step over the same letters, and leaves them to it', async () => {
  await deadLetter()
  await one.sql`select outbox.replay_many(), outbox.replay_many()`
  await one.sql`begin`
  expect(await step(one.sql)).toBe(1)
  await other.sql`set lock_timeout = '1ms'`
  expect(await step(other.sql)).toBe(0)
  await other.sql`reset lock_timeout`
  await one.sql`commit`
  expect(await step(other.sql)).toBe(0)
  expect(await jobs()).toEqual([
    { status: 'done', replayed: 1, skipped: 0 },
    { status: 'done', replayed: 0, skipped: 1 },
  ])
  expect(await open(one.sql)).toBe(1)
  await expectExactCounters(db.admin)
})

Deno.test("two replay jobs over the same deliveries do not wait on each other's rows", async () => {
  await addEndpoints(one.sql, { count: 5, patterns: ['dead'] })
  await publishMany(one.sql, 'dead', 20)
  const run = new Run(one.sql)
  const { deliveries } = await run.call([], 100)
  await run.call(deliveries.map((delivery) => ({ ...report(delivery, 'failed'), status: 404 })))
  expect(await letters(one.sql)).toBe(100)
  // One works from the oldest letter on, seven at a time, the other on some of the same in threes.
  await one.sql`
    select outbox.replay_many(p_rate_per_second => 7), outbox.replay_many(p_rate_per_second => 3)`
  const sessions = await Promise.all(Array.from({ length: 4 }, () => db.open()))
  const put = await Promise.all(sessions.map(async ({ sql }) => {
    await sql`set lock_timeout = '1ms'`
    let sum = 0
    while ((await sql`select from outbox.replay_job j where j.status = 'running'`).length > 0) {
      sum += await step(sql)
    }
    return sum
  }))
  expect(put.reduce((sum, n) => sum + n, 0)).toBe(100)
  const [row] = await one.sql`
    select sum(j.replayed)::integer as replayed, string_agg(distinct j.status, ',') as status
    from outbox.replay_job j`
  expect(row).toEqual({ replayed: 100, status: 'done' })
  expect(await open(one.sql)).toBe(100)
  await expectExactCounters(db.admin)
  expect(await drain(one.sql)).toBe(100)
})

Deno.test('retry_now() and a claim at the same moment give one attempt', async () => {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1, retryAfter: 3600 })
  const event = await publishOne(one.sql)
  const run = new Run(one.sql)
  const { deliveries } = await run.call([], 1)
  await run.call(deliveries.map((delivery) => report(delivery, 'failed')))
  await other.sql`begin`
  await other.sql`select outbox.retry_now(${event}, ${endpoint})`
  // The gate is held: passed over, nothing waits.
  expect((await run.call([], 1)).deliveries).toEqual([])
  await other.sql`commit`
  const retried = (await run.call([], 1)).deliveries
  expect(retried).toMatchObject([{ event, attempt: 2, failed_attempts: 1 }])
  await expect(other.sql`select outbox.retry_now(${event}, ${endpoint})`.execute()).rejects
    .toMatchObject({ code: 'OH004' })
  await run.call(retried.map((delivery) => report(delivery)))
  await expectExactCounters(db.admin)
})

Deno.test('an event routed while its endpoint is being deleted is cancelled with the rest', async () => {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1 })
  const event = await publishOne(one.sql)
  await other.sql`begin`
  await other.sql`select outbox.delete_endpoint(${endpoint})`
  expect(await new Run(one.sql).call()).toMatchObject({ routed: 1, error: null })
  await other.sql`commit`
  const [row] = await one.sql`
    select s.status from outbox.delivery_status s where s.event_id = ${event}`
  expect(row).toEqual({ status: 'cancelled' })
  expect((await new Run(one.sql).call([], 10)).deliveries).toEqual([])
  await setClock(1)
  await one.sql`select outbox.tick()`
  expect(await open(one.sql)).toBe(0)
})

Deno.test('an event routed while its endpoint is being disabled is held, and goes out when that is lifted', async () => {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1 })
  const event = await publishOne(one.sql)
  await other.sql`begin`
  await other.sql`select outbox.disable_endpoint(${endpoint}, 'by hand')`
  expect(await new Run(one.sql).call()).toMatchObject({ routed: 1, error: null })
  await other.sql`commit`
  const [row] = await one.sql`
    select s.status from outbox.delivery_status s where s.event_id = ${event}`
  expect(row).toEqual({ status: 'held' })
  expect((await new Run(one.sql).call([], 10)).deliveries).toEqual([])
  await one.sql`select outbox.resume_endpoint(${endpoint})`
  await one.sql`select outbox.tick()`
  expect(await drain(one.sql)).toBe(1)
  await expectDeliveredOnce(db.admin, { events: 1, endpoints: 1 })
})

/** The letter was discarded and has had its time; its event's partition has gone before. */
async function oldLetter(): Promise<{ event: string; endpoint: string }> {
  const key = await deadLetter()
  await one.sql`select outbox.discard_dead_letter(${key.event}, ${key.endpoint}, 'done with')`
  await one.sql`delete from outbox.event e where e.id = ${key.event}`
  await setClock(100 * 86_400)
  return key
}

Deno.test('cleanup() leaves a dead letter alone that is being replayed', async () => {
  const { event, endpoint } = await oldLetter()
  await one.sql`begin`
  await one.sql`select outbox.replay(${event}, ${endpoint})`
  await other.sql`set lock_timeout = '1ms'`
  const [row] = await other.sql`select outbox.cleanup() ->> 'dead_letters' as removed`
  await other.sql`reset lock_timeout`
  expect(row).toEqual({ removed: '0' })
  await one.sql`commit`
  expect(await letters(one.sql)).toBe(1)
  expect(await drain(one.sql)).toBe(1)
})

Deno.test('replay() of a dead letter that cleanup() is removing finds nothing, and opens nothing without a body', async () => {
  const { event, endpoint } = await oldLetter()
  await other.sql`begin`
  await other.sql`select outbox.cleanup()`
  const replaying = one.sql`select outbox.replay(${event}, ${endpoint})`.execute()
    .then(() => 'put back', (error) => error.code)
  await expectWaitsFor(db.admin, one, other)
  await other.sql`commit`
  expect(await replaying).toBe('OH002')
  expect(await open(one.sql)).toBe(0)
  await expectExactCounters(db.admin)
})

Deno.test('add_partitions() gives way to an open publisher, whose row moves the next time', async () => {
  await one.sql`insert into outbox.test_clock (at) values (now() + interval '30 days')`
  await addEndpoints(one.sql, { count: 1 })
  await one.sql`begin`
  const event = await publishOne(one.sql)
  const [held] = await other.sql`select outbox.add_partitions() as made`
  // The day of the row in DEFAULT alone is the publisher's, but attaching any day reads DEFAULT.
  expect(held?.made.late).toEqual(['event'])
  await one.sql`commit`
  await other.sql`select outbox.add_partitions()`
  const [row] = await one.sql`
    select e.tableoid::regclass::text as partition from outbox.event e where e.id = ${event}`
  expect(row?.partition).toMatch(/^outbox\.event_p[0-9]{8}$/)
  expect(await drain(one.sql)).toBe(1)
})

Deno.test('publish() waits for no partition that is being made for another day', async () => {
  await addEndpoints(one.sql, { count: 1 })
  await one.sql`begin`
  const [made] = await one.sql`
    select outbox.add_partition('event', current_date + 9) and outbox.add_partition('attempt', current_date + 9) as both`
  expect(made).toEqual({ both: true })
  await other.sql`set lock_timeout = '1ms'`
  await publishOne(other.sql)
  await other.sql`reset lock_timeout`
  await one.sql`rollback`
  expect(await drain(other.sql)).toBe(1)
})
