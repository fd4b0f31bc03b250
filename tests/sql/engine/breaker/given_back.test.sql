-- A probe that says nothing is followed by another at once: one that was given back unsent, or whose run
-- died. Neither says anything of the endpoint, so neither closes nor keeps open.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(19);

create temporary table made as select endpoint(p_breaker => true) as id;
create temporary table event as select events(5) as ids;
select fail(500);
select time_passes('30 s');
create temporary table answer as select step() as a;
select is(claimed_events(a), array[ids[1]], 'the probe') from answer, event;
select step(0, results(a, 'released')) from answer;
select is(breaker_of(id), 'open', 'given back, the breaker waits for another probe') from made;
select is(failed_attempts_of(ids[1], id), 1, 'no try is spent') from event, made;
update answer set a = step() where true;
select is(claimed_events(a), array[ids[1]], 'which may be the same delivery, at once') from answer, event;
select is((a -> 'deliveries' -> 0 ->> 'attempt')::integer, 3, 'with the next attempt number') from answer;
select is(claimed(step()), 0, 'and is one again');

-- The run dies with the probe.
select time_passes('19.999 s');
select is(claimed(step()), 0, 'while the lease lasts there is no other');
select time_passes('1 ms');
create temporary table next_answer as select other_step() as a;
select is(claimed_events(a), array[ids[2]], 'when it has ended there is another probe, of another delivery') from next_answer, event;
select is(breaker_of(id), 'half_open', 'the breaker waits for that one') from made;
select is(attempts(ids[1], id), '1 failed, 3 failed', 'the lost one is recorded') from event, made;
select is(failed_attempts_of(ids[1], id), 1, 'and uses up no retry') from event, made;
select is((gate_of(id)).streak, 5, 'but is no failure of the endpoint') from made;

-- The dead run comes back with the result of the first probe.
create temporary table late as select step(0, results(a, 'delivered', '{"status": 200}')) as l from answer;
select is((l -> 'applied', l -> 'stale'), ('0'::jsonb, '1'::jsonb), 'the late result of the lost probe is stale') from late;
select is(breaker_of(id), 'half_open', 'and changes nothing') from made;
select step(0, results(a, 'delivered', '{"status": 200}')) from next_answer;
select is(breaker_of(id), 'closed', 'the result of the probe counts') from made;

do $$ begin perform step(0, results(step(), 'delivered')), time_passes('10 s'), step(0, results(step(), 'delivered')); end $$;

-- What the endpoint answers without saying anything of its health leaves the breaker open.
create temporary table odd as select endpoint(p_breaker => true) as id;
select count(events(5, p_endpoint_id => id)) from odd;
select fail(500);
select time_passes('30 s');
update answer set a = step() where true;
select step(0, results_of(a, id, 'failed', '{"status": 429, "retry_after": "60"}')) from answer, odd;
select is(breaker_of(id), 'open', 'a probe that is asked to wait leaves it open') from odd;
select time_passes('59 s');
select is(claimed(step(), id), 0, 'until the hint is over') from odd;
select time_passes('1 s');
select is(claimed(step(), id), 1, 'then there is another') from odd;
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
