-- Receipts. Every outcome of a claim is one row of attempt, written in the transaction that changes
-- the delivery. A claim that was given back unsent leaves none: a missing number is a released claim
-- and nothing else. Each life of a delivery ends in exactly one row: the try that delivered it, or a
-- close that says why it ended otherwise.

create table outbox.attempt (
  event_id uuid not null,
  endpoint_id uuid,
  attempt integer not null,
  at timestamptz not null,
  kind text not null constraint attempt_kind_is_known check (kind in ('try', 'close')),
  outcome text not null constraint attempt_outcome_is_known
    check (outcome in ('delivered', 'failed', 'dead_letter', 'cancelled', 'expired', 'filter_error', 'no_subscriber')),
  status integer,
  error_class text,
  error text,
  duration_ms integer,
  response text,
  response_lossy boolean,
  next_retry_at timestamptz
) partition by range (at);
comment on table outbox.attempt is
  'One row per outcome of a claim (try), and per end without a delivery (close). Append-only, dropped by age.';
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
  constraint dead_letter_of_delivery unique (event_id, endpoint_id)
);
comment on table outbox.dead_letter is
  'Deliveries out of retries, kept whole: the columns of spec 4''s message, the event''s own, and the last attempt number.';
create index dead_letter_endpoint on outbox.dead_letter (endpoint_id, failed_at);
