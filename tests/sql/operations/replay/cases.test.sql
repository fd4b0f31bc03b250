-- What can be replayed: what is delivered, cancelled, waiting for its retry; not what is being sent.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(33);

create temporary table made as select endpoint() as id;
create temporary table event as select (events(1))[1] as id;
select send();
select time_passes('1 h');
select is(outbox.replay(e.id, m.id) -> 'replaced', 'false', 'a delivered event is sent again') from event e, made m;
create temporary table answer as select step() as a;
select is(a -> 'deliveries' -> 0 ->> 'attempt', '2', 'as its second attempt') from answer;
select is(refusal(format('select outbox.replay(%L, %L)', e.id, m.id)), format('OH004 the delivery of event %s to endpoint %s is in flight', e.id, m.id), 'while it is sent it is refused') from event e, made m;
select step(0, results(a, 'failed', '{"status": 500}')) from answer;
select is((select due_at - at from outbox.delivery, outbox.test_clock), interval '1 s', 'a failure waits for its retry');
select time_passes('500 ms'), fail(500);
select is(outbox.replay(e.id, m.id) -> 'replaced', 'true', 'a replay then replaces the retry') from event e, made m;
select is((select count(*) from outbox.delivery), 1::bigint, 'there is one delivery, not two');
select is((select failed_attempts || ' ' || (due_at = at) from outbox.delivery, outbox.test_clock), '0 true', 'due at once, its budget fresh');
update answer set a = step() where true;
select is(a -> 'deliveries' -> 0 ->> 'attempt', '3', 'its attempts go on') from answer;
select step(0, results(a, 'delivered')) from answer;
select time_passes('1 d');
select is(claimed(step()), 0, 'and the retry that was replaced is never made');
select is(attempts(e.id, m.id), '1 delivered, 2 failed, 3 delivered', 'the attempts of both lives') from event e, made m;
select is((select count(*) from outbox.delivery_status), 1::bigint, 'delivery_status shows one');

-- Twice in a row: the second finds the first waiting.
select is(array[outbox.replay(e.id, m.id) -> 'replaced', outbox.replay(e.id, m.id) -> 'replaced'], '{false,true}'::jsonb[], 'a replay of a replay that waits replaces it') from event e, made m;
select is((gate_of(id)).depth, 1::bigint, 'and opens nothing twice') from made;
select send();

-- Cancelled before it was ever tried.
create temporary table cancelled as select (events(1))[1] as id;
select step(0);
select outbox.cancel_delivery(c.id, m.id) from cancelled c, made m;
select is(outbox.replay(c.id, m.id) -> 'replaced', 'false', 'what was cancelled can be replayed') from cancelled c, made m;
update answer set a = step() where true;
select is(a -> 'deliveries' -> 0 ->> 'attempt', '1', 'as its first attempt') from answer;
select step(0, results(a, 'delivered')) from answer;
select is(status_of(c.id, m.id), 'delivered', 'and delivered') from cancelled c, made m;
select is(attempts(c.id, m.id), '0 closed as cancelled, 1 delivered', 'each life has its end') from cancelled c, made m;

-- A run died with it: the lost lease is recorded, then it is replaced; if it was the last that it may lose, it is put back.
create temporary table lost as select (events(1))[1] as id;
select step();
select is(refusal(format('select outbox.replay(%L, %L)', l.id, m.id)), format('OH004 the delivery of event %s to endpoint %s is in flight', l.id, m.id), 'refused while the lease lasts') from lost l, made m;
select time_passes('20 s');
select is(outbox.replay(l.id, m.id) -> 'replaced', 'true', 'when it has ended the replay replaces it') from lost l, made m;
select is(attempts(l.id, m.id) || ', ' || failed_attempts_of(l.id, m.id), '1 failed, 0', 'the lost try is recorded, the budget fresh') from lost l, made m;
select send();
create temporary table last as select (events(1))[1] as id;
select step();
update outbox.delivery d set lost_leases = 4 from last l where d.event_id = l.id;
select time_passes('20 s');
select is(outbox.replay(l.id, m.id) -> 'replaced', 'false', 'with too many lost leases it is a dead letter first, then put back') from last l, made m;
select is(attempts(l.id, m.id), '1 failed, 1 closed as dead_letter', 'with its end') from last l, made m;
select is((select replayed_at is not null from outbox.dead_letter join last l on l.id = event_id), true, 'and a letter that says so');
select is(send(), 1, 'and it is sent');
select is_empty('select * from miscounts()', 'the counters are right');

-- A held endpoint's replay is held.
select outbox.pause_endpoint(id) from made;
select outbox.replay(e.id, m.id) from event e, made m;
select is(claimed(step()), 0, 'a replay to a paused endpoint waits');
select is(status_of(e.id, m.id), 'held', 'and says so') from event e, made m;
select outbox.resume_endpoint(id) from made;
select outbox.tick();
select is(send(), 1, 'until it is resumed');

select is(refusal(format('select outbox.replay(%s, %L)', q, m.id)), 'OH002 event ' || q || ' has no delivery and no dead letter for endpoint ' || m.id, 'event ' || q || ' is not known')
from made m, (values ('NULL'), ($$'019ca945-0a00-7000-8000-000000000000'$$)) x (q);
select is(refusal(format('select outbox.replay(%L, null)', e.id)), 'OH002 endpoint NULL does not exist', 'nor is an endpoint that is none') from event e;
select is_empty('select * from asleep()', 'everything open will be looked at again');
select is((select count(*) from outbox.delivery), 0::bigint, 'nothing is left open');

select * from finish();
rollback;
