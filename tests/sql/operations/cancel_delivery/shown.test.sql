-- After a cancelled delivery, the next one of its key waits only for its own retry, and shows this.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(3);

create temporary table made as select endpoint(p_ordering => 'endpoint') as id;
create temporary table event as select events(2) as ids;
create temporary table answer as select step() as a;
select step(0, jsonb_build_array(results(a, 'failed', '{"status": 500}') -> 0, results(a, 'released') -> 1)) from answer;
select outbox.schedule_retry(ids[1], id, '1 hour') from event, made;
select is((select next_attempt_at - outbox.clock() from outbox.delivery_status s, event where s.event_id = ids[2]), interval '1 hour', 'the second waits with the first');
select outbox.cancel_delivery(ids[1], id) from event, made;
select cmp_ok((select next_attempt_at from outbox.delivery_status s, event where s.event_id = ids[2]), '<=', outbox.clock() + interval '1 millisecond', 'and no longer when that one is gone');
select is(claimed(step()), 1, 'it is sent');

select * from finish();
rollback;
