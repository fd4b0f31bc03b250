-- Routing: an event becomes one delivery per subscribed endpoint. Here, what there is to route. One
-- call at a time routes (it holds the row lock of router), reads in the order of ids and walks no
-- dead entry, though rows come and go by the thousand and a publisher may commit late. What makes
-- that exact is the promise in the comment on router: above the watermark lies what was never read,
-- and everything else that can still appear belongs to a transaction that was open at the last
-- read, or has begun since. Keeping the old state is always safe, since what has been routed is
-- gone from unrouted.

create type outbox.pair as (
  event_id uuid,
  endpoint_id uuid,
  problem text,
  deliver_at timestamptz,
  key_hash bigint,
  body_bytes integer
);
comment on type outbox.pair is
  'An event for an endpoint, with what its delivery needs of the event. problem: null when it is '
  'to be delivered, the empty string when it is not wanted, else why its filter could not be '
  'asked.';

create type outbox.question as (
  event_id uuid,
  endpoint_id uuid,
  body_bytes bigint,
  filters jsonpath[],
  since timestamptz[],
  weights integer[]
);
comment on type outbox.question is
  'A pair whose endpoint has filters to be evaluated on the payload. since: the time from which '
  'each filter applies; weights: the weight of each.';

create type outbox.routing as (
  events uuid[],
  rows_at tid[],
  behind uuid[],
  pairs outbox.pair[],
  cut_event uuid,
  cut_endpoint uuid,
  watermark uuid,
  seen_below xid8,
  open_xids xid8[],
  questions outbox.question[]
);
comment on type outbox.routing is
  'One batch: the events that it finishes, in the order of their ids, each with the place of its '
  'unrouted row and the endpoint behind which it goes on; the pairs it delivers; the event '
  'that it leaves half done with the last endpoint done; and the state of router after it, a '
  'null watermark keeps the state. questions: the filters still to be evaluated, in the order of '
  'the pairs.';

create function outbox.unrouted_late(p_router outbox.router, p_limit integer) returns setof uuid
language plpgsql stable
set search_path = ''
-- Without a sort only the index by xid gives this order. The table is often empty when statistics
-- are made, so that the planner may take the index by event; but all that was ever routed lies
-- below the watermark: 13 ms a call beside a transaction that was open for a minute.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return query
  (
    select u.event_id from outbox.unrouted u
    where u.xid = any (p_router.open_xids) and u.xid > '0' and u.xid < p_router.seen_below
      and u.event_id <= p_router.watermark
    order by u.xid limit p_limit
  )
  union all
  (
    select u.event_id from outbox.unrouted u
    where u.xid >= p_router.seen_below and u.xid > '0' and u.event_id <= p_router.watermark
    order by u.xid limit p_limit
  )
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
  select * into v_router from outbox.router r order by r.turn desc limit 1;
  return exists (select from outbox.unrouted u where u.event_id > v_router.watermark)
    or exists (select from outbox.unrouted_late(v_router, 1) u);
end
$$;
comment on function outbox.has_unrouted() is
  'Whether routing has something to do: the same read that routing makes.';

create function outbox.with_late(p_batch outbox.routing, p_late uuid[]) returns outbox.routing
language plpgsql stable
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_start constant uuid := '00000000-0000-0000-0000-000000000000'::uuid;
begin
  select pg_catalog.array_agg(l.event_id order by l.place) || p_batch.events,
    pg_catalog.array_agg(u.ctid order by l.place) || p_batch.rows_at,
    pg_catalog.array_agg(coalesce(u.routed_to, v_start) order by l.place) || p_batch.behind
  into p_batch.events, p_batch.rows_at, p_batch.behind
  from pg_catalog.unnest(p_late) with ordinality as l (event_id, place)
  cross join lateral (
    select u.ctid, u.routed_to from outbox.unrouted u where u.event_id = l.event_id offset 0
  ) u;
  return p_batch;
end
$$;
comment on function outbox.with_late(outbox.routing, uuid[]) is
  'A batch with late events before its own.';

create function outbox.read_unrouted() returns outbox.routing
language plpgsql
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup.
set enable_seqscan = off
set enable_bitmapscan = off
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
  v_most integer := 2000;
  v_start constant uuid := '00000000-0000-0000-0000-000000000000'::uuid;
begin
  -- The lock lasts as long as the transaction, which may come to wait for a gate: not without need.
  if not outbox.has_unrouted() then
    return null;
  end if;
  v_router := outbox.lock_router();
  if v_router.turn is null then
    return null;
  end if;
  v_router.batch := outbox.note_timeouts(v_router, outbox.clock());
  -- A cluster restored from a dump counts transactions anew: begin at the beginning.
  if v_router.seen_below > pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot()) then
    v_router.seen_below := '0';
    v_router.watermark := '00000000-0000-0000-0000-000000000000';
  end if;
  select pg_catalog.pg_current_snapshot(),
    array(select u from outbox.unrouted_late(v_router, v_router.batch) u order by u),
    n.events, n.rows_at, n.behind
  into v_snapshot, v_late, v_batch.events, v_batch.rows_at, v_batch.behind
  from (
    select coalesce(pg_catalog.array_agg(u.event_id), '{}') as events,
      coalesce(pg_catalog.array_agg(u.ctid), '{}') as rows_at,
      coalesce(pg_catalog.array_agg(coalesce(u.routed_to, v_start)), '{}') as behind
    from (
      select u.event_id, u.ctid, u.routed_to from outbox.unrouted u
      where u.event_id > v_router.watermark order by u.event_id limit v_router.batch
    ) u
  ) n;
  if pg_catalog.cardinality(v_late) >= v_router.batch then
    v_batch := null;
  else
    v_batch.watermark := coalesce(v_batch.events[pg_catalog.cardinality(v_batch.events)],
      v_router.watermark);
    v_batch.seen_below := pg_catalog.pg_snapshot_xmax(v_snapshot);
    -- The own transaction counts as open: what it may publish after this read was not seen either.
    v_batch.open_xids := array(
      select x from pg_catalog.pg_snapshot_xip(v_snapshot) x
      union
      select pg_catalog.pg_current_xact_id_if_assigned());
  end if;
  if pg_catalog.cardinality(v_late) > 0 then
    v_batch := outbox.with_late(v_batch, v_late);
  end if;
  if pg_catalog.cardinality(v_batch.events) = 0 then
    return null;
  end if;
  v_batch := outbox.add_pairs(v_batch, v_most + 1);
  if v_batch.questions is not null then
    v_batch := outbox.ask_filters(v_batch);
    if v_batch.questions is not null then
      v_most := least(v_most, pg_catalog.cardinality(v_batch.pairs) - 1);
    end if;
  end if;
  if pg_catalog.cardinality(v_batch.pairs) > v_most then
    v_batch := outbox.cut_batch(v_batch, v_late, v_most);
  end if;
  if exists (select from pg_catalog.unnest(v_batch.pairs) p where p.problem = '') then
    v_batch.pairs := array(
      select p from pg_catalog.unnest(v_batch.pairs) p where p.problem is distinct from '');
  end if;
  return v_batch;
end
$$;
comment on function outbox.read_unrouted() is
  'The next batch to route, at most 2,000 pairs and as many as ask_filters() has time for, and the '
  'state of router after it; null if there is nothing to route or another call is routing. '
  'locks: router, until the transaction ends.';

create function outbox.cut_batch(
  p_batch outbox.routing, p_late uuid[], p_most integer
) returns outbox.routing
language plpgsql immutable set search_path = ''
as $$
declare
  v_cut uuid := p_batch.pairs[p_most + 1].event_id;
  v_place integer := pg_catalog.array_position(p_batch.events, v_cut);
begin
  p_batch.pairs := p_batch.pairs[1:p_most];
  p_batch.events := p_batch.events[1:v_place - 1];
  p_batch.rows_at := p_batch.rows_at[1:v_place - 1];
  p_batch.behind := p_batch.behind[1:v_place - 1];
  if p_batch.pairs[p_most].event_id = v_cut then
    p_batch.cut_event := v_cut;
    p_batch.cut_endpoint := p_batch.pairs[p_most].endpoint_id;
  end if;
  p_batch.watermark := case
    when v_place <= pg_catalog.cardinality(p_late) + 1 then null
    else p_batch.events[v_place - 1]
  end;
  return p_batch;
end
$$;
comment on function outbox.cut_batch(outbox.routing, uuid[], integer) is
  'A batch cut down to p_most pairs: the event at the cut stays unrouted, with the last endpoint '
  'that was looked at.';
