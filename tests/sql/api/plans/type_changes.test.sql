-- The history of the catalogue among 50,000 changes: a page, and a change, touch a few rows, with the statistics of an
-- empty table and with fresh ones.
begin;
\ir ../../_helpers.sql
\ir ../../_usage.sql
select plan(19);

analyze outbox.event_type_change;
insert into outbox.event_type_change (org_id, type, action, difference, created_at)
select 'many', 't' || n % 500, 'CHANGED', '{}', outbox.clock() from generate_series(1, 50000) n;

create function touched(p_call text) returns bigint language plpgsql as $$
declare
  v_before bigint := (select coalesce(sum(c.rows), 0) from helper.counters() c where c.relation = 'event_type_change');
begin
  execute p_call;
  return (select sum(c.rows) from helper.counters() c where c.relation = 'event_type_change') - v_before;
end
$$;
insert into outbox.event_catalogue (org_id, changes) values ('many', 50000);
create temporary table list (name text, call text, most bigint);
insert into list values
  ('a page', $$select outbox.list_event_type_changes('many')$$, 60),
  ('a page of a type', $$select outbox.list_event_type_changes('many', 't77')$$, 60),
  ('no page of a type', $$select outbox.list_event_type_changes('many', 'none')$$, 5),
  ('no page', $$select outbox.list_event_type_changes('few')$$, 5),
  -- It looks for what is older than the newest 100 changes of the type.
  ('a change', $$select outbox.put_event_type('many', 't77', clock_timestamp()::text)$$, 260),
  -- One in a hundred looks for what is older than the newest 10,000 of the organisation too, and deletes 1,000 of it.
  ('a hundredth change', $$update outbox.event_catalogue set changes = 50099; select outbox.put_event_type('many', 't79', clock_timestamp()::text)$$, 13000),
  ('the cleanup', $$select outbox.remove_type_changes(outbox.clock(), 100)$$, 5);

select cmp_ok(touched(call), '<=', most, format('%s touches at most %s rows, with stale statistics', name, most)) from list;
analyze outbox.event_type_change;
select cmp_ok(touched(call), '<=', most, format('%s touches at most %s rows, with fresh ones', name, most)) from list;
select is((select c.seq_scans from helper.counters() c where c.relation = 'event_type_change'), 0::bigint, 'nothing is scanned');
-- A year later all are old.
select is(outbox.remove_type_changes(outbox.clock() + interval '3 years', 100), 100, 'the cleanup deletes as many as asked');
select cmp_ok(touched($$select outbox.remove_type_changes(outbox.clock() + interval '3 years', 100)$$), '<=', 400::bigint, 'and touches no more than these');
select outbox.put_event_type('many', 't77', 'version ' || n) from generate_series(1, 5) n;
select is((select count(*) from outbox.event_type_change where type = 't77'), 100::bigint, 'a change leaves the newest 100 of its type');
select is((select count(*) from outbox.event_type_change where type = 't78' and id <= 200), 0::bigint, 'the oldest are deleted first');

select * from finish();
rollback;
