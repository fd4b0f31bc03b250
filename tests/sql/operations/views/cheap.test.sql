-- A question about what is open never looks at history, however much of it there is.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_usage.sql
select plan(13);

-- With its partitions, as a real database has them.
do $$ begin for n in 1 .. 100 loop exit when outbox.add_partitions() -> 'late' = '[]'; end loop; end $$;
select endpoint(p_max_in_flight => 1000, p_quantum => 1000);
do $$ begin for n in 1 .. 3 loop perform helper.events(400), helper.send('delivered', '{"status": 200}', 400); end loop; end $$;
select events(10);
select step(3);
-- Rows of history that one statement reads, sequentially or through an index.
create function history_read(p_query text) returns bigint language plpgsql as $$
declare
  v_before bigint := (select c.rows from counters() c where c.relation = 'attempt');
begin
  execute p_query;
  return (select c.rows from counters() c where c.relation = 'attempt') - v_before;
end
$$;
select is((select count(*) from outbox.attempt), 1200::bigint, 'twelve hundred attempts');
select is(history_read(q), 0::bigint, q)
from unnest(array[
  $$select count(*) from outbox.delivery_status where status = 'pending'$$,
  $$select count(*) from outbox.delivery_status where status in ('processing', 'held')$$,
  $$select * from outbox.delivery_status where status = 'held'$$,
  $$select * from outbox.delivery_status where next_attempt_at <= now()$$,
  $$select * from outbox.endpoint_status$$,
  $$select * from outbox.queue_health$$]) q;
-- The specs' views tell of each row how its attempts went: those rows' attempts and no others.
select cmp_ok(history_read(q), '<=', 10::bigint, q)
from unnest(array[
  $$select id from outbox.webhook_outbox where status in ('PENDING', 'FAILED') and next_retry_at <= now()$$,
  $$select id from outbox.transaction_outbox where status in ('pending', 'failed') and next_retry_at <= now() order by id limit 100$$,
  $$select * from outbox.transaction_outbox where status in ('pending', 'failed') and (next_retry_at is null or next_retry_at <= now()) order by id limit 100 for update skip locked$$,
  $$select event_id from outbox.saga_outbox where status = 'PENDING' and next_retry_at <= now()$$]) q;
-- One event by its id reads its own attempts.
create temporary table one as select event_id as id from outbox.attempt limit 1;
select cmp_ok(history_read(format('select * from outbox.delivery_status where event_id = %L', id)), '<=', 10::bigint, 'delivery_status of one event reads its own attempts') from one;
select cmp_ok(history_read(format('select * from outbox.webhook_outbox where id = %L', id)), '<=', 10::bigint, 'and so does webhook_outbox') from one;

select * from finish();
rollback;
