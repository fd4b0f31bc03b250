-- Calling one delivery off: what waits is closed with the reason; what is being sent or is finished is refused.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(27);

create temporary table made as select endpoint() as id, endpoint() as other;
create temporary table event as select events(4) as ids;
select step(0);
select is(outbox.cancel_delivery(ids[1], id, 'sent by mistake'), jsonb_build_object('event_id', ids[1], 'endpoint_id', id, 'status', 'cancelled'), 'a pending one is cancelled') from event, made;
select is(attempts(ids[1], id), '0 closed as cancelled', 'with its closing row') from event, made;
select is((select error from outbox.attempt), 'sent by mistake', 'which says why');
select is(status_of(ids[1], id) || ' ' || status_of(ids[1], other), 'cancelled pending', 'the other endpoint''s is not touched') from event, made;
select is((gate_of(id)).depth, 3::bigint, 'the gate counts one less') from made;
create temporary table answer as select step() as a;
select is(claimed_events(a, id), ids[2:4], 'a run gets the rest') from answer, event, made;
select is(refusal(format('select outbox.cancel_delivery(%L, %L)', ids[2], id)), format('OH004 the delivery of event %s to endpoint %s is in flight', ids[2], id), 'what is being sent is refused') from event, made;
select is(failed_attempts_of(ids[2], id), 0, 'and is not touched') from event, made;
select step(0, (results_of(a, id, 'failed', '{"status": 500}') - 2 - 1) || (results_of(a, id, 'delivered') - 1 - 0) || results_of(a, other, 'delivered')) from answer, made;
select is(outbox.cancel_delivery(ids[2], id) ->> 'status', 'cancelled', 'what waits for its retry is cancelled') from event, made;
select is(attempts(ids[2], id), '1 failed, 1 closed as cancelled', 'with the number of its last attempt') from event, made;
select is((select error from outbox.attempt where kind = 'close' and attempt = 1), 'cancelled by hand', 'a reason need not be given');
select is(refusal(format('select outbox.cancel_delivery(%L, %L)', ids[n], id)), format($$OH002 event '%s' has no open delivery for endpoint '%s'$$, ids[n], id), what)
from event, made, (values (2, 'what was cancelled is refused'), (4, 'what was delivered is refused')) x (n, what);
select is(refusal('select outbox.cancel_delivery(null, null)'), 'OH002 event NULL has no open delivery for endpoint NULL', 'nothing is refused');

-- The run that holds the third died.
select time_passes('20 s');
select is(outbox.cancel_delivery(ids[3], id) ->> 'status', 'cancelled', 'a lease that has ended does not stand in the way') from event, made;
select is(attempts(ids[3], id), '1 failed, 1 closed as cancelled', 'the lost try is recorded before the end') from event, made;
select is(step(0, results_of(a, id, 'delivered') - 0 - 1) -> 'stale', '1', 'the late result of the run is stale') from answer, made;
select is((select count(*) from outbox.delivery), 0::bigint, 'nothing is open');
select is((select count(*) from outbox.dead_letter), 0::bigint, 'a cancelled delivery is no dead letter');
select time_passes('1 h');
select is(claimed(step()), 0, 'and is never sent');
select is_empty('select * from miscounts()', 'the counters are right');

-- Held deliveries can be cancelled too.
select outbox.pause_endpoint(id) from made;
create temporary table held as select (events(1))[1] as event;
select send();
select is(outbox.cancel_delivery(event, id) ->> 'status', 'cancelled', 'a held one is cancelled') from held, made;
select is((gate_of(id)).next_at, 'infinity'::timestamptz, 'its gate leaves the ring') from made;

-- In an ordered lane what follows goes on: at once when the head, which waited for its retry, is called off.
create temporary table ordered as select endpoint('{ordered.event}', p_ordering => 'endpoint', p_retry => '{"strategy": "fixed", "base_delay": 3600}') as id;
create temporary table ordered_event as select events(3, 'ordered.event', p_endpoint_id => id) as ids from ordered;
update answer set a = step() where true;
select step(0, (results_of(a, id, 'failed', '{"status": 500}') - 2 - 1) || (results_of(a, id, 'released') - 0)) from answer, ordered;
select outbox.cancel_delivery(ids[2], id) from ordered_event, ordered;
select is(claimed(step(), id), 0, 'cancelling what is behind the head changes nothing: the lane waits for the retry') from ordered;
select outbox.cancel_delivery(ids[1], id) from ordered_event, ordered;
select is(claimed_events(step(), id), ids[3:3], 'without its head the lane goes on at once') from ordered_event, ordered;
select time_passes('20 s');
select outbox.cancel_delivery(ids[3], id) from ordered_event, ordered;
select is((select count(*) from outbox.lane where ordered), 0::bigint, 'the lane goes with its last delivery');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
