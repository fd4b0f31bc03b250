/** `outhook migrate-from database-webhooks`, with the Supabase CLI, the stack, and writers meanwhile. */

import { expect } from '@std/expect'
import { join } from 'node:path'
import postgres from 'postgres'
import { ensureTool } from '../../supabase/local/npm_tool.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { cliVersions } from '../../supabase/local/supabase_cli.ts'
import { patienceMs, type TestOuthook } from '../_support/outhook.ts'
import { type Ended, type Migration, startMigration } from './_support/migration.ts'

const key = 'eyJ.service.role'
let migration: Migration
let outhook: TestOuthook
let programs: readonly string[]

Deno.test.beforeAll(async () => {
  migration = await startMigration()
  outhook = migration.outhook
  const [old, current] = cliVersions
  programs = [
    join(await ensureTool(projectRoot, 'supabase', old), 'supabase'),
    join(await ensureTool(projectRoot, 'supabase', current), 'supabase'),
  ]
})
Deno.test.afterAll(async () => await migration?.stop())

const migrate: Migration['migrate'] = (...args) => migration.migrate(...args)
const call: Migration['call'] = (...args) => migration.call(...args)
const requestsAt: Migration['requestsAt'] = (path) => migration.requestsAt(path)
const arrive: Migration['arrive'] = (path, count) => migration.arrive(path, count)

Deno.test('each row is sent once, by the webhook or by the endpoint, while the table is switched', async () => {
  const { sql } = outhook
  await sql.unsafe(`
    create table public.orders (id bigint generated always as identity primary key, note text);
    create trigger "order hook" after insert on public.orders for each row
      execute function ${call('/new', { Authorization: `Bearer ${key}` }, { 'a b': 'c&d' })};
    create trigger order_changes after update or delete on public.orders for each row
      execute function ${call('/changed')}`)
  let stopped = false
  const write = async (): Promise<number> => {
    const own = postgres(outhook.stack.dbUrl, { max: 1, onnotice: () => {} })
    let rows = 0
    while (!stopped) {
      // One in three transactions stays open, so the switch has to wait for it.
      await own.begin(async (tx) => {
        await tx`with row as (insert into public.orders (note) values ('n') returning id)
          select id from row`
        await tx`update public.orders set note = 'm'
          where id = (select max(id) from public.orders where xmin = pg_current_xact_id()::xid)`
        if (rows % 3 === 0) await tx`select pg_sleep(0.02)`
      })
      rows++
    }
    await own.end()
    return rows
  }
  const writers = [write(), write()]
  const path = '/new?a%20b=c%26d'
  const sentBy = (way: 'webhook' | 'endpoint'): number =>
    requestsAt(path).filter(({ request }) =>
      (request.headers['webhook-id'] === undefined) === (way === 'webhook')
    ).length
  let ended: Ended
  try {
    await arrive(path, 20)
    ended = await migrate({ yes: true }, programs[1])
    if (ended.code === 0) {
      await waitUntil(() => sentBy('endpoint') >= 20, { timeoutMs: patienceMs })
    }
  } finally {
    stopped = true
  }
  const rows = (await Promise.all(writers)).reduce((sum, one) => sum + one)
  expect([ended.code, ended.out.includes(key)]).toEqual([0, false])

  await arrive(path, rows)
  await arrive('/changed', rows)
  const ids = (at: string): number[] =>
    requestsAt(at).map(({ body }) => body.record?.id ?? 0).sort((a, b) => a - b)
  const wanted = Array.from({ length: rows }, (_, n) => n + 1)
  expect([ids(path), ids('/changed')]).toEqual([wanted, wanted])
  expect([sentBy('webhook') >= 20, sentBy('endpoint') >= 20]).toEqual([true, true])

  // Both ways send the same form, and the key of the function.
  const [first, last] = [requestsAt(path)[0], requestsAt(path).at(-1)]
  for (const one of [first, last]) {
    expect(one?.body).toEqual({
      type: 'INSERT',
      table: 'orders',
      schema: 'public',
      record: { id: expect.any(Number), note: 'n' },
      old_record: null,
    })
    expect(one?.request.headers).toMatchObject({
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
    })
  }
  expect(requestsAt('/changed').at(-1)?.body).toMatchObject({
    type: 'UPDATE',
    record: { note: 'm' },
    old_record: { note: 'n' },
  })
})

Deno.test('a second run changes nothing', async () => {
  const state = async (): Promise<unknown> =>
    await outhook.sql`
      select (select count(*)::integer from outbox.endpoint) as endpoints,
        (select array_agg(t.oid || ':' || t.xmin order by t.oid) from pg_trigger t
          where t.tgrelid = 'public.orders'::regclass) as triggers`
  const before = await state()
  const { code, out } = await migrate({ yes: true }, programs[0])
  expect([code, out]).toEqual([
    0,
    expect.stringContaining('order hook was replaced by the endpoint'),
  ])
  expect(await state()).toEqual(before)
})

Deno.test('--undo returns to the webhooks: what was published is delivered, later rows are sent once', async () => {
  const { sql } = outhook
  await sql`insert into public.orders (note) values ('before')`
  const { code } = await migrate({ undo: true, yes: true })
  await sql`insert into public.orders (note) values ('after')`
  const path = '/new?a%20b=c%26d'
  const of = (note: string): (string | undefined)[] =>
    requestsAt(path).filter(({ body }) => body.record?.note === note)
      .map(({ request }) => request.headers['webhook-id'])
  const both = await waitUntil(
    () => of('before').length > 0 && of('after').length > 0,
    { timeoutMs: patienceMs },
  )
  expect([code, both]).toEqual([0, true])
  expect([of('before'), of('after')]).toEqual([[expect.any(String)], [undefined]])
  const [watch] = await sql`select count(*)::integer as n from pg_trigger t
    where t.tgrelid = 'public.orders'::regclass and t.tgname like 'outhook%'`
  expect(watch?.n).toBe(0)

  // And forward again: the first endpoints get nothing more.
  expect((await migrate({ yes: true })).code).toBe(0)
  await sql`insert into public.orders (note) values ('again')`
  const again = await waitUntil(() => of('again').length > 0, { timeoutMs: patienceMs })
  const isDone = async (): Promise<boolean> => (await sql`select from outbox.delivery`).length === 0
  // Nothing is open: no other endpoint waits for an attempt.
  expect(await waitUntil(isDone, { timeoutMs: patienceMs })).toBe(true)
  expect([again, of('again').length]).toEqual([true, 1])
})

Deno.test('--finish drops the triggers that were replaced, and no other', async () => {
  const { sql } = outhook
  await sql.unsafe(`create trigger off after insert on public.orders for each row
    execute function ${call('/off')}; alter table public.orders disable trigger off`)
  const { code, out } = await migrate({ finish: true, yes: true })
  expect([code, out]).toEqual([0, expect.stringContaining('public.orders: order hook is dropped')])
  const left = await sql`select t.tgname from pg_trigger t
    where t.tgrelid = 'public.orders'::regclass order by 1`
  expect(left.map(({ tgname }) => tgname)).toEqual(['off', 'outhook_row'])
  await sql`drop trigger off on public.orders`
})

Deno.test('an error of one table rolls it back whole, and the other tables are changed', async () => {
  const { sql } = outhook
  await sql.unsafe(`
    create table public.busy (id int);
    create trigger hook after insert on public.busy for each row execute function ${call('/busy')};
    create trigger hook2 after insert on public.busy for each row execute function ${call('/busy')};
    create table public.calm (id int);
    create trigger hook after insert on public.calm for each row execute function ${call('/calm')}`)
  const held = await outhook.admin.reserve()
  await held`begin`
  await held`lock table public.busy in row exclusive mode`
  const { code, out, errors } = await migrate({ yes: true, json: true, lockTimeout: 100 })
  await held`rollback`
  held.release()
  expect([code, JSON.parse(out).tables]).toEqual([1, [
    { table: 'public.busy', action: 'switch', state: 'failed' },
    { table: 'public.calm', action: 'switch', state: 'done' },
  ]])
  expect(errors).toMatch(/lock timeout\npublic\.busy: nothing was changed/)
  const [left] = await sql`
    select (select count(*)::integer from outbox.endpoint e where e.url like '%/busy') as endpoints,
      (select count(*)::integer from pg_trigger t
        where t.tgrelid = 'public.busy'::regclass and t.tgenabled = 'O') as hooks`
  expect(left).toEqual({ endpoints: 0, hooks: 2 })
  const second = await migrate({ yes: true, json: true })
  expect([second.code, JSON.parse(second.out).tables])
    .toEqual([0, [{ table: 'public.busy', action: 'switch', state: 'done' }]])
  await sql`insert into public.busy values (7)`
  await arrive('/busy', 2)
})

Deno.test('the plan says what each webhook becomes, and why one stays, and no secret', async () => {
  const { sql } = outhook
  await sql.unsafe(`
    create schema "Other";
    create table "Other"."Some Table" (id int, status text) partition by range (id);
    create table "Other".part partition of "Other"."Some Table" default;
    create trigger moved after update on "Other"."Some Table" for each row
      execute function ${
    call('/p?token=s3cret', { 'X-Key': 's3cret', 'User-Agent': 'mine', 'X-Empty': '' })
  };
    create table public.parts (id int, status text);
    create trigger of_column after insert or update of status on public.parts for each row
      execute function ${call('/c')};
    create trigger conditional after update on public.parts for each row
      when (new.status is distinct from 's3cret') execute function ${call('/w')};
    create trigger gets after insert on public.parts for each row execute function
      supabase_functions.http_request('https://example.com', 'GET', '{}', '{}', '1000');
    create trigger per_statement after insert on public.parts execute function ${call('/s')};
    create trigger early before insert on public.parts for each row execute function ${call('/e')};
    create trigger emptied after truncate on public.parts execute function ${call('/t')};
    create trigger inside after delete on public.parts for each row execute function
      supabase_functions.http_request('https://user:s3cret@10.0.0.1/x', 'POST', 'null', 'null', 'null');
    create function public.own() returns trigger language plpgsql as
      'begin perform net.http_post(''https://example.com''); return null; end';
    create trigger own after insert on public.parts for each row execute function public.own()`)
  const { code, out } = await migrate({ json: true })
  const shown = await migrate({ dryRun: true })
  expect([code, shown.code, (out + shown.out).includes('s3cret')]).toEqual([0, 0, false])
  const plan = JSON.parse(out)
  expect(plan.webhooks).toEqual([
    {
      table: 'Other.Some Table',
      name: 'moved',
      watch: {
        type: 'other.some_table.{op}',
        operations: ['insert', 'update', 'delete'],
        changed: null,
      },
      endpoint: {
        url: `${outhook.receiver.url}/…`,
        eventTypes: ['other.some_table.updated'],
        headers: ['X-Key'],
        timeoutMs: 15_000,
      },
      differences: [
        'The header X-Empty is not sent: it has an empty value, or characters that are not visible ' +
        'ASCII',
        'The header User-Agent is not sent: it is reserved',
        'The member table is the partitioned table, and a row that moves to another partition is ' +
        'one UPDATE',
        'Whoever may read the endpoint sees the query of its URL',
      ],
    },
    {
      table: 'public.parts',
      name: 'of_column',
      watch: { type: 'parts.{op}', operations: ['insert', 'update'], changed: ['status'] },
      endpoint: {
        url: `${outhook.receiver.url}/…`,
        eventTypes: ['parts.inserted', 'parts.updated'],
        headers: [],
        timeoutMs: 15_000,
      },
      differences: [
        'An update is sent if it changes status, also by a BEFORE trigger, and not if it sets the ' +
        'value that is there',
      ],
    },
  ])
  const why = Object.fromEntries(
    plan.staying.map(({ name, why }: { name: string; why: string }) => [name, why]),
  )
  expect(why).toEqual({
    conditional: expect.stringContaining('it has a condition (WHEN)'),
    early: expect.stringContaining('called before the change'),
    emptied: expect.stringContaining('once for each statement'),
    gets: 'it sends GET, and an endpoint gets POST requests only',
    inside: 'its URL carries credentials',
    per_statement: expect.stringContaining('once for each statement'),
  })
  for (
    const text of [
      'an endpoint',
      'not 5000 ms: an attempt that takes longer is made again',
      'public.parts: gets stays as it is: it sends GET',
      'The trigger own on parts calls a function of yours',
      '{"type", "table", "schema", "record", "old_record"}',
    ]
  ) expect(shown.out).toContain(text)

  expect((await migrate({ yes: true })).code).toBe(0)
  await sql`insert into public.parts values (1, 'a')`
  await sql`update public.parts set status = 'b'`
  await sql`insert into "Other"."Some Table" values (1, 'a')`
  await sql`update "Other"."Some Table" set status = 'b'`
  await arrive('/p?token=s3cret', 1)
  await arrive('/c', 2)
  await arrive('/w', 1)
  expect(requestsAt('/p?token=s3cret')[0]?.request.headers).toMatchObject({ 'x-key': 's3cret' })
})

Deno.test('nothing is changed without a confirmation, and wrong options are refused', async () => {
  await outhook.sql.unsafe(`create table public.later (id int);
    create trigger hook after insert on public.later for each row execute function ${call('/l')}`)
  expect(await migrate({ tables: ['later'] }))
    .toMatchObject({ code: 3, errors: 'Nothing was changed: confirm it with --yes' })
  expect(await migrate({ undo: true, finish: true }, './none')).toMatchObject({ code: 2 })
  expect(await migrate({ dbUrl: 'x' }, './none')).toMatchObject({ code: 2 })
  expect(await migrate({}, './none')).toMatchObject({ code: 1 })
  const [hook] = await outhook.sql`select t.tgenabled from pg_trigger t
    where t.tgrelid = 'public.later'::regclass`
  expect(hook?.tgenabled).toBe('O')
})
