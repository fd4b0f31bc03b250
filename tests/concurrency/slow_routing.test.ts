/** A routing call that times out makes the next batch smaller, even if another call routes meanwhile. */

import { expect } from '@std/expect'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { publishMany } from './_support/publish.ts'

let db: OutboxDatabase
let first: Session
let second: Session

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  first = await db.open()
  second = await db.open()
})
Deno.test.beforeEach(() => db.reset())
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

const slow = 'canceling statement due to statement timeout'

async function batch(): Promise<number> {
  const [row] = await db.admin<{ batch: number }[]>`select r.batch from outbox.router r`
  return row?.batch ?? 0
}

Deno.test('a call that timed out makes the batch smaller, even while another call routes', async () => {
  await addEndpoints(first.sql, { count: 1 })
  await publishMany(first.sql, 'thing.done', 300)
  await second.sql`begin`
  await second.sql`select outbox.lock_router()`
  await first.sql`select outbox.shrink_routing(null, ${slow}, outbox.clock())`
  expect(await batch()).toBe(1000)
  await second.sql`rollback`
  // 1,000 / 8; each success doubles it.
  expect(await new Run(first.sql).call([], 0)).toMatchObject({ routed: 125 })
  expect(await batch()).toBe(250)
  expect([...await db.admin`select from outbox.routing_timeout t`]).toEqual([])
})

/** Counts three failures of an event that is routed alone, while another call routes. */
async function failThrice(event: string): Promise<void> {
  for (let failure = 1; failure <= 3; failure++) {
    await second.sql`begin`
    await second.sql`select outbox.lock_router()`
    await first.sql`
      select outbox.shrink_routing(array[${event}::uuid], ${slow}, outbox.clock())`
    await second.sql`rollback`
  }
  expect(await new Run(first.sql).call([], 0)).toMatchObject({ routed: 0, error: null })
}

Deno.test('an event that alone takes all the time waits for a minute, even while other calls route', async () => {
  await addEndpoints(first.sql, { count: 1 })
  await publishMany(first.sql, 'thing.first', 1)
  await new Run(first.sql).call([], 0)
  const [event = ''] = await publishMany(first.sql, 'thing.done', 1)
  await failThrice(event)
  expect([
    ...await db.admin`
    select u.event_id, u.error, u.again_at - u.set_aside_at = '1 minute' as waits from outbox.unroutable u`,
  ])
    .toEqual([{ event_id: event, error: slow, waits: true }])
  expect([...await db.admin`select from outbox.unrouted u`]).toEqual([])
})

/** The eighth failure of an event that is routed alone. */
async function failOften(event: string): Promise<Record<string, unknown> | undefined> {
  await first.sql`update outbox.unrouted set failures = 7 where event_id = ${event}`
  await first.sql`update outbox.router set batch = 1 where true`
  await first.sql`select outbox.shrink_routing(array[${event}::uuid], ${slow}, outbox.clock())`
  const [row] = await db.admin`
    select u.error, u.again_at = 'infinity' as is_final, u.failures from outbox.unroutable u`
  return row
}

Deno.test('an event that alone takes all the time is set aside for good after half an hour', async () => {
  await addEndpoints(first.sql, { count: 1 })
  await publishMany(first.sql, 'thing.first', 1)
  await new Run(first.sql).call([], 0)
  const [event = ''] = await publishMany(first.sql, 'thing.done', 1)
  expect(await failOften(event)).toEqual({ error: slow, is_final: true, failures: 8 })
})
