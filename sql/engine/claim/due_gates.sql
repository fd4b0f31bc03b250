-- The ring gives the gates whose turn it is, the one that has waited longest first. No row is read
-- of a gate that is not due.

create function outbox.due_suspect(p_now timestamptz) returns uuid[]
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_suspect uuid;
  v_endpoints uuid[];
begin
  select r.endpoint_id into v_suspect
  from outbox.endpoint_refusal r
  where r.again_at <= p_now
    and exists (
      select from outbox.gate g
      where g.endpoint_id = r.endpoint_id and g.next_at <= p_now)
    and exists (
      select from outbox.endpoint e where e.id = r.endpoint_id and e.status = 'enabled')
  order by r.again_at
  limit 1
  for no key update of r skip locked;
  if v_suspect is not null then
    select array[g.endpoint_id] into v_endpoints
    from outbox.gate g
    where g.endpoint_id = v_suspect and coalesce(g.next_at, 'infinity') <= p_now
    order by g.changed_at desc limit 1
    for no key update skip locked;
  end if;
  return v_endpoints;
end
$$;
comment on function outbox.due_suspect(timestamptz) is
  'Locks the gate of one endpoint that was refused before and is due, and returns it; null when '
  'there is none that nobody else tries. locks: endpoint_refusal and the gate with SKIP LOCKED.';

create function outbox.due_gates(p_limit integer, p_now timestamptz) returns uuid[]
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
  v_endpoints uuid[];
  v_from timestamptz := outbox.ring_from(p_now);
  v_first timestamptz;
  -- An endpoint that cannot be claimed from must not use a turn.
  v_refused bigint := (select pg_catalog.count(*) from outbox.endpoint_refusal r);
begin
  if v_refused > 0 then
    v_endpoints := outbox.due_suspect(p_now);
    if v_endpoints is not null then
      return v_endpoints;
    end if;
  end if;
  with due as materialized (
    select g.id, g.endpoint_id, g.changed_at, g.next_at, g.depth, g.in_flight, g.breaker,
      v_refused > 0 and exists (
        select from outbox.endpoint_refusal r
        where r.endpoint_id = g.endpoint_id) as refused
    from outbox.gate g
    -- Some more than the batch needs: an endpoint that is paused takes nobody's turn.
    where g.next_at >= v_from and g.next_at <= p_now and g.next_at < 'infinity'
    order by g.next_at
    limit greatest(p_limit, 100) + v_refused
  ), wanted as materialized (
    -- Lock no more gates than it takes to fill the batch.
    select w.id, w.changed_at
    from (
      select d.id, d.changed_at, d.refused,
        pg_catalog.sum(m.most) over (order by d.next_at, d.id) - m.most as before
      from due d
      cross join lateral (
        select e.* from outbox.endpoint e where e.id = d.endpoint_id offset 0
      ) e
      cross join lateral (
        select case
          when e.status = 'enabled' and not d.refused then least(
            d.depth, e.quantum, greatest(e.max_in_flight - d.in_flight, 1),
            case when d.breaker = 'closed' then e.quantum else 1 end)
          else 0
        end as most
      ) m
    ) w
    where w.before < p_limit and not w.refused
  ), locked as materialized (
    select g.endpoint_id, g.next_at, g.id
    from wanted w
    cross join lateral (
      -- Looked at again once locked; coalesce keeps the index on next_at out of a look-up by id.
      -- SKIP LOCKED goes on to older versions, which are all dead: changed_at stops it. A version
      -- that a slower call wrote meanwhile, with its earlier time, is left to the next call.
      select g.endpoint_id, g.next_at, g.id from outbox.gate g
      where g.id = w.id and g.changed_at >= w.changed_at
        and coalesce(g.next_at, 'infinity') <= p_now
      order by g.changed_at desc limit 1
      for no key update skip locked
    ) g
  )
  select (select pg_catalog.array_agg(l.endpoint_id order by l.next_at, l.id) from locked l),
    (select pg_catalog.min(d.next_at) from due d)
  into v_endpoints, v_first;
  -- A call notes as due what its beginning was, and commits some time later.
  v_first := coalesce(v_first, p_now) - interval '1 s';
  if v_first > v_from + interval '500 ms' then
    perform outbox.turn_ring(v_first);
  end if;
  return v_endpoints;
end
$$;
comment on function outbox.due_gates(integer, timestamptz) is
  'Locks the gates whose turn it is, as many as a batch of p_limit needs, and returns their '
  'endpoints in the order of the ring; one that was refused before comes alone; null when none is '
  'due. locks: gates with SKIP LOCKED, so '
  'it waits for nobody.';

create function outbox.still_due(p_endpoint_ids uuid[], p_now timestamptz) returns uuid[]
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
as $$
begin
  return nullif(array(
    select p.endpoint_id
    from pg_catalog.unnest(p_endpoint_ids) with ordinality as p (endpoint_id, place)
    cross join lateral (
      select g.next_at from outbox.gate g
      where g.endpoint_id = p.endpoint_id order by g.changed_at desc limit 1
    ) g
    where g.next_at <= p_now
    order by p.place), '{}');
end
$$;
comment on function outbox.still_due(uuid[], timestamptz) is
  'Those of these endpoints, in the same order, whose gate is due; null when none is.';
