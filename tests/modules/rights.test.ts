import { expect } from '@std/expect'
import { compareSnapshots, takeSnapshot } from '../../supabase/local/schema/snapshot.ts'
import { startTestPostgres } from '../_support/postgres.ts'
import { install, modules } from './_support/modules.ts'

/** What the schema's objects are, and who may do what with them. */
const facts = `
  select c.relname, c.relrowsecurity, c.relacl from pg_class c
  where c.relnamespace = 'outbox'::regnamespace and c.relkind in ('r', 'p', 'v', 'S')
  union all
  select p.proname, null, p.proacl from pg_proc p where p.pronamespace = 'outbox'::regnamespace
  order by 1, 2;`

Deno.test('modules applied later, in another order, come out equal to all applied at once', async () => {
  await using inOrder = await startTestPostgres()
  await using later = await startTestPostgres()
  const [core, ...others] = modules
  if (core === undefined) throw new Error('sql/order.txt names no module')
  await install(inOrder, modules)
  await install(later, [core])
  await install(later, others.toReversed().filter(({ needs }) => needs.length === 1))
  await install(later, others.filter(({ needs }) => needs.length > 1))
  const found = compareSnapshots(
    ['in order', await takeSnapshot(inOrder)],
    ['later', await takeSnapshot(later)],
  )
  expect(found.join('\n')).toBe('')
})

Deno.test('close_new() closes what is new, also where the database gives rights by default', async () => {
  await using pg = await startTestPostgres()
  await install(pg, modules)
  const before = await pg.psql(facts)
  const { code, stdout, stderr } = await pg.psql(`
    begin;
    alter default privileges grant all on tables to anon, authenticated, service_role;
    alter default privileges grant all on sequences to anon, authenticated, service_role;
    alter default privileges grant all on functions to anon, authenticated, service_role;
    create table outbox.fresh_table (id bigint generated always as identity);
    create view outbox.fresh_view as select 1 as one;
    create function outbox.fresh_function() returns integer language sql as 'select 1';
    select outbox.close_new();
    select 'fresh', c.relname, c.relrowsecurity, a.grantee::regrole from pg_class c
    cross join pg_catalog.aclexplode(c.relacl) a
    where c.relnamespace = 'outbox'::regnamespace and c.relname like 'fresh%'
      and (a.grantee <> c.relowner or c.relkind = 'r' and not c.relrowsecurity);
    select 'fresh', p.proname, a.grantee from pg_proc p cross join pg_catalog.aclexplode(p.proacl) a
    where p.proname = 'fresh_function' and a.grantee <> p.proowner;
    drop table outbox.fresh_table; drop view outbox.fresh_view;
    drop function outbox.fresh_function();
    ${facts}
    rollback;`)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout.split('\n').filter((line) => line.startsWith('fresh'))).toEqual([])
  const lines = stdout.split('\n')
  for (const line of before.stdout.split('\n')) expect(lines).toContain(line)
})
