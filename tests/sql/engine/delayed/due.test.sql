-- deliver_at: not before its time, in the order of the times; no one else waits for it.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(21);

create temporary table made as select endpoint() as id;
create function later(p_by interval, p_type text default 'test.event') returns uuid language sql as $$
  select outbox.publish(p_type, '{}', p_deliver_at => outbox.clock() + p_by)
$$;
create temporary table event as select later('1 h') as hour, later('10 s') as seconds, later('30 min') as half, later('-1 h') as past, later('0 s') as now, (events(1))[1] as plain;
create temporary table answer as select step() as a;
select set_eq('select unnest(claimed_events(a)) from answer', 'select unnest(array[past, now, plain]) from event', 'what is due now is sent now, the past included');
select step(0, results(a, 'delivered')) from answer;
select is((select open from outbox.endpoint_status), 3::bigint, 'the others are open');
select results_eq('select event_id, status, next_attempt_at from outbox.delivery_status where finished_at is null order by next_attempt_at',
  $$select * from (select seconds, 'pending', '2026-03-01 12:00:10+00'::timestamptz from event union all select half, 'pending', '2026-03-01 12:30:00+00' from event
    union all select hour, 'pending', '2026-03-01 13:00:00+00' from event) x order by 3$$, 'and pending, with their time');
select is((select next_at from outbox.gate), '2026-03-01 12:00:10+00'::timestamptz, 'the gate sleeps until the first');
select time_passes('9.999 s');
select is(claimed(step()), 0, 'not a millisecond early');
select is(outbox.tick() -> 'kicked', 'false', 'and no kick');
select time_passes('1 ms');
update answer set a = step() where true;
select is(claimed_events(a), array[seconds], 'at its time') from answer, event;
-- It fails: retries go by their schedule among what waits.
select step(0, results(a, 'failed', '{"status": 500}')) from answer;
select time_passes('1 s');
select is(send(), 1, 'its retry is due a second later');
-- A plain one published meanwhile does not wait.
create temporary table more as select (events(1))[1] as plain, later('29 min', 'other.type') as earlier;
select is(claimed_events(step()), array[plain], 'a plain one does not wait') from more;
select time_passes('2 h');
select send('delivered', '{}');
select time_passes('1 h');
select send();

-- Several due at once, oldest time first.
create temporary table order_event as select later('3 s') as third, later('1 s') as first, later('2 s') as second;
select step(0);
select time_passes('5 s');
update answer set a = step() where true;
select is(claimed_events(a), array[first, second, third], 'several that are due go in the order of their times, not of their publishing') from answer, order_event;
select step(0, results(a, 'delivered')) from answer;

-- Bounds.
select is(refusal('select later(''30 days 1 s'')'), 'OH001 deliver_at lies beyond the retention of events', 'no further than events are kept');
select is(refusal('select later(''30 days'')'), 'accepted', 'to the second');
create temporary table ordered as select endpoint('{ordered.event}', p_ordering => 'partition') as id;
select is(refusal(format('select outbox.publish(''ordered.event'', ''{}'', p_endpoint_id => %L, p_deliver_at => outbox.clock() + interval ''1 s'')', id)),
  'OH001 deliver_at is given for an ordered endpoint', 'refused where it would hold up an order') from ordered;
-- Held: it waits for both.
create temporary table held as select endpoint('{held.event}') as id;
create temporary table held_event as select outbox.publish('held.event', '{}', p_endpoint_id => id, p_deliver_at => outbox.clock() + interval '10 s') as event from held;
select step(0);
select outbox.pause_endpoint(id) from held;
select is((select status from outbox.delivery_status join held_event on event_id = event), 'held', 'a held one is held whatever its time');
select time_passes('20 s');
select is(claimed(step(), id), 0, 'and waits') from held;
select outbox.resume_endpoint(id) from held;
select outbox.tick();
select is(claimed(step(), id), 1, 'until it is resumed') from held;
-- Called off, or taken early.
create temporary table early as select later('1 d') as a, later('1 d') as b;
select step(0);
select outbox.cancel_delivery(e.a, m.id), outbox.retry_now(e.b, m.id) from early e, made m;
select is(claimed_events(step(), m.id), array[e.b], 'it can be called off, or sent now') from made m, early e;
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'everything open will be looked at again');
select is((select count(*) from outbox.delivery d join outbox.endpoint e on e.id = d.endpoint_id where d.leased_until is null), 1::bigint, 'what lies thirty days ahead waits alone');
select is((select count(*) from outbox.dead_letter), 0::bigint, 'nothing was lost');

select * from finish();
rollback;
