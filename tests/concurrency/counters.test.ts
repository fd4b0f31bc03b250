/** One transaction changes the counters at a time, and nobody waits for it. */

import { expect } from '@std/expect'
import { expectExactCounters } from './_support/checks.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'

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
  // A tick may have noted this month before its job was removed.
  await db.admin`truncate outbox.counter, outbox.counter_change`
})
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

const month = '2031-07-01 00:00:05+00'

/** What changes the counters, each as a call of a tick. */
const changes = {
  'fold_counters()': (session: Session) => session.sql`select outbox.fold_counters() as n`,
  'note_traffic()': (session: Session) =>
    session.sql`select outbox.note_traffic(${month}::timestamptz, 1) as n`,
}

async function count(session: Session): Promise<void> {
  await session.sql`select outbox.count_up('test_counter', array['a'], 1, 1)`
}

/** What was counted, in both tables: [n of counter, n of counter_change, months noted]. */
async function counted(): Promise<number[]> {
  const [row] = await db.admin<{ sums: number[] }[]>`
    select array[
      (select coalesce(sum(c.n), 0) from outbox.counter c where c.metric = 'test_counter'),
      (select coalesce(sum(c.n), 0) from outbox.counter_change c where c.metric = 'test_counter'),
      (select count(*) from outbox.counter c where c.metric = 'sent_before')]::integer[] as sums`
  return row?.sums ?? []
}

for (const [first, change] of Object.entries(changes)) {
  for (const [second, beside] of Object.entries(changes)) {
    Deno.test(`${second} beside ${first}: neither waits for a transaction that has changed the counters`, async () => {
      await count(one)
      await one.sql`begin`
      await change(one)
      await count(other)
      await other.sql`set lock_timeout = '5s'`
      try {
        // An own row of the same counter, and the same month.
        await beside(other)
      } finally {
        await other.sql`reset lock_timeout`
      }
      await one.sql`commit`
      // The next tick does what was left.
      await beside(other)
      await changes['fold_counters()'](one)
      await changes['note_traffic()'](one)
      expect(await counted()).toEqual([2, 0, 1])
      await expectExactCounters(db.admin)
    })
  }
}

Deno.test('fold_counters() waits once for the counters that another session holds, and adds up all others', async () => {
  await db.admin`
    insert into outbox.counter (metric, labels, n, total)
    select 'held', array[n::text], 0, 0 from generate_series(1, 40) n`
  const counting = () =>
    db.admin`
      select outbox.count_up('held', array[n::text], 1, 1) from generate_series(1, 40) n`
  await counting()
  await count(one)
  await other.sql`begin`
  await other.sql`select from outbox.counter c where c.metric = 'held' for update`
  // Forty waits of 100 ms would take longer.
  await one.sql`set statement_timeout = '2s'`
  await one.sql`select outbox.fold_counters()`
  await one.sql`reset statement_timeout`
  await other.sql`rollback`
  expect(await counted()).toEqual([1, 0, 0])
  await one.sql`select outbox.fold_counters()`
  const [held] = await db.admin`
    select sum(c.n)::integer as n, count(*)::integer as rows from outbox.counter c where c.metric = 'held'`
  expect(held).toEqual({ n: 40, rows: 40 })
})

Deno.test('ticks that begin with different steps of the counters do not deadlock', async () => {
  const { 'fold_counters()': fold, 'note_traffic()': note } = changes
  await count(one)
  await one.sql`begin`
  await other.sql`begin`
  await fold(one)
  await note(other)
  await count(other)
  const ends = await Promise.all([
    note(one).then(() => 'done', ({ code }) => code),
    fold(other).then(() => 'done', ({ code }) => code),
  ])
  await one.sql`commit`
  await other.sql`commit`
  expect(ends).toEqual(['done', 'done'])
})
