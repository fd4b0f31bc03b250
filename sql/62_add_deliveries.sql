-- New deliveries: each goes to the lane of its key, at the end of an ordered one, and is counted in
-- its lane and gate, which are due by then.

create function outbox.add_deliveries(
  p_events uuid[], p_endpoints uuid[], p_now timestamptz
) returns integer
language plpgsql
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see 00_setup.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_added integer;
begin
  insert into outbox.lane (gate_id, ordered, key_hash)
  select distinct g.id, p.ordering <> 'none', k.hash
  from (
    -- Where a key has no lane of its own, one event speaks for all.
    select distinct p.endpoint_id, e.ordering,
      case when e.ordering = 'partition' then p.event_id end as event_id
    from unnest(p_events, p_endpoints) as p (event_id, endpoint_id)
    cross join lateral (
      select e.ordering from outbox.endpoint e where e.id = p.endpoint_id offset 0
    ) e
  ) p
  cross join lateral (
    select g.id from outbox.gate g
    where g.endpoint_id = p.endpoint_id order by g.changed_at desc limit 1
  ) g
  cross join lateral (
    select 0 as hash where p.event_id is null
    union all
    select outbox.key_hash(p.ordering, v.partition_key) from outbox.event v
    where v.id = p.event_id
  ) k
  -- Not exists() would not begin with the newest.
  where (
    select l.id from outbox.lane l
    where l.gate_id = g.id and l.ordered = (p.ordering <> 'none') and l.key_hash = k.hash
    order by l.changed_at desc limit 1
  ) is null;
  with placed as materialized (
    select p.event_id, p.endpoint_id, l.id as lane_id, g.id as gate_id, l.ordered,
      case
        when l.ordered then greatest(p_now, l.tail_at) + interval '1 microsecond'
          * pg_catalog.row_number() over (partition by l.id order by p.place)
        else greatest(p_now, v.deliver_at, l.head_at)
      end as due_at,
      pg_catalog.octet_length(v.body) as body_bytes
    from unnest(p_events, p_endpoints) with ordinality as p (event_id, endpoint_id, place)
    cross join lateral (
      select e.ordering from outbox.endpoint e where e.id = p.endpoint_id offset 0
    ) e
    cross join lateral (
      select g.id from outbox.gate g
      where g.endpoint_id = p.endpoint_id order by g.changed_at desc limit 1
    ) g
    cross join lateral (
      select v.deliver_at, v.partition_key, v.body from outbox.event v
      where v.id = p.event_id offset 0
    ) v
    cross join lateral (
      -- A call of a function costs as much as a look-up, and most endpoints have one lane.
      select case
        when e.ordering = 'partition' then outbox.key_hash(e.ordering, v.partition_key) else 0
      end as hash offset 0
    ) k
    cross join lateral (
      select l.* from outbox.lane l
      where l.gate_id = g.id and l.ordered = (e.ordering <> 'none') and l.key_hash = k.hash
      order by l.changed_at desc limit 1
    ) l
  ), added as (
    insert into outbox.delivery (event_id, endpoint_id, lane_id, due_at, body_bytes)
    select p.event_id, p.endpoint_id, p.lane_id, p.due_at, p.body_bytes from placed p
    on conflict (event_id, endpoint_id) do nothing
    returning lane_id, due_at
  ), by_lane as materialized (
    select (
        select l.ctid from outbox.lane l where l.id = a.lane_id order by l.changed_at desc limit 1
      ) as lane_at,
      pg_catalog.count(*) as n, pg_catalog.min(a.due_at) as first_at,
      pg_catalog.max(a.due_at) as last_at
    from added a
    group by a.lane_id
  ), lanes as (
    update outbox.lane l set
      depth = l.depth + b.n,
      changed_at = pg_catalog.date_trunc('second', p_now),
      tail_at = case when l.ordered then b.last_at else l.tail_at end,
      next_at = case
        when not l.ordered then least(l.next_at, b.first_at)
        when l.depth = 0 and not l.halted then greatest(p_now, l.not_before)
        else l.next_at
      end
    from by_lane b
    where l.ctid = b.lane_at
    returning l.gate_id, b.n
  ), gates as (
    update outbox.gate g set
      depth = g.depth + b.n,
      changed_at = pg_catalog.date_trunc('second', p_now)
    from (
      select (
          select o.ctid from outbox.gate o where o.id = l.gate_id order by o.changed_at desc limit 1
        ) as gate_at,
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
