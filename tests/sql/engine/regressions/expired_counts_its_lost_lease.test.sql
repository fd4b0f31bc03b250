begin;
\ir ../../_helpers.sql
select plan(1);

-- The lease that ended before the delivery expired was a failed try like any other.
do $$ begin perform endpoint('{*}'), events(1), step(), time_passes('31 days'), outbox.expire_deliveries(10); end $$;
select is((select array[x.why, x.retry_count::text] from outbox.dead_letter x), '{expired,1}', 'the dead letter counts the lost try');

select * from finish();
rollback;
