-- What people read. Open deliveries come from delivery, finished ones from their closing receipt.

create view outbox.delivery_status with (security_invoker = true) as
select d.event_id, d.endpoint_id, v.org_id, v.type as event_type,
  case
    when e.state <> 'enabled' then 'held'
    when d.leased_until is not null then 'processing'
    when d.tries > 0 then 'failed'
    else 'pending'
  end as status,
  case when e.state <> 'enabled' then 'endpoint is ' || e.state end as held_because,
  d.attempt, d.tries,
  case when l.ordered then greatest(l.next_at, l.not_before) else d.due_at end as next_attempt_at,
  v.created_at, null::timestamptz as finished_at
from outbox.delivery d
join outbox.event v on v.id = d.event_id
join outbox.endpoint e on e.id = d.endpoint_id
join outbox.lane l on l.id = d.lane_id
union all
select a.event_id, a.endpoint_id, v.org_id, v.type, a.outcome, null, a.attempt, null, null, v.created_at, a.at
from outbox.attempt a
join outbox.event v on v.id = a.event_id
where a.kind = 'close' or a.outcome = 'delivered';
comment on view outbox.delivery_status is
  'Every delivery, open or finished: status is pending, processing, failed (waits for its retry) or held, or how it ended.';

-- Spec 1: the outbox as one table with its own names and states.
create view outbox.webhook_outbox with (security_invoker = true) as
select s.event_id as id, s.event_type, v.body::json as payload,
  case s.status when 'held' then 'PENDING' else pg_catalog.upper(s.status) end as status,
  s.next_attempt_at as next_retry_at, coalesce(f.failures, 0)::integer as retry_count, f.last_error,
  f.last_attempt_at, case when s.status = 'delivered' then s.finished_at end as delivered_at,
  s.created_at, s.endpoint_id
from outbox.delivery_status s
join outbox.event v on v.id = s.event_id
left join lateral (
  select pg_catalog.count(*) filter (where a.outcome = 'failed') as failures, pg_catalog.max(a.at) as last_attempt_at,
    (pg_catalog.array_agg(coalesce(a.error, a.error_class) order by a.at desc) filter (where a.outcome = 'failed'))[1] as last_error
  from outbox.attempt a where a.event_id = s.event_id and a.endpoint_id = s.endpoint_id and a.kind = 'try'
) f on true
union all
select u.event_id, v.type, v.body::json, 'PENDING', coalesce(v.deliver_at, v.created_at), 0, null, null, null, v.created_at, v.endpoint_id
from outbox.unrouted u join outbox.event v on v.id = u.event_id;
comment on view outbox.webhook_outbox is
  'Spec 1''s table: PENDING, PROCESSING, DELIVERED, FAILED, DEAD_LETTER. An insert of (event_type, payload) publishes.';

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
  'Trigger of webhook_outbox: publishes what is inserted; only event_type and payload count.';

create trigger publish instead of insert on outbox.webhook_outbox
for each row execute function outbox.publish_inserted();
