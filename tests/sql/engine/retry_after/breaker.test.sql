-- A request to wait is no failure to the breaker, and a try like any other to the budget.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(13);

create temporary table made as select endpoint(p_breaker => true) as id;
create temporary table event as select (events(1))[1] as id;
select fail(429, '{"retry_after": "400"}'), time_passes('400 s') from generate_series(1, 5);
select is(failed_attempts_of(e.id, m.id), 5, 'five requests to wait have spent five attempts') from event e, made m;
select is(breaker_of(id), 'closed', 'and have not opened the breaker') from made;
select is((gate_of(id)).streak, 0, 'nor counted as failures in a row') from made;
select is((gate_of(id)).first_failure_at, null, 'nor begun days of failure') from made;
select fail(503, '{"retry_after": "400"}');
select is((select why from outbox.dead_letter), 'retries_exhausted', 'the sixth made a dead letter');
select is((select retry_count from outbox.dead_letter), 6, 'of six failures');
select is((gate_of(id)).not_before, (select at + interval '400 s' from outbox.test_clock), 'and slows the endpoint all the same') from made;

-- A streak goes on over a hint.
select time_passes('400 s');
select events(5);
create temporary table answer as select step() as a;
select is(claimed(a), 5, 'all is due') from answer;
select step(0, results(a, 'failed', '{"status": 500}') - 4) from answer;
select is((gate_of(id)).streak, 4, 'four failures count') from made;
select step(0, jsonb_build_array(results(a, 'failed', '{"status": 429, "retry_after": "1"}') -> 4)) from answer;
select is((gate_of(id)).streak, 4, 'a hint neither counts nor ends the streak') from made;
select time_passes('10 s');
select fail(429);
select is(breaker_of(id), 'open', '429 without a hint is a failure like any other') from made;
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'everything open will be looked at again');

select * from finish();
rollback;
