/**
 * Rows that are inserted, get another key or move to another partition beside the steps of a backfill: each
 * row is sent once for each key that it has, and never with a later id than a newer event of it.
 */

import { expect } from '@std/expect'
import {
  backfillProgress,
  backfillStep,
  beginBackfill,
  nextBackfillSecond,
  workBackfills,
} from './_support/backfill.ts'
import { expectExactCounters, expectWaitsFor } from './_support/checks.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { Run } from './_support/dispatch.ts'
import { addEndpoints } from './_support/endpoints.ts'

let db: OutboxDatabase
let owner: Session
let app: Session

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  owner = await db.open()
  app = await db.open()
})
Deno.test.beforeEach(async () => {
  await db.reset()
  await db.admin`drop table if exists public.goods`
})
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

type Ordering = 'none' | 'partition'
const orderings: readonly Ordering[] = ['none', 'partition']

/** A watched table with the rows 10, 20, … 100, and a backfill of it that sends four rows in a step. */
async function goods(ordering: Ordering): Promise<void> {
  await owner.sql`create table public.goods (id integer primary key, price integer)`
  await owner.sql`insert into public.goods select n * 10, n from generate_series(1, 10) n`
  await watchAndStart(ordering)
}

/**
 * The same with the rows 1 to 5 in the partition `a` and 6 to 10 in `b`. The key begins with the partition,
 * so a row that moves to `a` moves back.
 */
async function parts(ordering: Ordering): Promise<void> {
  await owner.sql`
    create table public.goods (part text, id integer, price integer, primary key (part, id))
    partition by list (part)`
  await owner.sql`create table public.goods_a partition of public.goods for values in ('a')`
  await owner.sql`create table public.goods_b partition of public.goods for values in ('b')`
  await owner.sql`
    insert into public.goods
    select case when n <= 5 then 'a' else 'b' end, n, n from generate_series(1, 10) n`
  await watchAndStart(ordering)
}

async function watchAndStart(ordering: Ordering): Promise<void> {
  await owner.sql`select outbox.watch_table('public.goods', p_partition_column => 'id')`
  const [endpoint = ''] = await addEndpoints(owner.sql, { count: 1, ordering })
  await owner.sql`select outbox.backfill('public.goods', ${endpoint}, p_rate_per_second => 4)`
  await beginBackfill(db, owner)
}

/** A step, after the events of the last one are routed. */
async function work(): Promise<void> {
  await new Run(owner.sql).call()
  await workBackfills(db, owner)
}

async function finish(): Promise<void> {
  for (let n = 0; n < 8; n++) await work()
  expect(await backfillProgress(db)).toMatchObject({ status: 'done' })
  await new Run(owner.sql).call()
  await expectExactCounters(db.admin)
  const [refused] = await db.admin`select count(*)::integer as n from outbox.upkeep_refusal`
  expect(refused).toEqual({ n: 0 })
}

/** The events of a row, in the order of their ids: who has published each, and this column of it. */
async function history(id: number, column = 'price'): Promise<string[]> {
  const rows = await db.admin<{ by: string; value: string }[]>`
    select case when e.correlation_id like 'backfill-%' then 'job' else 'live' end as by,
      e.body::json -> 'record' ->> ${column} as value
    from outbox.event e where e.body::json -> 'record' ->> 'id' = ${String(id)} order by e.id`
  return rows.map(({ by, value }) => `${by} ${value}`)
}

/** How many rows the job has sent that no change concerns. */
async function others(ids: readonly number[]): Promise<unknown> {
  const rows = await db.admin<{ id: string }[]>`
    select e.body::json -> 'record' ->> 'id' as id from outbox.event e
    where e.correlation_id like 'backfill-%' order by e.id`
  const plain = rows.map(({ id }) => Number(id)).filter((id) => !ids.includes(id))
  expect(new Set(plain).size).toBe(plain.length)
  return plain.length
}

for (const ordering of orderings) {
  const to = `to an endpoint with the order ${ordering}`

  Deno.test(`rows that are inserted beside a step ${to} are sent by the job if it has not passed them`, async () => {
    await goods(ordering)
    await app.sql`begin`
    await app.sql`insert into public.goods values (15, 15), (95, 95), (105, 105)`
    await work()
    expect(await backfillProgress(db)).toMatchObject({ looked: 4 })
    await app.sql`commit`
    await finish()
    // Passed before its commit; not passed; behind the end of the job.
    expect(await history(15)).toEqual(['live 15'])
    expect(await history(95)).toEqual(['live 95', 'job 95'])
    expect(await history(105)).toEqual(['live 105'])
    expect(await others([15, 95, 105])).toBe(10)
  })

  Deno.test(`an insert waits for no step ${to}, and the row is sent once`, async () => {
    await goods(ordering)
    await new Run(owner.sql).call()
    await nextBackfillSecond(db)
    await owner.sql`begin`
    expect(await backfillStep(owner.sql)).toBe(true)
    await app.sql`insert into public.goods values (15, 15), (45, 45)`
    await owner.sql`commit`
    await finish()
    expect(await history(15)).toEqual(['live 15'])
    expect(await history(45)).toEqual(['live 45', 'job 45'])
    expect(await others([15, 45])).toBe(10)
  })

  Deno.test(`a row whose key is being changed stops a step ${to}, and is sent once, by its new key`, async () => {
    await goods(ordering)
    await app.sql`begin`
    await app.sql`update public.goods set id = 35, price = 70 where id = 30`
    await work()
    await work()
    expect(await backfillProgress(db)).toMatchObject({ looked: 2 })
    await app.sql`commit`
    await finish()
    expect(await history(30)).toEqual([])
    expect(await history(35)).toEqual(['live 70', 'job 70'])
    expect(await others([30, 35])).toBe(9)
  })

  Deno.test(`a row whose new key the job ${to} has passed has only the event of its change`, async () => {
    await goods(ordering)
    await app.sql`begin`
    await app.sql`update public.goods set id = 5, price = 70 where id = 30`
    await work()
    await app.sql`commit`
    await finish()
    expect(await history(30)).toEqual([])
    expect(await history(5)).toEqual(['live 70'])
    expect(await others([30, 5])).toBe(9)
  })

  Deno.test(`a change of a key waits for the step ${to} that sends its row, which is another row after it`, async () => {
    await goods(ordering)
    await new Run(owner.sql).call()
    await nextBackfillSecond(db)
    await owner.sql`begin`
    expect(await backfillStep(owner.sql)).toBe(true)
    const change = app.sql`update public.goods set id = 45, price = 70 where id = 20`.execute()
    await expectWaitsFor(db.admin, app, owner)
    await owner.sql`commit`
    await change
    await finish()
    expect(await history(20)).toEqual(['job 2'])
    expect(await history(45)).toEqual(['live 70', 'job 70'])
    expect(await others([20, 45])).toBe(9)
  })

  Deno.test(`a row that is moving to another partition stops a step ${to}, and is sent once, from there`, async () => {
    await parts(ordering)
    await app.sql`begin`
    await app.sql`update public.goods set part = 'b', price = 70 where id = 3`
    await work()
    expect(await backfillProgress(db)).toMatchObject({ looked: 2 })
    await new Run(owner.sql).call()
    await nextBackfillSecond(db)
    await db.admin`
      alter function outbox.wait_for_row(outbox.backfill_source, jsonb) set lock_timeout = '1min'`
    try {
      // This step waits for the row, which then is no longer there.
      const done = backfillStep(owner.sql)
      await expectWaitsFor(db.admin, owner, app)
      await app.sql`commit`
      expect(await done).toBe(true)
    } finally {
      await db.admin`
        alter function outbox.wait_for_row(outbox.backfill_source, jsonb) set lock_timeout = '100ms'`
    }
    expect(await backfillProgress(db)).toMatchObject({ looked: 6 })
    await finish()
    expect(await history(3)).toEqual(['live 70', 'job 70'])
    expect(await history(3, 'part')).toEqual(['live b', 'job b'])
    expect(await others([3])).toBe(9)
  })

  Deno.test(`a row that moves to a partition that the job ${to} has passed has only the event of its move`, async () => {
    await parts(ordering)
    await work()
    await app.sql`begin`
    await app.sql`update public.goods set part = 'a', price = 70 where id = 7`
    await work()
    expect(await backfillProgress(db)).toMatchObject({ looked: 6 })
    await app.sql`commit`
    await finish()
    expect(await history(7, 'part')).toEqual(['live a'])
    expect(await others([7])).toBe(9)
  })

  Deno.test(`a move to another partition waits for the step ${to} that sends its row`, async () => {
    await parts(ordering)
    await new Run(owner.sql).call()
    await nextBackfillSecond(db)
    await owner.sql`begin`
    expect(await backfillStep(owner.sql)).toBe(true)
    const change = app.sql`update public.goods set part = 'b', price = 70 where id = 2`.execute()
    await expectWaitsFor(db.admin, app, owner)
    await owner.sql`commit`
    await change
    await finish()
    expect(await history(2, 'part')).toEqual(['job a', 'live b', 'job b'])
    expect(await history(2)).toEqual(['job 2', 'live 70', 'job 70'])
    expect(await others([2])).toBe(9)
  })
}
