-- The history of the catalogue has a bound for each organisation, whatever the names of its event types.
begin;
\ir ../../_helpers.sql
select plan(9);

-- Creates and deletes so many types, each once.
create function pg_temp.cycle(p_org_id text, p_from integer, p_to integer) returns void language sql as $$
  select outbox.put_event_type(p_org_id, 'type-' || n), outbox.delete_event_type(p_org_id, 'type-' || n) from generate_series(p_from, p_to) n
$$;
create function pg_temp.kept(p_org_id text) returns text language sql as $$
  select count(*) || ' from ' || min(c.number) || ' to ' || max(c.number) from outbox.event_type_change c where c.org_id = p_org_id
$$;
select pg_temp.cycle('other', 1, 60);
select is(pg_temp.kept('other'), '120 from 1 to 120', 'an organisation keeps many changes by default');
select outbox.set_org_setting('org-1', 'event_type.changes_kept', '100');
select pg_temp.cycle('org-1', 1, 50);
select is(pg_temp.kept('org-1'), '100 from 1 to 100', 'as many as the setting says');
select outbox.put_event_type('org-1', 'one.more');
select is(pg_temp.kept('org-1'), '100 from 2 to 101', 'and of one more, the newest');
select outbox.put_event_type('org-1', 'one.more');
select is(pg_temp.kept('org-1'), '100 from 2 to 101', 'what changes nothing removes nothing');
select pg_temp.cycle('org-1', 51, 400);
select is(pg_temp.kept('org-1'), '100 from 702 to 801', 'however often it goes on');
select is(jsonb_array_length(outbox.list_event_type_changes('org-1', null, null, 100) -> 'data'), 100, 'the list shows them');
select is(pg_temp.kept('other'), '120 from 1 to 120', 'those of others are left alone');

-- A lower setting is reached after some changes, not in one of them.
select outbox.set_org_setting('other', 'event_type.changes_kept', '100');
select outbox.put_event_type('other', 'one.more');
select is(pg_temp.kept('other'), '111 from 11 to 121', 'a change removes ten at most');
select pg_temp.cycle('other', 1, 3);
select is(pg_temp.kept('other'), '100 from 28 to 127', 'until the bound is reached');

select * from finish();
rollback;
