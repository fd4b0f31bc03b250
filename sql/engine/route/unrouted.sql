-- Routing creates one delivery of an event for each subscribed endpoint. This file finds the events
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
-- There is no other case: every other transaction had ended before the last read, so that read saw
-- its events. An old row of router is always safe, because a routed event is deleted from unrouted.
-- What a read has found and not routed waits in waiting_part (see turn).
--
-- An example with the events e1 < e2 < e3 < e4:
--
--   transaction 100 publishes e1 and stays open; 101 publishes e3 and commits
--   read 1, by transaction 102, finds e3
--     -> watermark e3, open_xids {100, 102}, seen_below 102
--   100 commits e1; 103 commits e2, whose id is from before read 1; 104 commits e4
--   read 2, by transaction 105, finds e1 (late: in open_xids), e2 (late: 103 >= 102), e4 (new)
--     -> watermark e4, open_xids {105}, seen_below 105

create type outbox.unread as (
  events uuid[],
  rows_at tid[],
  behind uuid[],
  orgs text[],
  parts outbox.part[],
  upto uuid,
  is_part boolean
);
comment on type outbox.unread is
  'What a read has found: fewer events than a batch, or no events and the parts that have them. '
  'rows_at: the places of their rows in unrouted; behind: the last endpoint that an earlier batch '
  'processed; orgs: their organisations; upto: the new watermark; is_part: there may be further '
  'parts, so the state of router stays as it is.';

create function outbox.unrouted_late(p_router outbox.router, p_limit integer) returns setof uuid
language plpgsql stable
set search_path = ''
-- Without a sort only the index by xid gives this order. The statistics often say that the table is
-- empty, and then the planner might use the index by event. That would read the dead rows of all
-- routed events below the watermark: 13 ms per call while a transaction has been open for a minute.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
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

create function outbox.late_parts(
  p_router outbox.router, p_most integer default 1000
) returns outbox.part[]
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_start constant uuid := '00000000-0000-0000-0000-000000000000'::uuid;
  v_parts outbox.part[] := array[]::outbox.part[];
  v_xid xid8;
  v_last xid8;
  v_org text;
  v_event uuid;
begin
  for v_xid, v_last in
    select x, x from pg_catalog.unnest(p_router.open_xids) x where x < p_router.seen_below
    union all
    select p_router.seen_below, '18446744073709551615'::xid8
  loop
    v_org := '';
    v_event := v_start;
    loop
      select u.xid, u.org_id, u.event_id into v_xid, v_org, v_event from outbox.unrouted u
      where (u.xid, u.org_id, u.event_id) > (v_xid, v_org, v_event) and u.xid <= v_last
        and u.xid > '0' and u.event_id <= p_router.watermark
      order by u.xid, u.org_id, u.event_id limit 1;
      exit when not found;
      v_parts := pg_catalog.array_append(
        v_parts, row(v_org, outbox.period_of(v_event))::outbox.part);
      if pg_catalog.cardinality(v_parts) >= p_most then
        return v_parts;
      end if;
      v_event := outbox.period_end(outbox.period_of(v_event));
    end loop;
  end loop;
  return v_parts;
end
$$;
comment on function outbox.late_parts(outbox.router, integer) is
  'The parts that have late events, at most p_most. It looks up one event of each transaction, '
  'organisation and period.';

create function outbox.read_late(p_router outbox.router) returns outbox.unread
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
  v_late uuid[] := array(
    select l from outbox.unrouted_late(p_router, p_router.batch) l order by l);
  v_unread outbox.unread;
begin
  if pg_catalog.cardinality(v_late) >= p_router.batch then
    v_unread.parts := outbox.late_parts(p_router);
    v_unread.is_part := pg_catalog.cardinality(v_unread.parts) >= 1000;
  elsif pg_catalog.cardinality(v_late) > 0 then
    select pg_catalog.array_agg(l.event_id order by l.place),
      pg_catalog.array_agg(u.row_at order by l.place),
      pg_catalog.array_agg(coalesce(u.routed_to, v_start) order by l.place),
      pg_catalog.array_agg(u.org_id order by l.place)
    into v_unread.events, v_unread.rows_at, v_unread.behind, v_unread.orgs
    from pg_catalog.unnest(v_late) with ordinality as l (event_id, place)
    cross join lateral (
      select u.ctid as row_at, u.routed_to, u.org_id from outbox.unrouted u
      where u.event_id = l.event_id offset 0
    ) u;
  end if;
  return v_unread;
end
$$;
comment on function outbox.read_late(outbox.router) is 'The late events in the order of their ids.';

create function outbox.new_parts(
  p_router outbox.router, out parts outbox.part[], out upto uuid
)
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_most constant integer := 1000;
  v_period bytea := outbox.period_of(p_router.watermark);
  v_next bytea;
  v_org text := '';
  v_event uuid := '00000000-0000-0000-0000-000000000000'::uuid;
  v_last constant uuid := 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid;
begin
  parts := array[]::outbox.part[];
  loop
    select u.period, u.org_id into v_next, v_org from outbox.unrouted u
    where (u.period, u.org_id, u.event_id) > (v_period, v_org, v_event)
      and u.event_id > p_router.watermark and u.org_id > ''
    order by u.period, u.org_id, u.event_id limit 1;
    if not found then
      upto := (
        select u.event_id from outbox.unrouted u where u.event_id > p_router.watermark
        order by u.event_id desc limit 1);
      return;
    elsif v_next > v_period and pg_catalog.cardinality(parts) >= v_most then
      upto := outbox.period_end(v_period);
      return;
    end if;
    v_period := v_next;
    v_event := v_last;
    parts := pg_catalog.array_append(parts, row(v_org, v_period)::outbox.part);
  end loop;
end
$$;
comment on function outbox.new_parts(outbox.router) is
  'The parts that have new events, all of them up to an id. It looks up one event of each '
  'organisation and period, of as many periods as have 1,000 parts.';

create function outbox.read_above(p_router outbox.router) returns outbox.unread
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_start constant uuid := '00000000-0000-0000-0000-000000000000'::uuid;
  v_unread outbox.unread;
begin
  select pg_catalog.array_agg(u.event_id), pg_catalog.array_agg(u.row_at),
    pg_catalog.array_agg(u.behind), pg_catalog.array_agg(u.org_id)
  into v_unread.events, v_unread.rows_at, v_unread.behind, v_unread.orgs
  from (
    select u.event_id, u.ctid as row_at, coalesce(u.routed_to, v_start) as behind, u.org_id
    from outbox.unrouted u
    where u.event_id > p_router.watermark
    order by u.event_id limit p_router.batch
  ) u;
  if pg_catalog.cardinality(v_unread.events) >= p_router.batch then
    v_unread := null;
    select n.parts, n.upto into v_unread.parts, v_unread.upto from outbox.new_parts(p_router) n;
  else
    v_unread.upto := coalesce(v_unread.events[pg_catalog.cardinality(v_unread.events)],
      p_router.watermark);
  end if;
  return v_unread;
end
$$;
comment on function outbox.read_above(outbox.router) is 'The new events in the order of their ids.';

create function outbox.has_new(p_router outbox.router) returns boolean
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return exists (select from outbox.unrouted u where u.event_id > p_router.watermark)
    or exists (select from outbox.unrouted_late(p_router, 1) u);
end
$$;
comment on function outbox.has_new(outbox.router) is
  'Whether there is an event that routing has not read, by the same rules as read_unrouted().';

create function outbox.oldest_new(p_router outbox.router) returns timestamptz
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return outbox.uuid_v7_time(coalesce(
    (select u from outbox.unrouted_late(p_router, 1) u),
    (
      select u.event_id from outbox.unrouted u where u.event_id > p_router.watermark
      order by u.event_id limit 1
    )));
end
$$;
comment on function outbox.oldest_new(outbox.router) is
  'The time of an event that routing has not read: a late one, or the first new one; null if there '
  'is none.';

create function outbox.has_unrouted() returns boolean
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_router outbox.router := outbox.current_router();
begin
  return outbox.has_new(v_router) or exists (select from outbox.waiting_part);
end
$$;
comment on function outbox.has_unrouted() is
  'Whether there is an event to route, by the same rules as read_unrouted().';
