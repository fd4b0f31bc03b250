-- rate_per_second with a burst: a bucket that fills by the clock, whoever asks and however often.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(23);

create temporary table made as select endpoint(p_rate_per_second => 2) as id, endpoint() as other;
create temporary table event as select events(40) as ids;
create temporary table answer as select step() as a;
select is(claimed(a, id), 10, 'at first the burst, ten by default') from answer, made;
select is(claimed(a, other), 40, 'another endpoint is not held up') from answer, made;
select is(claimed_events(a, id), ids[1:10], 'in order') from answer, made, event;
select step(0, results(a, 'delivered')) from answer;
select is(claimed(step()), 0, 'then nothing, though all have answered');
select is((select next_at from outbox.endpoint_status s join made m on m.id = s.id), '2026-03-01 12:00:00.5+00'::timestamptz, 'endpoint_status says when the next is due');
select time_passes('499 ms');
select is(claimed(step()), 0, 'nothing a millisecond early');
select time_passes('1 ms');
select is(claimed(step()), 1, 'after half a second one');
select is(claimed(other_step()), 0, 'and no second for another run');
select time_passes('1 s');
select is(claimed(step()), 2, 'after a second two');
select time_passes('250 ms');
select is(claimed(step()), 0, 'after a quarter none');
select time_passes('250 ms');
select is(claimed(step()), 1, 'the quarters add up');
select time_passes('1 h');
select is(claimed(step()) <= 10, true, 'the bucket holds no more than the burst');

-- What failed, was given back or lost has used its token: the receiver may have seen it.
create temporary table second as select endpoint('{second.event}', p_rate_per_second => 1) as id;
update outbox.endpoint e set rate_burst = 3 from second where e.id = second.id;
create temporary table second_event as select events(20, 'second.event', p_endpoint_id => id) as ids from second;
update answer set a = step() where true;
select is(claimed(a, id), 3, 'a burst of three') from answer, second;
select step(0, results_of(a, id, 'released')) from answer, second;
select is(claimed(step(), id), 0, 'what was given back has used its token') from second;
select time_passes('1 s');
update answer set a = step() where true;
select is(claimed_events(a, id), ids[1:1], 'and comes first with the next one') from answer, second, second_event;
select step(0, results_of(a, id, 'failed', '{"status": 500}')) from answer, second;
select time_passes('1 s');
select is(claimed(step(), id), 1, 'a retry needs a token like any other') from second;
select time_passes('2.5 s');
select is(claimed(step(), id), 2, 'two whole tokens in two and a half seconds') from second;
select is(round(extract(epoch from (select s.not_before from outbox.endpoint_status s where s.id = second.id) - (select at from outbox.test_clock))::numeric, 3), 0.5, 'the half is kept') from second;

-- Less than one a second.
create temporary table slow as select endpoint('{slow.event}', p_rate_per_second => 0.1) as id;
update outbox.endpoint e set rate_burst = 1 from slow where e.id = slow.id;
select events(5, 'slow.event', p_endpoint_id => id) from slow;
select is(claimed(step(), id), 1, 'one in ten seconds: the first') from slow;
select time_passes('9.999 s');
select is(claimed(step(), id), 0, 'not the second before') from slow;
select time_passes('1 ms');
select is(claimed(step(), id), 1, 'the second') from slow;
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'everything open will be looked at again');

select * from finish();
rollback;
