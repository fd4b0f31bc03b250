/** An endpoint whose secrets cannot be read is held, with reason and remedy; others go on. */

import { expect } from '@std/expect'
import type { Sql } from 'postgres'
import { expectExactCounters } from './_support/checks.ts'
import { type OutboxDatabase, startOutbox } from './_support/database.ts'
import { drain, Run } from './_support/dispatch.ts'
import { publishMany } from './_support/publish.ts'

let db: OutboxDatabase
let sql: Sql

Deno.test.beforeAll(async () => {
  db = await startOutbox()
  sql = (await db.open()).sql
})
Deno.test.beforeEach(async () => {
  await db.reset()
})
Deno.test.afterAll(async () => {
  await db[Symbol.asyncDispose]()
})

async function create(headers: Record<string, string> = {}): Promise<string> {
  const [row] = await sql`
    select outbox.create_endpoint('https://example.com/hook', p_headers => ${sql.json(headers)})
      ->> 'id' as id`
  return row?.id
}

/** As after the loss of the root key. */
async function damage(vaultId: string): Promise<void> {
  await db.admin`update vault.secrets set secret = ${btoa('x'.repeat(64))} where id = ${vaultId}`
}

async function remove(vaultId: string): Promise<void> {
  await db.admin`delete from vault.secrets where id = ${vaultId}`
}

async function secretOf(endpoint: string): Promise<string> {
  const [row] = await sql`select vault_id from outbox.endpoint_secret
    where endpoint_id = ${endpoint} order by created_at desc limit 1`
  return row?.vault_id
}

async function headersOf(endpoint: string): Promise<string> {
  const [row] = await sql`select headers_vault_id from outbox.endpoint where id = ${endpoint}`
  return row?.headers_vault_id
}

async function stateOf(endpoint: string): Promise<{ status: string; reason: string | null }> {
  const [row] = await sql<{ status: string; reason: string | null }[]>`
    select status, reason from outbox.endpoint_status where id = ${endpoint}`
  if (row === undefined) throw new Error('no such endpoint')
  return row
}

async function news(type: string): Promise<number> {
  const [row] = await sql`select count(*)::integer as n from outbox.event where type = ${type}`
  return row?.n
}

/** One call claims from all; only what the good endpoint has comes. */
async function expectHeld(good: string, bad: string, reason: RegExp): Promise<void> {
  const answer = await new Run(sql).call([], 400)
  expect(answer.error).toBe(null)
  expect(answer.deliveries.map(({ endpoint }) => endpoint)).toEqual(Array(12).fill(good))
  expect(Object.keys(answer.endpoints)).toEqual([good])
  const { status, reason: why } = await stateOf(bad)
  expect(status).toBe('paused')
  expect(why).toMatch(reason)
  expect(await news('outhook.endpoint.held')).toBe(1)
  const open = await sql`select d.leased_until, d.failed_attempts from outbox.delivery d
    where d.endpoint_id = ${bad} group by 1, 2`
  expect([...open]).toEqual([{ leased_until: null, failed_attempts: 0 }])
  await expectExactCounters(db.admin)
}

for (const [what, harm] of [['cannot be decrypted', damage], ['is gone', remove]] as const) {
  Deno.test(`an endpoint whose signing secret ${what} is held until rotate_secret()`, async () => {
    const [good, bad] = [await create(), await create()]
    await harm(await secretOf(bad))
    await publishMany(sql, 'thing.done', 12)
    await expectHeld(good, bad, /^unreadable: the signing secret .*rotate_secret\(\)/)
    await sql`select outbox.rotate_secret(${bad})`
    expect(await stateOf(bad)).toEqual({ status: 'enabled', reason: null })
    expect(await news('outhook.endpoint.released')).toBe(1)
    await sql`select outbox.tick()`
    expect(await drain(sql)).toBe(12)
    const [read] = await sql`select outbox.read_secret(${bad}) as secret`
    expect(read?.secret.secret).toMatch(/^whsec_/)
  })

  Deno.test(`an endpoint whose headers ${what} sends nothing without them, until set_headers()`, async () => {
    const [good, bad] = [await create(), await create({ authorization: 'Bearer 1', 'x-a': '2' })]
    await harm(await headersOf(bad))
    await publishMany(sql, 'thing.done', 12)
    await expectHeld(good, bad, /^unreadable: the set of custom headers .*set_headers\(\)/)
    // A header that the call does not name would be lost, so the call is refused.
    await expect(sql`select outbox.set_headers(${bad}, '{"authorization": "Bearer 3"}')`.execute())
      .rejects.toThrow('cannot be read from Vault')
    await sql`select outbox.set_headers(${bad}, '{"authorization": "Bearer 3", "x-a": null}')`
    expect((await stateOf(bad)).status).toBe('enabled')
    await sql`select outbox.tick()`
    const answer = await new Run(sql).call([], 400)
    expect(answer.endpoints[bad]?.headers).toEqual({ authorization: 'Bearer 3' })
  })

  Deno.test(`a Slack endpoint whose URL ${what} is held until set_slack_url()`, async () => {
    const good = await create()
    const url = 'https://hooks.slack.com/services/a/b'
    const [row] = await sql`select outbox.create_slack_endpoint(${url}) ->> 'id' as id`
    const bad: string = row?.id
    const [vault] =
      await sql`select credentials_vault_id as id from outbox.endpoint where id = ${bad}`
    await harm(vault?.id)
    await publishMany(sql, 'thing.done', 12)
    await expectHeld(good, bad, /^unreadable: the set of credentials .*set_slack_url\(\)/)
    await sql`select outbox.set_slack_url(${bad}, ${url})`
    expect((await stateOf(bad)).status).toBe('enabled')
  })
}

for (const text of ['no JSON', '["Bearer 1"]', '{"authorization": 1}', '{"authorization": null}']) {
  Deno.test(`an endpoint whose headers were replaced in Vault by ${text} is held alone, until set_headers()`, async () => {
    const [good, bad] = [await create(), await create({ authorization: 'Bearer 1', 'x-a': '2' })]
    await db.admin`select vault.update_secret(${await headersOf(bad)}, ${text})`
    await publishMany(sql, 'thing.done', 12)
    await expectHeld(good, bad, /^unreadable: the set of custom headers .*set_headers\(\)/)
    await expect(sql`select outbox.set_headers(${bad}, '{"authorization": "Bearer 3"}')`.execute())
      .rejects.toThrow('cannot be read from Vault')
    await sql`select outbox.set_headers(${bad}, '{"authorization": "Bearer 3", "x-a": null}')`
    expect(await stateOf(bad)).toEqual({ status: 'enabled', reason: null })
  })
}

Deno.test('a Slack endpoint whose URL was replaced in Vault by no JSON is told with its remedy', async () => {
  const good = await create()
  const url = 'https://hooks.slack.com/services/a/b'
  const [row] = await sql`select outbox.create_slack_endpoint(${url}) ->> 'id' as id`
  const bad: string = row?.id
  const [vault] =
    await sql`select credentials_vault_id as id from outbox.endpoint where id = ${bad}`
  await db.admin`select vault.update_secret(${vault?.id}, 'no JSON')`
  await publishMany(sql, 'thing.done', 12)
  await expectHeld(good, bad, /^unreadable: the set of credentials .*set_slack_url\(\)/)
  await sql`select outbox.set_slack_url(${bad}, ${url})`
  expect((await stateOf(bad)).status).toBe('enabled')
})

Deno.test('a replaced secret that cannot be read ends early and holds no endpoint', async () => {
  const bad = await create()
  const old = await secretOf(bad)
  await sql`select outbox.rotate_secret(${bad})`
  await damage(old)
  await publishMany(sql, 'thing.done', 3)
  const answer = await new Run(sql).call([], 400)
  expect(answer.deliveries).toHaveLength(3)
  expect(answer.endpoints[bad]?.secrets).toHaveLength(1)
  expect((await stateOf(bad)).status).toBe('enabled')
})

Deno.test('all endpoints are held when the root key is lost, and each can be resumed separately', async () => {
  const [a, b] = [await create(), await create()]
  for (const id of [a, b]) await damage(await secretOf(id))
  await publishMany(sql, 'thing.done', 3)
  const answer = await new Run(sql).call([], 400)
  expect(answer).toMatchObject({ deliveries: [], error: null })
  await sql`select outbox.rotate_secret(${a})`
  expect([(await stateOf(a)).status, (await stateOf(b)).status]).toEqual(['enabled', 'paused'])
})

Deno.test('an endpoint that a person paused is not resumed by a rotation', async () => {
  const id = await create()
  await sql`select outbox.pause_endpoint(${id}, 'by hand')`
  await damage(await secretOf(id))
  await sql`select outbox.rotate_secret(${id})`
  expect(await stateOf(id)).toEqual({ status: 'paused', reason: 'by hand' })
})

Deno.test('an unreadable secret holds its endpoint even while its row is locked', async () => {
  const [good, bad] = [await create(), await create()]
  await damage(await secretOf(bad))
  await publishMany(sql, 'thing.done', 12)
  await new Run(sql).call()
  const console = (await db.open()).sql
  await console`begin`
  await console`update outbox.endpoint set description = 'x' where id = ${bad}`
  const answer = await new Run(sql).call([], 400)
  expect(answer.deliveries.map(({ endpoint }) => endpoint)).toEqual(Array(12).fill(good))
  const { status, reason } = await stateOf(bad)
  expect(status).toBe('enabled')
  expect(reason).toContain('claiming is refused: OH004 unreadable: the signing secret')
  await console`commit`
})

/** Reading one secret fails with an error that is usually temporary, until the end of the block. */
async function failReading(vaultId: string, code: string): Promise<AsyncDisposable> {
  const [view] = await db.admin`select
    pg_get_viewdef('vault.decrypted_secrets'::regclass) as definition,
    (select string_agg(case a.attname
        when 'decrypted_secret' then 'public.read_secret(s.id, s.decrypted_secret) as decrypted_secret'
        else 's.' || quote_ident(a.attname) end, ', ' order by a.attnum)
      from pg_attribute a
      where a.attrelid = 'vault.decrypted_secrets'::regclass and a.attnum > 0) as columns`
  await db.admin.unsafe(`create function public.read_secret(id uuid, secret text) returns text
    language plpgsql stable as $$ begin
      if id = '${vaultId}' then raise exception using errcode = '${code}', message = 'no key'; end if;
      return secret;
    end $$`)
  await db.admin.unsafe(`create or replace view vault.decrypted_secrets as
    select ${view?.columns} from (${view?.definition.replace(/;\s*$/, '')}) s`)
  return {
    [Symbol.asyncDispose]: async () => {
      await db.admin.unsafe(
        `create or replace view vault.decrypted_secrets as ${view?.definition}`,
      )
      await db.admin`drop function public.read_secret`
    },
  }
}

for (const code of ['40001', '40P01', '55P03', '57014']) {
  Deno.test(`an endpoint whose signing secret fails with ${code} each time is held alone, until rotate_secret()`, async () => {
    const [bad, good] = [await create(), await create()]
    await publishMany(sql, 'thing.done', 12)
    await using _ = await failReading(await secretOf(bad), code)
    await expectHeld(good, bad, new RegExp(`^unreadable: .*\\(${code} no key\\)`))
    await sql`select outbox.rotate_secret(${bad})`
    expect(await stateOf(bad)).toEqual({ status: 'enabled', reason: null })
    await sql`select outbox.tick()`
    expect(await drain(sql)).toBe(12)
  })
}
