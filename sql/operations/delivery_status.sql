-- The view of all deliveries, as long as any row of one is stored. If event.delivered_days was
-- raised, those whose event was deleted before are missing until they are below stored_from(). A
-- query for open statuses, or for open, does not read attempt: its check constraint on outcome
-- contradicts them. An ended delivery is in one of four branches:
--
--   its event and its last attempt are stored
--   its event is no longer stored, its last attempt is
--   the same, and it ended because its event was missing
--   it is in none of the first two, but it is a dead letter: these are stored until a person acts

create view outbox.delivery_status with (security_invoker = true) as
select o.event_id, o.endpoint_id, o.org_id, o.event_type, o.status, o.held_because, o.attempt,
  o.failed_attempts, o.next_attempt_at, o.created_at, null::timestamptz as finished_at,
  true as open
from outbox.open_delivery o
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
-- Deliveries whose event is no longer stored, but was when they ended.
select a.event_id, a.endpoint_id, e.org_id, x.original_topic, a.outcome, a.error, a.attempt,
  a.failed_attempts, null, coalesce(x.event_created_at, outbox.uuid_v7_time(a.event_id)), a.at,
  false
from outbox.attempt a
join outbox.endpoint e on e.id = a.endpoint_id
left join outbox.dead_letter x on x.event_id = a.event_id and x.endpoint_id = a.endpoint_id
where a.outcome in ('delivered', 'dead_letter', 'cancelled', 'expired', 'filter_error')
  and a.event_id < outbox.stored_from()
  and not exists (select from outbox.event v where v.id = a.event_id)
  and not exists (
    select from outbox.delivery d where d.event_id = a.event_id and d.endpoint_id = a.endpoint_id
  )
  and not exists (
    select from outbox.attempt b
    where b.event_id = a.event_id and b.endpoint_id is not distinct from a.endpoint_id
      and (b.kind = 'close' or b.outcome = 'delivered')
      and (b.attempt, b.at) > (a.attempt, a.at))
union all
-- Deliveries whose event was not there when they were due.
select a.event_id, a.endpoint_id, e.org_id, null, a.outcome, a.error, a.attempt, null, null,
  outbox.uuid_v7_time(a.event_id), a.at, false
from outbox.attempt a
join outbox.endpoint e on e.id = a.endpoint_id
where a.outcome = 'event_missing'
  and not exists (select from outbox.event v where v.id = a.event_id)
union all
-- Dead letters whose last attempt is no longer stored, or whose event somebody has deleted.
select x.event_id, x.endpoint_id, x.org_id, x.original_topic,
  case
    when x.delivered_at >= coalesce(x.replayed_at, '-infinity') then 'delivered'
    -- Neither open nor delivered, and another failure would have begun a new dead letter.
    -- Task dlq:replay has only claimed one at_broker.
    when x.replayed_at is not null and not x.at_broker then 'cancelled'
    when x.why = 'expired' then x.why
    else 'dead_letter'
  end,
  x.error, x.attempt, x.retry_count, null, x.event_created_at,
  coalesce(x.delivered_at, x.failed_at), false
from outbox.dead_letter x
left join outbox.event v on v.id = x.event_id
where not exists (
    select from outbox.delivery d where d.event_id = x.event_id and d.endpoint_id = x.endpoint_id
  )
  and not exists (
    select from outbox.attempt a
    where a.event_id = x.event_id and a.endpoint_id is not distinct from x.endpoint_id
      and (a.kind = 'close' or a.outcome = 'delivered') and a.outcome <> 'failed'
      and (v.id is not null or x.event_id < outbox.stored_from()));
comment on view outbox.delivery_status is
  'All deliveries, open or finished, as long as any row of one is stored: a delivered one at least '
  'event.delivered_days, a dead letter until it is replayed or discarded. Open: pending, '
  'processing, retrying (waits for its next attempt), held (held_because has the reason; set '
  'aside: the database rejected it, until retry_now()). Finished: delivered, dead_letter, '
  'cancelled, expired, filter_error, no_subscriber, event_missing (its event is no longer stored). '
  'event_type is null if the event is no longer stored. For the newest deliveries use '
  'recent_deliveries(). For a time span use event_id >= uuid_v7_floor(time). Other queries for '
  'finished deliveries may read all history.';
comment on column outbox.delivery_status.event_id is 'The event that is delivered.';
comment on column outbox.delivery_status.endpoint_id is
  'The endpoint that gets it. Null: no endpoint was subscribed.';
comment on column outbox.delivery_status.org_id is 'The organisation of the event.';
comment on column outbox.delivery_status.event_type is
  'The type of the event. Null: the event is no longer stored.';
comment on column outbox.delivery_status.status is 'Its status: see the comment on the view.';
comment on column outbox.delivery_status.held_because is
  'Why it is held, or will be after the attempt that is in flight; or why it ended without a '
  'response.';
comment on column outbox.delivery_status.attempt is
  'The number of the last claim. It grows with each claim, also after a replay.';
comment on column outbox.delivery_status.failed_attempts is
  'How many attempts have failed since the creation or the last replay. Null: there was nothing to '
  'deliver.';
comment on column outbox.delivery_status.next_attempt_at is
  'When the next attempt is due. Null: it has ended, or waits for a person.';
comment on column outbox.delivery_status.created_at is 'When the event was published.';
comment on column outbox.delivery_status.finished_at is 'When it ended. Null: it is open.';
comment on column outbox.delivery_status.open is 'Whether it has not ended.';
