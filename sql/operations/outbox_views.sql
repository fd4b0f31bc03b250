-- Views with the names, columns and statuses of other outboxes, so that code for one of these runs
-- without changes. FOR UPDATE is accepted: the views are unions, and Postgres locks no row of a
-- union. relay_status is their common base.
--
-- In each of the other three views every final status is one branch with a constant. A query for
-- other statuses skips the branch.

create view outbox.relay_status with (security_invoker = true) as
select s.event_id as id, s.endpoint_id, s.event_type,
  coalesce(v.body, x.original_message)::json as payload,
  coalesce(v.partition_key, x.partition_key) as partition_key,
  coalesce(v.correlation_id, x.correlation_id, s.event_id::text) as correlation_id,
  s.status, coalesce(f.failures, 0)::integer as retry_count,
  coalesce((
    coalesce(e.retry, (select k.retry from outbox.endpoint_kind k where k.kind = e.kind))
      ->> 'max_retries')::integer, 5) + 1 as max_retries,
  f.last_error, s.next_attempt_at as next_retry_at, f.last_attempt_at, s.finished_at, s.created_at,
  s.open
from outbox.delivery_status s
left join outbox.event v on v.id = s.event_id
left join outbox.dead_letter x
  on v.id is null and x.event_id = s.event_id and x.endpoint_id = s.endpoint_id
left join outbox.endpoint e on e.id = s.endpoint_id
-- Count the attempts since the last end, because a replay starts after it. A delivery that was
-- never claimed has none, so skip the lookup: a backlog of a million deliveries would need a
-- million.
left join lateral (
  select pg_catalog.max(a.attempt) as ended_at from outbox.attempt a
  where s.attempt > 0 and a.event_id = s.event_id
    and a.endpoint_id is not distinct from s.endpoint_id
    and (a.kind = 'close' or a.outcome = 'delivered')
    and (s.finished_at is null or a.at < s.finished_at)
) l on true
left join lateral (
  select pg_catalog.count(*) filter (where a.outcome = 'failed') as failures,
    pg_catalog.max(a.at) as last_attempt_at,
    (
      pg_catalog.array_agg(coalesce(a.error, a.error_class) order by a.at desc)
      filter (where a.outcome = 'failed')
    )[1] as last_error
  from outbox.attempt a
  -- Not =: see last_attempt().
  where s.attempt > 0 and a.event_id = s.event_id
    and a.endpoint_id is not distinct from s.endpoint_id
    and a.kind = 'attempt' and a.attempt > coalesce(l.ended_at, 0)
) f on true
union all
select v.id, v.endpoint_id, v.type, v.body::json, v.partition_key,
  coalesce(v.correlation_id, v.id::text), 'pending', 0, 6, null,
  coalesce(v.deliver_at, v.created_at), null, null, v.created_at, true
from outbox.unrouted u
join outbox.event v on v.id = u.event_id;
comment on view outbox.relay_status is
  'All deliveries with their events and a summary of their attempts. An unrouted event is one '
  'pending row.';

create view outbox.webhook_outbox with (security_invoker = true) as
select r.id, r.event_type, r.payload,
  case r.status
    when 'held' then 'PENDING'
    when 'retrying' then 'FAILED'
    else pg_catalog.upper(r.status)
  end as status,
  r.next_retry_at, r.retry_count, r.last_error, r.last_attempt_at,
  null::timestamptz as delivered_at, r.created_at, r.endpoint_id
from outbox.relay_status r
where r.open and r.status in ('pending', 'held', 'processing', 'retrying')
union all
select r.id, r.event_type, r.payload, 'DELIVERED', null, r.retry_count, r.last_error,
  r.last_attempt_at, case when r.status = 'delivered' then r.finished_at end, r.created_at,
  r.endpoint_id
from outbox.relay_status r where r.status in ('delivered', 'no_subscriber')
union all
select r.id, r.event_type, r.payload, 'DEAD_LETTER', null, r.retry_count, r.last_error,
  r.last_attempt_at, null, r.created_at, r.endpoint_id
from outbox.relay_status r
where r.status in ('dead_letter', 'expired', 'filter_error', 'event_missing')
union all
select r.id, r.event_type, r.payload, 'CANCELLED', null, r.retry_count, r.last_error,
  r.last_attempt_at, null, r.created_at, r.endpoint_id
from outbox.relay_status r where r.status = 'cancelled';
comment on view outbox.webhook_outbox is
  'The outbox as one table of webhooks: PENDING, PROCESSING, DELIVERED (also without a '
  'subscriber), FAILED, DEAD_LETTER (and CANCELLED). An insert of (event_type, payload) publishes '
  'an event.';

create function outbox.publish_inserted() returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  new.id := outbox.publish_raw(new.event_type, new.payload::text);
  new.status := 'PENDING';
  new.retry_count := 0;
  return new;
end
$$;
comment on function outbox.publish_inserted() is
  'Trigger of webhook_outbox: publishes an inserted row. It reads only event_type and payload.';
create trigger publish instead of insert on outbox.webhook_outbox
for each row execute function outbox.publish_inserted();

create view outbox.saga_outbox with (security_invoker = true) as
select r.id as event_id, r.correlation_id as saga_id, r.event_type, r.payload,
  case r.status
    when 'processing' then 'CLAIMED'
    when 'retrying' then 'FAILED'
    else 'PENDING'
  end as status,
  r.retry_count, r.last_error, r.next_retry_at, r.created_at, r.endpoint_id
from outbox.relay_status r
where r.open and r.status in ('pending', 'held', 'processing', 'retrying')
union all
select r.id, r.correlation_id, r.event_type, r.payload, 'SENT', r.retry_count, r.last_error, null,
  r.created_at, r.endpoint_id
from outbox.relay_status r where r.status in ('delivered', 'no_subscriber')
union all
select r.id, r.correlation_id, r.event_type, r.payload, 'DEAD_LETTER', r.retry_count, r.last_error,
  null, r.created_at, r.endpoint_id
from outbox.relay_status r
where r.status in ('dead_letter', 'expired', 'filter_error', 'event_missing')
union all
select r.id, r.correlation_id, r.event_type, r.payload, 'CANCELLED', r.retry_count, r.last_error,
  null, r.created_at, r.endpoint_id
from outbox.relay_status r where r.status = 'cancelled';
comment on view outbox.saga_outbox is
  'The outbox as the events of sagas: PENDING, CLAIMED, SENT (also without a subscriber), FAILED, '
  'DEAD_LETTER (and CANCELLED).';

create view outbox.transaction_outbox with (security_invoker = true) as
select r.id, r.event_type, r.payload, r.partition_key,
  case r.status
    when 'held' then 'pending'
    when 'retrying' then 'failed'
    else r.status
  end as status,
  r.correlation_id, r.retry_count, r.max_retries, r.last_error, r.next_retry_at, r.created_at,
  r.endpoint_id
from outbox.relay_status r
where r.open and r.status in ('pending', 'held', 'processing', 'retrying')
union all
select r.id, r.event_type, r.payload, r.partition_key, 'processed', r.correlation_id, r.retry_count,
  r.max_retries, r.last_error, null, r.created_at, r.endpoint_id
from outbox.relay_status r where r.status in ('delivered', 'no_subscriber')
union all
select r.id, r.event_type, r.payload, r.partition_key, 'dlq', r.correlation_id, r.retry_count,
  r.max_retries, r.last_error, null, r.created_at, r.endpoint_id
from outbox.relay_status r
where r.status in ('dead_letter', 'expired', 'filter_error', 'event_missing')
union all
select r.id, r.event_type, r.payload, r.partition_key, 'cancelled', r.correlation_id, r.retry_count,
  r.max_retries, r.last_error, null, r.created_at, r.endpoint_id
from outbox.relay_status r where r.status = 'cancelled';
comment on view outbox.transaction_outbox is
  'The outbox of a relay to a broker: pending, processing, processed (also without a subscriber), '
  'failed, dlq (and cancelled).';
