-- The common base of the views with the columns of other outboxes (operations/outbox_views).
--
-- Each column that needs a lookup in attempt is a subquery in the outermost list of columns, and
-- the union is below it. Then Postgres executes the lookups after ORDER BY and LIMIT, only for the
-- rows of the result. With these lookups below the union, a list of the next 100 of 30,000 open
-- deliveries took 2.9 s.
--
-- In the union each stage of finished deliveries is one branch with a constant. A query for other
-- stages skips the branch.

create view outbox.relay_status with (security_invoker = true) as
select r.id, r.endpoint_id, r.event_type, r.body::json as payload, r.partition_key,
  r.correlation_id, r.status, r.retry_count,
  coalesce(
    (
      select coalesce(
        (coalesce(e.retry, (select k.retry from outbox.endpoint_kind k where k.kind = e.kind))
          ->> 'max_retries')::integer, 5) + 1
      from outbox.endpoint e where e.id = r.endpoint_id
    ), 6) as max_retries,
  -- Only the attempts since the last end, because a replay starts after it. A delivery that was
  -- never claimed has none, so skip the lookup; one that is open and was not replayed has no end.
  coalesce(
    case when r.attempt > 0 then (
      select coalesce(a.error, a.error_class) from outbox.attempt a
      -- Not =: see last_attempt().
      where a.event_id = r.id and a.endpoint_id is not distinct from r.endpoint_id
        and a.kind = 'attempt' and a.outcome = 'failed'
        and a.attempt > case when r.was_ended then coalesce((
          select pg_catalog.max(b.attempt) from outbox.attempt b
          where b.event_id = r.id and b.endpoint_id is not distinct from r.endpoint_id
            and (b.kind = 'close' or b.outcome = 'delivered')
            and (r.finished_at is null or b.at < r.finished_at)), 0) else 0 end
      order by a.at desc limit 1
    ) end, r.error) as last_error,
  r.next_retry_at,
  case when r.attempt > 0 then (
    select a.at from outbox.attempt a
    where a.event_id = r.id and a.endpoint_id is not distinct from r.endpoint_id
      and a.kind = 'attempt'
      and a.attempt > case when r.was_ended then coalesce((
        select pg_catalog.max(b.attempt) from outbox.attempt b
        where b.event_id = r.id and b.endpoint_id is not distinct from r.endpoint_id
          and (b.kind = 'close' or b.outcome = 'delivered')
          and (r.finished_at is null or b.at < r.finished_at)), 0) else 0 end
    order by a.at desc limit 1
  ) end as last_attempt_at,
  r.finished_at, r.created_at, r.open, r.stage
from (
  select o.event_id as id, o.endpoint_id, o.event_type, o.body, o.partition_key, o.correlation_id,
    o.status, o.failed_attempts as retry_count, o.next_attempt_at as next_retry_at,
    null::text as error, null::timestamptz as finished_at, o.created_at, true as open, o.attempt,
    o.was_replayed as was_ended,
    case
      when o.status in ('processing', 'cancelled') then o.status
      when o.has_failed then 'failed'
      else 'pending'
    end as stage
  from outbox.open_delivery o
  union all
  select v.id, v.endpoint_id, v.type, v.body, v.partition_key,
    coalesce(v.correlation_id, v.id::text), 'pending', 0, coalesce(v.deliver_at, v.created_at),
    null, null, v.created_at, true, 0, false, 'pending'
  from outbox.unrouted u
  join outbox.event v on v.id = u.event_id
  union all
  select s.event_id, s.endpoint_id, s.event_type, coalesce(v.body, x.original_message),
    coalesce(v.partition_key, x.partition_key),
    coalesce(v.correlation_id, x.correlation_id, s.event_id::text), s.status,
    coalesce(s.failed_attempts, 0), null, null, s.finished_at, s.created_at, false, s.attempt,
    true, 'delivered'
  from outbox.delivery_status s
  left join outbox.event v on v.id = s.event_id
  left join outbox.dead_letter x
    on v.id is null and x.event_id = s.event_id and x.endpoint_id = s.endpoint_id
  where not s.open and s.status = 'delivered'
  union all
  select s.event_id, s.endpoint_id, s.event_type, coalesce(v.body, x.original_message),
    coalesce(v.partition_key, x.partition_key),
    coalesce(v.correlation_id, x.correlation_id, s.event_id::text), s.status,
    coalesce(s.failed_attempts, 0), null, s.held_because, s.finished_at, s.created_at, false,
    s.attempt, true,
    'dead_letter'
  from outbox.delivery_status s
  left join outbox.event v on v.id = s.event_id
  left join outbox.dead_letter x
    on v.id is null and x.event_id = s.event_id and x.endpoint_id = s.endpoint_id
  where not s.open and s.status in ('dead_letter', 'expired')
  union all
  -- It has no dead letter: the event itself is stored for as long as a delivered one.
  select s.event_id, s.endpoint_id, s.event_type, v.body, v.partition_key,
    coalesce(v.correlation_id, s.event_id::text), s.status, 0, null, s.held_because, s.finished_at,
    s.created_at, false, s.attempt, true,
    'filter_error'
  from outbox.delivery_status s
  left join outbox.event v on v.id = s.event_id
  where not s.open and s.status = 'filter_error'
  union all
  select s.event_id, s.endpoint_id, s.event_type, coalesce(v.body, x.original_message),
    coalesce(v.partition_key, x.partition_key),
    coalesce(v.correlation_id, x.correlation_id, s.event_id::text), s.status,
    coalesce(s.failed_attempts, 0), null, null, s.finished_at, s.created_at, false, s.attempt,
    true, 'cancelled'
  from outbox.delivery_status s
  left join outbox.event v on v.id = s.event_id
  left join outbox.dead_letter x
    on v.id is null and x.event_id = s.event_id and x.endpoint_id = s.endpoint_id
  where not s.open and s.status = 'cancelled'
  union all
  -- There is no delivery, or nothing to deliver.
  select s.event_id, s.endpoint_id, s.event_type, v.body, v.partition_key,
    coalesce(v.correlation_id, s.event_id::text), s.status, 0, null, null, s.finished_at,
    s.created_at, false, s.attempt, true,
    'no_subscriber'
  from outbox.delivery_status s
  left join outbox.event v on v.id = s.event_id
  where not s.open and s.status = 'no_subscriber'
  union all
  select s.event_id, s.endpoint_id, s.event_type, null, null, s.event_id::text, s.status, 0, null,
    s.held_because, s.finished_at, s.created_at, false, s.attempt, true,
    'event_missing'
  from outbox.delivery_status s
  where not s.open and s.status = 'event_missing'
) r;
comment on view outbox.relay_status is
  'All deliveries with their events and a summary of their attempts. An unrouted event is one '
  'pending row. retry_count: the failed attempts since the creation or the last replay that count, '
  'of max_retries; an attempt that found no broker does not count. stage: pending, processing, '
  'failed (also if it is held, or after a lost lease), delivered, dead_letter (also expired), '
  'filter_error, cancelled, no_subscriber, event_missing.';
