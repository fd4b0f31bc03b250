-- The open deliveries, with their events: the common part of delivery_status and relay_status.

create view outbox.open_delivery with (security_invoker = true) as
select d.event_id, d.endpoint_id, e.org_id, coalesce(v.type, x.original_topic) as event_type,
  case
    when e.status = 'deleted' then 'cancelled'
    when r.again_at = 'infinity' or d.due_at = 'infinity' then 'held'
    when d.leased_until is not null then 'processing'
    when e.status <> 'enabled' or (g.breaker <> 'closed' and e.breaker_enabled) or l.halted
    then 'held'
    when d.failed_attempts > 0 or d.lost_leases > 0 then 'retrying'
    else 'pending'
  end as status,
  case
    when e.status = 'deleted' then null
    when r.again_at = 'infinity' then 'set aside: ' || r.sqlstate || ' ' || r.error
    when d.due_at = 'infinity' then 'set aside'
    when e.status <> 'enabled' then 'endpoint ' || e.status || coalesce(': ' || e.status_reason, '')
    when g.breaker <> 'closed' and e.breaker_enabled then 'breaker ' || g.breaker
    when l.halted then 'halted after a dead letter'
  end as held_because,
  d.attempt, d.failed_attempts,
  d.failed_attempts > 0 or d.lost_leases > 0 as has_failed,
  d.replayed_at is not null as was_replayed,
  nullif(greatest(case when l.ordered then greatest(l.not_before, d.due_at) else d.due_at end,
    case when r.step = 'claim' then r.again_at end), 'infinity') as next_attempt_at,
  coalesce(v.created_at, x.event_created_at) as created_at,
  coalesce(v.body, x.original_message) as body,
  coalesce(v.partition_key, x.partition_key) as partition_key,
  coalesce(v.correlation_id, x.correlation_id, d.event_id::text) as correlation_id
from outbox.delivery d
left join outbox.event v on v.id = d.event_id
left join outbox.dead_letter x
  on v.id is null and x.event_id = d.event_id and x.endpoint_id = d.endpoint_id
join outbox.endpoint e on e.id = d.endpoint_id
join outbox.gate g on g.endpoint_id = d.endpoint_id
-- Each delivery is in a lane of the gate of its endpoint. This join lets the planner find the open
-- deliveries of an endpoint through its lanes.
join outbox.lane l on l.id = d.lane_id and l.gate_id = g.id
left join outbox.refusal r on r.endpoint_id = d.endpoint_id and r.event_id = d.event_id
where d.lane_id > 0
union all
-- Deliveries that the database refused to create.
select r.event_id, r.endpoint_id, e.org_id, v.type,
  case when e.status = 'deleted' then 'cancelled' else 'held' end,
  'set aside: ' || r.sqlstate || ' ' || r.error, 0, 0, false, false, null,
  v.created_at, v.body,
  v.partition_key, coalesce(v.correlation_id, v.id::text)
from outbox.refusal r
join outbox.event v on v.id = r.event_id
join outbox.endpoint e on e.id = r.endpoint_id
where r.step = 'routing' and not exists (
  select from outbox.delivery d where d.event_id = r.event_id and d.endpoint_id = r.endpoint_id
);
comment on view outbox.open_delivery is
  'The open deliveries, with the body of their events. status, held_because: see delivery_status; '
  'has_failed: an attempt has failed since the creation or the last replay, or a lease was lost; '
  'was_replayed: it ended before, and a replay opened it again.';
