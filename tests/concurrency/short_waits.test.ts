/** A real deadlock, and a lock that is held for a short time, set no delivery aside. */

import { expect } from '@std/expect'
import { expectExactCounters, expectWaitsFor } from './_support/checks.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { dispatch, report, Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'
import { publishMany } from './_support/publish.ts'
import { eventually, startWorker } from './_support/worker.ts'

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

async function setAside(): Promise<number> {
  const rows = await db.admin`select from outbox.refusal r where r.again_at = 'infinity'`
  return rows.length
}

async function delivered(): Promise<number> {
  const [row] = await db.admin<{ n: number }[]>`
    select count(distinct (a.event_id, a.endpoint_id))::integer as n from outbox.attempt a
    where a.outcome = 'delivered'`
  return row?.n ?? NaN
}

for (const refuse of [false, true]) {
  Deno.test(`a real deadlock sets no delivery aside${refuse ? ' in a call that refuses rows' : ''}`, async () => {
    const [endpoint = ''] = await addEndpoints(one.sql, { count: 1, retryAfter: 1 })
    await db.admin`create table public.side as select 1 as id, 0 as n`
    await db.admin.unsafe(`create function public.touch() returns trigger language plpgsql as $$
      begin update public.side set n = n + 1 where id = 1; return new; end $$`)
    await db.admin`create trigger touch before insert on outbox.attempt
      for each row execute function public.touch()`
    try {
      await publishMany(one.sql, 'thing.done', 1)
      const run = new Run(one.sql)
      const { deliveries } = await run.call([], 10)
      const call = {
        run: run.id,
        seq: 2,
        results: deliveries.map((delivery) => report(delivery)),
        refuse,
      }
      // The call holds the gate and waits for the row; the other session holds the row and waits for
      // the gate. The call finds the deadlock first.
      await db.admin`grant set on parameter deadlock_timeout to postgres`
      await one.sql`set deadlock_timeout = '300ms'`
      await other.sql`set deadlock_timeout = '60s'`
      await other.sql`begin`
      await other.sql`update public.side set n = n + 1 where id = 1`
      const reporting = dispatch(one.sql, call).then((answer) => answer.applied, ({ code }) => code)
      await expectWaitsFor(db.admin, one, other)
      const waiting = other.sql`select outbox.lock_gates(array[${endpoint}]::uuid[])`.execute()
      expect(await reporting).toBe(refuse ? 0 : '40P01')
      await waiting
      await other.sql`commit`
      expect(await setAside()).toBe(0)
      if (refuse) {
        expect(await db.admin`select from outbox.refusal r where r.failures = 1`).toHaveLength(1)
      } else expect((await dispatch(one.sql, call)).applied).toBe(1)
      await using _ = startWorker(one.sql)
      expect(await eventually(async () => await delivered() === 1)).toBe(true)
      expect(await db.admin`select from outbox.refusal`).toHaveLength(0)
    } finally {
      await db.admin`drop function public.touch() cascade`
      await db.admin`drop table public.side`
      await one.sql`reset deadlock_timeout`
      await other.sql`reset deadlock_timeout`
      await db.admin`revoke set on parameter deadlock_timeout from postgres`
    }
  })
}

Deno.test('a table that is locked until a call isolates sets no delivery aside', async () => {
  await addEndpoints(one.sql, { count: 3, retryAfter: 1 })
  await db.admin`alter role postgres set lock_timeout = '50ms'`
  try {
    await using worker = startWorker(one.sql)
    await publishMany(one.sql, 'thing.before', 2)
    expect(await eventually(async () => await delivered() === 6)).toBe(true)
    await other.sql`begin`
    await other.sql`lock table outbox.attempt in access exclusive mode`
    await publishMany(one.sql, 'thing.done', 4)
    const isRefused = async () => (await db.admin`select from outbox.refusal`).length > 0
    expect(await eventually(isRefused)).toBe(true)
    await other.sql`commit`
    expect(await eventually(async () => await delivered() === 18)).toBe(true)
    expect([await setAside(), worker.ended]).toEqual([0, false])
    await expectExactCounters(db.admin)
  } finally {
    await db.admin`alter role postgres reset lock_timeout`
  }
})
