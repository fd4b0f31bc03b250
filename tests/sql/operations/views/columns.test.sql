-- The specs' tables, by their own names: columns, types, states, and their queries as they stand.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(27);

-- Columns that each spec names, under its own names.
create function columns(p_view text) returns text[] language sql stable as $$
  select array_agg(c.column_name || ' ' || c.udt_name order by c.ordinal_position) from information_schema.columns c where c.table_schema = 'outbox' and c.table_name = p_view
$$;
select is(columns('webhook_outbox'), '{"id uuid","event_type text","payload json","status text","next_retry_at timestamptz","retry_count int4","last_error text",
  "last_attempt_at timestamptz","delivered_at timestamptz","created_at timestamptz","endpoint_id uuid"}', 'spec 1: webhook_outbox');
select is(columns('saga_outbox'), '{"event_id uuid","saga_id text","event_type text","payload json","status text","retry_count int4","last_error text",
  "next_retry_at timestamptz","created_at timestamptz","endpoint_id uuid"}', 'spec 3: saga_outbox');
select is(columns('transaction_outbox'), '{"id uuid","event_type text","payload json","partition_key text","status text","correlation_id text","retry_count int4",
  "max_retries int4","last_error text","next_retry_at timestamptz","created_at timestamptz","endpoint_id uuid"}', 'spec 4: transaction_outbox');

-- One delivery in each state there is.
create temporary table made (state text, webhook text, saga text, relay text, id uuid, event uuid);
insert into made (state, webhook, saga, relay) values
  ('pending', 'PENDING', 'PENDING', 'pending'), ('processing', 'PROCESSING', 'CLAIMED', 'processing'), ('failed', 'FAILED', 'FAILED', 'failed'),
  ('held', 'PENDING', 'PENDING', 'pending'), ('delivered', 'DELIVERED', 'SENT', 'processed'), ('dead_letter', 'DEAD_LETTER', 'DEAD_LETTER', 'dlq'),
  ('cancelled', 'CANCELLED', 'CANCELLED', 'cancelled'), ('expired', 'DEAD_LETTER', 'DEAD_LETTER', 'dlq'), ('filter_error', 'FILTER_ERROR', 'FILTER_ERROR', 'filter_error'),
  ('no_subscriber', 'NO_SUBSCRIBER', 'NO_SUBSCRIBER', 'no_subscriber'), ('unrouted', 'PENDING', 'PENDING', 'pending');
select time_passes('-31 d');
update made set id = endpoint(array[state || '.*'], p_filter => case when state = 'filter_error' then '$.total' end) where state not in ('no_subscriber', 'unrouted');
select outbox.pause_endpoint(id) from made where state = 'expired';
update made set event = outbox.publish('expired.a', '{"n": 1}', p_correlation_id => 'c-' || state, p_partition_key => 'k-' || state) where state = 'expired';
select step(0), time_passes('31 d'), outbox.tick();
update made set event = outbox.publish(state || '.a', '{"n": 1}', p_correlation_id => 'c-' || state, p_partition_key => 'k-' || state) where state not in ('expired', 'unrouted', 'filter_error');
update made set event = outbox.publish_raw(state || '.a', '{"s": "\u0000"}', p_correlation_id => 'c-' || state, p_partition_key => 'k-' || state) where state = 'filter_error';
create temporary table answer as select step() as a;
select step(0, (select jsonb_agg(r || case state when 'delivered' then '{"outcome": "delivered", "status": 200}' when 'failed' then '{"status": 503, "error": "not now"}'
    when 'dead_letter' then '{"status": 404, "error": "no such page"}' else '{"outcome": "released"}' end::jsonb)
  from answer, jsonb_array_elements(results(a, 'failed')) r join made on id::text = r ->> 'endpoint' where state <> 'processing'));
select outbox.cancel_delivery(event, id) from made where state = 'cancelled';
select outbox.pause_endpoint(id) from made where state = 'held';
update made set event = outbox.publish('unrouted.a', '{"n": 1}', p_correlation_id => 'c-unrouted', p_partition_key => 'k-unrouted') where state = 'unrouted';

select is((select w.status || '/' || s.status || '/' || t.status from outbox.webhook_outbox w, outbox.saga_outbox s, outbox.transaction_outbox t
  where w.id = event and s.event_id = event and t.id = event), format('%s/%s/%s', webhook, saga, relay), state || ' in the words of each spec') from made;
select is((select count(*) from outbox.webhook_outbox where event_type not like 'outhook.%'), 11::bigint, 'each shows once');

select results_eq($$select event_type, payload::text, retry_count, last_error, next_retry_at, last_attempt_at, delivered_at from outbox.webhook_outbox join made on event = webhook_outbox.id where state = 'failed'$$,
  $$values ('failed.a', '{"n": 1}', 1, 'not now', '2026-03-01 12:00:01+00'::timestamptz, '2026-03-01 12:00:00+00'::timestamptz, null::timestamptz)$$, 'spec 1: what a failed one tells');
select results_eq($$select delivered_at, last_attempt_at, retry_count, next_retry_at from outbox.webhook_outbox join made on event = webhook_outbox.id where state = 'delivered'$$,
  $$values ('2026-03-01 12:00:00+00'::timestamptz, '2026-03-01 12:00:00+00'::timestamptz, 0, null::timestamptz)$$, 'a delivered one');
select results_eq($$select saga_id, retry_count, last_error from outbox.saga_outbox join made on event = event_id where state = 'dead_letter'$$,
  $$values ('c-dead_letter', 1, 'no such page')$$, 'spec 3: a dead letter');
select results_eq($$select partition_key, correlation_id, retry_count, max_retries, last_error from outbox.transaction_outbox join made on event = transaction_outbox.id where state = 'failed'$$,
  $$values ('k-failed', 'c-failed', 1, 6, 'not now')$$, 'spec 4: a failed one');
select results_eq($$select partition_key, correlation_id, retry_count, max_retries, next_retry_at from outbox.transaction_outbox join made on event = transaction_outbox.id where state = 'unrouted'$$,
  $$values ('k-unrouted', 'c-unrouted', 0, 6, '2026-03-01 12:00:00+00'::timestamptz)$$, 'one that is not routed yet');

-- Spec 4's query, verbatim.
set local search_path = outbox, helper, extensions;
create temporary view spec_4 as
SELECT * FROM transaction_outbox
WHERE status IN ('pending', 'failed')
AND (next_retry_at IS NULL OR next_retry_at <= NOW())
ORDER BY id
LIMIT 100
FOR UPDATE SKIP LOCKED;
select set_eq('select id from spec_4', $$select event from made where state in ('pending', 'failed', 'held', 'unrouted')
  union all select u.event_id from outbox.unrouted u join outbox.event e on e.id = u.event_id where e.org_id = 'outhook'$$, 'spec 4''s query runs as it stands');
select is((select array_agg(id) from spec_4) = (select array_agg(id order by id) from spec_4), true, 'in the order of ids');
-- Spec 1's, with its names as columns.
select set_eq($$SELECT id FROM webhook_outbox WHERE status IN ('PENDING', 'FAILED') AND next_retry_at <= NOW()$$, 'select id from spec_4', 'spec 1''s query finds the same');
-- Spec 1's end: what was delivered a week ago is to be deleted; here it goes with its day.
select is(refusal($$DELETE FROM webhook_outbox WHERE status = 'DELIVERED' AND delivered_at < NOW() - interval '7 days'$$) like '55000 cannot delete from view%', true, 'nothing is deleted through a view');
select is(refusal($$UPDATE transaction_outbox SET status = 'processed' WHERE status = 'pending'$$) like '% cannot update %', true, 'nor changed');

-- Who may look.
select is_empty($$select v from unnest('{delivery_status,relay_status,webhook_outbox,saga_outbox,transaction_outbox,endpoint_status,queue_health}'::text[]) v, unnest('{anon,authenticated}'::text[]) r
  where has_table_privilege(r, 'outbox.' || v, 'select')$$, 'no view is open to users');
set local role service_role;
select is((select count(*) > 0 from outbox.transaction_outbox), true, 'the service role reads them');
reset role;

select * from finish();
rollback;
