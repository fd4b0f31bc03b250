/** Two tokens of an organisation write at once: neither waits for the other's row of the audit trail, and both rows count. */

import { expect } from '@std/expect'
import { deadlocks } from './_support/checks.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'

let db: OutboxDatabase
let one: Session
let other: Session

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  one = await db.open()
  other = await db.open()
  for (const { sql } of [one, other]) {
    // As in a request over the Data API.
    await sql`select set_config('request.headers', '{"host": "example.com"}', false),
      set_config('outhook.actor', 'portal:zoe', false)`
    // A call that waits for the other session ends with another error.
    await sql`set statement_timeout = '5s'`
  }
})
Deno.test.beforeEach(async () => {
  await db.reset()
  const [row] = await db.admin<{ first: string; second: string }[]>`
    select outbox.create_endpoint('https://example.com', '{}', 'org-1') ->> 'id' as first,
      outbox.create_endpoint('https://example.com', '{}', 'org-1') ->> 'id' as second`
  if (row !== undefined) endpoints = row
})
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

/** Two endpoints of org-1. */
let endpoints = { first: '', second: '' }

async function resume({ sql }: Session, id: string): Promise<void> {
  await sql`select outbox.resume_endpoint(${id}::uuid)`
}

/** The counters of org-1, the lowest first. */
async function counters(): Promise<number[]> {
  const rows = await db.admin<{ n: number }[]>`
    select n from outbox.audit_count where org_id = 'org-1' order by n`
  return rows.map(({ n }) => n)
}

Deno.test('a write waits for no other write of its organisation, and both count', async () => {
  await one.sql`begin`
  await resume(one, endpoints.first)
  await resume(other, endpoints.second)
  await one.sql`commit`
  expect(await counters()).toEqual([1, 1])
})

Deno.test('a write waits for nobody who has locked the only counter, and takes it after that', async () => {
  await resume(one, endpoints.first)
  await one.sql`begin`
  await resume(one, endpoints.first)
  await resume(other, endpoints.second)
  await one.sql`rollback`
  expect(await counters()).toEqual([1, 1])
  await resume(other, endpoints.second)
  expect((await counters()).reduce((sum, n) => sum + n, 0)).toBe(3)
  expect(await counters()).toHaveLength(2)
})

Deno.test('a write takes the counter that is free, and adds none', async () => {
  await one.sql`begin`
  await resume(one, endpoints.first)
  await resume(other, endpoints.second)
  await one.sql`commit`
  await one.sql`begin`
  await resume(one, endpoints.first)
  await resume(other, endpoints.second)
  await one.sql`commit`
  expect(await counters()).toEqual([2, 2])
})

// SKIP LOCKED may wait for a row after all (see the head of sql/engine/queue/gate.sql). A moment as short as that cannot be
// held, so a lock of the whole table makes the same function wait.
Deno.test('a counter that a write would have to wait for is taken as locked', async () => {
  await resume(one, endpoints.first)
  const add = "select outbox.add_to_free_count('org-1', outbox.day_of(outbox.clock())) as added"
  expect((await one.sql.unsafe(add))[0]?.added).toBe(true)
  await other.sql`begin`
  await other.sql`lock table outbox.audit_count in access exclusive mode`
  expect((await one.sql.unsafe(add))[0]?.added).toBe(false)
  await other.sql`commit`
  expect(await counters()).toEqual([2])
})

Deno.test('two transactions that write to two endpoints in turn do not deadlock', async () => {
  const before = await deadlocks(db.admin)
  await one.sql`begin`
  await resume(one, endpoints.first)
  // It has the second endpoint, and with a counter that all share it would wait for the first transaction.
  await other.sql`begin`
  await resume(other, endpoints.second)
  const waiting = resume(one, endpoints.second)
  await other.sql`commit`
  await waiting
  await one.sql`commit`
  expect(await deadlocks(db.admin)).toBe(before)
  expect((await counters()).reduce((sum, n) => sum + n, 0)).toBe(3)
})

Deno.test('what both have written is refused to either at the limit', async () => {
  await db.admin`select outbox.set_org_setting('org-1', 'limit.audit_rows_per_day', '2')`
  await one.sql`begin`
  await resume(one, endpoints.first)
  await resume(other, endpoints.second)
  await one.sql`commit`
  for (const session of [one, other]) {
    await expect(resume(session, endpoints.first)).rejects.toMatchObject({ code: 'OH011' })
  }
})
