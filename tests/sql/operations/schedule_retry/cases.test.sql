-- schedule_retry() says when an open delivery is tried next, and retry_now() at once: of an unordered
-- delivery its own time moves, of an ordered one its lane's.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(29);

create temporary table made as select endpoint() as id;
create temporary table event as select events(3) as ids;
select fail(500);
select time_passes('100 ms');
create temporary table said as select outbox.schedule_retry(ids[1], id, '10 min') as s from event, made;
select is(s, jsonb_build_object('event_id', ids[1], 'endpoint_id', id, 'due_at', '2026-03-01T12:10:00.1+00:00'::text), 'it returns when') from said, event, made;
select is((select due_at from outbox.delivery join event on event_id = ids[1]), '2026-03-01 12:10:00.1+00'::timestamptz, 'the delivery is due then');
select is((select next_attempt_at from outbox.delivery_status join event on event_id = ids[1]), '2026-03-01 12:10:00.1+00'::timestamptz, 'delivery_status says so');
select time_passes('10 s');
select is(send(), 2, 'the others go on by their schedule');
select time_passes('9 min 49.999 s');
select is(claimed(step()), 0, 'not before');
select time_passes('1 ms');
create temporary table answer as select step() as a;
select is(claimed_events(a), ids[1:1], 'and then') from answer, event;
select is((a -> 'deliveries' -> 0 ->> 'failed_attempts')::integer, 1, 'it costs no try') from answer;
select is(refusal(format('select outbox.schedule_retry(%L, %L, ''1 s'')', ids[1], id)), format('OH004 the delivery of event %s to endpoint %s is in flight', ids[1], id), 'refused while it is being sent')
from event, made;
select step(0, results(a, 'failed', '{"status": 500}')) from answer;
select is((select due_at from outbox.delivery), (select at + interval '5 s' from outbox.test_clock), 'the next failure goes by the schedule again');
select is((outbox.retry_now(ids[1], id) ->> 'due_at')::timestamptz, (select at from outbox.test_clock), 'retry_now() makes it due') from event, made;
update answer set a = step() where true;
select is(claimed(a), 1, 'at once') from answer;
select step(0, results(a, 'delivered')) from answer;
select is(refusal(format('select outbox.retry_now(%L, %L)', ids[1], id)), format($$OH002 event '%s' has no open delivery for endpoint '%s'$$, ids[1], id), 'a finished one is refused')
from event, made;
select is(refusal(format('select outbox.schedule_retry(%L, %L, %L)', ids[1], id, d)), 'OH001 delay is ' || r, format('a delay of %s is refused', coalesce(d, 'null')))
from event, made, (values (null, 'NULL'), ('8 days', $$'8 days'$$)) x (d, r);
select events(1);
select step(0);
select is((outbox.schedule_retry(event_id, endpoint_id, '-5 min') ->> 'due_at')::timestamptz, (select at from outbox.test_clock), 'a delay below zero is none') from outbox.delivery;
select is((outbox.schedule_retry(event_id, endpoint_id, '7 days') ->> 'due_at')::timestamptz, (select at + interval '7 days' from outbox.test_clock), 'seven days are allowed') from outbox.delivery;
select is((select status from outbox.delivery_status where finished_at is null), 'pending', 'and it is still pending');
select is_empty('select * from miscounts()', 'the counters are right');

-- A lease that has ended is recorded first.
select outbox.retry_now(event_id, endpoint_id) from outbox.delivery;
update answer set a = step() where true;
select is(claimed(a), 1, 'a run takes it') from answer;
select time_passes('20 s');
select outbox.schedule_retry(event_id, endpoint_id, '1 h') from outbox.delivery;
select is((select lost_leases || ' ' || attempt || ' ' || (leased_until is null) || ' ' || (due_at - at = interval '1 h') from outbox.delivery, outbox.test_clock), '1 1 true true',
  'a lease that has ended is recorded, and then the retry is set');
select is((select count(*) from outbox.attempt where error_class = 'lease_expired'), 1::bigint, 'with its attempt');

-- Ordered: the lane waits, the order stays.
create temporary table ordered as select endpoint('{ordered.event}', p_ordering => 'endpoint') as id;
create temporary table ordered_event as select events(3, 'ordered.event') as ids;
update answer set a = step() where true;
select step(0, (results_of(a, id, 'failed', '{"status": 500}') - 2 - 1) || (results_of(a, id, 'released') - 0)) from answer, ordered;
create temporary table before as select event_id, due_at from outbox.delivery join ordered on id = endpoint_id;
select outbox.schedule_retry(ids[1], id, '1 min') from ordered_event, ordered;
select results_eq('select event_id, due_at from outbox.delivery join ordered on id = endpoint_id order by 1', 'select * from before order by 1', 'no delivery''s place changes');
select is((select array_agg(next_attempt_at - at) from outbox.delivery_status s join ordered o on o.id = s.endpoint_id, outbox.test_clock, ordered_event where event_id = ids[1]), '{1 min}'::interval[], 'delivery_status says when');
select time_passes('59.999 s');
select is(claimed(step(), id), 0, 'the lane waits') from ordered;
select time_passes('1 ms');
update answer set a = step() where true;
select is(claimed_events(a, id), ids, 'and goes on in order') from answer, ordered, ordered_event;
select is((select count(*) from outbox.dead_letter), 0::bigint, 'nothing became a dead letter');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'everything open will be looked at again');
select is((select count(*) from outbox.delivery_status where status = 'held'), 0::bigint, 'nothing is held');

select * from finish();
rollback;
