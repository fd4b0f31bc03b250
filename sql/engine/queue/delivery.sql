-- Deliveries: one event for one endpoint, and only while it is open. A finished delivery leaves
-- this table, so that history never slows a claim. Two indexes and no third: none may mention
-- leased_until, attempt or failed_attempts, or a claim would stop being a heap-only update.
-- fillfactor 85 leaves the room for it. No foreign key (its check would lock the endpoint's row)
-- and no trigger.

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
  primary key (event_id, endpoint_id)
) with (
  fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0
);
comment on table outbox.delivery is
  'Open deliveries. attempt counts claims and only grows: it is the fencing token; '
  'failed_attempts counts the failures since the creation or the last replay; leased_until '
  'is set while a run holds it; body_bytes is the size of the event''s body, which bounds a batch; '
  'replayed_at begins the life of a replay; '
  'deliver_at is when the publisher wished for it, null for at once.';
-- Every lane is above 0. The predicate keeps this index out of look-ups by event, which its last
-- column would serve as well as the primary key while statistics call the table empty; a query of a
-- lane repeats it.
create index delivery_lane on outbox.delivery (lane_id, due_at, event_id) where lane_id > 0;
