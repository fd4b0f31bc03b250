/** An event that cannot be routed costs no other event anything, and is set aside where people see it. */

import { expect } from '@std/expect'
import { expectDeliveredOnce, expectExactCounters } from './_support/checks.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { drain, report, Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { antidote, poison } from './_support/poison.ts'
import { publishMany, publishOne } from './_support/publish.ts'

let db: OutboxDatabase
let session: Session

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  session = await db.open()
})
Deno.test.beforeEach(() => db.reset())
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

async function setAside(): Promise<{ event_id: string; error: string }[]> {
  return [
    ...await db.admin<{ event_id: string; error: string }[]>`
      select u.event_id, u.error from outbox.unroutable u`,
  ]
}

Deno.test('route() sets one poison event among 1,000 aside and lets nobody else wait', async () => {
  const { sql } = session
  await addEndpoints(sql, { count: 2, maxInFlight: 1000, quantum: 1000 })
  const run = new Run(sql)
  await publishMany(sql, 'before', 20)
  const first = await run.call([], 40)
  const events = await publishMany(sql, 'thing.done', 1000)
  const [, , poisoned = ''] = events
  await poison(sql, { event: poisoned })
  try {
    // The route that meets the poison routes all others, and the results beside it count.
    const second = await run.call(first.deliveries.map((delivery) => report(delivery)), 400)
    expect(second.applied).toBe(40)
    expect(second.error?.route).toBe('this event is poison')
    const left = await db.admin`select u.event_id from outbox.unrouted u`
    expect([...left]).toEqual([{ event_id: poisoned }])
    expect(second.deliveries.length).toBe(400)
    expect(await setAside()).toEqual([])
    // Two more attempts; what is published meanwhile does not wait either.
    const later = await publishOne(sql)
    const third = await run.call(second.deliveries.map((delivery) => report(delivery)), 0)
    expect(third).toMatchObject({
      applied: 400,
      routed: 2,
      error: { route: 'this event is poison' },
    })
    expect(await db.admin`select from outbox.unrouted u where u.event_id = ${later}`).toHaveLength(
      0,
    )
    await run.call()
    expect(await setAside()).toEqual([{ event_id: poisoned, error: 'this event is poison' }])
    expect((await run.call()).error).toBe(null)
    await expectExactCounters(db.admin)
  } finally {
    await antidote(sql)
  }
  await drain(sql)
  await sql`select outbox.route_again(${poisoned})`
  await drain(sql)
  expect(await setAside()).toEqual([])
  await expectDeliveredOnce(db.admin, { events: 1021, endpoints: 2 })
})

Deno.test('route() sets one delivery of 3,000 of a wide event aside, and makes all others', async () => {
  const { sql } = session
  const endpoints = await addEndpoints(sql, { count: 3000, patterns: ['wide'] })
  await addEndpoints(sql, { count: 1, patterns: ['small'] })
  const wide = await publishOne(sql, 'wide')
  const small = await publishMany(sql, 'small', 10)
  await poison(sql, { event: wide, endpoint: endpoints[1500] ?? '' })
  const run = new Run(sql)
  try {
    for (let call = 1; call <= 4; call++) await run.call()
    expect(await setAside()).toEqual([])
    const refused = await db.admin`
      select s.endpoint_id, s.status, s.held_because from outbox.delivery_status s
      where s.event_id = ${wide} and s.status <> 'pending'`
    expect([...refused]).toEqual([{
      endpoint_id: endpoints[1500],
      status: 'held',
      held_because: 'set aside: P0001 this event is poison',
    }])
    const [made] = await db.admin`
      select count(*)::integer as n from outbox.delivery d where d.event_id = ${wide}`
    expect(made).toEqual({ n: 2999 })
    const [routed] = await db
      .admin`select count(*)::integer as n from outbox.delivery d where d.event_id = any (${small}::uuid[])`
    expect(routed).toEqual({ n: 10 })
    expect(await db.admin`select from outbox.unrouted`).toHaveLength(0)
    await expectExactCounters(db.admin)
  } finally {
    await antidote(sql)
  }
})

Deno.test('route() sets an event aside that takes all the time, and applies the results beside it', async () => {
  // Far above what the calls take by themselves, also on a busy machine, and above the second from which on is_timeout()
  // takes it for a timeout: that counts from the Execute message, and the limit from the Parse message before it.
  await using _limit = await statementTimeout('2s')
  const { sql } = session
  await addEndpoints(sql, { count: 1, maxInFlight: 1000, quantum: 1000 })
  const run = new Run(sql)
  await publishMany(sql, 'before', 20)
  let results = (await run.call([], 20)).deliveries.map((delivery) => report(delivery))
  const events = await publishMany(sql, 'thing.done', 100)
  await poison(sql, { event: events[50] ?? '', seconds: 5 })
  try {
    let timeouts = 0
    for (let call = 1; call <= 200 && (await setAside()).length === 0; call++) {
      const answer = await run.call(results, 10)
      expect({ applied: answer.applied, stale: answer.stale }).toEqual({
        applied: results.length,
        stale: 0,
      })
      results = answer.deliveries.map((delivery) => report(delivery))
      if (answer.error !== null) timeouts += 1
    }
    expect(await setAside()).toEqual([
      { event_id: events[50], error: 'canceling statement due to statement timeout' },
    ])
    // A batch shrinks to an eighth each time, and doubles when it succeeds; alone, the event fails three times.
    expect(timeouts).toBeLessThanOrEqual(10)
  } finally {
    await antidote(sql)
  }
  await run.call(results)
  await drain(sql)
  await sql`select outbox.route_again(${events[50] ?? ''})`
  await drain(sql)
  await expectDeliveredOnce(db.admin, { events: 120, endpoints: 1 })
})

Deno.test('route() keeps the results when trying each event alone takes all the time', async () => {
  const { sql } = session
  await addEndpoints(sql, { count: 1, maxInFlight: 1000, quantum: 1000 })
  const run = new Run(sql)
  await publishMany(sql, 'before', 20)
  const first = await run.call([], 20)
  const events = await publishMany(sql, 'thing.done', 1000)
  // The batch fails at once, at its first event; the others, one by one, take longer than is allowed.
  await poison(sql, { event: events[0] ?? '', others: 0.01 })
  // A fifth of what 1,000 events take, and far above the rest of a call, also on a busy machine.
  await using _limit = await statementTimeout('2s')
  try {
    const answer = await run.call(first.deliveries.map((delivery) => report(delivery)), 0)
    expect({ applied: answer.applied, route: typeof answer.error?.route }).toEqual({
      applied: 20,
      route: 'string',
    })
    for (let call = 1; call <= 40 && (await setAside()).length === 0; call++) await run.call()
    expect(await setAside()).toEqual([{ event_id: events[0], error: 'this event is poison' }])
  } finally {
    await antidote(sql)
  }
})

/** Limits the session's statements, as the worker and PostgREST do; disposing of it takes the limit away. */
async function statementTimeout(limit: string): Promise<AsyncDisposable> {
  await session.sql`select set_config('statement_timeout', ${limit}, false)`
  return {
    [Symbol.asyncDispose]: async () => {
      await session.sql`reset statement_timeout`
    },
  }
}
