-- Routing: an event becomes one delivery per subscribed endpoint. Here, what there is to route. One
-- call at a time routes (it holds the row lock of router), reads in the order of ids and walks no
-- dead entry, though rows come and go by the thousand and a publisher may commit late. What makes
-- that exact is the promise in the comment on router: above the watermark lies what was never read,
-- and everything else that can still appear belongs to a transaction that was open at the last
-- read, or has begun since. Keeping the old state is always safe, since what has been routed is
-- gone from unrouted.

create type outbox.routing as (
  events uuid[],
  pair_events uuid[],
  pair_endpoints uuid[],
  pair_problems text[],
  cut_event uuid,
  cut_endpoint uuid,
  watermark uuid,
  seen_below xid8,
  open_xids xid8[]
);
comment on type outbox.routing is
  'One batch: the events that it finishes, the pairs (event, endpoint) it delivers, the event '
  'that it leaves half done with the last endpoint done, and the state of router after it; a '
  'null watermark keeps the state.';

create function outbox.unrouted_late(p_router outbox.router, p_limit integer) returns setof uuid
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return query
  select u.event_id from outbox.unrouted u
  where u.xid = any (p_router.open_xids) and u.xid > '0' and u.xid < p_router.seen_below
    and u.event_id <= p_router.watermark
  union all
  select u.event_id from outbox.unrouted u
  where u.xid >= p_router.seen_below and u.xid > '0' and u.event_id <= p_router.watermark
  limit p_limit;
end
$$;
comment on function outbox.unrouted_late(outbox.router, integer) is
  'Up to p_limit events at or below the watermark that were not visible when routing last read.';

create function outbox.next_unrouted(p_router outbox.router) returns uuid[]
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return array(
    select l.id from (
      select u as id, 0 as place from outbox.unrouted_late(p_router, 1) u
      union all
      (
        select u.event_id, 1 from outbox.unrouted u
        where u.event_id > p_router.watermark order by u.event_id limit 1
      )
    ) l
    order by l.place limit 1);
end
$$;
comment on function outbox.next_unrouted(outbox.router) is
  'The event that routing comes to next, as an array of one; empty when there is none.';

create function outbox.has_unrouted() returns boolean
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_router outbox.router;
begin
  select * into v_router from outbox.router r where r.only_row;
  return exists (select from outbox.unrouted u where u.event_id > v_router.watermark)
    or exists (select from outbox.unrouted_late(v_router, 1) u);
end
$$;
comment on function outbox.has_unrouted() is
  'Whether routing has something to do: the same read that routing makes.';

create function outbox.read_unrouted() returns outbox.routing
language plpgsql
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see 00_setup.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_router outbox.router;
  v_snapshot pg_snapshot;
  v_late uuid[];
  v_batch outbox.routing;
  v_most constant integer := 2000;
begin
  -- The lock lasts as long as the transaction, which may come to wait for a gate: not without need.
  if not outbox.has_unrouted() then
    return null;
  end if;
  select * into v_router from outbox.router r for no key update skip locked;
  if not found then
    return null;
  end if;
  -- A cluster restored from a dump counts transactions anew: begin at the beginning.
  if v_router.seen_below > pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot()) then
    v_router.seen_below := '0';
    v_router.watermark := '00000000-0000-0000-0000-000000000000';
  end if;
  select pg_catalog.pg_current_snapshot(),
    array(select u from outbox.unrouted_late(v_router, v_router.batch) u order by u),
    array(
      select u.event_id from outbox.unrouted u
      where u.event_id > v_router.watermark order by u.event_id limit v_router.batch)
  into v_snapshot, v_late, v_batch.events;
  if pg_catalog.cardinality(v_late) >= v_router.batch then
    v_batch.events := v_late;
  else
    v_batch.watermark := coalesce(v_batch.events[pg_catalog.cardinality(v_batch.events)],
      v_router.watermark);
    v_batch.seen_below := pg_catalog.pg_snapshot_xmax(v_snapshot);
    -- The own transaction counts as open: what it may publish after this read was not seen either.
    v_batch.open_xids := array(
      select x from pg_catalog.pg_snapshot_xip(v_snapshot) x
      union
      select pg_catalog.pg_current_xact_id_if_assigned());
    v_batch.events := v_late || v_batch.events;
  end if;
  if pg_catalog.cardinality(v_batch.events) = 0 then
    return null;
  end if;
  v_batch := outbox.add_pairs(v_batch, v_most + 1);
  if pg_catalog.cardinality(v_batch.pair_events) > v_most then
    v_batch := outbox.cut_batch(v_batch, v_late, v_most);
  end if;
  return v_batch;
end
$$;
comment on function outbox.read_unrouted() is
  'The next batch to route, at most 2,000 deliveries of it, and what router is to remember after '
  'it; null when there is nothing or another call is routing. locks: router, until the '
  'transaction ends.';

create function outbox.cut_batch(
  p_batch outbox.routing, p_late uuid[], p_most integer
) returns outbox.routing
language plpgsql immutable set search_path = ''
as $$
declare
  v_cut uuid := p_batch.pair_events[p_most + 1];
  v_place integer := pg_catalog.array_position(p_batch.events, v_cut);
begin
  p_batch.pair_events := p_batch.pair_events[1:p_most];
  p_batch.pair_endpoints := p_batch.pair_endpoints[1:p_most];
  p_batch.pair_problems := p_batch.pair_problems[1:p_most];
  p_batch.events := p_batch.events[1:v_place - 1];
  if p_batch.pair_events[p_most] = v_cut then
    p_batch.cut_event := v_cut;
    p_batch.cut_endpoint := p_batch.pair_endpoints[p_most];
  end if;
  p_batch.watermark := case
    when v_place <= pg_catalog.cardinality(p_late) + 1 then null
    else p_batch.events[v_place - 1]
  end;
  return p_batch;
end
$$;
comment on function outbox.cut_batch(outbox.routing, uuid[], integer) is
  'A batch cut down to p_most deliveries: the event at the cut stays unrouted, with the last '
  'endpoint that has its delivery.';
