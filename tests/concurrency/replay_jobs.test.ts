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

/** Begins a transaction of `holder` that locks both gates: five of the twelve letters may be of one endpoint alone. */
async function holdGates(): Promise<void> {
  await holder.sql`begin`
  await holder.sql`select from outbox.gate order by id for update`
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
  await holdGates()
  const tick = owner.sql`select outbox.work_replay_jobs(outbox.clock())`.execute()
  await expectWaitsFor(db.admin, owner, holder)
  await db.admin`select outbox.replay_many(p_rate_per_second => ${RATE})`
  await holder.sql`commit`
  await tick
  const jobs = await db.admin`select status from outbox.replay_job order by id`
  expect(jobs.map(({ status }) => status)).toEqual(['running', 'running'])
})

Deno.test('a job that is cancelled while its step works stays cancelled', async () => {
  await jobUnderWay()
  for (let step = 0; step < 2; step++) await owner.sql`select outbox.tick()`
  // A second job, whose gates its step waits for; the first has no dead letter left.
  await db.admin`update outbox.dead_letter set replayed_at = null where true`
  await db.admin`select outbox.replay_many(p_rate_per_second => ${RATE})`
  await holdGates()
  const tick = owner.sql`select outbox.work_replay_jobs(outbox.clock())`.execute()
  await expectWaitsFor(db.admin, owner, holder)
  await db.admin`
    update outbox.replay_job set status = 'cancelled', finished_at = outbox.clock()
    where id = (select min(id) from outbox.replay_job)`
  await holder.sql`commit`
  await tick
  const [first] = await db.admin`select status from outbox.replay_job order by id limit 1`
  expect(first?.status).toBe('cancelled')
})
