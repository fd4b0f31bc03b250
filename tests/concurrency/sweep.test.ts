/** The sweep deletes old events beside replays of them: a replay finds the event, or is refused. */

import { expect } from '@std/expect'
import type { Sql } from 'postgres'
import { expectExactCounters, expectWaitsFor } from './_support/checks.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { drain, report, Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { publishOne } from './_support/publish.ts'

let db: OutboxDatabase
let one: Session
let other: Session

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  one = await db.open()
  other = await db.open()
})
Deno.test.beforeEach(async () => {
  await db.reset()
  await db.admin`select outbox.add_partitions()`
})
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

type Key = { event: string; endpoint: string }

/** An old event that has ended so, of a day in which another event is open. */
async function endedLongAgo(outcome: 'delivered' | 'failed' = 'delivered'): Promise<Key> {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1, patterns: ['thing.done'] })
  const [held = ''] = await addEndpoints(one.sql, { count: 1, patterns: ['held'] })
  await one.sql`select outbox.pause_endpoint(${held})`
  const event = await publishOne(one.sql, 'thing.done')
  await publishOne(one.sql, 'held')
  const run = new Run(one.sql)
  const { deliveries } = await run.call([], 10)
  expect(deliveries.length).toBe(1)
  await run.call(deliveries.map((delivery) => (
    outcome === 'failed' ? { ...report(delivery, outcome), status: 404 } : report(delivery, outcome)
  )))
  await one.sql`insert into outbox.test_clock (at) values (now() + interval '10 days')`
  return { event, endpoint }
}

async function sweep(sql: Sql): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select outbox.sweep_events(outbox.clock(), 1000) as n`
  return row?.n ?? NaN
}

async function stored(event: string): Promise<number> {
  return (await one.sql`select from outbox.event e where e.id = ${event}`).length
}

/** Deletes what was delivered, and delivers what was replayed. */
async function expectReplayed(event: string): Promise<void> {
  expect(await stored(event)).toBe(1)
  expect(await drain(one.sql)).toBe(1)
  await expectExactCounters(db.admin)
}

Deno.test('the sweep deletes an event that was delivered, and not one that is open', async () => {
  const { event } = await endedLongAgo()
  expect(await sweep(one.sql)).toBe(2)
  expect(await stored(event)).toBe(0)
  expect((await one.sql`select from outbox.event`).length).toBe(1)
})

Deno.test('the sweep passes over an event that is being replayed', async () => {
  const { event, endpoint } = await endedLongAgo()
  await one.sql`begin`
  await one.sql`select outbox.replay(${event}, ${endpoint})`
  await other.sql`set statement_timeout = '10s'`
  expect(await sweep(other.sql)).toBe(2)
  await other.sql`reset statement_timeout`
  await one.sql`commit`
  await expectReplayed(event)
})

Deno.test('the sweep keeps an event that was replayed after it looked at it', async () => {
  const { event, endpoint } = await endedLongAgo()
  await one.sql`begin`
  // The sweep waits for this table with the snapshot of its first look.
  await one.sql`lock table outbox.attempt in access exclusive mode`
  await one.sql`select outbox.replay(${event}, ${endpoint})`
  const sweeping = sweep(other.sql)
  await expectWaitsFor(db.admin, other, one)
  await one.sql`commit`
  expect(await sweeping).toBe(2)
  await expectReplayed(event)
})

Deno.test('a replay of an event that the sweep is deleting waits, and is refused', async () => {
  const { event, endpoint } = await endedLongAgo()
  await other.sql`begin`
  await sweep(other.sql)
  const replaying = one.sql`select outbox.replay(${event}, ${endpoint})`.execute()
    .then(() => 'put back', (error) => error.code)
  await expectWaitsFor(db.admin, one, other)
  await other.sql`commit`
  expect(await replaying).toBe('OH002')
  expect((await one.sql`select from outbox.delivery d where d.event_id = ${event}`).length).toBe(0)
  await expectExactCounters(db.admin)
})

Deno.test('a replay of an event that the sweep did not delete after all finds it', async () => {
  const { event, endpoint } = await endedLongAgo()
  await other.sql`begin`
  await sweep(other.sql)
  const replaying = one.sql`select outbox.replay(${event}, ${endpoint})`.execute()
  await expectWaitsFor(db.admin, one, other)
  await other.sql`rollback`
  await replaying
  await expectReplayed(event)
})

Deno.test('a replay of a dead letter does not wait for the sweep, and has the body of the dead letter', async () => {
  const { event, endpoint } = await endedLongAgo('failed')
  await other.sql`begin`
  await sweep(other.sql)
  await one.sql`set lock_timeout = '1ms'`
  await one.sql`select outbox.replay(${event}, ${endpoint})`
  await one.sql`reset lock_timeout`
  await other.sql`commit`
  expect(await stored(event)).toBe(0)
  const [letter] = await one.sql`
    select x.original_message from outbox.dead_letter x where x.event_id = ${event}`
  expect(letter?.original_message).toEqual(expect.any(String))
  expect(await drain(one.sql)).toBe(1)
  await expectExactCounters(db.admin)
})

Deno.test('cleanup() passes over an event of DEFAULT that is being replayed', async () => {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1 })
  const [row] = await one.sql<{ id: string }[]>`
    insert into outbox.event (id, org_id, type, body, created_at)
    values (outbox.uuid_v7(now() - interval '60 days'), 'default', 'thing.done', '{}',
      now() - interval '60 days')
    returning id`
  const event = row?.id ?? ''
  await one.sql`
    insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome)
    values (${event}, ${endpoint}, 1, now() - interval '60 days', 'attempt', 'delivered')`
  await one.sql`begin`
  await one.sql`select outbox.replay(${event}, ${endpoint})`
  await other.sql`set statement_timeout = '10s'`
  await other.sql`select outbox.forget_default_rows(outbox.clock(), 100)`
  await other.sql`reset statement_timeout`
  await one.sql`commit`
  await expectReplayed(event)
})
