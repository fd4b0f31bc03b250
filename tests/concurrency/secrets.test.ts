/** Two people change one endpoint's secrets or headers at a time: the second starts from what the first left. */

import { expect } from '@std/expect'
import { expectWaitsFor } from './_support/checks.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'

let db: OutboxDatabase
let one: Session
let other: Session
let endpoint: string

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  one = await db.open()
  other = await db.open()
})
Deno.test.beforeEach(async () => {
  await db.reset()
  await db.admin`delete from vault.secrets where true`
  const [row] = await one.sql`
    select outbox.create_endpoint('https://example.com', p_headers => '{"x-a": "1"}') ->> 'id' as id`
  endpoint = row?.id
})
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

/** Runs a call in both sessions: the first keeps its transaction open until the second waits for it. */
async function cross(first: string, second: string): Promise<void> {
  await one.sql`begin`
  await one.sql.unsafe(first, [endpoint])
  const done = other.sql.unsafe(second, [endpoint]).execute()
  await expectWaitsFor(db.admin, other, one)
  await one.sql`commit`
  await done
}

Deno.test('rotate_secret() twice at a time keeps one current secret, and both that it replaced', async () => {
  const rotate = 'select outbox.rotate_secret($1)'
  await cross(rotate, rotate)
  const secrets = await one.sql`
    select expires_at is null as current from outbox.endpoint_secret where endpoint_id = ${endpoint}`
  expect(secrets.map(({ current }) => current).sort()).toEqual([false, false, true])
})

Deno.test('set_headers() twice at a time loses neither change', async () => {
  await cross(
    `select outbox.set_headers($1, '{"x-b": "2"}')`,
    `select outbox.set_headers($1, '{"x-a": null, "x-c": "3"}')`,
  )
  const [row] = await one.sql`
    select outbox.stored_headers(headers_vault_id) as headers from outbox.endpoint where id = ${endpoint}`
  expect(row?.headers).toEqual({ 'x-b': '2', 'x-c': '3' })
  const [vault] = await db.admin`
    select count(*)::integer as n from vault.secrets where name like 'outhook_endpoint_headers%'`
  expect(vault?.n).toBe(1)
})

Deno.test('drop_expired_secrets() waits for nobody who forgets the endpoint, and nothing is left', async () => {
  const expired = `now() + interval '2 days'`
  await one.sql`select outbox.rotate_secret(${endpoint})`
  await one.sql`begin`
  await one.sql`
    select outbox.remove_endpoint(e.id, g.id) from outbox.endpoint e join outbox.gate g on g.endpoint_id = e.id
    where e.id = ${endpoint}`
  await other.sql`set lock_timeout = '1s'`
  const [row] = await other.sql.unsafe(`select outbox.drop_expired_secrets(${expired}, 100) as n`)
  expect(row?.n).toBe(0)
  await one.sql`commit`
  const [left] = await db.admin`
    select (select count(*)::integer from outbox.endpoint_secret) as secrets,
      (select count(*)::integer from vault.secrets) as in_vault`
  expect(left).toEqual({ secrets: 0, in_vault: 0 })
})
