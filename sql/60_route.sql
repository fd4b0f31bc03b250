-- Routing: an event becomes one delivery per subscribed endpoint. One call at a time routes (it
-- holds the row lock of router), reads in the order of ids and walks no dead entry, though rows
-- come and go by the thousand and a publisher may commit late. What makes that exact is the promise
-- in the comment on router: above the watermark lies what was never read, and everything else that
-- can still appear belongs to a transaction that was open at the last read, or has begun since.
-- Keeping the old state is always safe, since what has been routed is gone from unrouted.

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
  select u.event_id
  from outbox.unrouted u
  where u.xid >= p_router.seen_below and u.xid > '0' and u.event_id <= p_router.watermark
  limit p_limit;
end
$$;
comment on function outbox.unrouted_late(outbox.router, integer) is
  'Up to p_limit events at or below the watermark that were not visible when routing last read.';

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
    (select coalesce(pg_catalog.array_agg(l.event_id), '{}') from (
       select u as event_id from outbox.unrouted_late(v_router, v_router.batch) u order by u) l),
    (select coalesce(pg_catalog.array_agg(n.event_id), '{}') from (
       select u.event_id
       from outbox.unrouted u
       where u.event_id > v_router.watermark
       order by u.event_id
       limit v_router.batch) n)
  into v_snapshot, v_late, v_batch.events;
  if pg_catalog.cardinality(v_late) >= v_router.batch then
    v_batch.events := v_late;
  else
    v_batch.watermark := coalesce(v_batch.events[pg_catalog.cardinality(v_batch.events)],
      v_router.watermark);
    v_batch.seen_below := pg_catalog.pg_snapshot_xmax(v_snapshot);
    -- The own transaction counts as open: what it may publish after this read was not seen either.
    v_batch.open_xids := array(
      select x
      from pg_catalog.pg_snapshot_xip(v_snapshot) x
      union select pg_catalog.pg_current_xact_id_if_assigned());
    v_batch.events := v_late || v_batch.events;
  end if;
  if pg_catalog.cardinality(v_batch.events) = 0 then
    return null;
  end if;
  select pg_catalog.array_agg(m.event_id order by m.place, m.endpoint_id),
    pg_catalog.array_agg(m.endpoint_id order by m.place, m.endpoint_id),
    pg_catalog.array_agg(m.problem order by m.place, m.endpoint_id)
  into v_batch.pair_events, v_batch.pair_endpoints, v_batch.pair_problems
  from (
    select b.event_id, b.place, t.endpoint_id, t.problem
    from pg_catalog.unnest(v_batch.events) with ordinality as b (event_id, place)
    cross join lateral (
      select u.routed_to from outbox.unrouted u where u.event_id = b.event_id offset 0
    ) u
    cross join lateral (select e.* from outbox.event e where e.id = b.event_id offset 0) e
    cross join lateral (
      -- The addressed endpoint, else each with a subscription that matches, is not younger than the
      -- event, and whose filter lets it through; problem says why a filter could not be asked.
      select p.id as endpoint_id, null as problem from outbox.endpoint p
      where p.id = e.endpoint_id and p.state <> 'deleted'
        and (u.routed_to is null or p.id > u.routed_to)
      union all
      (select s.endpoint_id,
        case when not pg_catalog.bool_or(f.problem is null) then pg_catalog.max(f.problem) end
       from pg_catalog.unnest(outbox.type_patterns(e.type)) as q (pattern)
       cross join lateral (
         select s.endpoint_id, s.filter, s.created_at
         from outbox.subscription s
         where s.org_id = e.org_id and s.pattern = q.pattern offset 0
       ) s
       cross join lateral (
         select from outbox.endpoint p where p.id = s.endpoint_id and p.state <> 'deleted' offset 0
       ) p
       cross join lateral (
         select case
           when s.filter is not null then outbox.filter_problem(s.filter, e.body)
         end as problem
       ) f
       where e.endpoint_id is null
         and s.created_at <= e.created_at and (u.routed_to is null or s.endpoint_id > u.routed_to)
         and f.problem is distinct from ''
       group by s.endpoint_id
       order by s.endpoint_id limit v_most + 1)
    ) t
    order by b.place, t.endpoint_id
    limit v_most + 1
  ) m;
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

create function outbox.filter_problem(p_filter jsonpath, p_body text) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  -- A predicate ($.a == 1) gives true or false; any other path matches when it finds something.
  return case when exists (
    select
    from pg_catalog.jsonb_path_query(p_body::jsonb, p_filter) f (value)
    where f.value not in ('false'::jsonb, 'null'::jsonb)
  ) then null else '' end;
exception when others then
  return 'filter: ' || sqlerrm;
end
$$;
comment on function outbox.filter_problem(jsonpath, text) is
  'Null when a payload passes a filter, the empty string when it does not, else why the filter '
  'could not be asked.';

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

create function outbox.add_deliveries(
  p_events uuid[], p_endpoints uuid[], p_now timestamptz
) returns integer
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
  v_added integer;
begin
  insert into outbox.lane (gate_id, ordered, key_hash)
  select distinct g.id, true, outbox.key_hash(e.ordering, v.partition_key)
  from unnest(p_events, p_endpoints) as p (event_id, endpoint_id)
  cross join lateral (
    select e.ordering
    from outbox.endpoint e
    where e.id = p.endpoint_id and e.ordering <> 'none' offset 0
  ) e
  cross join lateral (select g.id from outbox.gate g where g.endpoint_id = p.endpoint_id offset 0) g
  cross join lateral (select v.partition_key from outbox.event v where v.id = p.event_id offset 0) v
  on conflict do nothing;
  with placed as materialized (
    select p.event_id, p.endpoint_id, l.id as lane_id, g.id as gate_id, l.ordered,
      case when l.ordered
        then greatest(p_now, l.tail_at) + pg_catalog.row_number() over (partition by l.id
          order by p.place) * interval '1 microsecond'
        else greatest(p_now, v.deliver_at, l.head_at) end as due_at,
      pg_catalog.octet_length(v.body) as body_bytes
    from unnest(p_events, p_endpoints) with ordinality as p (event_id, endpoint_id, place)
    cross join lateral (
      select e.ordering from outbox.endpoint e where e.id = p.endpoint_id offset 0
    ) e
    cross join lateral (
      select g.id from outbox.gate g where g.endpoint_id = p.endpoint_id offset 0
    ) g
    cross join lateral (
      select v.deliver_at, v.partition_key, v.body
      from outbox.event v
      where v.id = p.event_id offset 0
    ) v
    cross join lateral (
      select l.* from outbox.lane l
      where l.gate_id = g.id and l.ordered = (e.ordering <> 'none')
        and l.key_hash = outbox.key_hash(e.ordering, v.partition_key) offset 0
    ) l
  ), added as (
    insert into outbox.delivery (event_id, endpoint_id, lane_id, due_at, body_bytes)
    select p.event_id, p.endpoint_id, p.lane_id, p.due_at, p.body_bytes from placed p
    on conflict (event_id, endpoint_id) do nothing
    returning lane_id, due_at
  ), by_lane as materialized (
    select (select l.ctid from outbox.lane l where l.id = a.lane_id) as lane_at,
      pg_catalog.count(*) as n, pg_catalog.min(a.due_at) as first_at,
      pg_catalog.max(a.due_at) as last_at
    from added a group by a.lane_id
  ), lanes as (
    update outbox.lane l set depth = l.depth + b.n,
      tail_at = case when l.ordered then b.last_at else l.tail_at end,
      next_at = case
        when not l.ordered then least(l.next_at, b.first_at)
        when l.depth = 0 and not l.halted then greatest(p_now, l.not_before)
        else l.next_at
      end
    from by_lane b where l.ctid = b.lane_at
    returning l.gate_id, b.n
  ), gates as (
    update outbox.gate g set depth = g.depth + b.n
    from (
      select (select o.ctid from outbox.gate o where o.id = l.gate_id) as gate_at,
        pg_catalog.sum(l.n) as n
      from lanes l
      group by l.gate_id
    ) b
    where g.ctid = b.gate_at
    returning b.n
  )
  select coalesce(pg_catalog.sum(g.n), 0) into v_added from gates g;
  return v_added;
end
$$;
comment on function outbox.add_deliveries(uuid[], uuid[], timestamptz) is
  'Makes the deliveries of pairs (event, endpoint) that are not open yet, in the order given; '
  'returns how many. locks: the caller holds the gates.';

create function outbox.route_events(
  p_events uuid[], p_pair_events uuid[], p_pair_endpoints uuid[], p_pair_problems text[],
  p_now timestamptz
) returns integer
language plpgsql
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see 00_setup.
set enable_seqscan = off
set enable_nestloop = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_added integer := 0;
begin
  -- No nested loops here: 1,000 events against 1,000 pairs one by one took 75 ms.
  if pg_catalog.cardinality(p_pair_events) > 0 then
    v_added := outbox.add_deliveries(
      array(
        select p.event_id
        from unnest(p_pair_events, p_pair_problems) with ordinality p (event_id, problem, place)
        where p.problem is null
        order by p.place
      ),
      array(
        select p.endpoint_id
        from unnest(p_pair_endpoints,
          p_pair_problems) with ordinality p (endpoint_id, problem, place)
        where p.problem is null
        order by p.place
      ),
      p_now);
    insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome, error)
    select p.event_id, p.endpoint_id, 0, p_now, 'close', 'filter_error', p.problem
    from unnest(p_pair_events, p_pair_endpoints,
      p_pair_problems) as p (event_id, endpoint_id, problem)
    where p.problem is not null;
  end if;
  with done as (
    delete from outbox.unrouted u
    using pg_catalog.unnest(p_events) p
    cross join lateral (
      select o.ctid as row_at from outbox.unrouted o where o.event_id = p offset 0
    ) o
    where u.ctid = o.row_at
    returning u.event_id, u.routed_to
  )
  insert into outbox.attempt (event_id, attempt, at, kind, outcome)
  select d.event_id, 0, p_now, 'close', 'no_subscriber' from done d
  where d.routed_to is null
    and not exists (select from pg_catalog.unnest(p_pair_events) p where p = d.event_id);
  return v_added;
end
$$;
comment on function outbox.route_events(uuid[], uuid[], uuid[], text[], timestamptz) is
  'Makes the deliveries and finishes the events; one that nobody wants gets a closing receipt, '
  'and so does a delivery whose filter failed. Returns how many deliveries it made.';

create function outbox.count_failure(p_event uuid, p_error text, p_now timestamptz) returns void
language plpgsql set search_path = ''
as $$
begin
  update outbox.unrouted u set failures = u.failures + 1 where u.event_id = p_event;
  insert into outbox.unroutable (event_id, error, set_aside_at, routed_to)
  select u.event_id, p_error, p_now, u.routed_to
  from outbox.unrouted u
  where u.event_id = p_event and u.failures >= 3
  on conflict (event_id) do update set error = excluded.error, set_aside_at = excluded.set_aside_at,
    routed_to = excluded.routed_to;
  delete from outbox.unrouted u where u.event_id = p_event and u.failures >= 3;
end
$$;
comment on function outbox.count_failure(uuid, text, timestamptz) is
  'Notes that an event could not be routed; the third time it is set aside in unroutable.';

create function outbox.touched_events(p_batch outbox.routing) returns uuid[]
language sql immutable set search_path = ''
as $$
  select case
    when p_batch.cut_event is null then p_batch.events
    else p_batch.events || p_batch.cut_event
  end
$$;
comment on function outbox.touched_events(outbox.routing) is
  'The events that a batch makes deliveries of: those that it finishes, and the one that it '
  'leaves half done.';

create function outbox.route_one_by_one(p_batch outbox.routing, p_now timestamptz) returns integer
language plpgsql set search_path = ''
as $$
declare
  v_event uuid;
  v_endpoints uuid[];
  v_problems text[];
  v_routed integer := 0;
begin
  foreach v_event in array outbox.touched_events(p_batch) loop
    select coalesce(pg_catalog.array_agg(p.endpoint_id), '{}'),
      coalesce(pg_catalog.array_agg(p.problem), '{}')
    into v_endpoints, v_problems
    from unnest(p_batch.pair_events, p_batch.pair_endpoints,
      p_batch.pair_problems) as p (event_id, endpoint_id, problem)
    where p.event_id = v_event;
    begin
      v_routed := v_routed + outbox.route_events(pg_catalog.array_remove(array[v_event], p_batch.cut_event),
        pg_catalog.array_fill(v_event, array[pg_catalog.cardinality(v_endpoints)]), v_endpoints,
        v_problems, p_now);
      if v_event = p_batch.cut_event then
        update outbox.unrouted u set routed_to = p_batch.cut_endpoint where u.event_id = v_event;
      end if;
    exception when others then
      perform outbox.count_failure(v_event, sqlerrm, p_now);
    end;
  end loop;
  return v_routed;
end
$$;
comment on function outbox.route_one_by_one(outbox.routing, timestamptz) is
  'Routes each event of a failed batch alone, so that one that cannot be routed costs no other. '
  'Returns how many deliveries it made.';

create function outbox.route(p_batch outbox.routing, p_now timestamptz) returns jsonb
language plpgsql set search_path = ''
as $$
declare
  v_routed integer := 0;
  v_error text;
  v_late boolean := false;
begin
  begin
    v_routed := outbox.route_events(p_batch.events, p_batch.pair_events, p_batch.pair_endpoints,
      p_batch.pair_problems, p_now);
    if p_batch.cut_event is not null then
      update outbox.unrouted u set routed_to = p_batch.cut_endpoint
      where u.event_id = p_batch.cut_event;
    end if;
    update outbox.router r set
      watermark = coalesce(p_batch.watermark, r.watermark),
      seen_below = case
        when p_batch.watermark is null then r.seen_below
        else p_batch.seen_below
      end,
      open_xids = case when p_batch.watermark is null then r.open_xids else p_batch.open_xids end,
      batch = least(r.batch * 2, outbox.setting_int('route.batch_size'))
    where r.only_row;
  exception
    when query_canceled then
      v_error := sqlerrm;
      v_late := true;
      perform outbox.shrink_routing(outbox.touched_events(p_batch), v_error, p_now);
    when others then
      v_error := sqlerrm;
      -- A handler is not guarded by its own block, and time may run out here as well.
      begin
        v_routed := outbox.route_one_by_one(p_batch, p_now);
      exception when query_canceled then
        v_late := true;
        v_error := v_error || '; ' || sqlerrm;
        perform outbox.shrink_routing(outbox.touched_events(p_batch), v_error, p_now);
      end;
  end;
  return pg_catalog.jsonb_build_object('routed', v_routed, 'error', v_error, 'out_of_time', v_late);
end
$$;
comment on function outbox.route(outbox.routing, timestamptz) is
  'Routes a batch and returns {"routed": deliveries made, "error": text or null, "out_of_time": '
  'boolean}. When the batch fails, each event is tried alone. locks: the caller holds the gates.';

create function outbox.shrink_routing(p_events uuid[], p_error text, p_now timestamptz) returns void
language plpgsql set search_path = ''
as $$
begin
  if pg_catalog.cardinality(p_events) = 1 then
    perform outbox.count_failure(p_events[1], p_error, p_now);
  end if;
  -- SKIP LOCKED: the lock went with the step that failed, and another call may be routing now.
  update outbox.router r set batch = greatest(1, r.batch / 8)
  where r.only_row = (select l.only_row from outbox.router l for no key update skip locked);
end
$$;
comment on function outbox.shrink_routing(uuid[], text, timestamptz) is
  'After routing ran out of time: smaller batches from the next call on; an event that took all '
  'the time alone counts as failed.';

create function outbox.route_again(p_event_id uuid) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_routed_to uuid;
begin
  delete from outbox.unroutable u
  where u.event_id = p_event_id
  returning u.routed_to
  into v_routed_to;
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('event %s is not set aside',
        pg_catalog.quote_nullable(p_event_id::text)),
      hint = 'select * from outbox.unroutable lists the events that are';
  end if;
  insert into outbox.unrouted (event_id, routed_to)
  values (p_event_id, v_routed_to)
  on conflict do nothing;
  return pg_catalog.jsonb_build_object('event_id', p_event_id, 'unrouted', true);
end
$$;
comment on function outbox.route_again(uuid) is
  'Gives an event that was set aside another chance: {"event_id", "unrouted": true}. OH002 when '
  'it is not set aside.';
