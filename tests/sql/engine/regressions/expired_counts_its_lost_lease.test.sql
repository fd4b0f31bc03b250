begin;
\ir ../../_helpers.sql
select plan(1);

-- The lease that ended before the delivery expired has a failed attempt like any other.
do $$ begin perform endpoint('{*}'), events(1), step(), time_passes('31 days'), outbox.expire_deliveries(10); end $$;
select is((select array_agg(x.why || ' ' || a.kind || ' ' || a.outcome order by a.kind) from outbox.dead_letter x join outbox.attempt a using (event_id)),
  '{"expired attempt failed","expired close expired"}', 'the lost lease is recorded');

select * from finish();
rollback;
