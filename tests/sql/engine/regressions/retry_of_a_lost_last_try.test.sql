-- retry_now() of a delivery whose lost lease was the last that it may lose: it is a dead letter, which stays recorded, and nothing
-- else of its lane waits for it.
begin;
\ir ../../_helpers.sql
select plan(4);
create temporary table made as select endpoint(p_ordering => 'endpoint', p_retry => plain_retry(0)) as id;
create temporary table event as select events(2) as ids;
select step(1);
update outbox.delivery set lost_leases = 4 where leased_until is not null;
select time_passes('1 h');
select is(outbox.schedule_retry(ids[1], id, '6 d') -> 'due_at', 'null', 'there is nothing to be due') from event, made;
select is((select why from outbox.dead_letter join event on event_id = ids[1]), 'leases_lost', 'it has lost too many leases');
select is(claimed_events(step()), array[ids[2]], 'the next one goes at once') from event;
select is_empty('select * from miscounts()', 'the counters are right');
select * from finish();
rollback;
