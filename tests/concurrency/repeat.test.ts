/** A call that is made again, one that dies half-way, and results that come too late. */

import { expect } from '@std/expect'
import { expectDeliveredOnce, expectExactCounters, expectWaitsFor } from './_support/checks.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { dispatch, drain, report, Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { holdAt, type Place } from './_support/hold.ts'
import { publishMany } from './_support/publish.ts'

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

/** Two ordered and two unordered endpoints, with events claimed by a run, and others published since. */
async function underWay(): Promise<{ run: string; call: Parameters<typeof dispatch>[1] }> {
  await addEndpoints(owner.sql, { count: 2, ordering: 'partition' })
  await addEndpoints(owner.sql, { count: 2 })
  await publishMany(owner.sql, 'thing.done', 10)
  const run = crypto.randomUUID()
  const { deliveries } = await dispatch(owner.sql, { run, seq: 1, limit: 20 })
  expect(deliveries.length).toBe(20)
  await publishMany(owner.sql, 'thing.done', 10)
  const results = deliveries.map((delivery, index) =>
    report(delivery, index % 5 === 0 ? 'failed' : 'delivered')
  )
  return { run, call: { run, seq: 2, results, limit: 30 } }
}

Deno.test('dispatch() repeated while the first call runs waits for it and returns the same leases', async () => {
  const { call } = await underWay()
  const one = await db.open()
  const other = await db.open()
  await one.sql`begin`
  const first = await dispatch(one.sql, call)
  const repeated = dispatch(other.sql, call)
  await expectWaitsFor(db.admin, other, one)
  await one.sql`commit`
  const second = await repeated
  expect(first).toMatchObject({ repeat: false, applied: 20, stale: 0, error: null })
  expect(second).toMatchObject({ repeat: true, applied: 0, stale: 0, routed: 0, error: null })
  expect(first.deliveries.length).toBe(30)
  const leases = (answer: typeof first): unknown[] =>
    answer.deliveries.map(({ lease_ms: _, ...lease }) => lease)
  expect(leases(second)).toEqual(leases(first))
  expect(second.events).toEqual(first.events)
  await expectExactCounters(db.admin)
})

Deno.test('dispatch() repeated after it ended returns what of the batch is still leased', async () => {
  const { run, call } = await underWay()
  const first = await dispatch(owner.sql, call)
  const [done, ...rest] = first.deliveries
  if (done === undefined) throw new Error('nothing was claimed')
  await dispatch(owner.sql, { run, seq: 3, results: [report(done)] })
  const again = await dispatch(owner.sql, call)
  expect(again.repeat).toBe(true)
  expect(again.deliveries.map(({ event }) => event)).toEqual(rest.map(({ event }) => event))
  await expectExactCounters(db.admin)
})

Deno.test('dispatch() does not wait for the call before it, which deletes old batches of the same run', async () => {
  const run = crypto.randomUUID()
  // The first call of a run creates its row.
  await dispatch(owner.sql, { run, seq: 0 })
  for (let seq = 1; seq <= 16; seq++) {
    await db.admin`insert into outbox.run_batch (run_id, seq, at) values (${run}, ${seq}, now())`
  }
  const before = await db.open()
  await before.sql`begin`
  await dispatch(before.sql, { run, seq: 17 })
  await owner.sql`set lock_timeout = '5s'`
  try {
    await dispatch(owner.sql, { run, seq: 18 })
  } finally {
    await owner.sql`reset lock_timeout`
    await before.sql`rollback`
  }
  await dispatch(owner.sql, { run, seq: 19 })
  const left = await owner.sql<{ seq: number }[]>`
    select b.seq::integer as seq from outbox.run_batch b where b.run_id = ${run} and b.seq <= 16 order by b.seq`
  expect(left.map(({ seq }) => seq)).toEqual([1, 2, 11, 12, 13, 14, 15, 16])
})

/** Statements of dispatch() at which its process ends; dying.test.ts ends it at every row. */
const places: Place[] = [
  { when: 'before', what: 'insert', table: 'run_batch' },
  { when: 'after', what: 'delete', table: 'run_batch' },
  { when: 'before', what: 'delete', table: 'delivery' },
  { when: 'after', what: 'update', table: 'delivery' },
  { when: 'after', what: 'insert', table: 'attempt' },
  { when: 'after', what: 'update', table: 'lane' },
  { when: 'after', what: 'update', table: 'gate' },
  { when: 'after', what: 'insert', table: 'lane' },
  { when: 'after', what: 'insert', table: 'delivery' },
  { when: 'after', what: 'delete', table: 'unrouted' },
  { when: 'after', what: 'update', table: 'router' },
  { when: 'before', what: 'update', table: 'run_batch' },
]

for (const place of places) {
  const { when, what, table } = place
  Deno.test(`dispatch() that dies ${when} its ${what} of ${table} changes nothing, and its repeat works`, async () => {
    const { call } = await underWay()
    const victim = await db.open()
    {
      await using _hold = await holdAt(owner.sql, holder.sql, place)
      const dying = dispatch(victim.sql, call).then(() => 'answered', () => 'died')
      await expectWaitsFor(db.admin, victim, holder)
      const [killed] = await db
        .admin`select pg_terminate_backend(${victim.pid}::integer, 10000) as done`
      expect(killed).toEqual({ done: true })
      expect(await dying).toBe('died')
    }
    await expectExactCounters(db.admin)
    const [held] = await db.admin`select count(d.leased_until)::integer as n from outbox.delivery d`
    expect(held).toEqual({ n: 20 })
    const repeated = await dispatch(owner.sql, call)
    expect(repeated).toMatchObject({ repeat: false, applied: 20, stale: 0, error: null })
    expect(repeated.deliveries.length).toBe(30)
    await expectExactCounters(db.admin)
    await new Run(owner.sql).call(repeated.deliveries.map((delivery) => report(delivery)))
    await drain(owner.sql)
    await expectDeliveredOnce(db.admin, { events: 20, endpoints: 4 })
  })
}

Deno.test('complete() counts a result as stale that comes after its lease was lost and claimed anew', async () => {
  const { sql } = owner
  const clock = async (seconds: number): Promise<void> => {
    await sql`
      insert into outbox.test_clock (at) values (now() + ${`${seconds} s`}::interval)
      on conflict (only_row) do update set at = excluded.at`
  }
  const state = async (): Promise<unknown[]> => [
    ...await sql`select d.attempt, d.failed_attempts, d.due_at, d.leased_until from outbox.delivery d`,
    ...await sql`select a.attempt, a.kind, a.outcome, a.error_class from outbox.attempt a order by a.attempt`,
  ]
  await addEndpoints(sql, { count: 1, retryAfter: 1 })
  await publishMany(sql, 'thing.done', 1)
  const slow = new Run(sql)
  const quick = new Run((await db.open()).sql)
  const [late] = (await slow.call([], 1)).deliveries
  if (late === undefined) throw new Error('nothing was claimed')

  // Lost, but not yet claimed anew: the attempt says so, and the result is too late already.
  await clock(60)
  expect((await quick.call([], 1)).deliveries).toEqual([])
  const lost = await state()
  expect(lost).toMatchObject([{ attempt: 1, failed_attempts: 0, leased_until: null }, {
    outcome: 'failed',
    error_class: 'lease_expired',
  }])
  expect(await slow.call([report(late)])).toMatchObject({ applied: 0, stale: 1 })
  expect(await state()).toEqual(lost)

  await clock(70)
  const [anew] = (await quick.call([], 1)).deliveries
  expect(anew).toMatchObject({ event: late.event, attempt: 2, failed_attempts: 1 })
  const claimed = await state()
  for (const outcome of ['delivered', 'failed', 'released'] as const) {
    expect(await slow.call([report(late, outcome)])).toMatchObject({ applied: 0, stale: 1 })
  }
  expect(await state()).toEqual(claimed)
  await expectExactCounters(db.admin)
  if (anew === undefined) throw new Error('it was not claimed anew')
  // Twice in one call: the second finds nothing.
  expect(await quick.call([report(anew), report(anew)])).toMatchObject({ applied: 1, stale: 1 })
  await expectDeliveredOnce(db.admin, { events: 1, endpoints: 1 })
})
