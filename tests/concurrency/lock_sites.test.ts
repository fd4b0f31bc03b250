/** Every lock in sql/ has a test that fails without it: a new lock needs one too. */

import { expect } from '@std/expect'
import { projectRoot } from '../../supabase/local/schema/project.ts'
import { lockSites, lockSitesOf } from './_support/lock_sites.ts'
import { lockTests } from './_support/lock_tests.ts'

Deno.test('every lock in sql/ is in the list of lock tests, and the list names no other', async () => {
  const sites = await lockSites(projectRoot)
  expect(Object.keys(lockTests).sort()).toEqual(sites.sort())
})

Deno.test('every test that the list of lock tests names exists', async () => {
  const missing: [file: string, words: string][] = []
  for (const [file, words] of Object.values(lockTests)) {
    const text = await Deno.readTextFile(new URL(file, import.meta.url))
    if (!text.includes(words)) missing.push([file, words])
  }
  expect(missing).toEqual([])
})

Deno.test('lockSitesOf() finds clauses, statements and calls, and neither comments nor definitions', () => {
  const text = `
-- for update, in a comment
create function outbox.lock_gates(p_id uuid) returns void
as $$
begin
  perform from outbox.gate g where g.id = p_id for no key
    update;
  select 1 from outbox.gate for update of g skip locked;
  perform outbox.try_lock_gates(p_id), outbox.try_lock_gates(p_id);
  perform pg_catalog.pg_advisory_xact_lock(1), pg_catalog.clock_timestamp();
  execute 'lock table only outbox.%I in share mode';
end
$$;
comment on function outbox.lock_gates(uuid) is
  'It''s there for update; locks: gates.';
create trigger guard before insert or update on outbox.gate
  for each statement execute function outbox.lock_settings();
`
  const sites = lockSitesOf('20.sql', text)
  expect(sites.map(({ name }) => name)).toEqual([
    '20.sql lock_gates: for no key update',
    '20.sql lock_gates: for update of g skip locked',
    '20.sql lock_gates: try_lock_gates',
    '20.sql lock_gates: try_lock_gates (2)',
    '20.sql lock_gates: pg_advisory_xact_lock',
    '20.sql lock_gates: lock table only %I',
    '20.sql guard: lock_settings',
  ])
  const places = sites.map(({ start, end }) => text.slice(start, end))
  expect(places[0]).toBe('for no key\n    update')
  expect(places[2]).toBe('outbox.try_lock_gates')
  expect(places.at(-1)).toBe('outbox.lock_settings')
})
