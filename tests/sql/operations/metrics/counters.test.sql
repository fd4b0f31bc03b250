-- What happens is counted once, in the transaction in which it happens, and adding up changes no count.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(29);

-- What a counter says, whatever has been added up.
create function n(p_metric text, variadic p_labels text[]) returns bigint language sql as $$
  select coalesce(sum((c -> 2)::bigint), 0)::bigint from jsonb_array_elements(outbox.counters()) c
  where c ->> 0 = p_metric and (c -> 1) = to_jsonb(p_labels)
$$;
create function total(p_metric text) returns bigint language sql as $$
  select coalesce(sum((c -> 2)::bigint), 0)::bigint from jsonb_array_elements(outbox.counters()) c
  where c ->> 0 = p_metric
$$;
-- What the ages come to, in ms, since the last look.
create temporary table looked as select 0::bigint as at;
create function latency() returns bigint language sql as $$
  with told as (
    select coalesce(sum((c -> 3)::bigint), 0)::bigint as ms from jsonb_array_elements(outbox.counters()) c where c ->> 0 = 'latency_ms'
  ), noted as (
    update looked set at = told.ms from told returning at
  )
  select told.ms - looked.at from told, looked, noted
$$;
delete from outbox.counter where true;
delete from outbox.counter_change where true;

create temporary table e as
select endpoint(array['a'], p_retry => plain_retry(1)) as a, endpoint(array['b'], p_breaker => true) as b;
do $$ begin perform events(3, 'a'), events(1, 'nobody'); end $$;
select is(send(p_more => '{"status": 200, "duration_ms": 40}'), 3, 'three are delivered');
select is(n('attempts', 'webhook', 'delivered', '', '2xx'), 3::bigint, 'attempts are counted by what came of them');
select is(n('deliveries', 'webhook', 'delivered'), 3::bigint, 'and deliveries by how they ended');
select is(n('attempt_ms', 'webhook', 'delivered', '4'), 3::bigint, '40 ms lie in the fourth bucket, up to 50 ms');
select is(total('latency_ms'), 3::bigint, 'every delivery has an age');
select is(latency(), 0::bigint, 'from its event, on the clock of the database');
select is(n('events', 'routed') || ' ' || n('events', 'no_subscriber'), '3 1', 'events are counted by what routing made of them');
select is((select (c -> 2)::bigint from jsonb_array_elements(outbox.counters()) c where c ->> 0 = 'created'), 3::bigint, 'and the deliveries that it made');
select is(n('runs', 'edge', 'started'), 1::bigint, 'a run is counted once');

do $$ begin perform events(2, 'a'); end $$;
select is(fail(503), 2, 'two fail');
select is(n('attempts', 'webhook', 'failed', '', '5xx') || ' ' || n('retries', 'webhook', ''), '2 2', 'failures and their retries are counted');
do $$ begin perform time_passes('1 s'); end $$;
select is(fail(429), 2, 'two die');
select is(n('attempts', 'webhook', 'failed', '', '429') || ' ' || n('deliveries', 'webhook', 'dead_letter'), '2 2', 'dead letters are ends');
select is(n('dead_letters', 'webhook', 'retries_exhausted'), 2::bigint, 'with their reason');

-- From when it was due: publishing, or the time that the publisher wished for.
do $$ begin perform events(1, 'a'), step(0), time_passes('700 ms'); end $$;
select is(send() || ' ' || latency(), '1 700', 'what waits for a run is late by that');
do $$ begin perform outbox.publish('a', '{}', p_deliver_at => outbox.clock() + interval '10 min'), step(0), time_passes('10 min 3 s'); end $$;
select is(send() || ' ' || latency(), '1 3000', 'a wish is no delay');
do $$ begin perform outbox.publish('a', '{}', p_deliver_at => outbox.clock() + interval '1 min'), step(0), time_passes('1 min'), fail(500), time_passes('2 s'); end $$;
select is(send() || ' ' || latency(), '1 2000', 'nor is it once a try has failed');
do $$ begin perform events(1, 'a'), time_passes('20 s'), step(0); end $$;
select is(send() || ' ' || latency(), '1 20000', 'what waits for routing is late as well');

do $$ begin perform events(1, 'a'); end $$;
select is(fail(404), 1, 'one is refused');
select is(n('dead_letters', 'webhook', 'not_retryable'), 1::bigint, 'which is another reason');

do $$ begin perform events(5, 'b'); end $$;
select is(fail(500), 5, 'five in a row fail');
select is(n('breaker_opens', 'webhook'), 1::bigint, 'the breaker opened once');

select is(outbox.cancel_delivery(d.event_id, d.endpoint_id) ->> 'status', 'cancelled', 'one is cancelled')
from outbox.delivery d order by d.event_id limit 1;
select is(n('deliveries', 'webhook', 'cancelled'), 1::bigint, 'and counted');

do $$ begin perform step(0, '[{"event": "00000000-0000-7000-8000-000000000000", "endpoint": "00000000-0000-7000-8000-000000000000", "attempt": 1, "outcome": "delivered"}]'); end $$;
select is((select (c -> 2)::bigint from jsonb_array_elements(outbox.counters()) c where c ->> 0 = 'stale_results'), 1::bigint, 'a late result is counted as stale');

create temporary table before as
select (select jsonb_agg(c order by c) from jsonb_array_elements(outbox.counters()) c) as counters;
select is(outbox.fold_counters()::bigint, (select count(*) from outbox.counter_change), 'the tick adds up what was counted');
select is((select jsonb_agg(c order by c) from jsonb_array_elements(outbox.counters()) c), (select counters from before), 'and no count changes');
select is_empty('select from outbox.counter_change', 'nothing of it is left');
do $$ begin perform outbox.cleanup(), outbox.drop_partitions(); delete from outbox.attempt where true; end $$;
select is((select jsonb_agg(c order by c) from jsonb_array_elements(outbox.counters()) c), (select counters from before), 'cleaning up takes no count away');

select * from finish();
rollback;
