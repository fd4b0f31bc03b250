/** Two people change one endpoint's secrets or headers at a time: the second starts from what the first left. */

import { expect } from '@std/expect'
import { expectWaitsFor } from './_support/checks.ts'
import { type OutboxDatabase, type Session, startOutbox } from './_support/database.ts'
import { Run } from './_support/dispatch.ts'
import { publishOne } from './_support/publish.ts'

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

/** What a claim tells a run of the endpoint, as the database has it now. */
async function current(): Promise<Record<string, unknown>> {
  const [row] = await one.sql`
    select e.xmin::text as revision, outbox.active_secrets(array[e.id], outbox.clock()) -> e.id::text as secrets,
      outbox.stored_headers(e.headers_vault_id) as headers
    from outbox.endpoint e where e.id = ${endpoint}`
  return { ...row }
}

const changes: [what: string, call: string][] = [
  ['rotate_secret()', `select outbox.rotate_secret($1, p_overlap => '0')`],
  ['set_headers()', `select outbox.set_headers($1, '{"x-a": "2"}')`],
]

for (const [what, call] of changes) {
  Deno.test(`a claim beside ${what} tells the run no old value under the new revision`, async () => {
    await publishOne(one.sql)
    const run = new Run(other.sql)
    while ((await run.call()).routed > 0);
    const before = await current()
    // The claim waits where it first reads Vault, and has by then looked at the endpoint.
    await db.admin`grant usage on schema vault to postgres`
    await db.admin`grant all on vault.secrets to postgres`
    await one.sql`begin`
    await one.sql`lock table vault.secrets in access exclusive mode`
    const claim = run.call([], 1)
    await expectWaitsFor(db.admin, other, one)
    await one.sql.unsafe(call, [endpoint])
    await one.sql`commit`
    const { endpoints, error } = await claim
    expect(error).toBeNull()
    const { revision, secrets, headers } = endpoints[endpoint] ?? {}
    expect([before, await current()]).toContainEqual({ revision, secrets, headers })
  })
}

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
