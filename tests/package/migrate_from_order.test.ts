/** `outhook migrate-from database-webhooks`: no row is lost or doubled in any order of changes. */

import { expect } from '@std/expect'
import postgres from 'postgres'
import type { Database } from '../../package/command/migrate_from/query.ts'
import { QueryError } from '../../package/command/migrate_from/query.ts'
import { waitUntil } from '../../supabase/local/process/wait.ts'
import { patienceMs } from '../_support/outhook.ts'
import { databaseOf, type Ended, type Migration, startMigration } from './_support/migration.ts'

let migration: Migration
Deno.test.beforeAll(async () => {
  migration = await startMigration()
})
Deno.test.afterAll(async () => await migration?.stop())

/** Creates a table with a webhook for INSERT, which calls a path of the table's name. */
async function table(name: string, more = ''): Promise<void> {
  await migration.outhook.sql.unsafe(`create table ${name} (id int, note text);
    create trigger hook after insert on ${name} for each row
      execute function ${migration.call(`/${name}`)};${more}`)
}

async function run(name: string, options = {}): Promise<Ended> {
  return await migration.migrate({ yes: true, json: true, tables: [name], ...options })
}

/** Why each webhook stays. */
function whyOf({ out }: Ended): string[] {
  return JSON.parse(out).staying.map(({ why }: { why: string }) => why)
}

function statesOf({ out }: Ended): string[] {
  return JSON.parse(out).tables.map(({ state }: { state: string }) => state)
}

/** The triggers of a table with their states. */
async function triggersOf(name: string): Promise<string[]> {
  const rows = await migration.outhook.sql<{ shown: string }[]>`
    select concat(t.tgname, ' ', t.tgenabled) as shown from pg_trigger t
    where t.tgrelid = ${name}::regclass order by 1`
  return rows.map(({ shown }) => shown)
}

/** A database in which something happens between the plan and the change. */
function interrupted(before: () => Promise<unknown>): Database {
  return {
    query: migration.database.query,
    execute: async (text) => {
      if (text.includes('lock table')) await before()
      await migration.database.execute(text)
    },
  }
}

async function waitsForLock(name: string): Promise<void> {
  const waits = await waitUntil(
    async () => {
      const [row] = await migration.outhook.admin<{ n: number }[]>`
        select count(*)::integer as n from pg_locks l
        where l.relation = ${name}::regclass and not l.granted`
      return (row?.n ?? 0) > 0
    },
    { timeoutMs: patienceMs },
  )
  if (!waits) throw new Error(`nothing waits for ${name}`)
}

Deno.test('a table whose events would have the types of another table stays, in a later run too', async () => {
  await table('"订单"')
  await table('"客户"')
  await table(
    'jj',
    `create schema s; create table s.other (id int);
    select outbox.watch_table('s.other', 'jj.{op}')`,
  )
  const first = await run('订单')
  const second = await run('客户')
  const third = await run('jj')
  expect([statesOf(first), statesOf(second), whyOf(second), whyOf(third)]).toEqual([
    ['done'],
    [],
    ['another table has events of the type __.{op}'],
    ['another table has events of the type jj.{op}'],
  ])
})

Deno.test('a type that another table gets between the plan and the change is refused', async () => {
  await table('late', 'create table late_other (id int)')
  const ended = await migration.migrateOn(
    interrupted(() =>
      migration.outhook.sql`select outbox.watch_table('late_other', 'late.updated')`
    ),
    { yes: true, json: true, tables: ['late'] },
  )
  expect([statesOf(ended), ended.errors, await triggersOf('late')]).toEqual([
    ['failed'],
    expect.stringContaining('late_other has events of the same types'),
    ['hook O'],
  ])
})

Deno.test('a webhook of a watched table stays if the watch publishes more, or does not work', async () => {
  await table('one_type', `select outbox.watch_table('one_type', 'one_type.changed')`)
  await table(
    'switched_off',
    `select outbox.watch_table('switched_off');
    alter table switched_off disable trigger outhook_row`,
  )
  await table(
    'foreign_watch',
    `create trigger mine after insert on foreign_watch for each row
      execute function outbox.publish_row('no json')`,
  )
  await table(
    'by_insert',
    `select outbox.watch_table('by_insert', 'by_insert.came',
    p_operations => '{insert}')`,
  )
  expect([
    whyOf(await run('one_type')),
    whyOf(await run('switched_off')),
    whyOf(await run('foreign_watch')),
    statesOf(await run('by_insert')),
  ]).toEqual([
    [expect.stringContaining('have one type, one_type.changed')],
    [expect.stringContaining('switched_off are not published: its trigger is disabled')],
    [expect.stringContaining('watch_table() has not created its trigger')],
    ['done'],
  ])
  await migration.outhook.sql`drop table foreign_watch`
})

Deno.test('a watch that is made, changed or removed after the plan is refused', async () => {
  await table('ee', `select outbox.watch_table('ee')`)
  await table('ef')
  const { sql } = migration.outhook
  const removed = await migration.migrateOn(
    interrupted(() => sql`select outbox.unwatch_table('ee')`),
    { yes: true, json: true, tables: ['ee'] },
  )
  const made = await migration.migrateOn(
    interrupted(() => sql`select outbox.watch_table('ef', p_columns => '{id}')`),
    { yes: true, json: true, tables: ['ef'] },
  )
  const says = expect.stringContaining('the watch of the table was changed')
  expect([statesOf(removed), removed.errors, await triggersOf('ee')])
    .toEqual([['failed'], says, ['hook O']])
  expect([statesOf(made), made.errors, await triggersOf('ef')])
    .toEqual([['failed'], says, ['hook O', 'outhook_columns O', 'outhook_row O']])
})

Deno.test('a condition is seen whatever the session shows of it', async () => {
  const { sql, stack } = migration.outhook
  await sql.unsafe(`create table dd (id int, note text);
    create trigger hook after insert on dd for each row when (new.note = 's3cret')
      execute function ${migration.call('/dd')}`)
  const shown: Ended[] = []
  for (
    const connection of [
      { search_path: 'public, supabase_functions' },
      { quote_all_identifiers: 'on' },
    ]
  ) {
    const own = postgres(stack.dbUrl, { max: 1, onnotice: () => {}, connection })
    const database = databaseOf(async (text) => await own.unsafe(text))
    shown.push(await migration.migrateOn(database, { json: true, tables: ['dd'] }))
    await own.end()
  }
  const why = [expect.stringContaining('it has a condition (WHEN)')]
  expect([shown.map(whyOf), JSON.stringify(shown).includes('s3cret')]).toEqual([[why, why], false])
})

Deno.test('--undo does not deadlock with a transaction that has read the table', async () => {
  await table('ff')
  await run('ff')
  const held = await migration.outhook.admin.reserve()
  await held`begin`
  await held`select * from ff`
  const undo = run('ff', { undo: true, lockTimeout: 60_000 })
  await waitsForLock('ff')
  await held`insert into ff values (1, 'x')`
  await held`commit`
  held.release()
  expect([(await undo).code, await triggersOf('ff')]).toEqual([0, ['hook O']])
})

Deno.test('--finish drops nothing that --undo has enabled while it waited', async () => {
  await table('fin')
  await run('fin')
  const held = await migration.outhook.admin.reserve()
  await held`begin`
  await held`alter table fin enable trigger hook`
  const finish = run('fin', { finish: true, lockTimeout: 60_000 })
  await waitsForLock('fin')
  await held`commit`
  held.release()
  expect([(await finish).code, await triggersOf('fin')]).toEqual([1, ['hook O', 'outhook_row O']])
})

Deno.test('--finish is refused if the endpoint or the watch does not work any more', async () => {
  await table('gone')
  await table('unwatched')
  await run('gone')
  await run('unwatched')
  const { sql } = migration.outhook
  await sql`select outbox.delete_endpoint(e.id) from outbox.endpoint e where e.url like '%/gone'`
  await sql`select outbox.unwatch_table('unwatched')`
  const gone = await run('gone', { finish: true })
  const unwatched = await run('unwatched', { finish: true })
  expect([gone.errors, unwatched.errors]).toEqual([
    expect.stringContaining('is not enabled, or gets no event'),
    expect.stringContaining('the table is not watched any more'),
  ])
  expect([await triggersOf('gone'), await triggersOf('unwatched')])
    .toEqual([['hook D', 'outhook_row O'], ['hook D']])
})

Deno.test('after a lost answer the command says what the database has', async () => {
  await table('lost')
  let left = true
  const losing = (settled: boolean): Database => ({
    query: migration.database.query,
    execute: async (text) => {
      if (!text.includes('lock table') && !settled) throw new QueryError('no connection')
      await migration.database.execute(text)
      if (left) {
        left = false
        throw new QueryError('the connection was lost')
      }
    },
  })
  const options = { yes: true, json: true, tables: ['lost'] }
  const done = await migration.migrateOn(losing(true), options)
  left = true
  const unknown = await migration.migrateOn(losing(false), { ...options, undo: true })
  expect([done.code, statesOf(done), done.errors])
    .toEqual([0, ['done'], 'public.lost: done. Only the answer of the database was lost'])
  expect([unknown.code, statesOf(unknown), unknown.errors])
    .toEqual([1, ['unknown'], expect.stringContaining('it is not known what was changed')])
})

Deno.test('a replaced webhook that was enabled again gets no second endpoint', async () => {
  await table('gg')
  await run('gg')
  await migration.outhook.sql`alter table gg enable trigger hook`
  const [why] = whyOf(await run('gg'))
  expect(why).toContain('which still gets events: each row may come twice')
  const [endpoints] = await migration.outhook.sql`
    select count(*)::integer as n from outbox.endpoint e where e.url like '%/gg'`
  expect(endpoints?.n).toBe(1)
})

Deno.test('--undo removes the watch of an earlier run, and not one of the application', async () => {
  await table('ii')
  await run('ii')
  await migration.outhook.sql.unsafe(`create trigger second after insert on ii for each row
    execute function ${migration.call('/ii2')}`)
  await run('ii')
  await run('ii', { undo: true })
  await table('own', `select outbox.watch_table('own')`)
  await run('own')
  await run('own', { undo: true })
  expect([await triggersOf('ii'), await triggersOf('own')])
    .toEqual([['hook O', 'second O'], ['hook O', 'outhook_row O']])
})

Deno.test('--undo ends only the events of the table, and is refused if a row would come twice', async () => {
  const { sql } = migration.outhook
  await table('uu', `comment on trigger hook on uu is E'of the\nteam'`)
  await run('uu')
  const [endpoint] = await sql`select e.id from outbox.endpoint e where e.url like '%/uu'`
  const id = endpoint?.id
  await sql`select outbox.subscribe(${id}, '{other.made,uu.*}')`
  const refused = await run('uu', { undo: true })
  await sql`select outbox.end_subscriptions(${id}, '{uu.*}', outbox.subscription_time(${id}))`
  const { code } = await run('uu', { undo: true })
  const left = await sql`select s.pattern from outbox.subscription s where s.endpoint_id = ${id}`
  const [comment] = await sql`select obj_description(t.oid) as text from pg_trigger t
    where t.tgrelid = 'uu'::regclass and t.tgname = 'hook'`
  expect([refused.errors, code, left.map(({ pattern }) => pattern), comment?.text]).toEqual([
    expect.stringContaining('also gets these events by its event type uu.*'),
    0,
    ['other.made'],
    'of the\nteam',
  ])
})

Deno.test('arguments that are no JSON stay in the database, and the other webhooks are read', async () => {
  await table(
    'hh',
    ['{"Authorization": "Bearer s3cret', '["s3cret"]'].map((headers, n) => `
    create trigger bad${n} after insert on hh for each row execute function
      supabase_functions.http_request('https://hooks.example.com/services/s3cret', 'POST',
        '${headers}', '{}', '1000');`).join('') + `
    create trigger slow after insert on hh for each row execute function
      supabase_functions.http_request('https://example.com', 'POST', '{}', '{}', 's3cret');
    create trigger params after insert on hh for each row execute function
      supabase_functions.http_request('https://example.com', 'POST', '{}', 's3cret', '1')`,
  )
  const json = await migration.migrate({ json: true, tables: ['hh'] })
  const shown = await migration.migrate({ dryRun: true, tables: ['hh'] })
  expect(whyOf(json)).toEqual([
    'its headers are no JSON object',
    'its headers are no JSON object',
    'its parameters are no JSON object',
    'its timeout is not one of 60 s at most',
  ])
  expect([json.code, shown.code, JSON.stringify([json, shown]).includes('s3cret')])
    .toEqual([0, 0, false])
  await migration.outhook.sql`drop table hh`
})

Deno.test('a table without webhooks is named, and a name that gives no event type stays', async () => {
  await table('"a..b"')
  const missing = await run('nothere')
  expect([missing.code, missing.errors]).toEqual([1, 'No Database Webhook belongs to: nothere'])
  expect(whyOf(await run('a..b'))).toEqual([
    expect.stringContaining('gives no event type'),
  ])
})

Deno.test('a transaction that began before the switch and writes after it is sent once', async () => {
  await table('rr')
  const held = await migration.outhook.admin.reserve()
  await held`begin isolation level repeatable read`
  await held`select * from rr`
  const { code } = await run('rr')
  await held`insert into rr values (1, 'early')`
  await held`commit`
  held.release()
  await migration.outhook.sql`insert into rr values (2, 'late')`
  await migration.arrive('/rr', 2)
  const sent = migration.requestsAt('/rr')
    .map(({ body, request }) => [body.record?.id, typeof request.headers['webhook-id']])
  expect([code, sent.sort()]).toEqual([0, [[1, 'string'], [2, 'string']]])
})

Deno.test('an endpoint that is refused in the midst of a switch leaves the table as it was', async () => {
  const headers = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`X-H${n}`, 'v']))
  await table(
    'mid',
    `create trigger many after insert on mid for each row
      execute function ${migration.call('/mid', headers)}`,
  )
  const ended = await run('mid')
  const [endpoints] = await migration.outhook.sql`
    select count(*)::integer as n from outbox.endpoint e where e.url like '%/mid'`
  expect([statesOf(ended), ended.errors, await triggersOf('mid'), endpoints?.n]).toEqual([
    ['failed'],
    expect.stringContaining('has more than 20 names'),
    ['hook O', 'many O'],
    0,
  ])
})

Deno.test('a table is changed if a worker delivers or the database calls its functions, else not', async () => {
  await table('delivered')
  const own = postgres(migration.outhook.stack.dbUrl, { max: 1, onnotice: () => {} })
  const reserved = await own.reserve()
  await reserved.unsafe('begin')
  const messages: string[] = []
  const ask = async (): Promise<void> => {
    const database = databaseOf(async (text) => await reserved.unsafe(text))
    const ended = await migration.migrateOn(
      { query: database.query, execute: () => Promise.resolve() },
      { yes: true, tables: ['delivered'] },
    )
    messages.push(ended.errors.slice(0, 24))
  }
  await ask()
  await reserved.unsafe(`update outbox.run set ended_at = now() where ended_at is null;
    delete from vault.secrets where name = 'outhook_worker_secret'`)
  await ask()
  await reserved.unsafe(`update outbox.run set ended_at = null, polled_at = now(), kind = 'worker'
    where id = (select id from outbox.run limit 1)`)
  await ask()
  await reserved.unsafe('rollback')
  reserved.release()
  await own.end()
  expect(messages).toEqual([
    'public.delivered: done',
    'Outhook does not deliver',
    'public.delivered: done',
  ])
})
