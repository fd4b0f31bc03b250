/** A replay job whose tick dies half-way, or is still at work when the next one comes. */

import { expect } from '@std/expect'
import { expectDeliveredOnce, expectExactCounters, expectWaitsFor } from './_support/checks.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { drain, report, Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { holdAt, type Place } from './_support/hold.ts'
import { publishMany } from './_support/publish.ts'

const LETTERS = 12
const RATE = 5

let db: OutboxDatabase
let owner: Session
let holder: Session

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  owner = await db.open()
  holder = await db.open()
})
Deno.test.beforeEach(() => db.reset())
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

/** Dead letters of two endpoints, and a job of which one step is done. */
async function jobUnderWay(): Promise<void> {
  await addEndpoints(owner.sql, { count: 2 })
  await publishMany(owner.sql, 'thing.done', LETTERS / 2)
  const run = new Run(owner.sql)
  await run.call()
  const { deliveries } = await run.call([], LETTERS)
  await run.call(deliveries.map((delivery) => ({ ...report(delivery, 'failed'), status: 404 })))
  await owner.sql`select outbox.replay_many(p_rate_per_second => ${RATE})`
  await owner.sql`select outbox.tick()`
  expect(await progress()).toEqual({ status: 'running', replayed: RATE, skipped: 0, open: RATE })
}

/** Begins a step of `owner` that waits after the insert of its first delivery; `end` lets it go on, and awaits it. */
async function stepThatWaits(): Promise<{ end: () => Promise<void> }> {
  const hold = await holdAt(db.admin, holder.sql, {
    when: 'after',
    what: 'insert',
    table: 'delivery',
  })
  const step = owner.sql`select outbox.work_replay_jobs(outbox.clock())`.execute()
  await expectWaitsFor(db.admin, owner, holder)
  return {
    end: async () => {
      await hold[Symbol.asyncDispose]()
      await step
    },
  }
}

async function progress(): Promise<unknown> {
  const [row] = await db.admin`
    select j.status, j.replayed::integer, j.skipped::integer, (select count(*)::integer from outbox.delivery) as open
    from outbox.replay_job j`
  return row
}

/** Ends the job, sends what it has put back, and fails unless every letter was replayed and delivered once. */
async function expectReplayedOnce(): Promise<void> {
  await owner.sql`select outbox.tick()`
  expect(await progress()).toEqual({ status: 'running', replayed: 10, skipped: 0, open: 10 })
  for (let step = 0; step < 2; step++) await owner.sql`select outbox.tick()`
  expect(await progress()).toEqual({
    status: 'done',
    replayed: LETTERS,
    skipped: 0,
    open: LETTERS,
  })
  await expectExactCounters(db.admin)
  await drain(owner.sql)
  await expectDeliveredOnce(db.admin, { events: LETTERS / 2, endpoints: 2 })
}

/** Statements of a step while the first of its letters is put back, and after it. */
const places: Place[] = [
  { when: 'after', what: 'insert', table: 'delivery' },
  { when: 'after', what: 'update', table: 'dead_letter' },
  { when: 'before', what: 'update', table: 'replay_job' },
  { when: 'after', what: 'update', table: 'replay_job' },
]

for (const place of places) {
  const { when, what, table } = place
  Deno.test(`tick() that dies ${when} its ${what} of ${table} puts back nothing, and the next each letter once`, async () => {
    await jobUnderWay()
    const victim = await db.open()
    {
      await using _hold = await holdAt(owner.sql, holder.sql, place)
      const dying = victim.sql`select outbox.tick()`.then(() => 'answered', () => 'died')
      await expectWaitsFor(db.admin, victim, holder)
      const [killed] = await db
        .admin`select pg_terminate_backend(${victim.pid}::integer, 10000) as done`
      expect(killed).toEqual({ done: true })
      expect(await dying).toBe('died')
    }
    expect(await progress()).toEqual({ status: 'running', replayed: RATE, skipped: 0, open: RATE })
    await expectExactCounters(db.admin)
    await expectReplayedOnce()
  })
}

Deno.test('tick() leaves the jobs to a tick that is still at work on them', async () => {
  await jobUnderWay()
  const slow = await db.open()
  const quick = await db.open()
  await slow.sql`begin`
  await slow.sql`select outbox.work_replay_jobs(outbox.clock())`
  await quick.sql`select outbox.tick()`
  expect(await progress()).toEqual({ status: 'running', replayed: RATE, skipped: 0, open: RATE })
  await slow.sql`rollback`
  await expectReplayedOnce()
})

Deno.test('a job that begins while a step of another works is not ended without its dead letters', async () => {
  await jobUnderWay()
  const tick = await stepThatWaits()
  await db.admin`select outbox.replay_many(p_rate_per_second => ${RATE})`
  await tick.end()
  const jobs = await db.admin`select status from outbox.replay_job order by id`
  expect(jobs.map(({ status }) => status)).toEqual(['running', 'running'])
})

Deno.test('a job that is cancelled while its step works stays cancelled', async () => {
  await jobUnderWay()
  for (let step = 0; step < 2; step++) await owner.sql`select outbox.tick()`
  // A second job, whose step waits; the first has no dead letter left.
  await db.admin`
    update outbox.dead_letter set replayed_at = null
    where (event_id, endpoint_id) in (
      select event_id, endpoint_id from outbox.delivery order by event_id limit ${RATE})`
  await db.admin`
    delete from outbox.delivery d
    using outbox.dead_letter x
    where x.replayed_at is null and x.event_id = d.event_id and x.endpoint_id = d.endpoint_id`
  await db.admin`select outbox.replay_many(p_rate_per_second => ${RATE})`
  const tick = await stepThatWaits()
  await db.admin`
    update outbox.replay_job set status = 'cancelled', finished_at = outbox.clock()
    where id = (select min(id) from outbox.replay_job)`
  await tick.end()
  const [first] = await db.admin`select status from outbox.replay_job order by id limit 1`
  expect(first?.status).toBe('cancelled')
})

/** Dead letters of two organisations with an endpoint each, and a job of each; returns the endpoints. */
async function twoJobs(): Promise<{ held: string; free: string }> {
  const [held = ''] = await addEndpoints(owner.sql, { count: 1 })
  const [made] = await owner.sql<{ id: string }[]>`
    select outbox.create_endpoint(
      'https://other.test', array['thing.*'], p_org_id => 'other') ->> 'id' as id`
  await publishMany(owner.sql, 'thing.done', RATE)
  await owner.sql`
    select outbox.publish('thing.done', '{}', p_org_id => 'other')
    from generate_series(1, ${RATE * 2}::integer)`
  const run = new Run(owner.sql)
  await run.call()
  const { deliveries } = await run.call([], RATE * 3)
  expect(deliveries.length).toBe(RATE * 3)
  await run.call(deliveries.map((delivery) => ({ ...report(delivery, 'failed'), status: 404 })))
  for (const org of ['default', 'other']) {
    await owner.sql`select outbox.replay_many(${org}, p_rate_per_second => ${RATE})`
  }
  return { held, free: made?.id ?? '' }
}

/** Of each job: how many letters it replayed, how many it skipped, and what it waits for. */
async function progressOfBoth(): Promise<unknown[]> {
  return await db.admin`
    select j.replayed::integer, j.skipped::integer, j.waits_for from outbox.replay_job j order by j.id`
    .values()
}

/** Executes steps of the jobs, which may wait for nothing for a second. */
async function work(steps: number): Promise<void> {
  await owner.sql`set statement_timeout = '2s'`
  for (let step = 0; step < steps; step++) {
    await owner.sql`select outbox.work_replay_jobs(outbox.clock())`
  }
  await owner.sql`reset statement_timeout`
}

Deno.test('a replay job whose gate another session holds waits for it alone, fails never, and goes on after that', async () => {
  const { held } = await twoJobs()
  await holder.sql`begin`
  await holder.sql`select outbox.lock_gates(array[${held}::uuid])`
  await work(6)
  expect(await progressOfBoth()).toEqual([
    [0, 0, `the gate of endpoint ${held}`],
    [RATE * 2, 0, null],
  ])
  await holder.sql`rollback`
  expect(await db.admin`select from outbox.upkeep_refusal`).toHaveLength(0)
  await work(2)
  expect(await progressOfBoth()).toEqual([[RATE, 0, null], [RATE * 2, 0, null]])
  await expectExactCounters(db.admin)
})

Deno.test('a replay job whose dead letter another session holds stops before it, fails never, and goes on after that', async () => {
  const { held } = await twoJobs()
  await holder.sql`begin`
  await holder.sql`
    select from outbox.dead_letter x
    where x.id = (
      select o.id from outbox.dead_letter o where o.endpoint_id = ${held}
      order by o.failed_at, o.id offset 1 limit 1)
    for update`
  for (let step = 0; step < 6; step++) {
    await work(1)
    // As after the 10 s for which it is left out.
    await db.admin`update outbox.upkeep_refusal set at = at - interval '1 minute' where true`
  }
  expect(await progressOfBoth()).toEqual([[1, 0, null], [RATE * 2, 0, null]])
  const [refusal] = await db.admin`select task, member, sqlstate from outbox.upkeep_refusal`
  const [job] = await db.admin`select 'replay job ' || min(j.id) as member from outbox.replay_job j`
  expect(refusal).toEqual({
    task: 'outbox.work_replay_jobs',
    member: job?.member,
    sqlstate: '55P03',
  })
  await holder.sql`rollback`
  await work(1)
  expect(await progressOfBoth()).toEqual([[RATE, 0, null], [RATE * 2, 0, null]])
  await expectExactCounters(db.admin)
})

Deno.test('a step of replay jobs begins no other job after 2 s of waits', async () => {
  const { held } = await twoJobs()
  await db.admin`
    insert into outbox.replay_job (org_id, failed_to, rate_per_second, created_at)
    select j.org_id, j.failed_to, j.rate_per_second, j.created_at
    from outbox.replay_job j, generate_series(1, 40) where j.org_id = 'default'`
  await holder.sql`begin`
  await holder.sql`select from outbox.dead_letter x where x.endpoint_id = ${held} for update`
  await owner.sql`select outbox.work_replay_jobs(outbox.clock())`
  await holder.sql`rollback`
  const waited = (await db.admin`select from outbox.upkeep_refusal`).length
  expect([waited > 0, waited < 21]).toEqual([true, true])
})
