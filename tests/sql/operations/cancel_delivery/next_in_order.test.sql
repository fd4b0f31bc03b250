-- When the first of an ordered lane is closed, the lane goes on with the next: at once, unless that one has failed
-- as well, as all of a lane do whose run died. Then it waits for its own retry, not for that of the one that is gone.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(12);

create temporary table made as select endpoint(p_ordering => 'endpoint') as id;
create temporary table event as select events(3) as ids;
create temporary table answer as select step() as a;
select is(claimed(a), 3, 'the lane is claimed as a whole') from answer;
select step(0, (results(a, 'failed', '{"status": 500}') - 2 - 1) || (results(a, 'released') - 0)) from answer;
select time_passes('1 s');
update answer set a = step(2) where true;
select is(claimed(a), 2, 'and again, after the retry of the first') from answer;
select is(failed_attempts_of(ids[1], id) || ' ' || failed_attempts_of(ids[2], id), '1 0', 'which alone has failed') from event, made;

-- The run dies. A WhatsApp message, for example, waits longer after a lost lease, by the schedule.
insert into outbox.failure_rule (kind, code, action, min_delay_s, title) values ('webhook', 'lease_expired', 'retry', 0.5, 'Unknown outcome');
select time_passes('1 min');
select is(claimed(step()), 0, 'both leases are lost, and the lane waits');
select is((select next_at - at from outbox.lane, outbox.test_clock), interval '5 s', 'for the later of their retries');
select outbox.cancel_delivery(ids[1], id) from event, made;
select is(claimed(step()), 0, 'without the first, the second is not sent before its retry');
select is((select next_at - at from outbox.lane, outbox.test_clock), interval '1 s', 'but not later either');
select time_passes('1 s');
update answer set a = step(1) where true;
select is(claimed_events(a), ids[2:2], 'it is sent then') from answer, event;
select step(0, results(a, 'failed', '{"status": 500}')) from answer;

-- The third has never failed.
select outbox.cancel_delivery(ids[2], id) from event, made;
update answer set a = step() where true;
select is(claimed_events(a), ids[3:3], 'one that has not failed is sent at once') from answer, event;
select step(0, results(a, 'delivered')) from answer;
select is((select count(*) from outbox.delivery), 0::bigint, 'all is over');
select is((select count(*) from outbox.lane), 0::bigint, 'and the lane is gone');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
