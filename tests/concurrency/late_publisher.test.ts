/** Publishers that commit late, roll back or stay open: routed at once after their commit, and holding nobody up. */

import { expect } from '@std/expect'
import { expectExactCounters } from './_support/checks.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { Random } from './_support/random.ts'
import { publishMany, publishOne } from './_support/publish.ts'

let db: OutboxDatabase
let router: Session
let others: Session
let late: Session

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  router = await db.open()
  others = await db.open()
  late = await db.open()
})
Deno.test.beforeEach(() => db.reset())
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

async function routed(event: string): Promise<boolean> {
  const rows = await db.admin`select from outbox.delivery d where d.event_id = ${event}`
  return rows.length > 0
}

async function hasUnrouted(): Promise<boolean> {
  const [row] = await db.admin<{ has: boolean }[]>`select outbox.has_unrouted() as has`
  return row?.has === true
}

Deno.test('route() takes a late event in the first dispatch after its commit', async () => {
  await addEndpoints(router.sql, { count: 1 })
  const run = new Run(router.sql)
  await late.sql`begin`
  const event = await publishOne(late.sql)
  await publishMany(others.sql, 'thing.done', 100)
  expect((await run.call()).routed).toBe(100)
  await publishMany(others.sql, 'thing.done', 100)
  expect((await run.call()).routed).toBe(100)
  expect(await routed(event)).toBe(false)
  await late.sql`commit`
  expect(await hasUnrouted()).toBe(true)
  expect((await run.call()).routed).toBe(1)
  expect(await routed(event)).toBe(true)
})

Deno.test('route() takes a late event that a savepoint holds, and not the one rolled back to it', async () => {
  await addEndpoints(router.sql, { count: 1 })
  const run = new Run(router.sql)
  await late.sql`begin`
  await late.sql`savepoint a`
  const undone = await publishOne(late.sql)
  await late.sql`rollback to savepoint a`
  const kept = await publishOne(late.sql)
  await late.sql`savepoint b`
  const nested = await publishOne(late.sql)
  await late.sql`release savepoint b`
  await publishOne(others.sql)
  expect((await run.call()).routed).toBe(1)
  await late.sql`commit`
  expect((await run.call()).routed).toBe(2)
  expect([await routed(undone), await routed(kept), await routed(nested)]).toEqual([
    false,
    true,
    true,
  ])
})

Deno.test('an open publisher delays none of 3,000 others and makes no work when they are done', async () => {
  await addEndpoints(router.sql, { count: 1 })
  const run = new Run(router.sql)
  await late.sql`begin`
  const event = await publishOne(late.sql)
  for (let round = 0; round < 3; round++) {
    await publishMany(others.sql, 'thing.done', 1000)
    expect((await run.call()).routed).toBe(1000)
  }
  expect(await hasUnrouted()).toBe(false)
  expect((await run.call()).routed).toBe(0)
  await late.sql`commit`
  expect((await run.call()).routed).toBe(1)
  expect(await routed(event)).toBe(true)
})

Deno.test('a publisher that rolls back leaves nothing to route', async () => {
  await addEndpoints(router.sql, { count: 1 })
  const run = new Run(router.sql)
  await late.sql`begin`
  const event = await publishOne(late.sql)
  await publishOne(others.sql)
  expect((await run.call()).routed).toBe(1)
  await late.sql`rollback`
  expect(await hasUnrouted()).toBe(false)
  expect((await run.call()).routed).toBe(0)
  expect(await routed(event)).toBe(false)
  expect(await db.admin`select from outbox.event e where e.id = ${event}`).toHaveLength(0)
})

Deno.test('several late publishers are each routed after their own commit, in any order', async () => {
  await addEndpoints(router.sql, { count: 1 })
  const run = new Run(router.sql)
  const publishers: { session: Session; event: string }[] = []
  for (let n = 0; n < 4; n++) {
    const session = await db.open()
    await session.sql`begin`
    publishers.push({ session, event: await publishOne(session.sql) })
    await publishOne(others.sql)
    expect((await run.call()).routed).toBe(1)
  }
  for (const { session, event } of new Random(1).shuffled(publishers)) {
    await session.sql`commit`
    expect((await run.call()).routed).toBe(1)
    expect(await routed(event)).toBe(true)
  }
  expect(await hasUnrouted()).toBe(false)
})

Deno.test('route() takes an event that its own transaction published after the read', async () => {
  await addEndpoints(router.sql, { count: 1 })
  // The event's id lies below the watermark, as after a step of the clock; the subscription is older still.
  await router.sql`update outbox.subscription set created_at = '-infinity' where true`
  await publishOne(others.sql)
  await router.sql`begin`
  await router
    .sql`insert into outbox.test_clock (at) select clock_timestamp() - interval '1 minute'`
  const run = new Run(router.sql)
  expect((await run.call()).routed).toBe(1)
  const event = await publishOne(router.sql)
  await router.sql`delete from outbox.test_clock where only_row`
  await router.sql`commit`
  expect((await run.call()).routed).toBe(1)
  expect(await routed(event)).toBe(true)
})

Deno.test('a late event of a key comes before the one that began after its commit', async () => {
  await addEndpoints(router.sql, { count: 1, ordering: 'partition' })
  const run = new Run(router.sql)
  await late.sql`begin`
  const first = await publishOne(late.sql, 'thing.done', 'key')
  await publishOne(others.sql, 'thing.done', 'other key')
  expect((await run.call()).routed).toBe(1)
  await late.sql`commit`
  const second = await publishOne(others.sql, 'thing.done', 'key')
  expect((await run.call()).routed).toBe(2)
  const order = await db.admin<{ event_id: string }[]>`
    select d.event_id from outbox.delivery d where d.event_id in (${first}, ${second}) order by d.due_at`
  expect(order.map((row) => row.event_id)).toEqual([first, second])
  await expectExactCounters(db.admin)
})

Deno.test('route() loses nothing in a restored database, whose transactions are counted anew', async () => {
  await addEndpoints(router.sql, { count: 1 })
  const run = new Run(router.sql)
  await publishOne(others.sql)
  await run.call()
  await router.sql`update outbox.router set seen_below = '9999999999' where true`
  await late.sql`begin`
  const event = await publishOne(late.sql)
  await publishOne(others.sql)
  expect((await run.call()).routed).toBe(1)
  await late.sql`commit`
  expect((await run.call()).routed).toBe(1)
  expect(await routed(event)).toBe(true)
})

Deno.test('a late flood of one organisation holds up no event of another, and loses none', async () => {
  await addEndpoints(router.sql, { count: 1 })
  await addEndpoints(router.sql, { count: 1, org: 'small' })
  const run = new Run(router.sql)
  await late.sql`begin`
  for (let batch = 0; batch < 4; batch++) await publishMany(late.sql, 'thing.done', 1000)
  await publishSmall(others.sql)
  expect((await run.call()).routed).toBe(1)
  await late.sql`commit`
  const event = await publishSmall(others.sql)
  // It passes over the flood.
  expect((await run.call()).routed).toBe(1)
  expect(await routed(event)).toBe(true)
  // Few at a time, because another organisation has had events.
  expect((await run.call()).routed).toBe(100)
  let left = 3900
  while (left > 0) {
    const { routed } = await run.call()
    expect(routed).toBeGreaterThan(0)
    left -= routed
  }
  expect([left, await hasUnrouted()]).toEqual([0, false])
  await expectExactCounters(db.admin)
})

async function publishSmall(sql: Session['sql']): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    select outbox.publish('thing.done', '{}', p_org_id => 'small') as id`
  if (row === undefined) throw new Error('publish() returned no row')
  return row.id
}
