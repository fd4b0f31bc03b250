-- A failed probe opens the breaker again and spends a try of its delivery like any other failure; the next
-- probe takes another delivery.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(21);

create temporary table made as select endpoint(p_breaker => true) as id;
create temporary table event as select events(5) as ids;
select fail(500);
create temporary table answer as select '{}'::jsonb as a;
select time_passes('30 s');
update answer set a = step() where true;
select is(claimed_events(a), array[ids[1]], 'the first probe is the oldest that is due') from answer, event;
select is((a -> 'deliveries' -> 0 ->> 'attempt')::integer, 2, 'it is a second attempt') from answer;
select step(0, results(a, 'failed', '{"status": 502}')) from answer;
select is(breaker_of(id), 'open', 'its failure opens the breaker again') from made;
select is((gate_of(id)).open_until, '2026-03-01 12:01:00+00'::timestamptz, 'for another 30 s') from made;
select is(failed_attempts_of(ids[1], id), 2, 'and spends a try') from event, made;
select is((select next_retry_at from outbox.attempt where attempt = 2), '2026-03-01 12:00:35+00'::timestamptz, 'by the schedule of its delivery');
select is(failed_attempts_of(ids[2], id), 1, 'nobody else''s') from event, made;
select is((gate_of(id)).streak, 6, 'the streak goes on') from made;
select is((select count(*) from news('outhook.breaker.opened')), 1::bigint, 'a breaker that stays open is announced once');
select time_passes('29.999 s');
select is(claimed(step()), 0, 'not before the 30 s');
select time_passes('1 ms');
update answer set a = step() where true;
select is(claimed_events(a), array[ids[2]], 'the next probe takes the next delivery') from answer, event;
select step(0, results(a, 'failed', '{"error_class": "timeout"}')) from answer;
select time_passes('30 s');
update answer set a = step() where true;
select is(claimed_events(a), array[ids[3]], 'and so on') from answer, event;
select step(0, results(a, 'delivered', '{"status": 200}')) from answer;
select is(breaker_of(id), 'closed', 'until one succeeds') from made;

-- One delivery alone: the sixth failure, a probe, dead-letters it.
create temporary table alone as select endpoint(p_breaker => true) as id;
create temporary table last as select (events(1, p_endpoint_id => id))[1] as event from alone;
create function fail_last(p_pause interval) returns text language plpgsql as $$
declare
  v_answer jsonb;
begin
  perform time_passes(p_pause);
  v_answer := step(100);
  perform step(0, results_of(v_answer, (select id from alone), 'failed', '{"status": 500}')
    || results_of(v_answer, (select id from made), 'delivered'));
  return claimed(v_answer, (select id from alone)) || ' ' || breaker_of((select id from alone));
end
$$;
select is(array[fail_last('0 s'), fail_last('1 s'), fail_last('5 s'), fail_last('15 s'), fail_last('60 s')],
  '{1 closed,1 closed,1 closed,1 closed,1 open}', 'the fifth failure in a row of one delivery opens the breaker');
select is(fail_last('299 s'), '0 open', 'the probe is a due attempt: it waits for its retry, longer than 30 s');
select is(fail_last('1 s'), '1 open', 'then it is made, and fails');
select is((select why || ' ' || retry_count from outbox.dead_letter join last on event = event_id), 'retries_exhausted 6', 'the sixth failure is a dead letter');
select is(breaker_of(id), 'open', 'and the breaker stays open') from alone;
select is((gate_of(id)).depth, 0::bigint, 'with nothing behind it') from alone;
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'everything open will be looked at again');

select * from finish();
rollback;
