-- An event that cannot be routed costs no other event, and is set aside after three failures.
begin;
\ir ../../_helpers.sql
select plan(22);

select endpoint('{*}');
create temporary table given as select events(50) as ids;
-- Any error will do: here a limit that this one event breaks.
create function poison(p_event uuid) returns void language plpgsql as $$
begin
  execute format('alter table outbox.delivery add constraint poison check (event_id <> %L)', p_event);
end
$$;
select poison(ids[20]) from given;

create temporary table answer as select step(0) as a;
select is((select a -> 'routed' from answer), '49', 'the other events of the batch are routed');
select alike((select a -> 'error' ->> 'route' from answer), '%violates check constraint "poison"%', 'dispatch() returns the error');
select is((select failures::integer from outbox.unrouted u, given g where u.event_id = g.ids[20]), 1, 'the failure is counted');
select is((select count(*)::integer from outbox.unrouted), 1, 'only that event is left');

create temporary table result as select events(2) as ids;
select is(step(0) -> 'routed', '2', 'the second failure costs no other event either');
select is((select failures::integer from outbox.unrouted), 2, 'it is counted');
select is(step(0) -> 'routed', '0', 'the third time it is alone');
select is_empty('select from outbox.unrouted', 'then it is no longer tried');
select results_eq('select event_id, set_aside_at from outbox.unroutable', 'select ids[20], outbox.clock() from given', 'but set aside, visibly');
select alike((select error from outbox.unroutable), '%poison%', 'with the error');
select is(step(0) -> 'error', 'null', 'and costs nobody anything');
select is_empty('select from outbox.delivery d, given g where d.event_id = g.ids[20]', 'it has no delivery');
select is_empty('select from outbox.attempt', 'and no attempt');
select is_empty('select * from miscounts()', 'the counters are right');

-- A failing event neither undoes the results of the same call nor keeps it from claiming.
update answer set a = step(1) where true;
select is((select claimed(a) from answer), 1, 'a run claims');
insert into outbox.unrouted (event_id, org_id) select ids[20], 'default' from given;
update answer set a = step(1, results(a, 'delivered')) where true;
select is((select a -> 'applied' from answer), '1', 'results are applied in a call that cannot route');
select is((select claimed(a) from answer), 1, 'and deliveries are claimed in it');
delete from outbox.unrouted where true;

select is(refusal('select outbox.route_again(''00000000-0000-0000-0000-000000000000'')'),
  'OH002 event ''00000000-0000-0000-0000-000000000000'' is not set aside', 'route_again() refuses what is not set aside');
alter table outbox.delivery drop constraint poison;
select is(outbox.route_again(ids[20]), jsonb_build_object('event_id', ids[20], 'unrouted', true), 'route_again() takes an event back') from given;
select is_empty('select from outbox.unroutable', 'which is no longer set aside');
select is(step(0) -> 'routed', '1', 'and is routed');
select is_empty('select * from miscounts()', 'the counters are right in the end');

select * from finish();
rollback;
