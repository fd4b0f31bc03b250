-- Organisations take turns. Routing reads events in the order of their ids, so an organisation that
-- publishes many, or has expensive filters or many endpoints, would hold up all others. So what
-- one call cannot finish waits in waiting_part: a row for each organisation and period of 256 ms in
-- which it has waiting events. The number of its events does not matter, so that a flood costs a
-- call little.
--
--   new events    If a read finds fewer than a batch, they are routed at once, except those of
--                 organisations in waiting_part. If it finds a batch, nothing is routed of it: all
--                 that is new goes into waiting_part, by one index lookup for each organisation and
--                 period.
--   rest          What a call has read and not finished also goes into waiting_part: more than
--                 2,000 pairs, or more filters than its limit of work. An organisation may use half
--                 of this work, and the events of one that needs more come last.
--   turn          A call also reads from waiting_part: a share of the batch for each of its
--                 organisations, beginning after the one that was last; half a batch if the call
--                 has new events. All events of the call are ordered by about how many deliveries
--                 they and the earlier events of their organisation create: the first event of an
--                 organisation with 64 endpoints comes beside the 64th event of one with a single
--                 endpoint. The first event of the first organisation comes in the first half of
--                 the call.
--
-- While organisations wait for each other, and for 5 s after that (is_shared()), a call reads a
-- quarter of the events, creates a quarter of the deliveries, an eighth for one organisation, does
-- an eighth of the work for filters, and claims a quarter of a batch of one organisation, so that
-- the next one comes soon.
--
-- The events of one organisation stay in order, because all that it publishes while it is in
-- waiting_part goes there. waiting_part may have a part whose events are all routed. It must have
-- each event that routing has read and not routed.
--
-- An example: A publishes 50,000 events within a second, and B one after them.
--
--   call 1   finds a full batch, puts A's four periods and B's one into waiting_part, and routes
--            500 events of A and the one of B
--   call 2   routes 250 events of A, and so on; after 5 s without others 1,000 in each call

create function outbox.is_for_new(p_router outbox.router) returns boolean
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return not exists (select from outbox.waiting_part) or outbox.has_new(p_router);
end
$$;
comment on function outbox.is_for_new(outbox.router) is
  'Whether the next call reads new events. If not, it only reads waiting_part.';

create function outbox.next_unrouted(p_router outbox.router) returns uuid[]
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_sort = off
set enable_incremental_sort = off
set enable_bitmapscan = off
as $$
declare
  v_parts outbox.part[];
  v_org text;
begin
  p_router.batch := 1;
  if outbox.is_for_new(p_router) then
    select l.parts || n.parts into v_parts
    from outbox.read_late(p_router) l
    cross join outbox.read_above(p_router) n;
  end if;
  select o.org_id into v_org
  from (
    select p.org_id from pg_catalog.unnest(v_parts) p
    union all
    select w from pg_catalog.unnest(outbox.waiting_orgs(p_router.last_org, 1)) w
  ) o
  order by o.org_id <= p_router.last_org, o.org_id
  limit 1;
  return array(
    select u.event_id
    from (
      select p.period
      from (
        select p.period from pg_catalog.unnest(v_parts) p where p.org_id = v_org
        union
        select b.period from outbox.waiting_part b where b.org_id = v_org
      ) p
      order by p.period offset 0
    ) p
    cross join lateral (
      select u.event_id from outbox.unrouted u
      where u.period = p.period and u.org_id >= v_org and u.org_id <= v_org and u.org_id > ''
      order by u.period, u.org_id, u.event_id limit 1
    ) u
    limit 1);
end
$$;
comment on function outbox.next_unrouted(outbox.router) is
  'The event that routing reads next if its batch is one event, as an array of one; empty if there '
  'is none.';

create function outbox.most_width() returns integer
language sql immutable set search_path = ''
as $$
  select 64
$$;
comment on function outbox.most_width() is 'The largest org_width().';

create function outbox.org_width(p_org_id text) returns integer
language plpgsql stable
set search_path = ''
-- Without a sort only the primary key gives this order. If the statistics say that the table is
-- empty, the planner might read all organisations by another index.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return greatest(1, (
    select pg_catalog.count(*)
    from (
      select from outbox.subscription s where s.org_id = p_org_id
      order by s.pattern, s.endpoint_id limit outbox.most_width()
    ) s));
end
$$;
comment on function outbox.org_width(text) is
  'About how many deliveries an event of an organisation gets: its subscriptions, from 1 to '
  'most_width().';

create function outbox.read_turn(
  p_router outbox.router, p_batch outbox.routing
) returns outbox.routing
language plpgsql stable
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup. Without a sort only
-- unrouted_period gives the order of (period, org_id, event_id). With "org_id =" instead of a range
-- of one value the primary key gives it, too. The statistics often say that the table is empty, and
-- then it is cheaper as soon as it has fewer levels: it read 10,000,000 entries for 50,000 events.
-- A comparison of rows would end only at the next period: it reads the events of all organisations
-- behind this one.
set enable_seqscan = off
set enable_sort = off
set enable_incremental_sort = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_start constant uuid := '00000000-0000-0000-0000-000000000000'::uuid;
  v_has_new boolean := coalesce(pg_catalog.cardinality(p_batch.events) > 0, false);
  v_most integer := greatest(1, p_router.batch / case when v_has_new then 2 else 1 end);
  v_turn outbox.routing;
  v_share integer;
begin
  p_batch.turn_orgs := outbox.waiting_orgs(p_router.last_org, v_most);
  v_share := v_most / greatest(1, pg_catalog.cardinality(p_batch.turn_orgs));
  select pg_catalog.array_agg(t.event_id), pg_catalog.array_agg(t.row_at),
    pg_catalog.array_agg(t.behind), pg_catalog.array_agg(t.org_id)
  into v_turn.events, v_turn.rows_at, v_turn.behind, v_turn.orgs
  from (
    select o.org_id, u.*
    from pg_catalog.unnest(p_batch.turn_orgs) with ordinality as o (org_id, place)
    cross join lateral (
      select u.event_id, u.row_at, u.behind
      from (
        select b.period from outbox.waiting_part b
        where b.org_id = o.org_id order by b.period offset 0
      ) b
      cross join lateral (
        select u.event_id, u.ctid as row_at, coalesce(u.routed_to, v_start) as behind
        from outbox.unrouted u
        where u.period = b.period and u.org_id >= o.org_id and u.org_id <= o.org_id
          and u.org_id > ''
        order by u.period, u.org_id, u.event_id limit v_share
      ) u
      limit v_share
    ) u
    order by o.place, u.event_id
  ) t;
  -- Concatenated with nulls, so that a batch without events has empty arrays.
  p_batch.events := '{}'::uuid[] || p_batch.events || v_turn.events;
  p_batch.rows_at := '{}'::tid[] || p_batch.rows_at || v_turn.rows_at;
  p_batch.behind := '{}'::uuid[] || p_batch.behind || v_turn.behind;
  p_batch.orgs := '{}'::text[] || p_batch.orgs || v_turn.orgs;
  p_batch.turn_of := p_batch.turn_orgs[pg_catalog.cardinality(p_batch.turn_orgs)];
  p_batch.is_shared := v_has_new or pg_catalog.cardinality(p_batch.turn_orgs) > 1;
  return p_batch;
end
$$;
comment on function outbox.read_turn(outbox.router, outbox.routing) is
  'A batch that also has events of waiting_part: of each organisation its first ones, as many as '
  'its share of the batch.';

create function outbox.remove_done_parts(p_batch outbox.routing) returns void
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
begin
  -- By ctid: only the holder of the lock of router changes these rows.
  delete from outbox.waiting_part b where b.ctid = any (array(
    select p.row_at
    from (
      select t as org_id, outbox.period_of(outbox.first_waiting(t)) as period
      from pg_catalog.unnest(p_batch.turn_orgs) t
      -- So that each organisation is looked up once, and not for each of its parts.
      offset 0
    ) o
    cross join lateral (
      select b.ctid as row_at from outbox.waiting_part b
      where b.org_id = o.org_id and (o.period is null or b.period < o.period)
      order by b.period limit 1000
    ) p));
end
$$;
comment on function outbox.remove_done_parts(outbox.routing) is
  'After a turn: the parts before the first event that still waits leave waiting_part. locks: the '
  'caller holds router.';

create function outbox.without_waiting(p_batch outbox.routing) returns outbox.routing
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
  v_waiting text[] := array(
    select o.org_id
    from (select distinct o as org_id from pg_catalog.unnest(p_batch.orgs) o) o
    where exists (select from outbox.waiting_part b where b.org_id = o.org_id));
begin
  perform outbox.wait_for_turns(array(
    select row(e.org_id, outbox.period_of(e.event_id))::outbox.part
    from unnest(p_batch.events, p_batch.orgs) as e (event_id, org_id)
    where e.org_id = any (v_waiting)));
  select pg_catalog.array_agg(e.event_id order by e.place),
    pg_catalog.array_agg(e.row_at order by e.place),
    pg_catalog.array_agg(e.behind order by e.place),
    pg_catalog.array_agg(e.org_id order by e.place)
  into p_batch.events, p_batch.rows_at, p_batch.behind, p_batch.orgs
  from unnest(p_batch.events, p_batch.rows_at, p_batch.behind, p_batch.orgs) with ordinality
    as e (event_id, row_at, behind, org_id, place)
  where e.org_id <> all (v_waiting);
  p_batch.is_shared := true;
  return p_batch;
end
$$;
comment on function outbox.without_waiting(outbox.routing) is
  'A batch without the events of organisations in waiting_part. These events wait there too, so '
  'that the order of the events of an organisation stays. locks: the caller holds router.';

create function outbox.in_turn(p_batch outbox.routing) returns outbox.routing
language plpgsql stable
set search_path = ''
-- Hash joins: nested loops would compare each event with each organisation.
set enable_hashjoin = on
set enable_nestloop = off
set enable_mergejoin = off
set jit = off
as $$
declare
  -- Half of the pairs of a call while organisations wait for each other.
  v_most constant integer := 125;
begin
  select pg_catalog.array_agg(t.event_id), pg_catalog.array_agg(t.row_at),
    pg_catalog.array_agg(t.behind), pg_catalog.array_agg(t.org_id)
  into p_batch.events, p_batch.rows_at, p_batch.behind, p_batch.orgs
  from (
    with orgs as materialized (
      select o.org_id, outbox.org_width(o.org_id) as width,
        coalesce(o.org_id = p_batch.turn_orgs[1], false) as is_first
      from (select distinct o as org_id from pg_catalog.unnest(p_batch.orgs) o) o
    ), numbered as (
      select e.*,
        pg_catalog.row_number() over (partition by e.org_id order by e.event_id) as n
      from unnest(p_batch.events, p_batch.rows_at, p_batch.behind, p_batch.orgs) with ordinality
        as e (event_id, row_at, behind, org_id, place)
    ), keyed as (
      select e.*, o.is_first, e.n * o.width as key,
        not o.is_first and o.width < outbox.most_width() as is_narrow,
        pg_catalog.sum(
          case when not o.is_first and o.width < outbox.most_width() then o.width end)
          over (order by e.n * o.width, e.place) as upto
      from numbered e
      join orgs o on o.org_id = e.org_id
    )
    select k.*
    from keyed k
    order by
      case
        when k.is_narrow and k.upto <= v_most then 0
        when k.is_first and k.n = 1 then 1
        else 2
      end,
      k.key, k.place
  ) t;
  return p_batch;
end
$$;
comment on function outbox.in_turn(outbox.routing) is
  'A batch in the order of turns: the first event of each organisation, then the second ones. An '
  'organisation with n subscriptions (org_width()) has one event where one with a single '
  'subscription has n, so that both get about as many deliveries. The first event of the first '
  'organisation of waiting_part comes as soon as the others have 125 deliveries, and before those '
  'that have more endpoints than are counted.';

create function outbox.heavy_last(
  p_batch outbox.routing, p_most bigint
) returns outbox.routing
language plpgsql
set search_path = ''
-- Hash joins: nested loops would compare each pair with each event.
set enable_hashjoin = on
set enable_nestloop = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_heavy text[] := array(
    select q.org_id
    from unnest(p_batch.questions)
      as q (event_id, endpoint_id, body_bytes, filters, weights, org_id)
    group by q.org_id
    having pg_catalog.sum(outbox.estimated_work(q.body_bytes, q.weights)) > p_most);
begin
  if pg_catalog.cardinality(v_heavy) = 0 then
    return p_batch;
  end if;
  select pg_catalog.array_agg(e.event_id), pg_catalog.array_agg(e.row_at),
    pg_catalog.array_agg(e.behind), pg_catalog.array_agg(e.org_id)
  into p_batch.events, p_batch.rows_at, p_batch.behind, p_batch.orgs
  from (
    select h.*
    from (
      select e.*, e.org_id = any (v_heavy) as is_heavy,
        coalesce(e.org_id = p_batch.turn_orgs[1], false) as is_first,
        pg_catalog.sum(case when e.org_id <> all (v_heavy) then q.work end)
          over (order by e.place) as upto
      from unnest(p_batch.events, p_batch.rows_at, p_batch.behind, p_batch.orgs) with ordinality
        as e (event_id, row_at, behind, org_id, place)
      left join (
        select q.event_id, pg_catalog.sum(outbox.estimated_work(q.body_bytes, q.weights)) as work
        from unnest(p_batch.questions)
          as q (event_id, endpoint_id, body_bytes, filters, weights, org_id)
        group by q.event_id
      ) q on q.event_id = e.event_id
    ) h
    order by
      case
        -- The work may be four times the estimate, if each value of a payload has two bytes.
        when not h.is_heavy and coalesce(h.upto, 0) <= p_most / 4 then 0
        when h.is_heavy and h.is_first then 1
        when h.is_heavy then 3
        else 2
      end,
      h.place
  ) e;
  p_batch.pairs := array(
    select row(p.event_id, p.endpoint_id, p.problem, p.deliver_at, p.key_hash, p.body_bytes,
      p.is_deleted)::outbox.pair
    from pg_catalog.unnest(p_batch.pairs) with ordinality as p (event_id, endpoint_id, problem,
      deliver_at, key_hash, body_bytes, is_deleted, place)
    join pg_catalog.unnest(p_batch.events) with ordinality as e (event_id, place)
      on e.event_id = p.event_id
    order by e.place, p.place);
  p_batch.questions := array(
    select row(q.event_id, q.endpoint_id, q.body_bytes, q.filters, q.weights,
      q.org_id)::outbox.question
    from unnest(p_batch.questions) with ordinality
      as q (event_id, endpoint_id, body_bytes, filters, weights, org_id, place)
    join pg_catalog.unnest(p_batch.events) with ordinality as e (event_id, place)
      on e.event_id = q.event_id
    order by e.place, q.place);
  return p_batch;
end
$$;
comment on function outbox.heavy_last(outbox.routing, bigint) is
  'A batch in which the events of organisations with more work than p_most for filters come last, '
  'so that it can be cut there. Those of the first organisation of waiting_part come as soon as '
  'the others have a quarter of p_most. The work is estimated_work().';

create function outbox.org_pairs_end(p_batch outbox.routing, p_most integer) returns integer
language plpgsql immutable
set search_path = ''
-- A hash join: nested loops would compare each pair with each event.
set enable_hashjoin = on
set enable_nestloop = off
set enable_mergejoin = off
set jit = off
as $$
begin
  return (
    select pg_catalog.min(s.place)
    from (
      select p.place, pg_catalog.row_number() over (partition by e.org_id order by p.place) as n
      from pg_catalog.unnest(p_batch.pairs) with ordinality as p (event_id, endpoint_id, problem,
        deliver_at, key_hash, body_bytes, is_deleted, place)
      join unnest(p_batch.events, p_batch.orgs) as e (event_id, org_id)
        on e.event_id = p.event_id
    ) s
    where s.n > p_most);
end
$$;
comment on function outbox.org_pairs_end(outbox.routing, integer) is
  'The place of the first pair with which an organisation has more than p_most; null if there is '
  'none.';
