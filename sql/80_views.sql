-- What people read. Open deliveries come from delivery, finished ones from their closing receipt.
-- No view reads history unless it is asked for history: a question about open states never looks at
-- attempt, since its check constraint on outcome, or open, contradicts them.

create view outbox.delivery_status with (security_invoker = true) as
select d.event_id, d.endpoint_id, e.org_id, coalesce(v.type, x.original_topic) as event_type,
  case
    when e.state = 'deleted' then 'cancelled'
    when d.leased_until is not null then 'processing'
    when e.state <> 'enabled' or (g.breaker <> 'closed' and e.breaker_enabled) or l.halted
    then 'held'
    when d.tries > 0 then 'failed'
    else 'pending'
  end as status,
  case
    when e.state = 'deleted' then null
    when e.state <> 'enabled' then 'endpoint ' || e.state || coalesce(': ' || e.state_reason, '')
    when g.breaker <> 'closed' and e.breaker_enabled then 'breaker ' || g.breaker
    when l.halted then 'halted behind a dead letter'
  end as held_because,
  d.attempt, d.tries,
  case when l.ordered then greatest(l.not_before, d.due_at) else d.due_at end as next_attempt_at,
  coalesce(v.created_at, x.event_created_at) as created_at, null::timestamptz as finished_at,
  true as open
from outbox.delivery d
left join outbox.event v on v.id = d.event_id
left join outbox.dead_letter x
  on v.id is null and x.event_id = d.event_id and x.endpoint_id = d.endpoint_id
join outbox.endpoint e on e.id = d.endpoint_id
join outbox.lane l on l.id = d.lane_id
join outbox.gate g on g.endpoint_id = d.endpoint_id
union all
select a.event_id, a.endpoint_id, v.org_id, v.type, a.outcome, a.error, a.attempt, null, null,
  v.created_at, a.at, false
from outbox.attempt a
join outbox.event v on v.id = a.event_id
where (a.kind = 'close' or a.outcome = 'delivered') and a.outcome <> 'failed'
  -- A replay begins a new life: the last end counts, and none while it is open again.
  and not exists (
    select from outbox.delivery d where d.event_id = a.event_id and d.endpoint_id = a.endpoint_id
  )
  and not exists (
    select from outbox.attempt b
    -- Not =, or the planner, without statistics of today's partition, reads all of the endpoint's
    -- receipts.
    where b.event_id = a.event_id and b.endpoint_id is not distinct from a.endpoint_id
      and (b.kind = 'close' or b.outcome = 'delivered')
      -- A replay that was cancelled before its first try has no number of its own.
      and (b.attempt, b.at) > (a.attempt, a.at));
comment on view outbox.delivery_status is
  'Every delivery, open or finished: pending, processing, failed (waits for its retry), held '
  '(and why), or, where open is false, how it ended: delivered, dead_letter, cancelled, expired, '
  'filter_error, no_subscriber.';

-- What the next three views have in common. They have the names, columns and states of other
-- outboxes, so that what was written for one of these runs on this one as it stands, FOR UPDATE
-- included: they are unions, and of a union Postgres locks nothing.
create view outbox.relay_status with (security_invoker = true) as
select s.event_id as id, s.endpoint_id, s.event_type,
  coalesce(v.body, x.original_message)::json as payload,
  coalesce(v.partition_key, x.partition_key) as partition_key,
  coalesce(v.correlation_id, x.correlation_id, s.event_id::text) as correlation_id,
  s.status as state, coalesce(f.failures, 0)::integer as retry_count,
  coalesce((coalesce(e.retry, outbox.retry_preset(e.kind)) ->> 'max_retries')::integer, 5) + 1
    as max_retries,
  f.last_error, s.next_attempt_at as next_retry_at, f.last_attempt_at, s.finished_at, s.created_at,
  s.open
from outbox.delivery_status s
left join outbox.event v on v.id = s.event_id
left join outbox.dead_letter x
  on v.id is null and x.event_id = s.event_id and x.endpoint_id = s.endpoint_id
left join outbox.endpoint e on e.id = s.endpoint_id
-- The tries of this life: a replay begins behind the last end, and its number.
left join lateral (
  select pg_catalog.max(a.attempt) as ended_at from outbox.attempt a
  where a.event_id = s.event_id and a.endpoint_id is not distinct from s.endpoint_id
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
  -- Not =, for the same reason as above.
  where a.event_id = s.event_id and a.endpoint_id is not distinct from s.endpoint_id
    and a.kind = 'try' and a.attempt > coalesce(l.ended_at, 0)
) f on true
union all
select v.id, v.endpoint_id, v.type, v.body::json, v.partition_key,
  coalesce(v.correlation_id, v.id::text), 'pending', 0, 6, null,
  coalesce(v.deliver_at, v.created_at), null, null, v.created_at, true
from outbox.unrouted u
join outbox.event v on v.id = u.event_id;
comment on view outbox.relay_status is
  'Each delivery with its event and what its tries came to; an unrouted event is one that is '
  'pending.';

-- In each of the three, a way to have ended is a branch with a state of its own, a constant, so
-- that a question about other states never opens it.

-- One table of webhooks, worked through by status; its producers insert into it, and may go on.
create view outbox.webhook_outbox with (security_invoker = true) as
select r.id, r.event_type, r.payload,
  case r.state when 'held' then 'PENDING' else pg_catalog.upper(r.state) end as status,
  r.next_retry_at, r.retry_count, r.last_error, r.last_attempt_at,
  null::timestamptz as delivered_at, r.created_at, r.endpoint_id
from outbox.relay_status r where r.open and r.state in ('pending', 'held', 'processing', 'failed')
union all
select r.id, r.event_type, r.payload, 'DELIVERED', null, r.retry_count, r.last_error,
  r.last_attempt_at, case when r.state = 'delivered' then r.finished_at end, r.created_at,
  r.endpoint_id
from outbox.relay_status r where r.state in ('delivered', 'no_subscriber')
union all
select r.id, r.event_type, r.payload, 'DEAD_LETTER', null, r.retry_count, r.last_error,
  r.last_attempt_at, null, r.created_at, r.endpoint_id
from outbox.relay_status r where r.state in ('dead_letter', 'expired', 'filter_error')
union all
select r.id, r.event_type, r.payload, 'CANCELLED', null, r.retry_count, r.last_error,
  r.last_attempt_at, null, r.created_at, r.endpoint_id
from outbox.relay_status r where r.state = 'cancelled';
comment on view outbox.webhook_outbox is
  'The outbox as one table of webhooks: PENDING, PROCESSING, DELIVERED (also to nobody), FAILED, '
  'DEAD_LETTER (and CANCELLED). An insert of (event_type, payload) publishes.';

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

-- The events of sagas: the correlation id is the saga's.
create view outbox.saga_outbox with (security_invoker = true) as
select r.id as event_id, r.correlation_id as saga_id, r.event_type, r.payload,
  case r.state
    when 'processing' then 'CLAIMED'
    when 'failed' then 'FAILED'
    else 'PENDING'
  end as status,
  r.retry_count, r.last_error, r.next_retry_at, r.created_at, r.endpoint_id
from outbox.relay_status r where r.open and r.state in ('pending', 'held', 'processing', 'failed')
union all
select r.id, r.correlation_id, r.event_type, r.payload, 'SENT', r.retry_count, r.last_error, null,
  r.created_at, r.endpoint_id
from outbox.relay_status r where r.state in ('delivered', 'no_subscriber')
union all
select r.id, r.correlation_id, r.event_type, r.payload, 'DEAD_LETTER', r.retry_count, r.last_error,
  null, r.created_at, r.endpoint_id
from outbox.relay_status r where r.state in ('dead_letter', 'expired', 'filter_error')
union all
select r.id, r.correlation_id, r.event_type, r.payload, 'CANCELLED', r.retry_count, r.last_error,
  null, r.created_at, r.endpoint_id
from outbox.relay_status r where r.state = 'cancelled';
comment on view outbox.saga_outbox is
  'The outbox as the events of sagas: PENDING, CLAIMED, SENT (also to nobody), FAILED, '
  'DEAD_LETTER (and CANCELLED).';

-- What transactions left for a relay to a broker: dlq is its name for the dead letters.
create view outbox.transaction_outbox with (security_invoker = true) as
select r.id, r.event_type, r.payload, r.partition_key,
  case r.state when 'held' then 'pending' else r.state end as status,
  r.correlation_id, r.retry_count, r.max_retries, r.last_error, r.next_retry_at, r.created_at,
  r.endpoint_id
from outbox.relay_status r where r.open and r.state in ('pending', 'held', 'processing', 'failed')
union all
select r.id, r.event_type, r.payload, r.partition_key, 'processed', r.correlation_id, r.retry_count,
  r.max_retries, r.last_error, null, r.created_at, r.endpoint_id
from outbox.relay_status r where r.state in ('delivered', 'no_subscriber')
union all
select r.id, r.event_type, r.payload, r.partition_key, 'dlq', r.correlation_id, r.retry_count,
  r.max_retries, r.last_error, null, r.created_at, r.endpoint_id
from outbox.relay_status r where r.state in ('dead_letter', 'expired', 'filter_error')
union all
select r.id, r.event_type, r.payload, r.partition_key, 'cancelled', r.correlation_id, r.retry_count,
  r.max_retries, r.last_error, null, r.created_at, r.endpoint_id
from outbox.relay_status r where r.state = 'cancelled';
comment on view outbox.transaction_outbox is
  'The outbox as what a relay to a broker works through: pending, processing, processed (also by '
  'nobody), failed, dlq (and cancelled).';

create view outbox.endpoint_status with (security_invoker = true) as
select e.id, e.org_id, e.kind, e.url, e.description,
  case
    when e.state = 'enabled' and g.breaker <> 'closed' and e.breaker_enabled
    then 'breaker ' || g.breaker
    else e.state
  end as status,
  e.state_reason as reason, coalesce(g.depth, 0) as open, coalesce(g.in_flight, 0) as in_flight,
  g.streak as failures_running, g.first_failure_at as failing_since,
  case when g.breaker = 'open' then g.open_until end as probe_at,
  nullif(g.next_at, 'infinity') as next_at, nullif(g.not_before, '-infinity') as not_before,
  e.created_at, e.updated_at
from outbox.endpoint e
left join outbox.gate g on g.endpoint_id = e.id;
comment on view outbox.endpoint_status is
  'Every endpoint with what its gate knows: status, why, how many deliveries are open and in '
  'flight, since when it fails, when it is served next. A deleted one shows what is still to be '
  'cancelled.';

create function outbox.waiting() returns jsonb
language plpgsql stable security definer
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see 00_setup.
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_from timestamptz := outbox.ring_from(outbox.clock());
  v_router outbox.router;
begin
  select * into v_router from outbox.router r where r.only_row;
  return pg_catalog.jsonb_build_object(
    'unrouted', (
      select pg_catalog.count(*) from (
        select u from outbox.unrouted_late(v_router, 10000) u
        union all
        select u.event_id from outbox.unrouted u where u.event_id > v_router.watermark
        limit 10000
      ) c
    ),
    'oldest_unrouted_at', outbox.uuid_v7_time((outbox.next_unrouted(v_router))[1]),
    'oldest_due_at', (
      select g.next_at from outbox.gate g
      where g.next_at >= v_from and g.next_at < 'infinity' order by g.next_at limit 1
    ));
end
$$;
comment on function outbox.waiting() is
  'What waits, read from where routing and the ring begin, so that no dead row is walked: '
  '{"unrouted": up to 10,000, "oldest_unrouted_at", "oldest_due_at": of the first endpoint, which '
  'may lie ahead}.';

create view outbox.queue_health with (security_invoker = true) as
select
  (w.waiting ->> 'unrouted')::bigint as unrouted,
  (w.waiting ->> 'oldest_unrouted_at')::timestamptz as oldest_unrouted_at,
  (select pg_catalog.count(*) from outbox.unroutable) as unroutable,
  (
    select coalesce(pg_catalog.sum(g.depth), 0)
    from outbox.gate g
    join outbox.endpoint e on e.id = g.endpoint_id
    where e.state <> 'deleted'
  ) as open,
  (select coalesce(pg_catalog.sum(g.in_flight), 0) from outbox.gate g) as in_flight,
  (w.waiting ->> 'oldest_due_at')::timestamptz as oldest_due_at,
  (
    select pg_catalog.count(*) from outbox.endpoint e where e.state in ('paused', 'disabled')
  ) as endpoints_held,
  (
    select pg_catalog.count(*)
    from outbox.gate g
    join outbox.endpoint e on e.id = g.endpoint_id
    where g.breaker <> 'closed' and e.breaker_enabled and e.state <> 'deleted'
  ) as breakers_open,
  (
    select pg_catalog.count(*) from (
      select from outbox.dead_letter x
      where x.replayed_at is null and x.discarded_at is null
      limit 10000
    ) c
  ) as dead_letters,
  (
    select pg_catalog.count(*)
    from outbox.run r
    where r.ended_at is null and r.polled_at > pg_catalog.now() - interval '10 s'
  ) as runs,
  (select pg_catalog.count(*) from (select from outbox.event_default limit 10000) c)
    + (select pg_catalog.count(*) from (select from outbox.attempt_default limit 10000) c)
    as rows_in_default
from (select outbox.waiting() as waiting offset 0) w;
comment on view outbox.queue_health is
  'The queue in one row: what waits, since when, what is held, and whether anybody works. Counts '
  'of unrouted, dead_letters and rows_in_default stop at 10,000.';
