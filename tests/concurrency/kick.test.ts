/** The kick never fails nor holds up the transaction that publishes, whatever has become of pg_net. */

import { expect } from '@std/expect'
import { patienceMs } from '../_support/patience.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { publishOne } from './_support/publish.ts'

let db: OutboxDatabase
let session: Session

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  session = await db.open()
  await session.sql`select outbox.configure('http://127.0.0.1:1/functions/v1', ${'k'.repeat(32)})`
})
Deno.test.beforeEach(async () => {
  await db.reset()
  await db.admin`truncate net.http_request_queue`
})
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

async function queued(): Promise<number> {
  return (await db.admin`select from net.http_request_queue`).length
}

/** Whether a kick was tried since the reset, be it in vain. */
async function tried(): Promise<boolean> {
  const [row] = await db.admin<
    { tried: boolean }[]
  >`select s.last_value > 0 as tried from outbox.last_kick s`
  return row?.tried === true
}

/** Publishes beside a row of the caller's own, in one transaction; fails unless both are committed and a kick was tried. */
async function expectCommitted(): Promise<void> {
  const { sql } = session
  await sql`create table public.own (n integer)`
  try {
    await sql`begin`
    await sql`insert into public.own values (1)`
    const event = await publishOne(sql)
    await sql`insert into public.own values (2)`
    await sql`commit`
    expect(await db.admin`select from public.own`).toHaveLength(2)
    expect(await db.admin`select from outbox.unrouted u where u.event_id = ${event}`).toHaveLength(
      1,
    )
    expect(await tried()).toBe(true)
  } finally {
    await sql`drop table public.own`
  }
}

Deno.test('publish() kicks once in a transaction when net works', async () => {
  await expectCommitted()
  expect(await queued()).toBe(1)
})

Deno.test('publish() commits when the schema net is missing', async () => {
  await db.admin`alter schema net rename to net_away`
  try {
    await expectCommitted()
  } finally {
    await db.admin`alter schema net_away rename to net`
  }
  expect(await queued()).toBe(0)
})

Deno.test('publish() commits when http_post may not be executed', async () => {
  const { admin } = db
  const [before] = await admin<{ acl: string }[]>`
    select p.proacl::text as acl from pg_proc p where p.oid = 'net.http_post'::regproc`
  await admin`revoke execute on function net.http_post from public, postgres`
  try {
    await expectCommitted()
  } finally {
    await admin`update pg_proc p set proacl = ${
      before?.acl ?? null
    }::text::aclitem[] where p.oid = 'net.http_post'::regproc`
  }
  expect(await queued()).toBe(0)
})

Deno.test('publish() commits when http_post raises', async () => {
  const { admin } = db
  const [before] = await admin<{ definition: string }[]>`
    select pg_get_functiondef('net.http_post'::regproc) as definition`
  const original = before?.definition ?? ''
  await admin.unsafe(original.replace(/begin\n/, `begin\n  raise exception 'net is broken';\n`))
  try {
    await expect(session.sql`select net.http_post('http://127.0.0.1:1')`).rejects.toThrow(
      'net is broken',
    )
    await expectCommitted()
  } finally {
    await admin.unsafe(original)
  }
  expect(await queued()).toBe(0)
})

Deno.test('publish() commits while another session has locked the queue of net', async () => {
  const locker = await db.open()
  await db.admin`grant all on net.http_request_queue to postgres`
  await locker.sql`begin`
  await locker.sql`lock table net.http_request_queue in access exclusive mode`
  // It waits 50 ms for the lock, which is still held, and goes on. A busy machine adds to that, but
  // not each time.
  let fastest = Infinity
  const deadline = performance.now() + patienceMs
  while (fastest > 1_000 && performance.now() < deadline) {
    await db.admin`select setval('outbox.last_kick', 0)`
    const began = performance.now()
    await expectCommitted()
    const elapsed = performance.now() - began
    expect(elapsed).toBeGreaterThan(50)
    fastest = Math.min(fastest, elapsed)
  }
  expect(fastest).toBeLessThan(1_000)
  const [still] = await db.admin`
    select count(*)::integer as n from pg_locks l
    where l.pid = ${locker.pid} and l.mode = 'AccessExclusiveLock' and l.granted and l.relation = 'net.http_request_queue'::regclass`
  expect(still).toEqual({ n: 1 })
  await locker.sql`rollback`
  expect(await queued()).toBe(0)
})

Deno.test('publish() commits while another session has locked the secrets of Vault', async () => {
  await db.admin`begin`
  await db.admin`lock table vault.secrets in access exclusive mode`
  const event = await publishOne(session.sql)
  await db.admin`rollback`
  expect(await db.admin`select from outbox.unrouted u where u.event_id = ${event}`).toHaveLength(1)
  expect(await queued()).toBe(0)
})

Deno.test('two publishers that both kick do not wait for each other', async () => {
  const other = await db.open()
  await session.sql`begin`
  await publishOne(session.sql)
  await db.admin`select setval('outbox.last_kick', 0)`
  await other.sql`set lock_timeout = '10ms'`
  await publishOne(other.sql)
  expect(await queued()).toBe(1)
  await session.sql`commit`
  expect(await queued()).toBe(2)
})
