/** People change endpoints and settings while runs work: neither waits for the other. */

import { expect } from '@std/expect'
import { expectExactCounters, expectWaitsFor } from './_support/checks.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { dispatch, drain, report, Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { publishMany } from './_support/publish.ts'

let db: OutboxDatabase
let worker: Session
let person: Session

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  worker = await db.open()
  person = await db.open()
  // Whoever waits at all fails.
  await worker.sql`set lock_timeout = '1ms'`
  await person.sql`set lock_timeout = '1ms'`
})
Deno.test.beforeEach(() => db.reset())
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

/** What a person does to the endpoint at the console. */
const deeds: [what: string, sql: string][] = [
  ['pauses it', `select outbox.pause_endpoint($1)`],
  ['disables it', `select outbox.disable_endpoint($1)`],
  ['resumes it', `select outbox.resume_endpoint($1)`],
  ['deletes it', `select outbox.delete_endpoint($1)`],
  [
    'changes its limits',
    `update outbox.endpoint e set max_in_flight = 60, version = e.version + 1 where e.id = $1`,
  ],
  ['subscribes it to more', `select outbox.subscribe($1, '{more.*}')`],
  ['takes its subscriptions away', `delete from outbox.subscription s where s.endpoint_id = $1`],
  [
    'changes a setting',
    `select outbox.set_setting('worker.batch_size', '399') from outbox.endpoint e where e.id = $1`,
  ],
]

for (const [what, deed] of deeds) {
  Deno.test(`a person who ${what} waits for no dispatch that is under way`, async () => {
    const [endpoint = ''] = await addEndpoints(worker.sql, { count: 1 })
    await publishMany(worker.sql, 'thing.done', 10)
    const run = new Run(worker.sql)
    const { deliveries } = await run.call([], 5)
    await worker.sql`begin`
    const answer = await run.call(deliveries.map((delivery) => report(delivery)), 5)
    expect(answer).toMatchObject({ applied: 5, error: null })
    await person.sql.unsafe(deed, [endpoint])
    await worker.sql`commit`
    await expectExactCounters(db.admin)
  })

  Deno.test(`dispatch() waits for no transaction in which a person ${what}`, async () => {
    const [endpoint = ''] = await addEndpoints(worker.sql, { count: 1 })
    await publishMany(worker.sql, 'thing.done', 10)
    const run = new Run(worker.sql)
    const { deliveries } = await run.call([], 5)
    await person.sql`begin`
    await person.sql.unsafe(deed, [endpoint])
    await publishMany(worker.sql, 'thing.done', 10)
    const answer = await run.call(deliveries.map((delivery) => report(delivery)), 5)
    expect(answer).toMatchObject({ applied: 5, routed: 10, error: null })
    expect(answer.deliveries.length).toBe(5)
    await person.sql`commit`
    await expectExactCounters(db.admin)
  })
}

Deno.test('a gate that a forgotten transaction holds is passed over by claims, which serve all others', async () => {
  const [held = '', ...others] = await addEndpoints(worker.sql, { count: 4 })
  await publishMany(worker.sql, 'thing.done', 10)
  await new Run(worker.sql).call()
  await person.sql`begin`
  await person.sql`update outbox.gate g set not_before = g.not_before where g.endpoint_id = ${held}`
  expect(await drain(worker.sql)).toBe(30)
  const open = await db.admin<
    { endpoint_id: string }[]
  >`select distinct d.endpoint_id from outbox.delivery d`
  expect(open.map((row) => row.endpoint_id)).toEqual([held])
  expect(others.length).toBe(3)
  await person.sql`rollback`
  expect(await drain(worker.sql)).toBe(10)
})

Deno.test('a call with results or new events for a held gate waits, and no claim of other gates waits for that call', async () => {
  const [held = '', other = ''] = await addEndpoints(worker.sql, { count: 2, patterns: [] })
  await worker
    .sql`select outbox.subscribe(${held}, '{held}'), outbox.subscribe(${other}, '{other}')`
  await publishMany(worker.sql, 'held', 2)
  const [reporter, router] = await Promise.all([db.open(), db.open()])
  const run = crypto.randomUUID()
  const { deliveries } = await dispatch(reporter.sql, { run, seq: 1, limit: 2 })
  expect(deliveries.length).toBe(2)
  await publishMany(worker.sql, 'other', 4)
  await new Run(worker.sql).call()
  await person.sql`begin`
  await person.sql`update outbox.gate g set not_before = g.not_before where g.endpoint_id = ${held}`

  const reporting = dispatch(reporter.sql, {
    run,
    seq: 2,
    results: deliveries.map((delivery) => report(delivery)),
  })
  await expectWaitsFor(db.admin, reporter, person)
  await publishMany(worker.sql, 'held', 1)
  const routing = new Run(router.sql).call()
  // It stands in line behind the other one.
  await expectWaitsFor(db.admin, router, reporter)
  // Under a lock timeout of 1 ms: it neither routes nor waits.
  expect(await drain(worker.sql)).toBe(4)

  await person.sql`rollback`
  expect(await reporting).toMatchObject({ applied: 2, error: null })
  expect(await routing).toMatchObject({ routed: 1, error: null })
  await expectExactCounters(db.admin)
})

Deno.test('claim() serves a paused endpoint no more, and again once it is enabled', async () => {
  const [endpoint = ''] = await addEndpoints(worker.sql, { count: 1 })
  await publishMany(worker.sql, 'thing.done', 5)
  const run = new Run(worker.sql)
  await run.call()
  const clock = async (seconds: number): Promise<void> => {
    await worker.sql`
      insert into outbox.test_clock (at) values (now() + ${`${seconds} s`}::interval)
      on conflict (only_row) do update set at = excluded.at`
  }
  await clock(1)
  await person.sql`update outbox.endpoint e set status = 'paused' where e.id = ${endpoint}`
  expect((await run.call([], 10)).deliveries).toEqual([])
  await person.sql`update outbox.endpoint e set status = 'enabled' where e.id = ${endpoint}`
  await clock(60)
  expect((await run.call([], 10)).deliveries.length).toBe(5)
})

Deno.test('dispatch() that would disable an endpoint waits for no person who has changed it', async () => {
  const [endpoint = ''] = await addEndpoints(worker.sql, { count: 1 })
  await publishMany(worker.sql, 'thing.done', 2)
  const run = new Run(worker.sql)
  const [first, second] = (await run.call([], 2)).deliveries
  if (first === undefined || second === undefined) throw new Error('nothing was claimed')
  const statusNow = async (): Promise<unknown> => {
    const [row] = await db.admin`select e.status, e.status_reason as reason from outbox.endpoint e`
    return row
  }
  await person.sql`begin`
  await person.sql`update outbox.endpoint e set description = 'ours' where e.id = ${endpoint}`
  const gone = { outcome: 'failed', status: 410 } as const
  expect(await run.call([{ ...report(first), ...gone }])).toMatchObject({ applied: 1, error: null })
  await person.sql`commit`
  expect(await statusNow()).toMatchObject({ status: 'enabled' })
  // The next 410 disables it.
  expect(await run.call([{ ...report(second), ...gone }])).toMatchObject({
    applied: 1,
    error: null,
  })
  expect(await statusNow()).toEqual({ status: 'disabled', reason: 'gone' })
})

Deno.test('a cancellation forgotten in an open transaction is undone after two seconds, and runs go on', async () => {
  const [endpoint = ''] = await addEndpoints(worker.sql, { count: 1 })
  const [forgotten, reporter] = await Promise.all([db.open(), db.open()])
  const events = await publishMany(worker.sql, 'thing.done', 2)
  const run = new Run(reporter.sql)
  const { deliveries } = await run.call([], 1)
  const open = events.find((event) => event !== deliveries[0]?.event) ?? ''
  await forgotten.sql`begin`
  await forgotten.sql`select outbox.cancel_delivery(${open}, ${endpoint})`
  const reporting = run.call(deliveries.map((delivery) => report(delivery)))
  await expectWaitsFor(db.admin, reporter, forgotten)
  expect(await reporting).toMatchObject({ applied: 1, error: null })
  expect(await db.admin`select from outbox.delivery d where d.event_id = ${open}`).toHaveLength(1)
  await expectExactCounters(db.admin)
})
