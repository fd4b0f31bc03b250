-- A retry in an ordered lane holds the lane and never changes the order.
begin;
\ir ../../_helpers.sql
select plan(19);

create temporary table ours as select endpoint('{}', p_ordering => 'partition', p_quantum => 3) as id;
create temporary table a_key as select events(5, p_key => 'a', p_endpoint_id => id) as ids from ours;
do $$ begin perform step(0); end $$;
create temporary table due as select event_id, due_at from outbox.delivery;
create temporary table answer as select step() as a;
select time_passes('100 ms');
-- The first is delivered, the second fails, the third is given back unsent.
create temporary table next as
select step(100, jsonb_build_array(results(a, 'delivered') -> 0, results(a, 'failed', '{"status": 500}') -> 1, results(a, 'released') -> 2)) as a from answer;
select is((select claimed(a) from next), 0, 'the lane is held');
select is_empty('select from outbox.delivery d join due using (event_id) where d.due_at <> due.due_at', 'no due_at has changed');
select is((select l.not_before from outbox.lane l), outbox.clock() + interval '1 s', 'the lane waits for the retry');
select is((select next_retry_at from outbox.attempt where outcome = 'failed'), outbox.clock() + interval '1 s', 'as the attempt says');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'nothing is asleep for ever');

-- Other keys go on meanwhile, a new event of this one does not pass.
create temporary table b_key as select events(1, p_key => 'b', p_endpoint_id => id) as ids from ours;
create temporary table more as select events(1, p_key => 'a', p_endpoint_id => id) as ids from ours;
select is(claimed_events(step()), (select ids from b_key), 'another key goes on');
select time_passes('999 ms');
select is(claimed(step()), 0, 'the lane waits to its end');
select time_passes('1 ms');
update next set a = step() where true;
select is((select claimed_events(a) from next), (select ids[2:4] from a_key), 'then it goes on with the row that failed');
update next set a = step(100, results(next.a, 'delivered')) where true;
select is((select claimed_events(a) from next), (select k.ids[5:5] || m.ids from a_key k, more m), 'and ends with the newest');

-- A dead letter lets its key go on at once.
update next set a = step(100, jsonb_build_array(results(next.a, 'failed', '{"status": 404}') -> 0, results(next.a, 'released') -> 1)) where true;
select is((select claimed_events(a) from next), (select ids from more), 'behind a dead letter the key goes on at once');
update next set a = step(100, results(next.a, 'delivered')) where true;
select is((select count(*)::integer from outbox.delivery d, a_key k where d.event_id = any (k.ids)), 0, 'all of the key have ended');
select is((select count(*)::integer from outbox.dead_letter), 1, 'one of them as a dead letter');

-- A lane that is empty but must wait stays until its time has come.
create temporary table last_one as select events(2, p_key => 'c', p_endpoint_id => id) as ids from ours;
update next set a = step() where true;
update next set a = step(100, jsonb_build_array(results(next.a, 'failed', '{"status": 500}') -> 0, results(next.a, 'released') -> 1)) where true;
select is((select claimed(a) from next), 0, 'a lane that failed waits');
select time_passes('1 s');
update next set a = step() where true;
select is((select claimed_events(a) from next), (select ids from last_one), 'and comes again in order');

-- The run dies behind a failure: the lost leases of the rest do not shorten the wait for the retry.
do $$ begin perform step(100, results(next.a, 'delivered')) from next; perform step(0, results(step(), 'delivered')); end $$;
update outbox.endpoint set retry = '{"strategy": "fixed", "base_delay": 60, "max_retries": 5, "jitter": false}' where true;
create temporary table waits as select events(2, p_key => 'd', p_endpoint_id => id) as ids from ours;
update next set a = step() where true;
do $$ begin perform step(100, jsonb_build_array(results(next.a, 'failed', '{"status": 500}') -> 0)) from next; end $$;
do $$ begin perform time_passes('25 s'), step(), time_passes('34 s'); end $$;
select ok(not claimed_events(step()) && ids, 'a lane whose run has died waits for the retry of its first delivery') from waits;
select time_passes('1 s');
select is((select claimed_events(step())), (select ids from waits), 'to its end');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'nothing is asleep for ever');

select * from finish();
rollback;
