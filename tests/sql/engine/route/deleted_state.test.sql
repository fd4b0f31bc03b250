-- Somebody has deleted the one row of router, or of ring: it comes back with the next call, and nothing is lost.
begin;
\ir ../../_helpers.sql
select plan(12);

create temporary table made as select endpoint('{*}') as id;
do $$ begin perform events(2), step(0); end $$;
create temporary table given as select events(3) as ids;
delete from outbox.router where true;
select is((select unrouted from outbox.queue_health), 3::bigint, 'queue_health counts the events although routing has no state');
select ok(outbox.has_due(outbox.clock()), 'the tick starts a run for them');
select is(outbox.event_metrics() -> 'unrouted', '3', 'the metrics count them');
select is(outbox.oldest_unrouted(outbox.current_router()), (select outbox.uuid_v7_time(ids[1]) from given), 'the subscriptions that they need are kept');
create temporary table answer as select step() as a;
select is(a -> 'routed', '3', 'the next call routes them') from answer;
select is(claimed(a), 5, 'and claims all') from answer;
select is((select count(*)::integer from outbox.router), 1, 'there is one row again');
do $$ begin perform events(1), step(0); end $$;
select is((select unrouted from outbox.queue_health), 0::bigint, 'what comes later is routed too');
select is((select count(*)::integer from outbox.router), 1, 'in the same row');

delete from outbox.ring where true;
select is(claimed(step()), 1, 'without the start of the ring everything due is claimed');
do $$ begin perform time_passes('1 min'), events(1), step(); end $$;
select is((select count(*)::integer from outbox.ring), 1, 'and there is one row again');
delete from outbox.binding where true;
select is(step() -> 'stop', 'null', 'a binding that was deleted stops no run');

select * from finish();
rollback;
