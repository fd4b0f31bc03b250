/** Replays beside whatever else decides when a delivery is tried again. */

import { expect } from '@std/expect'
import { expectExactCounters, expectWaitsFor } from './_support/checks.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { dispatch, drain, report, Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { publishMany, publishOne } from './_support/publish.ts'

let db: OutboxDatabase
let one: Session
let other: Session

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  one = await db.open()
  other = await db.open()
})
Deno.test.beforeEach(async () => {
  await db.reset()
  await setClock(0)
})
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

const NOON = '2026-11-29 12:00:00+00'

async function setClock(seconds: number): Promise<void> {
  await db.admin`
    insert into outbox.test_clock (at) values (${NOON}::timestamptz + ${`${seconds} s`}::interval)
    on conflict (only_row) do update set at = excluded.at`
}

interface Key {
  event: string
  endpoint: string
}

/** A delivery whose first try failed and that waits an hour for its second. */
async function pendingRetry(): Promise<Key> {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1, retryAfter: 3600 })
  const event = await publishOne(one.sql)
  const run = new Run(one.sql)
  const { deliveries } = await run.call([], 1)
  await run.call(deliveries.map((delivery) => report(delivery, 'failed')))
  return { event, endpoint }
}

/** The only delivery: the budget that it has spent, and in how many seconds it is due. */
async function delivery(): Promise<unknown> {
  const rows = await db.admin`
    select d.attempt, d.failed_attempts, extract(epoch from d.due_at - outbox.clock())::integer as due_in from outbox.delivery d`
  return [...rows]
}

const REPLAY = 'select outbox.replay($1, $2) as answer'
const RETRY = 'select outbox.retry_now($1, $2) as answer'
const LATER = `select outbox.schedule_retry($1, $2, '1 minute') as answer`

/** Whoever comes second decides when; a replay gives a fresh budget, whoever comes second. */
const pairs: [first: string, second: string, dueIn: number][] = [
  [REPLAY, RETRY, 0],
  [RETRY, REPLAY, 0],
  [REPLAY, LATER, 60],
  [LATER, REPLAY, 0],
]

for (const [first, second, dueIn] of pairs) {
  const name = (statement: string): string => `${/[a-z_]+(?=\()/.exec(statement)?.[0]}()`
  Deno.test(`${name(second)} that waits for ${name(first)} of a pending retry has the last word, and the budget is fresh`, async () => {
    const { event, endpoint } = await pendingRetry()
    expect(await delivery()).toEqual([{ attempt: 1, failed_attempts: 1, due_in: 3600 }])
    await one.sql`begin`
    await one.sql.unsafe(first, [event, endpoint])
    const waiting = other.sql.unsafe(second, [event, endpoint]).execute()
    await expectWaitsFor(db.admin, other, one)
    await one.sql`commit`
    await waiting
    expect(await delivery()).toEqual([{ attempt: 1, failed_attempts: 0, due_in: dueIn }])
    await expectExactCounters(db.admin)
    await setClock(dueIn)
    expect((await new Run(one.sql).call([], 5)).deliveries)
      .toMatchObject([{ event, attempt: 2, failed_attempts: 0 }])
  })
}

Deno.test('replay() that waits for a failed result replaces the retry that it left', async () => {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1, retryAfter: 3600 })
  const event = await publishOne(one.sql)
  const run = new Run(one.sql)
  const { deliveries } = await run.call([], 1)
  await one.sql`begin`
  await run.call(deliveries.map((own) => report(own, 'failed')))
  const replaying = other.sql.unsafe(REPLAY, [event, endpoint]).then(([row]) => row?.answer)
  await expectWaitsFor(db.admin, other, one)
  await one.sql`commit`
  expect(await replaying).toMatchObject({ replaced: true })
  expect(await delivery()).toEqual([{ attempt: 1, failed_attempts: 0, due_in: 0 }])
  await expectExactCounters(db.admin)
  expect(await drain(one.sql)).toBe(1)
})

Deno.test('replay() that waits for the result that kills the delivery puts its letter back', async () => {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1 })
  const event = await publishOne(one.sql)
  const run = new Run(one.sql)
  const { deliveries } = await run.call([], 1)
  await one.sql`begin`
  await run.call(deliveries.map((own) => ({ ...report(own, 'failed'), status: 404 })))
  const replaying = other.sql.unsafe(REPLAY, [event, endpoint]).then(([row]) => row?.answer)
  await expectWaitsFor(db.admin, other, one)
  await one.sql`commit`
  expect(await replaying).toMatchObject({ replaced: false })
  expect(await delivery()).toEqual([{ attempt: 1, failed_attempts: 0, due_in: 0 }])
  const [letter] = await db
    .admin`select x.replayed_at is not null as replayed from outbox.dead_letter x`
  expect(letter).toEqual({ replayed: true })
  await expectExactCounters(db.admin)
  expect(await drain(one.sql)).toBe(1)
})

Deno.test('a failed result that waits for a replay of its lost delivery is stale, and the budget stays fresh', async () => {
  const [endpoint = ''] = await addEndpoints(one.sql, { count: 1, retryAfter: 3600 })
  const event = await publishOne(one.sql)
  const run = new Run(other.sql)
  const { deliveries } = await run.call([], 1)
  await setClock(60)
  await one.sql`begin`
  const [row] = await one.sql.unsafe(REPLAY, [event, endpoint])
  expect(row?.answer).toMatchObject({ replaced: true })
  const reporting = run.call(deliveries.map((own) => report(own, 'failed')))
  await expectWaitsFor(db.admin, other, one)
  await one.sql`commit`
  expect(await reporting).toMatchObject({ applied: 0, stale: 1, error: null })
  expect(await delivery()).toEqual([{ attempt: 1, failed_attempts: 0, due_in: 0 }])
  await expectExactCounters(db.admin)
  expect(await drain(one.sql)).toBe(1)
})

/** What a person begins at the console and forgets. */
const forgotten: [what: string, statement: string, status: number][] = [
  ['replay()', REPLAY, 404],
  ['replay() of a pending retry', REPLAY, 503],
  ['retry_now()', RETRY, 503],
  ['cancel_delivery()', 'select outbox.cancel_delivery($1, $2)', 503],
]

for (const [what, statement, status] of forgotten) {
  Deno.test(`a transaction left open over ${what} stops nobody but its endpoint, and that for two seconds`, async () => {
    const [held = '', ...others] = await addEndpoints(one.sql, { count: 4, retryAfter: 3600 })
    const [event = ''] = await publishMany(one.sql, 'thing.done', 2)
    const run = crypto.randomUUID()
    const { deliveries } = await dispatch(one.sql, { run, seq: 1, limit: 8 })
    const [mine, rest] = [
      deliveries.find((own) => own.endpoint === held && own.event === event),
      deliveries.find((own) => own.endpoint === held && own.event !== event),
    ]
    if (mine === undefined || rest === undefined) throw new Error('not all was claimed')
    await dispatch(one.sql, { run, seq: 2, results: [{ ...report(mine, 'failed'), status }] })
    const before = await delivery()
    const person = await db.open()
    await person.sql`begin`
    await person.sql.unsafe(statement, [event, held])
    // The server ends what was forgotten after two seconds, well before a call of 5 s is given up.
    const [own] = await person.sql<{ limit: string }[]>`
      select current_setting('idle_in_transaction_session_timeout') as limit`
    expect(own?.limit).toBe('2s')
    await person.sql`set local idle_in_transaction_session_timeout = 0`

    // Nobody waits whose endpoint it is not.
    await one.sql`set lock_timeout = '1ms'`
    const results = deliveries.filter((own) => own.endpoint !== held).map((own) => report(own))
    expect(await dispatch(one.sql, { run, seq: 3, results })).toMatchObject({ applied: 6 })
    await publishMany(one.sql, 'thing.done', 1)
    await one.sql`reset lock_timeout`

    const reporting = dispatch(other.sql, { run, seq: 4, results: [report(rest)] })
    await expectWaitsFor(db.admin, other, person)
    await person.sql`set local idle_in_transaction_session_timeout = '10ms'`
    expect(await reporting).toMatchObject({ applied: 1, routed: 4, error: null })
    expect(others.length).toBe(3)
    await expectExactCounters(db.admin)
    // As if it had never been: the one that it was about still stands as it stood.
    const left = await delivery()
    for (const row of status === 503 ? [{ attempt: 1, failed_attempts: 1, due_in: 3600 }] : []) {
      expect(before).toContainEqual(row)
      expect(left).toContainEqual(row)
    }
    expect((await db.admin`select from outbox.delivery`).length).toBe(status === 503 ? 5 : 4)
  })
}
