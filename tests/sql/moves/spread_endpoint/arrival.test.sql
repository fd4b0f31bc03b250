-- An organisation does not move while one of its endpoints is an arrival: the target would wait for a database that
-- does not have it. The page may come from a source that does not check this.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
set local search_path = helper, extensions;
select plan(6);

create temporary table e as select endpoint(p_org_id => 'org-1') as id;
create temporary table m as select gen_random_uuid() as id;
create temporary table page as select (outbox.read_move_page('org-1', 'endpoint', p_with_items => true) ->> 'items')::jsonb as items;

update outbox.endpoint set status = 'paused', status_reason = outbox.arrival_reason('eu-1') where true;
select is(refusal(format('select outbox.begin_leaving(%L, %L, %L)', 'org-1', m.id, 'two')),
  format('OH004 organisation org-1 cannot move: endpoint %s moves here from eu-1: run outhook spread-org again', e.id), 'the source refuses to leave') from e, m;
update outbox.endpoint set status_reason = 'lunch' where true;
select is(outbox.move_blockers('org-1'), '{}', 'a pause does not prevent the move');

select outbox.drop_moved_endpoint(id) from e;
select outbox.begin_receiving('org-1', id, 'one') from m;
create function write(p_reason text) returns text language sql as $$
  select helper.refusal(format('select outbox.write_move_page(%L, %L, %L, null, %L)', 'org-1', 'endpoint', '',
    jsonb_set(items, '{0,item,status}', jsonb_build_object('status', 'paused', 'reason', p_reason))))
  from pg_temp.page
$$;
select is(write(outbox.arrival_reason('eu-1')), format('OH004 endpoint %s has not arrived in the source', id), 'the target refuses its page') from e;
select is(write('unreadable: its secret'), 'accepted', 'another reason of Outhook is taken over');
select outbox.open_target('org-1', id) from m;
select is((select status || ' ' || status_reason from outbox.endpoint), 'paused unreadable: its secret', 'with the endpoint');
select is((select s -> 'from' from jsonb_array_elements(outbox.spread_status('org-1') -> 'endpoints') s), 'null', 'which is here');

select * from finish();
rollback;
