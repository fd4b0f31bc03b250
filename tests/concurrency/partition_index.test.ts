/** The cleanup builds the indexes of an upgrade beside its other calls and beside readers. */

import { expect } from '@std/expect'
import type { ISql } from 'postgres'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'

let db: OutboxDatabase
let one: Session
let other: Session

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  one = await db.open()
  other = await db.open()
  await db.admin`select outbox.add_partitions()`
  await db.admin`create index attempt_class on only outbox.attempt (error_class)`
})
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

async function build(sql: ISql): Promise<number> {
  const [row] = await sql<{ n: number }[]>`select outbox.build_index(outbox.clock(), 1) as n`
  return row?.n ?? NaN
}

async function missing(sql: ISql): Promise<string[]> {
  const rows = await sql<{ part: string }[]>`
    select part::text from outbox.missing_indexes(outbox.clock())`
  return rows.map(({ part }) => part)
}

Deno.test('a second call builds nothing while the first one builds', async () => {
  const before = await missing(one.sql)
  await one.sql.begin(async (sql) => {
    expect(await build(sql)).toBe(1)
    expect(await build(other.sql)).toBe(0)
  })
  expect(await missing(one.sql)).toEqual(before.slice(1))
})

Deno.test('a partition that another transaction writes to is recorded, and the others are built', async () => {
  const [locked = '', next = '', ...rest] = await missing(one.sql)
  await one.sql.begin(async (sql) => {
    await sql.unsafe(`lock table ${locked} in row exclusive mode`)
    expect([await build(other.sql), await build(other.sql)]).toEqual([1, 1])
  })
  expect(await missing(one.sql)).toEqual([locked, ...rest])
  expect(next).not.toBe('')
  const refused = await one.sql`
    select member, sqlstate from outbox.upkeep_refusal where task = 'outbox.build_one_index'`
  expect(refused).toEqual([{ member: locked, sqlstate: '55P03' }])
})
