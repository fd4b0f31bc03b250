-- Where routing stands: the events that it has not finished, and the one row of router. Whoever
-- holds the lock of that row routes; all others leave routing to that call.

create table outbox.unrouted (
  event_id uuid primary key,
  xid xid8 not null default pg_catalog.pg_current_xact_id(),
  routed_to uuid,
  failures smallint not null default 0
) with (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_cost_delay = 0
);
comment on table outbox.unrouted is
  'Events that routing has not finished with. xid: their publisher''s transaction; routed_to: '
  'the last endpoint of a wide event that was asked whether it wants it.';
-- The predicate keeps this index out of look-ups by event, as that of delivery_lane does.
create index unrouted_xid on outbox.unrouted (xid, event_id) where xid > '0';

create table outbox.router (
  turn bigint primary key default 0,
  watermark uuid not null default '00000000-0000-0000-0000-000000000000',
  seen_below xid8 not null default '0',
  open_xids xid8[] not null default '{}',
  batch integer not null default 1000
);
comment on table outbox.router is
  'One row, where routing stands; its row lock is what makes routing single-flight. Every row of '
  'unrouted, committed or not, has an id above watermark, or an xid of open_xids, or one that is '
  'not below seen_below. turn: how often it has moved; it is the key because by one that stays '
  'the same each look-up would walk the versions of all turns, beside a transaction that is left '
  'open. There is one row because nothing inserts another.';
insert into outbox.router default values;

create table outbox.routing_timeout (
  id bigint generated always as identity primary key,
  events uuid[],
  error text not null
);
comment on table outbox.routing_timeout is
  'Routing calls that timed out and that the next call must still process, because another call '
  'may hold the row of router at the time of the failure. events: the events that were being '
  'routed; null: the call timed out while it read them.';

create table outbox.unroutable (
  event_id uuid primary key,
  error text not null,
  set_aside_at timestamptz not null,
  routed_to uuid
);
comment on table outbox.unroutable is
  'Events that failed routing three times. route_again() gives one another chance, behind the '
  'last endpoint that was asked.';

create function outbox.lock_router() returns outbox.router
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_router outbox.router;
begin
  -- SKIP LOCKED goes on to older versions, which are all dead: the bound stops it.
  select * into v_router from outbox.router r
  where r.turn >= (select n.turn from outbox.router n order by n.turn desc limit 1)
  order by r.turn desc limit 1
  for no key update skip locked;
  return v_router;
end
$$;
comment on function outbox.lock_router() is
  'Where routing stands, locked until the transaction or its present step ends; nulls while '
  'another call is routing. locks: router with SKIP LOCKED.';
