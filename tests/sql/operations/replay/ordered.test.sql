-- A replay is out of order: it goes beside an ordered lane and holds nobody up, while a pending retry that it
-- replaces keeps its place.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(12);

create temporary table made as select endpoint(p_ordering => 'endpoint') as id;
create temporary table event as select events(4) as ids;
create temporary table answer as select step(1) as a;
select step(0, results(a, 'failed', '{"status": 404}')) from answer;
select is((select event_id from outbox.dead_letter), ids[1], 'the first is a dead letter') from event;
update answer set a = step(1) where true;
select step(0, results(a, 'failed', '{"status": 500}')) from answer;
select is(claimed(step()), 0, 'the second waits for its retry, and the lane with it');
select outbox.replay(ids[1], id) from event, made;
update answer set a = step() where true;
select is(claimed_events(a), ids[1:1], 'a replay does not wait with it') from answer, event;
select is(a -> 'deliveries' -> 0 -> 'ordered', 'false', 'and is not part of the order') from answer;
select step(0, results(a, 'failed', '{"status": 500}')) from answer;
select is((select next_at - at from outbox.lane, outbox.test_clock where ordered), interval '1 s', 'its failure holds up no lane');
select is(outbox.replay(ids[2], id) -> 'replaced', 'true', 'a replay of the one that waits replaces its retry') from event, made;
update answer set a = step() where true;
select is(claimed_events(a), ids[2:4], 'so that the lane goes on at once, in its order') from answer, event;
select is(a -> 'deliveries' -> 0 -> 'failed_attempts', '0', 'with a fresh budget') from answer;
select step(0, results(a, 'delivered')) from answer;
select time_passes('1 s');
select is(send(), 1, 'the replayed one goes by its own schedule');
select is((select count(*) from outbox.delivery), 0::bigint, 'all is delivered');
select is_empty('select * from miscounts()', 'the counters are right');
select is((select count(*) from outbox.lane where ordered), 0::bigint, 'the ordered lane is gone');

select * from finish();
rollback;
