-- Deliveries: one event for one endpoint, while it is open. A finished delivery is deleted from
-- this table, so history never slows a claim. No index may contain leased_until, attempt or one of
-- the counts of failures, or a claim would no longer be a heap-only update. There is no foreign
-- key, because its check would lock the endpoint's row, and no trigger.
--
-- The rows of a page are often claimed by one call: they belong to a few events. fillfactor 50
-- leaves room for a second version of each. With 85, a claim from ten endpoints wrote most of them
-- to other pages and into both indexes: 1,040 instead of 800 bytes of WAL for each delivery.

create table outbox.delivery (
  event_id uuid not null,
  endpoint_id uuid not null,
  lane_id bigint not null,
  due_at timestamptz not null,
  leased_until timestamptz,
  attempt integer not null default 0,
  failed_attempts integer not null default 0,
  body_bytes integer not null,
  replayed_at timestamptz,
  deliver_at timestamptz,
  lost_leases integer not null default 0,
  lost_before integer not null default 0,
  secret_id uuid,
  rejected_secrets uuid[],
  primary key (event_id, endpoint_id)
) with (
  fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0
);
comment on table outbox.delivery is
  'Open deliveries. attempt counts claims and only grows: it is the fencing token; '
  'failed_attempts counts the failures since the creation or the last replay; lost_leases counts '
  'the leases that ended without a result since then or since the last failure, lost_before those '
  'before that failure; leased_until '
  'is set while a run has it; body_bytes is the size of the event''s body, which limits a batch; '
  'replayed_at is the time of the last replay; '
  'deliver_at is the earliest time, set by the publisher, null for at once; secret_id is the '
  'secret of X-Signature of the last claim, rejected_secrets those that the receiver rejected '
  '(signing_secret()).';
-- The predicate is always true. It keeps the planner from using this index for lookups by event
-- while the statistics say that the table is empty. A query by lane repeats the predicate.
create index delivery_lane on outbox.delivery (lane_id, due_at, event_id) where lane_id > 0;

create type outbox.claimed as (
  events uuid[],
  endpoints uuid[],
  attempts integer[],
  failed_attempts integer[],
  lanes bigint[],
  ordered boolean[],
  replayed boolean[],
  leases_ms integer[]
);
comment on type outbox.claimed is
  'Claimed deliveries, as arrays of the same length. failed_attempts: all of them, with the lost '
  'leases; leases_ms: the remaining time of each lease.';
