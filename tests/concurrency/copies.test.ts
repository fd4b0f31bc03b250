/** The binding to a project, with several sessions at once: binding, deciding, and a new database. */

import { expect } from '@std/expect'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { patienceMs } from '../_support/patience.ts'
import { expectWaitsFor } from './_support/checks.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { report, Run } from './_support/dispatch.ts'
import { publishOne } from './_support/publish.ts'

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

type Reply = { stop: string | null; deliveries: unknown[] }

async function dispatch(
  { sql }: Session,
  project: string,
  kind: 'edge' | 'worker' = 'worker',
): Promise<Reply> {
  const [row] = await sql`
    select outbox.dispatch(gen_random_uuid(), 1, '[]', 10, ${kind}, p_contract => jsonb_build_object(
      'oldest', 1, 'newest', 1, 'project', ${project}::text)) as reply`
  return row?.reply
}

async function changes(): Promise<string[]> {
  const rows = await db.admin`select action, project from outbox.binding_change order by id`
  return rows.map(({ action, project }) => `${action} ${project}`)
}

Deno.test('of two projects that bind at once the first one gets the outbox, and the other one nothing', async () => {
  await one.sql`begin`
  expect(await dispatch(one, 'shop')).toMatchObject({ stop: null })
  const second = dispatch(other, 'staging')
  await expectWaitsFor(db.admin, other, one)
  await one.sql`commit`
  expect(await second).toMatchObject({ stop: 'another_project' })
  expect(await changes()).toEqual(['bound shop'])
})

Deno.test('the second of two projects binds if the first one is rolled back', async () => {
  await one.sql`begin`
  await dispatch(one, 'shop')
  const second = dispatch(other, 'staging')
  await expectWaitsFor(db.admin, other, one)
  await one.sql`rollback`
  expect(await second).toMatchObject({ stop: null })
  expect(await changes()).toEqual(['bound staging'])
})

Deno.test('of two runs that confirm the binding of configure() at once the first one decides', async () => {
  await one.sql`select outbox.configure('https://api.example.com/functions/v1', repeat('s', 40))`
  await one.sql`begin`
  expect(await dispatch(one, 'shop')).toMatchObject({ stop: null })
  const second = dispatch(other, 'staging')
  await expectWaitsFor(db.admin, other, one)
  await one.sql`commit`
  expect(await second).toMatchObject({ stop: 'another_project' })
  expect(await changes()).toEqual(['bound api.example.com', 'bound shop'])
})

Deno.test('of two workers with another name beside functions one records it, and no worker waits', async () => {
  await dispatch(one, 'abcdefghijklmnopqrst', 'edge')
  await one.sql`begin`
  expect(await dispatch(one, 'api.example.com')).toMatchObject({ stop: null })
  await other.sql`set lock_timeout = '1ms'`
  expect(await dispatch(other, 'api.example.com')).toMatchObject({ stop: null })
  await other.sql`reset lock_timeout`
  await one.sql`commit`
  expect(await dispatch(other, 'api.example.com')).toMatchObject({ stop: null })
  expect(await changes()).toEqual(['bound abcdefghijklmnopqrst', 'named abcdefghijklmnopqrst'])
})

Deno.test('of two runs that find a new database one records it, and no run waits', async () => {
  await dispatch(one, 'shop')
  await db.admin`update outbox.binding set database = 'before' where true`
  await one.sql`begin`
  expect(await dispatch(one, 'shop')).toMatchObject({ stop: null })
  await other.sql`set lock_timeout = '1ms'`
  expect(await dispatch(other, 'shop')).toMatchObject({ stop: null })
  await other.sql`reset lock_timeout`
  await one.sql`commit`
  expect(await dispatch(other, 'shop')).toMatchObject({ stop: null })
  expect(await changes()).toEqual(['bound shop', 'database_changed shop'])
})

Deno.test('decide_copy() waits for a call of a run, and a call beside it gets nothing and waits for nothing', async () => {
  await addEndpoints(one.sql, { count: 1 })
  await dispatch(one, 'shop')
  await publishOne(one.sql)
  await one.sql`begin`
  expect((await dispatch(one, 'shop')).deliveries).toHaveLength(1)
  await publishOne(other.sql)
  const decided = other.sql`select outbox.decide_copy('cancel_pending', 'staging') as d`
    .then(([row]) => row?.d)
  await expectWaitsFor(db.admin, other, one)
  const third = await db.open()
  await third.sql`set lock_timeout = '1ms'`
  expect(await dispatch(third, 'shop')).toMatchObject({ stop: 'deciding', deliveries: [] })
  await one.sql`commit`
  // The delivery in flight is cancelled too: its result comes from a run that is refused.
  expect(await decided).toMatchObject({ cancelled: { deliveries: 2 } })
  expect(await dispatch(third, 'shop')).toMatchObject({ stop: 'another_project', deliveries: [] })
  expect(await dispatch(one, 'staging')).toMatchObject({ stop: null, deliveries: [] })
  await third.sql.end()
})

Deno.test('a call that a decision has overtaken reports its results and is told to stop', async () => {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1 })
  const run = crypto.randomUUID()
  const contract = JSON.stringify({ oldest: 1, newest: 1, project: 'shop' })
  await publishOne(one.sql)
  const [first] = await one.sql`
    select outbox.dispatch(${run}, 1, '[]', 10, 'worker', p_contract => ${contract}::text::jsonb) as reply`
  const [delivery] = first?.reply.deliveries
  await other.sql`select outbox.decide_copy('deliver_pending', 'staging')`
  const results = JSON.stringify([{
    event: delivery.event,
    endpoint,
    attempt: delivery.attempt,
    outcome: 'delivered',
    status: 200,
    duration_ms: 1,
  }])
  const [second] = await one.sql`
    select outbox.dispatch(${run}, 2, ${results}::text::jsonb, 10, 'worker', p_contract => ${contract}::text::jsonb) as reply`
  expect(second?.reply).toMatchObject({ applied: 1, stop: 'another_project', deliveries: [] })
  const [row] = await one
    .sql`select ended_at is not null as ended from outbox.run where id = ${run}`
  expect(row?.ended).toBe(true)
})

Deno.test('refuse_project() of a run does not wait for another call of it, and ends the run later', async () => {
  await dispatch(one, 'shop')
  const run = crypto.randomUUID()
  await one.sql`select outbox.touch_run(${run}, 'worker', outbox.clock(), false)`
  await one.sql`begin`
  await one.sql`select from outbox.run r where r.id = ${run} for update`
  await other.sql`set lock_timeout = '1ms'`
  const refuse = (): Promise<unknown> =>
    other
      .sql`select outbox.refuse_project(${run}, 'worker', 'another_project', 'x', outbox.clock())`
  await refuse()
  await other.sql`reset lock_timeout`
  await one.sql`rollback`
  await refuse()
  const ended = async (): Promise<boolean> => {
    const [row] = await other
      .sql`select ended_at is not null as yes from outbox.run where id = ${run}`
    return row?.yes
  }
  expect(await waitUntil(ended, { timeoutMs: patienceMs })).toBe(true)
})

Deno.test('cancel_pending() waits for a tick that works on replay jobs, and then cancels them', async () => {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1 })
  await publishOne(one.sql)
  const run = new Run(one.sql)
  const { deliveries } = await run.call([], 1)
  await run.call(deliveries.map((own) => ({ ...report(own, 'failed'), status: 404 })))
  await one.sql`select outbox.replay_many()`
  await one.sql`begin`
  // As a step of the jobs, which holds gates before it changes a job.
  await one.sql`
    select pg_advisory_xact_lock('outbox.replay_job'::regclass::oid::bigint)`
  const cancelled = other
    .sql`select outbox.cancel_pending('why', outbox.clock(), 'infinity') as c`
    .then(([row]) => row?.c, (error) => error)
  await expectWaitsFor(db.admin, other, one)
  await one.sql`select outbox.lock_gates(array[${endpoint}::uuid])`
  await one.sql`update outbox.replay_job set replayed = replayed where true`
  await one.sql`commit`
  expect(await cancelled).toEqual({ deliveries: 0, replay_jobs: 1, more: false })
})

Deno.test('cancel_pending() waits for a gate that another session holds, for routing and for cancelling', async () => {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1 })
  await dispatch(one, 'shop')
  for (const isRouted of [true, false]) {
    await publishOne(one.sql)
    await one.sql`select outbox.dispatch(gen_random_uuid(), 1, '[]', 0, 'worker')`
    await one.sql`delete from outbox.unrouted where true`
    // Its lane is there already, because of the delivery before it.
    if (!isRouted) await publishOne(one.sql)
    await one.sql`begin`
    await one.sql`select outbox.lock_gates(array[${endpoint}::uuid])`
    const cancelled = other
      .sql`select outbox.cancel_pending('why', outbox.clock(), 'infinity') as c`
      .then(([row]) => row?.c, (error) => error)
    await expectWaitsFor(db.admin, other, one)
    // It has taken nothing yet that the holder of the gate may want.
    await one.sql`set local lock_timeout = '2s'`
    await one.sql`select from outbox.lane l for update`
    await one.sql`select from outbox.delivery d for update`
    await one.sql`commit`
    const deliveries = isRouted ? 1 : 2
    expect(await cancelled).toEqual({ deliveries, replay_jobs: 0, more: false })
  }
})
