-- What the console kit is measured on: a million open deliveries behind 1,000 endpoints, a million
-- attempts, half of them of one busy endpoint, 20,000 keys of an ordered endpoint, 50,000 dead letters
-- and 50,000 messages. Counters are as the engine would have left them. Takes about 20 s.
set statement_timeout = 0;
set synchronous_commit = off;

insert into outbox.endpoint (org_id, url, created_at, updated_at, status, status_reason)
select 'org-' || n % 100, 'https://example.com/' || n, now() - interval '3 days', now(),
  case when n % 50 = 0 then 'paused' else 'enabled' end, case when n % 50 = 0 then 'it moves' end
from generate_series(1, 1000) n;
insert into outbox.endpoint (org_id, url, created_at, updated_at, ordering, on_dead_letter)
values ('org-keys', 'https://example.com/keys', now(), now(), 'partition', 'halt');
insert into outbox.subscription (org_id, pattern, endpoint_id, created_at)
select e.org_id, '*', e.id, e.created_at from outbox.endpoint e;
do $$ begin perform outbox.add_gate(e.id, e.ordering) from outbox.endpoint e; end $$;
-- The day before too, as where Outhook ran then: in the first hour of a day the rows are of both.
do $$ begin
  perform outbox.add_partition(t, (now() at time zone 'UTC')::date - 1) from unnest(array['event', 'attempt']) t;
end $$;

-- 1,000 events wait since an hour, one every three seconds.
create temporary table waiting as
select n, outbox.uuid_v7(now() - interval '1 hour' + n * interval '3 s') as id from generate_series(1, 1000) n;
insert into outbox.event (id, org_id, type, body, correlation_id, created_at)
select w.id, 'org-' || w.n % 100, 'order.paid', '{}', 'cart-' || w.n, outbox.uuid_v7_time(w.id) from waiting w;
insert into outbox.delivery (event_id, endpoint_id, lane_id, due_at, body_bytes, attempt, failed_attempts)
select w.id, g.endpoint_id, l.id,
  case when w.n % 10 = 0 then now() + w.n * interval '1 s' else outbox.uuid_v7_time(w.id) end, 2, (w.n % 10 = 0)::integer, (w.n % 10 = 0)::integer
from waiting w cross join outbox.gate g join outbox.lane l on l.gate_id = g.id;
update outbox.lane l set depth = 1000, next_at = now() - interval '1 hour' where true;
update outbox.gate g set depth = 1000, next_at = now() - interval '1 hour', lanes_from = now() - interval '2 hours',
  streak = case when g.id % 20 = 0 then 3 else 0 end, changed_at = date_trunc('second', now()),
  first_failure_at = case when g.id % 20 = 0 then now() - interval '1 hour' end,
  breaker = case when g.id % 40 = 0 then 'open' else 'closed' end,
  open_until = case when g.id % 40 = 0 then now() + interval '20 s' else '-infinity' end
from outbox.lane l where l.gate_id = g.id;
-- 20,000 keys, a delivery each; each hundredth stands still behind a dead letter.
with gate as (select g.* from outbox.gate g join outbox.endpoint e on e.id = g.endpoint_id where e.ordering = 'partition'),
lanes as (
  insert into outbox.lane (gate_id, ordered, key_hash, next_at, depth, halted)
  select g.id, true, n, case when n % 100 = 0 then 'infinity' else now() end, 1, n % 100 = 0
  from gate g cross join generate_series(1, 20000) n returning id, key_hash
)
insert into outbox.delivery (event_id, endpoint_id, lane_id, due_at, body_bytes)
select outbox.uuid_v7(now() - l.key_hash * interval '1 ms'), g.endpoint_id, l.id, now(), 2 from lanes l cross join gate g;
update outbox.gate g set depth = 20000, next_at = now() from outbox.endpoint e where e.id = g.endpoint_id and e.ordering = 'partition';

-- Attempts of the last hour: half of them of one endpoint, the rest evenly; each tenth a failure, and
-- those of the open deliveries that failed once.
create temporary table busy as select e.id from outbox.endpoint e where e.url = 'https://example.com/7';
insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome, status, duration_ms)
select w.id, b.id, i, now() - interval '1 hour' + i * interval '7 ms', 'attempt', 'delivered', 200, i % 90
from generate_series(1, 500000) i join waiting w on w.n = 1 + i % 1000 cross join busy b;
insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome, status, error_class, error, duration_ms, next_retry_at)
select w.id, g.endpoint_id, 1, now() - interval '1 minute' + w.n * interval '50 ms', 'attempt',
  case when w.n % 10 = 0 then 'failed' else 'delivered' end, case when w.n % 10 = 0 then 503 else 200 end,
  case when w.n % 10 = 0 then 'status' end, case when w.n % 10 = 0 then 'The endpoint responded with 503' end, w.n % 300,
  case when w.n % 10 = 0 then now() + w.n * interval '1 s' end
from waiting w cross join outbox.gate g where w.n > 500;

insert into outbox.dead_letter (id, event_id, endpoint_id, org_id, original_topic, original_message, error,
  retry_count, failed_at, correlation_id, attempt, event_created_at, why)
select outbox.uuid_v7(now() - n * interval '2 s'), outbox.uuid_v7(now() - n * interval '2 s'), e.id, e.org_id, 'order.paid', '{}',
  'The endpoint responded with 503', 6, now() - n * interval '2 s', 'c', 6, now() - n * interval '2 s', 'retries_exhausted'
from generate_series(1, 50000) n join outbox.endpoint e on e.url = 'https://example.com/' || 1 + n % 40;

insert into outbox.outbound_message (org_id, channel, to_recipient, payload_json, status, provider_message_id,
  idempotency_key, attempt_count, created_at, updated_at, channel_id, event_id, content, category)
select 'org-' || n % 10, 'WHATSAPP', '+12025550111', '{}',
  (array['QUEUED', 'SENDING', 'SENT', 'DELIVERED', 'DELIVERED', 'DELIVERED', 'FAILED'])[1 + n % 7],
  'wamid.' || n, 'key-' || n, 1, now() - n * interval '1 s', now() - n * interval '1 s', b.id,
  outbox.uuid_v7(now() - n * interval '1 s'), '\x00', 'UTILITY'
from generate_series(1, 50000) n cross join busy b;
insert into outbox.message_attempt (message_id, attempt_no, status, next_retry_at, created_at, updated_at, event_id, claim, phone_number_id)
select m.id, 1, 'FAILED', now() + interval '1 minute', m.created_at, m.updated_at, m.event_id, 1, '100'
from outbox.outbound_message m where m.status = 'QUEUED';
analyze outbox.endpoint, outbox.gate, outbox.lane, outbox.delivery, outbox.event, outbox.attempt, outbox.dead_letter, outbox.outbound_message, outbox.message_attempt;
