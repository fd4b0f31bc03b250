/** What the inbox takes for a fault of the message, and what for one of the database. */

import { expect } from '@std/expect'
import { Buffer } from 'node:buffer'
import postgres from 'postgres'
import { type Inbox, openInbox } from '../../consumer/inbox.ts'
import type { Handled } from '../../consumer/message.ts'
import { sampleMessage } from './samples.ts'
import { type Shop, startShop } from './_support/shop.ts'

let shop: Shop

Deno.test.beforeAll(async () => {
  shop = await startShop()
  await shop.sql.unsafe(`
    create role clerk login password 'first';
    grant usage on schema outbox, shop to clerk;
    grant execute on function outbox.consume, outbox.check_handler, outbox.accept_once,
      outbox.report_dead_message to clerk;
    grant execute on function shop.bill_order to clerk;
    grant select, insert on all tables in schema shop to clerk`).simple()
})
Deno.test.afterAll(async () => {
  await shop?.[Symbol.asyncDispose]()
})

/** Uses an inbox whose role is `clerk`. */
async function withInbox<Value>(
  use: (inbox: Inbox) => Promise<Value>,
  { password = 'first', timeoutMs = 5_000 } = {},
): Promise<Value> {
  const url = new URL(shop.dbUrl)
  url.username = 'clerk'
  url.password = password
  const inbox = openInbox({ url: url.href, consumer: 'billing', timeoutMs, concurrency: 1 })
  try {
    return await use(inbox)
  } finally {
    await inbox.close()
  }
}

const body = Buffer.from('{"data": {"id": 1}}')

const consume = (inbox: Inbox): Promise<Handled> =>
  inbox.consume(sampleMessage({ id: crypto.randomUUID(), body }), 'shop.bill_order')

Deno.test('a message waits while the database is read-only', async () => {
  await shop.sql`alter role clerk set default_transaction_read_only = on`
  expect(await withInbox(consume)).toMatchObject({ kind: 'unavailable' })
  await shop.sql`alter role clerk reset default_transaction_read_only`
  expect(await withInbox(consume)).toEqual({ kind: 'done' })
})

Deno.test('a message waits while the database refuses the login', async () => {
  expect(await withInbox(consume, { password: 'second' })).toMatchObject({ kind: 'unavailable' })
  await shop.sql`alter role clerk nologin`
  expect(await withInbox(consume)).toMatchObject({ kind: 'unavailable' })
  await shop.sql`alter role clerk login`
})

Deno.test('a message waits while the database accepts no connections', async () => {
  // Nobody can forbid it to the own database.
  const url = new URL(shop.dbUrl)
  const name = url.pathname.slice(1)
  url.pathname = '/template1'
  const other = postgres(url.href, { max: 1, onnotice: () => {} })
  try {
    await other`alter database ${other(name)} allow_connections false`
    expect(await withInbox(consume)).toEqual({
      kind: 'unavailable',
      error: `database "${name}" is not currently accepting connections`,
    })
  } finally {
    await other`alter database ${other(name)} allow_connections true`
    await other.end()
  }
  expect(await withInbox(consume)).toEqual({ kind: 'done' })
})

Deno.test('a message waits while the role may not connect, or has no connection left', async () => {
  const name = new URL(shop.dbUrl).pathname.slice(1)
  await shop.sql`revoke connect on database ${shop.sql(name)} from public`
  expect(await withInbox(consume)).toMatchObject({ kind: 'unavailable' })
  await shop.sql`grant connect on database ${shop.sql(name)} to public`
  await shop.sql`alter role clerk connection limit 0`
  expect(await withInbox(consume)).toMatchObject({ kind: 'unavailable' })
  await shop.sql`alter role clerk connection limit -1`
  expect(await withInbox(consume)).toEqual({ kind: 'done' })
})

Deno.test('a message waits while the role may not call the inbox', async () => {
  await shop.sql`revoke execute on function outbox.consume from clerk`
  expect(await withInbox(consume)).toEqual({
    kind: 'unavailable',
    error: 'permission denied for function consume',
  })
  await shop.sql`grant execute on function outbox.consume to clerk`
})

Deno.test('a message waits while the role has no right to the schema', async () => {
  await shop.sql`revoke usage on schema outbox from clerk`
  expect(await withInbox(consume)).toEqual({
    kind: 'unavailable',
    error: 'permission denied for schema outbox',
  })
  await shop.sql`grant usage on schema outbox to clerk`
})

Deno.test('a handler that takes too long, or raises the code of a refusal itself, fails its message', async () => {
  await shop.sql.unsafe(`
    create function shop.slow(p jsonb) returns void language sql as 'select pg_sleep(5)';
    create function shop.strict(p jsonb) returns void language plpgsql as $$
    begin
      raise exception 'no such user' using errcode = '28000';
    end $$;
    create function shop.unready(p jsonb) returns void language plpgsql as $$
    begin
      raise exception 'the shop is not ready' using errcode = '55000';
    end $$`).simple()
  for (const handler of ['shop.slow', 'shop.strict', 'shop.unready']) {
    const handled = await withInbox((inbox) => inbox.consume(sampleMessage(), handler), {
      timeoutMs: 100,
    })
    expect(handled).toMatchObject({ kind: 'failed', isFinal: false })
  }
})

Deno.test('an error with a NUL is reported', async () => {
  const dead = { message: sampleMessage(), error: 'no \0 such', retryCount: 6 }
  expect(await withInbox((inbox) => inbox.report(dead, 'orders.dlq'))).toEqual({ kind: 'done' })
  const [row] = await shop.sql`
    select body::jsonb ->> 'error' as error from outbox.event
    where type = 'outhook.consumer.dead_lettered'`
  expect(row).toEqual({ error: 'no � such' })
})
