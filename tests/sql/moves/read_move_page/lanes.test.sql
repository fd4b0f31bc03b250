-- Which lanes move: those that are halted, and those that wait, also an empty one for its lane_spacing_ms.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
set local search_path = helper, extensions;
select plan(3);

create temporary table o as select endpoint(p_org_id => 'org-1', p_ordering => 'endpoint') as id;
update outbox.endpoint set lane_spacing_ms = 60000 where true;
select is(outbox.read_move_page('org-1', 'lane') ->> 'n', '0', 'no lane yet');
select events(1, p_org_id => 'org-1');
select step(p_results => results(step(), 'delivered'));
select results_eq('select depth::int, not_before from outbox.lane',
  $$values (0, timestamptz '2026-03-01 12:01:00+00')$$, 'an empty lane that waits');
select is(
  (select i -> 'item' ->> 'not_before' from jsonb_array_elements((outbox.read_move_page('org-1', 'lane', p_with_items => true) ->> 'items')::jsonb) i),
  '2026-03-01T12:01:00+00:00', 'moves, and so the next event waits in the target');

select * from finish();
rollback;
