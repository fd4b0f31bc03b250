-- Shows the next 200 retries, the first one first, with the last error of each. It includes
-- deliveries that wait for their deliver_at and have no failed attempt. Use it to see what is sent
-- again after an incident. Good: few lines, all within the retry schedule of the endpoint. It
-- checks 20 deliveries of each endpoint, or the first delivery of 20 keys of an ordered one.

with waiting as materialized (
  select g.endpoint_id, w.event_id, w.failed_attempts, w.attempt, w.due_at
  from outbox.gate g
  cross join lateral (
    (
      select d.event_id, d.failed_attempts, d.attempt, d.due_at
      from outbox.lane l
      cross join lateral (
        select d.* from outbox.delivery d
        where d.lane_id = l.id and d.lane_id > 0 and d.due_at > now() and d.leased_until is null
        order by d.due_at, d.event_id
        limit 20
      ) d
      where l.gate_id = g.id and not l.ordered
      limit 20
    )
    union all
    (
      -- All deliveries of an ordered key wait together.
      select d.event_id, d.failed_attempts, d.attempt, l.next_at
      from (
        select l.* from outbox.lane l
        where l.gate_id = g.id and l.ordered and l.leased = 0
          and l.next_at > now() and l.next_at < 'infinity'
        order by l.next_at
        limit 20
      ) l
      cross join lateral (
        select d.* from outbox.delivery d
        where d.lane_id = l.id and d.lane_id > 0 and d.due_at >= l.head_at
        order by d.due_at, d.event_id
        limit 1
      ) d
    )
  ) w
  where g.depth > 0
  order by w.due_at, w.event_id
  limit 200
)
select
  w.due_at as next_retry_at,
  w.due_at - now() as in_time,
  e.org_id,
  e.url,
  w.endpoint_id,
  w.event_id,
  v.type as event_type,
  w.failed_attempts,
  coalesce((p.policy ->> 'max_retries')::integer, 5) + 1 - w.failed_attempts as attempts_left,
  a.status,
  a.error_class,
  a.error,
  pg_catalog.format('select outbox.retry_now(%L, %L);', w.event_id, w.endpoint_id) as command
from waiting w
join outbox.endpoint e on e.id = w.endpoint_id
cross join lateral (select coalesce(e.retry, outbox.retry_preset(e.kind)) as policy) p
left join outbox.event v on v.id = w.event_id
left join lateral (
  select a.status, a.error_class, a.error
  from outbox.attempt a
  -- Not =, because without statistics of today's partition the planner would then read all attempts
  -- of the endpoint.
  where a.event_id = w.event_id and a.endpoint_id is not distinct from w.endpoint_id
    and a.attempt = w.attempt and a.kind = 'attempt'
  limit 1
) a on true
order by w.due_at, w.event_id;
