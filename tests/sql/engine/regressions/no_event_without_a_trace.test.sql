-- An event may not leave unrouted without a delivery or an attempt, whatever was changed by hand meanwhile.
begin;
\ir ../../_helpers.sql
select plan(6);
create temporary table made as select endpoint('{a.*}', p_ordering => 'partition') as ordered, endpoint('{b.*}') as plain, endpoint('{c.*}') as gone;
update outbox.endpoint e set ordering = 'none' from made where e.id = ordered;
create temporary table event as select (events(1, 'a.x'))[1] as id;
create temporary table answer as select step() as a;
select is((select claimed(a, ordered) from answer, made), 1, 'an endpoint that was ordered is served without order');
update outbox.endpoint e set ordering = 'partition' from made where e.id = plain;
select events(2, 'b.x', 'k');
update answer set a = step() where true;
select is((select claimed(a, plain) from answer, made), 2, 'and one that was not, in order');
-- Deleted and purged between the read and the locks: the gate is not there any more.
delete from outbox.lane l using outbox.gate g, made where l.gate_id = g.id and g.endpoint_id = gone;
delete from outbox.gate g using made where g.endpoint_id = gone;
create temporary table lost as select (events(1, 'c.x'))[1] as id;
select is((step() -> 'routed')::integer, 0, 'an endpoint without a gate gets nothing');
select is((select count(*) from outbox.unrouted), 0::bigint, 'and holds nobody up');
select is((select array_agg(outcome || ' ' || error) from outbox.attempt join lost on event_id = id), array['cancelled the endpoint was deleted'], 'its attempt says why');
select is_empty('select * from miscounts()', 'the counters are right');
select * from finish();
rollback;
