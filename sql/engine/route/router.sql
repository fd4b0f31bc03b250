-- The state of routing: the events that it has not finished, and the one row of router. Only the
-- call that holds the lock of that row routes; other calls skip routing.

create table outbox.unrouted (
  event_id uuid primary key,
  org_id text not null,
  xid xid8 not null default pg_catalog.pg_current_xact_id(),
  routed_to uuid,
  failures smallint not null default 0,
  is_backfill boolean,
  period bytea not null
    generated always as (pg_catalog.substr(pg_catalog.uuid_send(event_id), 1, 5)) stored
) with (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_cost_delay = 0
);
comment on table outbox.unrouted is
  'Events that are not completely routed. xid: the transaction that published them; routed_to: the '
  'last endpoint that was processed, of an event with more endpoints than one batch has; '
  'is_backfill: true for a row of a table that a backfill sends, else null; period: '
  'the 256 ms of the event, which are the first 5 bytes of its id.';
-- The predicates are always true. They keep the planner from using these indexes for lookups by
-- event.
create index unrouted_period on outbox.unrouted (period, org_id, event_id) where org_id > '';
create index unrouted_xid on outbox.unrouted (xid, org_id, event_id) where xid > '0';

create table outbox.waiting_part (
  org_id text,
  period bytea,
  primary key (org_id, period)
) with (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_cost_delay = 0
);
comment on table outbox.waiting_part is
  'The parts of unrouted that wait for the turn of their organisation: one row for each '
  'organisation and period, whatever the number of its events is (see turn).';

create table outbox.router (
  turn bigint primary key default 0,
  watermark uuid not null default '00000000-0000-0000-0000-000000000000',
  seen_below xid8 not null default '0',
  open_xids xid8[] not null default '{}',
  batch integer not null default 1000,
  last_org text not null default '',
  shared_at timestamptz not null default '-infinity'
);
comment on table outbox.router is
  'One row, the state of routing. The call that holds its lock routes. A row of unrouted has not '
  'been read if its id > watermark, its xid is in open_xids, or its xid >= seen_below. last_org: '
  'the last organisation that had a turn. shared_at: when a batch last had events of an '
  'organisation while another one was in waiting_part. turn: the '
  'number of updates, which is the key because it changes: with a constant key each lookup would '
  'scan all dead versions while a transaction stays open. lock_router() inserts the row again if '
  'it was deleted.';
insert into outbox.router default values;

create table outbox.routing_timeout (
  id bigint generated always as identity primary key,
  events uuid[],
  error text not null
);
comment on table outbox.routing_timeout is
  'Routing calls that timed out. The next routing call processes them, because another call may '
  'hold the row of router at the time of the failure. events: the events that were being '
  'routed; null: the call timed out while it read them.';

create table outbox.unroutable (
  event_id uuid primary key,
  error text not null,
  set_aside_at timestamptz not null,
  routed_to uuid,
  org_id text not null,
  failures smallint not null default 3,
  again_at timestamptz not null default 'infinity'
);
comment on table outbox.unroutable is
  'Events whose routing failed three times. route_again() routes one again, from the endpoint '
  'after routed_to. again_at: when it is routed again without a call, after an error that is '
  'usually temporary.';
create index unroutable_again on outbox.unroutable (again_at) where again_at < 'infinity';
create index unroutable_again_org on outbox.unroutable (org_id, again_at)
  where again_at < 'infinity';
create index unroutable_org on outbox.unroutable (org_id, event_id) where org_id > '';

create function outbox.current_router() returns outbox.router
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_router outbox.router;
begin
  select * into v_router from outbox.router r order by r.turn desc limit 1;
  if v_router.turn is null then
    v_router := row(0, '00000000-0000-0000-0000-000000000000', '0', array[]::xid8[], 1000, '',
      '-infinity')::outbox.router;
  end if;
  return v_router;
end
$$;
comment on function outbox.current_router() is
  'The state of routing. If somebody has deleted the row: the first state, in which no event has '
  'been read.';

create function outbox.is_shared(p_router outbox.router, p_now timestamptz) returns boolean
language sql immutable set search_path = ''
as $$
  select p_router.shared_at > p_now - interval '5 s'
$$;
comment on function outbox.is_shared(outbox.router, timestamptz) is
  'Whether organisations wait for each other, or did in the last 5 s. Then a call does less.';

create function outbox.lock_router() returns outbox.router
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_router outbox.router;
  v_turn bigint := (select r.turn from outbox.router r order by r.turn desc limit 1);
begin
  if v_turn is null then
    -- Somebody has deleted the row. The first state is always safe: see unrouted.
    insert into outbox.router default values on conflict do nothing;
    v_turn := 0;
  end if;
  -- Without the bound, SKIP LOCKED would read all older versions of the row, which are dead.
  select * into v_router from outbox.router r
  where r.turn >= v_turn
  order by r.turn desc limit 1
  for no key update skip locked;
  return v_router;
end
$$;
comment on function outbox.lock_router() is
  'The state of routing, locked until the transaction or its current block ends; nulls while '
  'another call is routing. Inserts the row if it was deleted. locks: router with SKIP LOCKED.';
