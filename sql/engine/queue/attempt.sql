-- Attempts. Every outcome of a claim is one row of attempt, written in the transaction that changes
-- the delivery. A claim that was given back unsent leaves none: a missing number is a released
-- claim and nothing else. Each life of a delivery ends in exactly one row: the try that delivered
-- it, or a close that says why it ended otherwise.

create table outbox.attempt (
  event_id uuid not null,
  endpoint_id uuid,
  attempt integer not null,
  at timestamptz not null,
  kind text not null constraint attempt_kind_is_known check (kind in ('try', 'close')),
  outcome text not null constraint attempt_outcome_is_known check (outcome in (
    'delivered', 'failed',
    'dead_letter', 'cancelled', 'expired', 'filter_error', 'no_subscriber'
  )),
  status integer,
  error_class text,
  error text,
  duration_ms integer,
  response text,
  response_lossy boolean,
  next_retry_at timestamptz
) partition by range (at);
comment on table outbox.attempt is
  'One row per outcome of a claim (try), and per end without a delivery (close). Append-only, '
  'dropped by age.';
create table outbox.attempt_default partition of outbox.attempt default;
create index attempt_event on outbox.attempt (event_id);
create index attempt_endpoint on outbox.attempt (endpoint_id, at);

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
  constraint dead_letter_of_delivery unique (event_id, endpoint_id)
);
comment on table outbox.dead_letter is
  'Deliveries out of retries, kept whole: what was sent (original_topic and '
  'original_message are the event''s type and body), why it failed, the last attempt number, and '
  'what was done about it. One that nobody replayed or discarded never expires.';
-- The predicate, which every row meets, keeps this index out of look-ups by event, as that of
-- delivery_lane does, or each would read all the letters of its endpoint. A query of an endpoint
-- repeats it.
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
    -- The event's day has been dropped: its dead letter has all of it.
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
  'The event of a delivery, from its dead letter when the event itself has been dropped.';

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
  'Counts deliveries that ended without a try: cancelled, expired, filter_error.';
