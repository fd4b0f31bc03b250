-- The view of all deliveries. Open ones are rows of delivery; finished ones are the last rows of
-- attempt. A query for open statuses, or for open, does not read attempt: its check constraint on
-- outcome contradicts them.

create view outbox.delivery_status with (security_invoker = true) as
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
  nullif(case when l.ordered then greatest(l.not_before, d.due_at) else d.due_at end, 'infinity')
    as next_attempt_at,
  coalesce(v.created_at, x.event_created_at) as created_at, null::timestamptz as finished_at,
  true as open
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
  'set aside: ' || r.sqlstate || ' ' || r.error, 0, 0, null, v.created_at, null, true
from outbox.refusal r
join outbox.event v on v.id = r.event_id
join outbox.endpoint e on e.id = r.endpoint_id
where r.step = 'routing' and not exists (
  select from outbox.delivery d where d.event_id = r.event_id and d.endpoint_id = r.endpoint_id
)
union all
select a.event_id, a.endpoint_id, v.org_id, v.type, a.outcome, a.error, a.attempt,
  a.failed_attempts, null,
  v.created_at, a.at, false
from outbox.attempt a
join outbox.event v on v.id = a.event_id
where (a.kind = 'close' or a.outcome = 'delivered') and a.outcome <> 'failed'
  -- Always true. The planner expects a third of the rows, and so it looks up the later ends of the
  -- few attempts of a time span by their events. Since Postgres 16 it may otherwise hash these
  -- attempts and read all others: one scan of 200,000 rows costs about as much as 220 lookups in
  -- all partitions. For the whole history it still hashes: 2.5 s instead of 34 s for 200,000.
  and greatest(a.attempt, 0) >= 0
  -- A replay reopens a delivery: only its last end counts, and none while it is open again.
  and not exists (
    select from outbox.delivery d where d.event_id = a.event_id and d.endpoint_id = a.endpoint_id
  )
  and not exists (
    select from outbox.attempt b
    -- Not =: without statistics of the partition of today the planner would read all attempts of
    -- the endpoint.
    where b.event_id = a.event_id and b.endpoint_id is not distinct from a.endpoint_id
      and (b.kind = 'close' or b.outcome = 'delivered')
      -- A replay that was cancelled before its first attempt has the same attempt number.
      and (b.attempt, b.at) > (a.attempt, a.at))
union all
-- Deliveries whose event was not there when they were due.
select a.event_id, a.endpoint_id, e.org_id, null, a.outcome, a.error, a.attempt, null, null,
  outbox.uuid_v7_time(a.event_id), a.at, false
from outbox.attempt a
join outbox.endpoint e on e.id = a.endpoint_id
where a.outcome = 'event_missing'
  and not exists (select from outbox.event v where v.id = a.event_id);
comment on view outbox.delivery_status is
  'All deliveries, open or finished. Open: pending, processing, retrying (waits for its next '
  'attempt), held (held_because has the reason; set aside: the database rejected it, until '
  'retry_now()). Finished: delivered, dead_letter, cancelled, expired, filter_error, '
  'no_subscriber, event_missing (its event is no longer stored; event_type is null). For the '
  'newest deliveries use recent_deliveries(). For a time span use event_id >= uuid_v7_floor(time). '
  'Other queries for finished deliveries may read all history.';
