-- An endpoint whose last outcome was a timeout gets one request at a time until it succeeds.
begin;
\ir ../../_helpers.sql
select plan(12);

create temporary table ours as select endpoint('{}') as id, endpoint('{}') as other;
do $$ begin perform events(200, p_endpoint_id => id), events(5, p_endpoint_id => other) from ours; end $$;
create temporary table answer as select step(10) as a;
update answer set a = step(100, results(a, 'failed', '{"error_class": "timeout"}')) where true;
select ok((select last_timed_out from outbox.gate g join ours o on o.id = g.endpoint_id), 'the gate remembers a timeout');
select is((select claimed(a, o.id) from answer, ours o), 1, 'then one delivery is given out');
select is((select claimed(a, o.other) from answer, ours o), 5, 'others get all they may');
select is(claimed(step(), id), 0, 'and no second one while it is under way') from ours;
select is((select in_flight from outbox.gate g join ours o on o.id = g.endpoint_id), 1, 'there is one request');

update answer set a = step(100, results(a, 'failed', '{"error_class": "timeout"}')) where true;
select is((select claimed(a, o.id) from answer, ours o), 1, 'after another timeout again one');
update answer set a = step(100, results(a, 'failed', '{"status": 500, "error_class": "status"}')) where true;
select ok((select not last_timed_out from outbox.gate g join ours o on o.id = g.endpoint_id), 'an answer, even a bad one, ends it');
select is((select claimed(a, o.id) from answer, ours o), 50, 'then as many are given out as may be under way');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'nothing is asleep for ever');

-- The last of several outcomes in one call counts.
update answer set a = step(100, results(answer.a, 'failed', '{"error_class": "timeout"}') - 0
  || jsonb_build_array((results(answer.a, 'delivered') -> 0))) where true;
select ok((select not last_timed_out from outbox.gate g join ours o on o.id = g.endpoint_id), 'a success reported last counts');
update answer set a = step(100, jsonb_build_array(results(answer.a, 'delivered') -> 0) || (results(answer.a, 'failed', '{"error_class": "timeout"}') - 0)) where true;
select ok((select last_timed_out from outbox.gate g join ours o on o.id = g.endpoint_id), 'a timeout reported last counts');

select * from finish();
rollback;
