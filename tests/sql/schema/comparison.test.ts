import { expect } from '@std/expect'
import type { Postgres } from '../../../supabase/local/postgres/mod.ts'
import { withPostgres } from '../../../supabase/local/schema/database.ts'
import { projectRoot } from '../../../supabase/local/schema/project.ts'
import { compareSnapshots, takeSnapshot } from '../../../supabase/local/schema/snapshot.ts'

const sample = `
  create schema outbox;
  create table outbox.event (id uuid not null, at timestamptz default now()) partition by range (id);
  create table outbox.event_default partition of outbox.event default;
  create table outbox.setting (name text primary key, value text);
  insert into outbox.setting values ('batch', '400');
  create function outbox.publish(p_type text) returns text language sql set search_path = ''
    as 'select p_type';
  comment on function outbox.publish(text) is 'Publishes.';
  select cron.schedule('tick', '* * * * *', 'select 1');`

/** Each deliberate difference: what is done to the second database, and how it must be named. */
const differences: [what: string, change: string, named: RegExp][] = [
  ['a column', 'alter table outbox.setting add unit text', /^dump TABLE setting: differs/m],
  ['a table', 'create table outbox.extra (id int)', /^dump TABLE extra: only in second/m],
  ['an index', 'create index by_value on outbox.setting (value)', /^dump INDEX by_value: only/m],
  [
    'a function body',
    `create or replace function outbox.publish(p_type text) returns text language sql
       set search_path = '' as 'select upper(p_type)'`,
    /^dump FUNCTION publish\(text\): differs/m,
  ],
  [
    'a volatility',
    'alter function outbox.publish(text) stable',
    /^dump FUNCTION publish\(text\): differs/m,
  ],
  ['an owner', 'alter table outbox.setting owner to service_role', /^dump TABLE setting: differs/m],
  [
    'row level security',
    'alter table outbox.setting enable row level security',
    /^dump ROW SECURITY setting: only in second/m,
  ],
  [
    'a table grant',
    'grant select on outbox.setting to anon',
    /^grant relation setting: differs/m,
  ],
  [
    'a column grant',
    'grant select (value) on outbox.setting to anon',
    /^grant column setting\.value: only in second/m,
  ],
  [
    'a function grant',
    'revoke execute on function outbox.publish(text) from public',
    /^grant function outbox\.publish\(text\): differs/m,
  ],
  ['a schema grant', 'grant usage on schema outbox to anon', /^grant schema outbox: differs/m],
  [
    'a default privilege',
    'alter default privileges in schema outbox grant select on tables to anon',
    /^grant default for r made by supabase_admin: only in second/m,
  ],
  [
    'a storage option',
    'alter table outbox.setting set (fillfactor = 50)',
    /^storage setting: differs/m,
  ],
  ['logging', 'alter table outbox.setting set unlogged', /^storage setting: differs/m],
  [
    'a comment',
    `comment on function outbox.publish(text) is 'Publishes one.'`,
    /^comment function outbox\.publish\(text\): differs/m,
  ],
  [
    'a cron schedule',
    `select cron.schedule('tick', '*/5 * * * *', 'select 1')`,
    /^cron tick: differs/m,
  ],
  [
    'a cron job',
    `select cron.schedule('prune', '0 0 * * *', 'select 1')`,
    /^cron prune: only in second/m,
  ],
  [
    'a settings row',
    `update outbox.setting set value = '100' where name = 'batch'`,
    /^row setting \{"name": "batch", "value": "100"\}: only in second/m,
  ],
]

Deno.test('compareSnapshots() names a deliberate difference of every kind', async (t) => {
  await withPostgres(projectRoot, async (pg) => {
    await run(pg, sample)
    const base = await takeSnapshot(pg)
    for (const [what, change, named] of differences) {
      await t.step(`compareSnapshots() names ${what}`, async () => {
        await renew(pg)
        await run(pg, change)
        const found = compareSnapshots(['first', base], ['second', await takeSnapshot(pg)])
        expect(found.join('\n')).toMatch(named)
      })
    }
    await t.step('compareSnapshots() finds no difference in a schema made twice', async () => {
      await renew(pg)
      expect(compareSnapshots(['first', base], ['second', await takeSnapshot(pg)])).toEqual([])
    })
    await t.step('compareSnapshots() passes over partitions made at run time', async () => {
      await run(
        pg,
        `create table outbox.event_today partition of outbox.event
           for values from ('019a0000-0000-7000-8000-000000000000')
             to ('019b0000-0000-7000-8000-000000000000');
         create index on outbox.event_today (at);
         comment on table outbox.event_today is 'Made at run time.'`,
      )
      expect(compareSnapshots(['first', base], ['second', await takeSnapshot(pg)])).toEqual([])
    })
  })
})

async function renew(pg: Postgres): Promise<void> {
  await run(
    pg,
    `drop schema outbox cascade; select cron.unschedule(jobid) from cron.job; ${sample}`,
  )
}

async function run(pg: Postgres, script: string): Promise<void> {
  const { code, stderr } = await pg.psql(script, { as: 'supabase_admin' })
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
}
