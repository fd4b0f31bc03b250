-- Routing creates one delivery of an event for each subscribed endpoint. This file reads the events
-- to route. One call at a time routes, because it holds the row lock of router.
--
-- A read must find each event once, also if its publisher commits late, and must not scan the dead
-- rows of events that were routed. So router stores what the last read has seen. An event of
-- `unrouted` has not been read if one of these is true:
--
--   new    its id is above watermark
--   late   its xid is in open_xids: its transaction was open at the last read
--   late   its xid is at least seen_below: its transaction began after the last read
--
-- A row with an org_id has been read before. It waits for the turn of its organisation (see turn).
--
-- There is no other case: every other transaction had ended before the last read, so that read saw
-- its events. An old state is always safe, because a routed event is deleted from unrouted.
--
-- An example with the events e1 < e2 < e3 < e4:
--
--   transaction 100 publishes e1 and stays open; 101 publishes e3 and commits
--   read 1, by transaction 102, finds e3
--     -> watermark e3, open_xids {100, 102}, seen_below 102
--   100 commits e1; 103 commits e2, whose id is from before read 1; 104 commits e4
--   read 2, by transaction 105, finds e1 (late: in open_xids), e2 (late: 103 >= 102), e4 (new)
--     -> watermark e4, open_xids {105}, seen_below 105

create type outbox.pair as (
  event_id uuid,
  endpoint_id uuid,
  problem text,
  deliver_at timestamptz,
  key_hash bigint,
  body_bytes integer,
  is_deleted boolean
);
comment on type outbox.pair is
  'An event and an endpoint, with the values of the event that its delivery needs. problem: null '
  'if a delivery is to be created; the empty string if the endpoint does not get the event; else '
  'why there is no delivery: the endpoint was deleted after the event was published (is_deleted), '
  'or its filter could not be evaluated.';

create type outbox.question as (
  event_id uuid,
  endpoint_id uuid,
  body_bytes bigint,
  filters jsonpath[],
  weights integer[],
  org_id text
);
comment on type outbox.question is
  'A pair whose endpoint has filters to be evaluated on the payload. weights: the weight of each.';

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
  questions outbox.question[],
  is_shared boolean,
  turn_of text,
  cut_org text,
  waiting_at tid[],
  waiting_orgs text[]
);
comment on type outbox.routing is
  'One batch. events: those that it finishes, late ones first, then by id; rows_at: the places of '
  'their rows in unrouted; behind: the last endpoint that an earlier batch processed; pairs: the '
  'deliveries to create; cut_event, cut_endpoint: the event that it does not finish and the last '
  'endpoint processed; watermark, seen_below, open_xids: the new state of router, null to keep it; '
  'questions: the filters still to be evaluated, in the order of the pairs; is_shared: other '
  'organisations may wait for this one; turn_of: the organisation whose turn it is; cut_org: the '
  'organisation of the event at the cut, if it now waits for its turn; waiting_at, waiting_orgs: '
  'the rows of the other events that now wait for the turn of their organisation.';

create function outbox.unrouted_late(p_router outbox.router, p_limit integer) returns setof uuid
language plpgsql stable
set search_path = ''
-- Without a sort only the index by xid gives this order. The statistics often say that the table is
-- empty, and then the planner might use the index by event. That would read the dead rows of all
-- routed events below the watermark: 13 ms per call while a transaction has been open for a minute.
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
      and u.event_id <= p_router.watermark and u.org_id is null
    order by u.xid limit p_limit
  )
  union all
  (
    select u.event_id from outbox.unrouted u
    where u.xid >= p_router.seen_below and u.xid > '0' and u.event_id <= p_router.watermark
      and u.org_id is null
    order by u.xid limit p_limit
  )
  limit p_limit;
end
$$;
comment on function outbox.unrouted_late(outbox.router, integer) is
  'Up to p_limit events at or below the watermark that were not visible when routing last read.';

create function outbox.has_new(p_router outbox.router) returns boolean
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return exists (
      select from outbox.unrouted u where u.event_id > p_router.watermark and u.org_id is null)
    or exists (select from outbox.unrouted_late(p_router, 1) u);
end
$$;
comment on function outbox.has_new(outbox.router) is
  'Whether there is an event that routing has not read, by the same rules as read_unrouted().';

create function outbox.next_unrouted(p_router outbox.router) returns uuid[]
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_org text := outbox.turn_org(p_router);
begin
  if v_org is not null then
    return array(
      select u.event_id from outbox.unrouted u
      where u.org_id = v_org and u.org_id > '' order by u.event_id limit 1);
  end if;
  return array(
    select l.id from (
      select u as id, 0 as place from outbox.unrouted_late(p_router, 1) u
      union all
      (
        select u.event_id, 1 from outbox.unrouted u
        where u.event_id > p_router.watermark and u.org_id is null order by u.event_id limit 1
      )
    ) l
    order by l.place limit 1);
end
$$;
comment on function outbox.next_unrouted(outbox.router) is
  'The event that routing reads next, as an array of one; empty if there is none.';

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
  return outbox.has_new(v_router) or exists (select from outbox.unrouted u where u.org_id > '');
end
$$;
comment on function outbox.has_unrouted() is
  'Whether there is an event to route, by the same rules as read_unrouted().';

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

create function outbox.read_new(p_router outbox.router) returns outbox.routing
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
  v_snapshot pg_snapshot;
  v_late uuid[];
  v_batch outbox.routing;
  v_start constant uuid := '00000000-0000-0000-0000-000000000000'::uuid;
begin
  -- One statement reads the late events, the new events and its own snapshot, so that all three
  -- agree.
  select pg_catalog.pg_current_snapshot(),
    array(select u from outbox.unrouted_late(p_router, p_router.batch) u order by u),
    n.events, n.rows_at, n.behind
  into v_snapshot, v_late, v_batch.events, v_batch.rows_at, v_batch.behind
  from (
    select coalesce(pg_catalog.array_agg(u.event_id), '{}') as events,
      coalesce(pg_catalog.array_agg(u.ctid), '{}') as rows_at,
      coalesce(pg_catalog.array_agg(coalesce(u.routed_to, v_start)), '{}') as behind
    from (
      select u.event_id, u.ctid, u.routed_to from outbox.unrouted u
      where u.event_id > p_router.watermark and u.org_id is null
      order by u.event_id limit p_router.batch
    ) u
  ) n;
  -- If late events alone fill the batch, it has no others and keeps the state of router.
  if pg_catalog.cardinality(v_late) >= p_router.batch then
    v_batch := null;
  else
    v_batch.watermark := coalesce(v_batch.events[pg_catalog.cardinality(v_batch.events)],
      p_router.watermark);
    v_batch.seen_below := pg_catalog.pg_snapshot_xmax(v_snapshot);
    -- This transaction counts as open, because it may publish after this read.
    v_batch.open_xids := array(
      select x from pg_catalog.pg_snapshot_xip(v_snapshot) x
      union
      select pg_catalog.pg_current_xact_id_if_assigned());
  end if;
  if pg_catalog.cardinality(v_late) > 0 then
    v_batch := outbox.with_late(v_batch, v_late);
  end if;
  v_batch.is_shared := pg_catalog.cardinality(v_batch.events) >= p_router.batch;
  return v_batch;
end
$$;
comment on function outbox.read_new(outbox.router) is
  'A batch of the events that routing has not read: late ones first, then by id. locks: the caller '
  'holds router.';

-- The steps of read_unrouted():
--
--   1 has_unrouted() checks for work before router is locked, because that lock lasts until the
--     commit.
--   2 lock_router(), then note_timeouts(): smaller batches after a call that timed out.
--   3 If it is the turn of an organisation (see turn), read_turn() reads its events, and read_new()
--     the late and the new events otherwise.
--   4 add_pairs() finds the endpoints of each event: at most 2,000 pairs, and one more to see
--     whether there are more.
--   5 evaluate_filters() evaluates the filters, as many as fit into the work limit of one call.
--   6 cut_batch() removes the pairs above the limit; the next batch continues there.
--   7 Pairs that their filter refused are removed.
create function outbox.read_unrouted() returns outbox.routing
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_router outbox.router;
  v_batch outbox.routing;
  v_org text;
  v_most integer := 2000;
begin
  if not outbox.has_unrouted() then
    return null;
  end if;
  v_router := outbox.lock_router();
  if v_router.turn is null then
    return null;
  end if;
  v_router.batch := outbox.note_timeouts(v_router, outbox.clock());
  -- After a restore from a dump, transaction ids start again, so read everything.
  if v_router.seen_below > pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot()) then
    v_router.seen_below := '0';
    v_router.watermark := '00000000-0000-0000-0000-000000000000';
  end if;
  v_org := outbox.turn_org(v_router);
  if v_org is null then
    v_batch := outbox.await_turns(outbox.read_new(v_router));
  else
    v_batch := outbox.read_turn(v_org, v_router.batch);
  end if;
  if pg_catalog.cardinality(v_batch.events) = 0 then
    return case when pg_catalog.cardinality(v_batch.waiting_at) > 0 then v_batch end;
  end if;
  v_batch := outbox.add_pairs(v_batch, v_most + 1);
  if v_batch.questions is not null then
    v_batch := outbox.evaluate_filters(v_batch);
    if v_batch.questions is not null then
      v_most := least(v_most, pg_catalog.cardinality(v_batch.pairs) - 1);
    end if;
  end if;
  if pg_catalog.cardinality(v_batch.pairs) > v_most then
    v_batch := outbox.cut_batch(outbox.await_turn_at(v_batch, v_most), v_router.watermark, v_most);
  end if;
  if exists (select from pg_catalog.unnest(v_batch.pairs) p where p.problem = '') then
    v_batch.pairs := array(
      select p from pg_catalog.unnest(v_batch.pairs) p where p.problem is distinct from '');
  end if;
  return v_batch;
end
$$;
comment on function outbox.read_unrouted() is
  'The next batch to route and the state of router after it; null if there is nothing to route or '
  'another call is routing. locks: router with SKIP LOCKED, until the transaction ends.';

create function outbox.cut_batch(
  p_batch outbox.routing, p_watermark uuid, p_most integer
) returns outbox.routing
language plpgsql immutable set search_path = ''
as $$
declare
  v_start constant uuid := '00000000-0000-0000-0000-000000000000'::uuid;
  v_cut uuid := p_batch.pairs[p_most + 1].event_id;
  v_place integer := pg_catalog.array_position(p_batch.events, v_cut);
begin
  if p_batch.pairs[p_most].event_id = v_cut then
    p_batch.cut_event := v_cut;
    p_batch.cut_endpoint := p_batch.pairs[p_most].endpoint_id;
  elsif p_batch.cut_org is not null then
    p_batch.cut_event := v_cut;
    p_batch.cut_endpoint := nullif(p_batch.behind[v_place], v_start);
  end if;
  p_batch.pairs := p_batch.pairs[1:p_most];
  p_batch.events := p_batch.events[1:v_place - 1];
  p_batch.rows_at := p_batch.rows_at[1:v_place - 1];
  p_batch.behind := p_batch.behind[1:v_place - 1];
  -- Late events, and those of a turn, are not above the watermark.
  p_batch.watermark := case
    when p_batch.turn_of is null and p_batch.events[v_place - 1] > p_watermark
    then p_batch.events[v_place - 1]
  end;
  return p_batch;
end
$$;
comment on function outbox.cut_batch(outbox.routing, uuid, integer) is
  'A batch cut to p_most pairs. The event at the cut stays in unrouted, with the last endpoint '
  'that was processed. p_watermark: of the last read.';
