/** Subscriptions that change beside publishers, editors and routing: each event goes by those of its time. */

import { expect } from '@std/expect'
import { expectExactCounters } from './_support/checks.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { publishOne } from './_support/publish.ts'

let db: OutboxDatabase
let router: Session
let publisher: Session
let editor: Session

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  router = await db.open()
  publisher = await db.open()
  editor = await db.open()
})
Deno.test.beforeEach(() => db.reset())
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

async function changeTypes({ sql }: Session, endpoint: string, types: string[]): Promise<void> {
  await sql`
    select outbox.update_org_endpoint('default', ${endpoint},
      jsonb_build_object('eventTypes', to_jsonb(${types}::text[])))`
}

async function deliveries(event: string): Promise<number> {
  const rows = await db.admin`select from outbox.delivery d where d.event_id = ${event}`
  return rows.length
}

/** Removes what may be removed `minutes` from now; returns how many ended subscriptions stay. */
async function endedAfterCleanup(minutes = 2): Promise<number> {
  // The first call marks what ended, the second removes it.
  for (let call = 0; call < 2; call++) {
    await editor.sql`
      select outbox.drop_ended_subscriptions(clock_timestamp() + ${`${minutes} min`}::interval, 100)`
  }
  const rows = await db.admin`select from outbox.ended_subscription s`
  return rows.length
}

const changes: [from: string[], to: string[], before: number, after: number][] = [
  [['*'], ['k.*'], 1, 1],
  [['k.*'], ['k.a'], 1, 1],
  [['k.a'], ['*'], 1, 1],
  [['k.a'], ['x'], 1, 0],
  [['x'], ['k.a'], 0, 1],
]

for (const [from, to, before, after] of changes) {
  const name = `${from} to ${to}`

  Deno.test(`${name}: an open publisher's event is of the time before the change, whoever commits first`, async () => {
    const [endpoint = ''] = await addEndpoints(router.sql, { count: 1, patterns: from })
    await publisher.sql`begin`
    const event = await publishOne(publisher.sql, 'k.a')
    await changeTypes(editor, endpoint, to)
    const later = await publishOne(router.sql, 'k.a')
    const run = new Run(router.sql)
    expect(await run.call()).toMatchObject({ routed: after })
    await publisher.sql`commit`
    expect(await run.call()).toMatchObject({ routed: before, error: null })
    expect([await deliveries(event), await deliveries(later)]).toEqual([before, after])
    await expectExactCounters(db.admin)
  })

  Deno.test(`${name}: a change that is open when an event is routed does not apply to it`, async () => {
    const [endpoint = ''] = await addEndpoints(router.sql, { count: 1, patterns: from })
    await editor.sql`begin`
    await changeTypes(editor, endpoint, to)
    const event = await publishOne(publisher.sql, 'k.a')
    const run = new Run(router.sql)
    expect(await run.call()).toMatchObject({ routed: before })
    await editor.sql`commit`
    const later = await publishOne(publisher.sql, 'k.a')
    expect(await run.call()).toMatchObject({ routed: after })
    expect([await deliveries(event), await deliveries(later)]).toEqual([before, after])
    await expectExactCounters(db.admin)
  })

  Deno.test(`${name}: a change that commits before the routing applies to all events after its call`, async () => {
    const [endpoint = ''] = await addEndpoints(router.sql, { count: 1, patterns: from })
    await editor.sql`begin`
    // This transaction is older than the publisher's, and so is its id.
    await editor.sql`select pg_current_xact_id()`
    const earlier = await publishOne(publisher.sql, 'k.a')
    await changeTypes(editor, endpoint, to)
    const event = await publishOne(publisher.sql, 'k.a')
    await editor.sql`commit`
    await new Run(router.sql).call()
    expect([await deliveries(earlier), await deliveries(event)]).toEqual([before, after])
    await expectExactCounters(db.admin)
  })

  Deno.test(`${name}: a change that is rolled back leaves everything as it was`, async () => {
    const [endpoint = ''] = await addEndpoints(router.sql, { count: 1, patterns: from })
    await editor.sql`begin`
    await changeTypes(editor, endpoint, to)
    const event = await publishOne(publisher.sql, 'k.a')
    await editor.sql`rollback`
    await new Run(router.sql).call()
    expect(await deliveries(event)).toBe(before)
    expect([...await db.admin`select from outbox.ended_subscription s`]).toEqual([])
  })
}

Deno.test('an ended subscription stays while a publisher of its time is open, and until its event is routed', async () => {
  const [endpoint = ''] = await addEndpoints(router.sql, { count: 1, patterns: ['k.a'] })
  await editor.sql`begin`
  // The editor's transaction is older than the publisher's.
  await editor.sql`select pg_current_xact_id()`
  await publisher.sql`begin`
  const event = await publishOne(publisher.sql, 'k.a')
  await changeTypes(editor, endpoint, ['x'])
  await editor.sql`commit`
  expect(await endedAfterCleanup()).toBe(1)
  const run = new Run(router.sql)
  await publishOne(router.sql, 'other')
  await run.call()
  expect(await endedAfterCleanup()).toBe(1)
  await publisher.sql`commit`
  expect(await endedAfterCleanup()).toBe(1)
  expect(await run.call()).toMatchObject({ routed: 1 })
  expect(await deliveries(event)).toBe(1)
  expect(await endedAfterCleanup()).toBe(0)
})

Deno.test('an ended subscription stays when the editor has an old snapshot', async () => {
  const [endpoint = ''] = await addEndpoints(router.sql, { count: 1, patterns: ['k.a'] })
  await editor.sql`begin isolation level repeatable read`
  await editor.sql`select from outbox.endpoint e`
  await publisher.sql`begin`
  const event = await publishOne(publisher.sql, 'k.a')
  await changeTypes(editor, endpoint, ['x'])
  await editor.sql`commit`
  expect(await endedAfterCleanup()).toBe(1)
  await publisher.sql`commit`
  await new Run(router.sql).call()
  expect(await deliveries(event)).toBe(1)
  expect(await endedAfterCleanup()).toBe(0)
})

Deno.test('an ended subscription stays for a minute, for publishers that have no transaction id yet', async () => {
  const [endpoint = ''] = await addEndpoints(router.sql, { count: 1, patterns: ['k.a'] })
  await changeTypes(editor, endpoint, ['x'])
  expect(await endedAfterCleanup(0)).toBe(1)
  expect(await endedAfterCleanup()).toBe(0)
})

Deno.test('an ended subscription stays while any older event is unrouted', async () => {
  const [endpoint = ''] = await addEndpoints(router.sql, { count: 1, patterns: ['k.a'] })
  const event = await publishOne(publisher.sql, 'k.a')
  await changeTypes(editor, endpoint, ['x'])
  expect(await endedAfterCleanup()).toBe(1)
  await new Run(router.sql).call()
  expect(await deliveries(event)).toBe(1)
  expect(await endedAfterCleanup()).toBe(0)
})

Deno.test('an ended subscription from a restored database goes, whose transactions are counted anew', async () => {
  const [endpoint = ''] = await addEndpoints(router.sql, { count: 1, patterns: ['k.a'] })
  await changeTypes(editor, endpoint, ['x'])
  await editor.sql`update outbox.ended_subscription set open_below = '9999999999' where true`
  expect(await endedAfterCleanup()).toBe(0)
})

for (const [step, openBelow] of [['marks', null], ['removes', '1']] as const) {
  Deno.test(`drop_ended_subscriptions() waits for nobody who holds one that it ${step}`, async () => {
    const [endpoint = ''] = await addEndpoints(router.sql, { count: 1, patterns: ['k.a'] })
    await changeTypes(editor, endpoint, ['x'])
    await db.admin`update outbox.ended_subscription set open_below = ${openBelow} where true`
    await publisher.sql`begin`
    await publisher.sql`select from outbox.ended_subscription s for update`
    await editor.sql`set lock_timeout = '5s'`
    expect(await endedAfterCleanup()).toBe(1)
    await publisher.sql`rollback`
    expect(await endedAfterCleanup()).toBe(0)
    await editor.sql`reset lock_timeout`
  })
}

Deno.test('route_waiting() waits for nobody who routes an event again', async () => {
  await addEndpoints(router.sql, { count: 1 })
  const event = await publishOne(publisher.sql)
  await db.admin`delete from outbox.unrouted where true`
  await db.admin`
    insert into outbox.unroutable (event_id, org_id, error, set_aside_at, again_at)
    values (${event}, 'default', 'a test', now(), now())`
  await publisher.sql`begin`
  await publisher.sql`select outbox.route_again(${event})`
  await editor.sql`set lock_timeout = '5s'`
  const [row] = await editor.sql`select outbox.route_waiting(clock_timestamp(), 100) as n`
  expect(row?.n).toBe(0)
  await publisher.sql`commit`
  await editor.sql`reset lock_timeout`
  expect(await new Run(router.sql).call()).toMatchObject({ routed: 1 })
})

Deno.test('two editors of one endpoint: no time has two subscriptions of a type, and none is lost', async () => {
  const [endpoint = ''] = await addEndpoints(router.sql, { count: 1, patterns: ['k.a'] })
  await editor.sql`begin`
  await changeTypes(editor, endpoint, ['k.*'])
  const second = changeTypes(publisher, endpoint, ['k.a'])
  await editor.sql`commit`
  await second
  const rows = await db.admin<{ pattern: string }[]>`
    select p.pattern, p.began_at, p.ended_at from (
      select s.pattern, s.began_at, s.ended_at from outbox.ended_subscription s
      union all
      select s.pattern, s.created_at, null from outbox.subscription s) p
    order by p.began_at`
  expect(rows.map((row) => row.pattern)).toEqual(['k.a', 'k.*', 'k.a'])
  const gaps = await db.admin`
    select from outbox.ended_subscription e
    where not exists (
        select from outbox.ended_subscription s where s.began_at = e.ended_at)
      and not exists (select from outbox.subscription s where s.created_at = e.ended_at)`
  expect(gaps).toHaveLength(0)
})
