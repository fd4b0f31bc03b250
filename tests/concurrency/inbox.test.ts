/** A consumer's inbox and a saga's key under deliveries and calls that come at once. */

import { expect } from '@std/expect'
import { expectWaitsFor } from './_support/checks.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'

let db: OutboxDatabase

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  await db.admin`create table public.work (note text)`
  await db.admin`grant all on public.work to postgres`
  const { sql } = await db.open()
  await sql`
    create function public.step(p_context jsonb) returns jsonb language sql as $$
      insert into public.work values ('step') returning '{}'::jsonb $$`
})
Deno.test.beforeEach(async () => {
  await db.reset()
  await db.admin`truncate public.work`
})
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

async function accept({ sql }: Session, event: string): Promise<boolean> {
  const [row] = await sql`select outbox.accept_once('billing', ${event}) as first`
  return row?.first
}

/** What a consumer does with a delivery: once, whoever brings it. */
async function consume({ sql }: Session, event: string): Promise<void> {
  await sql`begin`
  const [row] = await sql`select outbox.accept_once('billing', ${event}) as first`
  if (row?.first) await sql`insert into public.work values (${event})`
  await sql`commit`
}

async function work(): Promise<number> {
  return (await db.admin`select from public.work`).length
}

Deno.test('accept_once() lets one of 20 deliveries of an event through', async () => {
  const sessions = await Promise.all(Array.from({ length: 20 }, () => db.open()))
  for (let round = 1; round <= 5; round++) {
    await Promise.all(sessions.map((session) => consume(session, `event ${round}`)))
    expect(await work()).toBe(round)
  }
})

Deno.test('accept_once() waits for the delivery under way, and is false once that commits', async () => {
  const [one, other, third] = await Promise.all([db.open(), db.open(), db.open()])
  await one.sql`begin`
  expect(await accept(one, 'event')).toBe(true)
  const second = accept(other, 'event')
  await expectWaitsFor(db.admin, other, one)
  await third.sql`set lock_timeout = '1ms'`
  expect(await accept(third, 'another event')).toBe(true)
  await one.sql`commit`
  expect(await second).toBe(false)
})

Deno.test('accept_once() is true for the next delivery when the first rolls back or dies', async () => {
  const [one, dying, next] = await Promise.all([db.open(), db.open(), db.open()])
  await one.sql`begin`
  expect(await accept(one, 'event')).toBe(true)
  const second = accept(dying, 'event')
  await expectWaitsFor(db.admin, dying, one)
  await one.sql`rollback`
  expect(await second).toBe(true)

  await dying.sql`begin`
  expect(await accept(dying, 'other')).toBe(true)
  const third = accept(next, 'other')
  await expectWaitsFor(db.admin, next, dying)
  await db.admin`select pg_terminate_backend(${dying.pid}::integer)`
  expect(await third).toBe(true)
})

Deno.test('accept_once() in REPEATABLE READ raises a serialization failure, never true twice', async () => {
  const [one, other] = await Promise.all([db.open(), db.open()])
  await other.sql`begin isolation level repeatable read`
  await other.sql`select from public.work`
  expect(await accept(one, 'event')).toBe(true)
  await expect(accept(other, 'event')).rejects.toMatchObject({ code: '40001' })
  await other.sql`rollback`
})

Deno.test('execute_saga() runs once for 20 sessions with one key, and gives all the same result', async () => {
  const sessions = await Promise.all(Array.from({ length: 20 }, () => db.open()))
  const steps = JSON.stringify([{ function: 'public.step', event_type: 'step.done' }])
  const execute = async ({ sql }: Session, key: string): Promise<string> => {
    const [row] = await sql`
      select outbox.execute_saga('one', p_idempotency_key => ${key}) ->> 'id' as id`
    return row?.id
  }
  const { sql } = await db.open()
  await sql`select outbox.define_saga('one', ${steps}::text::jsonb)`
  const ids = await Promise.all(sessions.map((session) => execute(session, 'key')))
  expect(new Set(ids).size).toBe(1)
  expect(await work()).toBe(1)
  expect((await db.admin`select from outbox.event`).length).toBe(1)
})
