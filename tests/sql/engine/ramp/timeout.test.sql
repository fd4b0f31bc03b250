-- After a timeout an endpoint has one slot until something comes back.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(15);

create temporary table made as select endpoint(p_retry => plain_retry(50)) as id;
select events(60);
create temporary table answer as select step(5) as a;
select step(0, results(a, 'failed', '{"error_class": "timeout"}') - 4 - 3 - 2 - 1) from answer;
select is(claimed(step()), 0, 'with four under way the one slot is taken');
select step(0, jsonb_build_array(results(a, 'failed', '{"error_class": "timeout"}') -> n)) from answer, generate_series(1, 4) n;
create temporary table one as select step() as a;
select is(claimed(a), 1, 'then one at a time') from one;
select is(claimed(step()) + claimed(other_step()), 0, 'over all runs');
select step(0, results(a, 'failed', '{"error_class": "timeout"}')) from one;
update one set a = step() where true;
select is(claimed(a), 1, 'as long as it times out') from one;
select step(0, results(a, 'released')) from one;
update one set a = step() where true;
select is(claimed(a), 1, 'one that is given back says nothing') from one;
select time_passes('20 s');
update one set a = step() where true;
select is(claimed(a), 1, 'nor does one that is lost') from one;
select step(0, results(a, 'delivered')) from one;
select is(claimed(step()), 50, 'a success gives all slots back');

-- An error that came in time as well: somebody answers.
create temporary table other as select endpoint('{other.event}', p_retry => plain_retry(50)) as id;
select events(60, 'other.event', p_endpoint_id => id) from other;
update one set a = step(1) where true;
select step(0, results_of(a, id, 'failed', '{"error_class": "timeout"}')) from one, other;
update one set a = step() where true;
select is(claimed(a, id), 1, 'one at a time again') from one, other;
select step(0, results_of(a, id, 'failed', '{"error_class": "connect"}')) from one, other;
update one set a = step() where true;
select is(claimed(a, id), 1, 'also while no connection opens, which may take as long') from one, other;
select step(0, results_of(a, id, 'failed', '{"status": 500}')) from one, other;
select is((gate_of(id)).last_timed_out, false, 'an error that came in time is no timeout') from other;
select is(claimed(step(), id), 50, 'and gives the slots back') from other;
-- Of one batch the last outcome counts.
create temporary table third as select endpoint('{third.event}', p_retry => plain_retry(50)) as id;
select events(4, 'third.event', p_endpoint_id => id) from third;
update one set a = step() where true;
select step(0, jsonb_build_array(results_of(a, id, 'delivered') -> 0, results_of(a, id, 'failed', '{"error_class": "timeout"}') -> 1)) from one, third;
select is((gate_of(id)).last_timed_out, true, 'of one batch the last outcome counts') from third;
select step(0, jsonb_build_array(results_of(a, id, 'failed', '{"error_class": "timeout"}') -> 2, results_of(a, id, 'delivered') -> 3)) from one, third;
select is((gate_of(id)).last_timed_out, false, 'either way') from third;
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'everything open will be looked at again');

select * from finish();
rollback;
