-- The history of the catalogue has a bound for each organisation, whatever the names of its event types.
begin;
\ir ../../_helpers.sql
select plan(14);

-- Creates and deletes so many types, each once.
create function pg_temp.cycle(p_org_id text, p_from integer, p_to integer) returns void language sql as $$
  select outbox.put_event_type(p_org_id, 'type-' || n), outbox.delete_event_type(p_org_id, 'type-' || n) from generate_series(p_from, p_to) n
$$;
-- The place of each change among all that its organisation ever had.
create temporary table place (org_id text, id bigint, number bigint);
create function pg_temp.note() returns trigger language plpgsql as $$
begin
  insert into pg_temp.place
  select new.org_id, new.id, 1 + count(*) from pg_temp.place p where p.org_id = new.org_id;
  return null;
end
$$;
create trigger note after insert on outbox.event_type_change for each row execute function pg_temp.note();
create function pg_temp.kept(p_org_id text) returns text language sql as $$
  select count(*) || ' from ' || min(p.number) || ' to ' || max(p.number)
  from outbox.event_type_change c join pg_temp.place p using (id) where c.org_id = p_org_id
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

-- One type that changes again and again keeps 100 changes, and costs none of the other types.
create function pg_temp.kept_of(p_type text) returns bigint language sql as $$
  select count(*) from outbox.event_type_change c where c.org_id = 'often' and c.type like p_type
$$;
select outbox.set_org_setting('often', 'event_type.changes_kept', '150');
select outbox.put_event_type('often', 'once-' || n) from generate_series(1, 50) n;
select outbox.put_event_type('often', 'always', 'version ' || n) from generate_series(1, 300) n;
select is(pg_temp.kept_of('always'), 100::bigint, 'a type keeps 100 changes');
select is(pg_temp.kept_of('once-%'), 50::bigint, 'and the others keep theirs');
select outbox.put_event_type('often', 'one.more');
select is(pg_temp.kept_of('once-%'), 49::bigint, 'until the organisation has more than its number');

-- With more to keep, it looks for old ones less often.
select outbox.set_org_setting('rarely', 'event_type.changes_kept', '300');
select pg_temp.cycle('rarely', 1, 151);
select is(pg_temp.kept('rarely'), '302 from 1 to 302', 'up to 1 % more are kept');
select outbox.put_event_type('rarely', 'one.more');
select is(pg_temp.kept('rarely'), '300 from 4 to 303', 'and then deleted at once');

-- A lower setting is reached after some changes, not in one of them.
select outbox.set_org_setting('other', 'event_type.changes_kept', '100');
select outbox.put_event_type('other', 'one.more');
select is(pg_temp.kept('other'), '111 from 11 to 121', 'a change removes ten at most');
select pg_temp.cycle('other', 1, 3);
select is(pg_temp.kept('other'), '100 from 28 to 127', 'until the bound is reached');

select * from finish();
rollback;
