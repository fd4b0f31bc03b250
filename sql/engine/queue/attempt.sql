-- Attempts. Each claim that has an outcome is one row of attempt, written in the transaction that
-- changes the delivery. A claim that was released unsent has no row, so a missing number is always
-- a released claim. A delivery ends with exactly one row: the attempt that delivered it, or a close
-- with the reason why it ended. A replay opens it again, and ends with one more such row; so does a
-- replay through the broker, whose row is a close with the outcome delivered.

create table outbox.attempt (
  event_id uuid not null,
  endpoint_id uuid,
  attempt integer not null,
  at timestamptz not null,
  kind text not null constraint attempt_kind_is_known check (kind in ('attempt', 'close')),
  outcome text not null constraint attempt_outcome_is_known check (outcome in (
    'delivered', 'failed',
    'dead_letter', 'cancelled', 'expired', 'filter_error', 'no_subscriber', 'event_missing'
  )),
  status integer,
  error_class text,
  error text,
  duration_ms integer,
  response text,
  response_lossy boolean,
  next_retry_at timestamptz,
  failed_attempts integer,
  response_cut boolean,
  resent boolean,
  endpoint_version integer
) partition by range (at);
comment on table outbox.attempt is
  'One row per outcome of a claim (attempt), and per end without a delivery (close). Append-only, '
  'dropped by age. failed_attempts: only in the last row of a delivery, its failed_attempts. '
  'resent: the request was sent twice, because the first connection ended without a response. '
  'endpoint_version: the version of the endpoint with which the run made the request; null if the '
  'run did not say it.';
create table outbox.attempt_default partition of outbox.attempt default;
-- With a publication for all tables, Postgres refuses every update and delete on a table without an
-- identity. An identity of all columns costs an insert nothing, unlike the index of a primary key,
-- and these rows are only inserted, and moved out of DEFAULT.
alter table outbox.attempt replica identity full;
alter table outbox.attempt_default replica identity full;
create index attempt_event on outbox.attempt (event_id);
create index attempt_endpoint on outbox.attempt (endpoint_id, at);
-- For delivery_status, which finds the other ends through their events.
create index attempt_missing on outbox.attempt (event_id) where outcome = 'event_missing';

create table outbox.dead_letter (
  id uuid primary key,
  event_id uuid not null,
  endpoint_id uuid not null,
  org_id text not null,
  original_topic text not null,
  original_message text not null,
  error text not null,
  retry_count integer not null,
  failed_at timestamptz not null,
  correlation_id text not null,
  attempt integer not null,
  partition_key text,
  idempotency_key text,
  traceparent text,
  event_created_at timestamptz not null,
  why text not null,
  replayed_at timestamptz,
  delivered_at timestamptz,
  discarded_at timestamptz,
  note text,
  at_broker boolean not null default false,
  constraint dead_letter_of_delivery unique (event_id, endpoint_id)
);
comment on table outbox.dead_letter is
  'Deliveries that failed for good or expired, each with a copy of its event. original_topic and '
  'original_message: its type and body; error, why: the reason of the failure; attempt: the number '
  'of the last attempt. A dead letter is stored until it is replayed or discarded. '
  'at_broker: task dlq:replay replays it.';
-- The predicate is always true. It keeps the planner from using this index for lookups by event,
-- which would then read all dead letters of the endpoint. A query by endpoint repeats it.
create index dead_letter_endpoint on outbox.dead_letter (endpoint_id, failed_at)
where failed_at > '-infinity';
create index dead_letter_org on outbox.dead_letter (org_id, failed_at, id);
create index dead_letter_failed on outbox.dead_letter (failed_at, id);
create index dead_letter_waiting on outbox.dead_letter (failed_at)
where replayed_at is null and discarded_at is null;

create function outbox.find_event(p_event_id uuid, p_endpoint_id uuid) returns setof outbox.event
language plpgsql stable rows 1 set search_path = ''
as $$
begin
  return query select e.* from outbox.event e where e.id = p_event_id;
  if not found then
    -- The partition of the event's day has been dropped.
    return query
    select x.event_id, x.org_id, x.original_topic, x.original_message,
      x.partition_key, x.correlation_id, x.idempotency_key, x.traceparent,
      null::uuid, null::timestamptz, x.event_created_at
    from outbox.dead_letter x
    where x.event_id = p_event_id and x.endpoint_id = p_endpoint_id;
  end if;
end
$$;
comment on function outbox.find_event(uuid, uuid) is
  'The event of a delivery; from its dead letter, if the event itself has been dropped.';

create function outbox.count_ended(
  p_endpoint_id uuid, p_outcome text, p_n bigint
) returns void
language plpgsql set search_path = ''
as $$
begin
  perform outbox.count_up('deliveries', array[e.kind, p_outcome], p_n)
  from outbox.endpoint e where e.id = p_endpoint_id;
  if p_outcome = 'expired' then
    perform outbox.count_up('dead_letters', array[e.kind, p_outcome], p_n)
    from outbox.endpoint e where e.id = p_endpoint_id;
  end if;
end
$$;
comment on function outbox.count_ended(uuid, text, bigint) is
  'Counts deliveries that ended without an attempt: cancelled, expired, filter_error, '
  'event_missing.';
