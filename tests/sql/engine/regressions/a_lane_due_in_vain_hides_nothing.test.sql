-- A lane may be due in vain: its first delivery was put off, or the clock was set back. An endpoint with room for one
-- request looks at one lane at a time, and must not stop at that one.
begin;
\ir ../../_helpers.sql
select plan(8);

create temporary table made as select endpoint(p_ordering => 'partition', p_max_in_flight => 1) as id;
create temporary table first as select (events(1))[1] as event;
do $$ begin perform step(0, results(step(), 'delivered')); end $$;
do $$ begin perform outbox.replay(event, id) from first, made; end $$;
do $$ begin perform outbox.schedule_retry(event, id, '1 h') from first, made; end $$;
select time_passes('1 s');
select is(cardinality(events(1)), 1, 'a new event of a key, behind a replay that was put off');
create temporary table answer as select step() as a;
select is(claimed(a), 1, 'the first call claims it') from answer;
do $$ begin perform step(0, results(a, 'delivered')) from answer; end $$;
select is((select next_at from outbox.gate), '2026-03-01 13:00:00+00'::timestamptz, 'the replay is due when it was put off to');

-- Jobs have a lane each.
create temporary table second as select (events(1))[1] as event;
do $$ begin perform step(0, results(step(), 'delivered')); end $$;
insert into outbox.lane (gate_id, ordered, key_hash, next_at) select g.id, false, n, outbox.clock() from outbox.gate g, generate_series(1, 20) n;
update outbox.gate set lanes_from = outbox.clock() where true;
select time_passes('1 s');
select is(cardinality(events(1)), 1, 'behind twenty lanes that are due in vain');
update answer set a = step() where true;
select is(claimed(a), 1, 'the first call claims it as well') from answer;
do $$ begin perform step(0, results(a, 'delivered')) from answer; end $$;

-- The clock is set back behind a replay.
do $$ begin perform outbox.retry_now(event, id) from first, made; end $$;
do $$ begin perform events(1); end $$;
select time_passes('-2 ms');
select is(claimed(step()), 1, 'a new event is claimed before a replay that lies ahead of the clock');

select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'nothing is asleep for ever');
select * from finish();
rollback;
