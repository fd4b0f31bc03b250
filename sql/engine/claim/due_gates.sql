-- Which gates a claim serves: the due gates of the ring. Organisations take turns: first the gate
-- of each organisation that has waited longest, then its second one. So an organisation with 5,000
-- endpoints takes no turn of another one. Gates that are not due are not read. The steps of
-- due_gates():
--
--   1 due_suspect()  If an endpoint was refused before and is due again, it is served alone.
--   2 due            The first 5,000 due gates, without those of organisations that hold their
--                    share of the run and those whose kind the run cannot send (waiting_kind). If
--                    more are due, an organisation may wait.
--   3 first          In the order of turns, p_limit of them, but at least 100, because some
--                    endpoints may be paused. refused: the database refuses to claim from it.
--                    summed: the same, with the sums that step 4 needs.
--   4 wanted         As many of them as fill the batch, and of each organisation as many as fill
--                    its part (most_of_org()). most: how many rows a gate gives at most; before:
--                    the sum of that over the gates before it.
--   5 locked         The wanted gates that are still due and that no other transaction has locked.
--   6 take_others()  If others have locked some of them, takes the next ones of `due` instead.
--   7 turn_ring()    Moves the start of the ring to the first due gate, if that is 0.5 s later.

create function outbox.most_of_org(p_limit integer, p_now timestamptz) returns integer
language plpgsql stable
set search_path = ''
as $$
begin
  if outbox.is_shared(outbox.current_router(), p_now) then
    -- Others wait for each call, so it does less.
    return least(p_limit, greatest(1, outbox.setting_int('worker.batch_size') / 8));
  end if;
  return p_limit;
end
$$;
comment on function outbox.most_of_org(integer, timestamptz) is
  'About how many deliveries of one organisation a claim of p_limit has: an eighth of a batch '
  'while organisations wait for each other in routing, else all.';

create function outbox.due_gates(
  p_limit integer, p_now timestamptz, p_full text[] default '{}'
) returns uuid[]
language plpgsql
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set plan_cache_mode = force_generic_plan
set lock_timeout = '20ms'
as $$
declare
  v_endpoints uuid[];
  v_from timestamptz := outbox.ring_from(p_now);
  v_first timestamptz;
  v_most_due constant integer := 5000;
  v_others outbox.due_gate[];
  v_rows bigint;
  v_taken jsonb;
  v_of_org integer := outbox.most_of_org(p_limit, p_now);
  -- Read one more gate for each refused endpoint, because it gives no rows.
  v_refused bigint := (select pg_catalog.count(*) from outbox.endpoint_refusal r);
  v_unsent text[] := outbox.unsent_kinds();
  v_is_partial boolean := pg_catalog.cardinality(v_unsent) > 0;
begin
  if v_is_partial then
    perform outbox.park_unsent(p_now);
  end if;
  if v_refused > 0 then
    v_endpoints := outbox.due_suspect(p_now);
    if v_endpoints is not null then
      return v_endpoints;
    end if;
  end if;
  with due as materialized (
    select g.id, g.endpoint_id, g.changed_at, g.next_at, g.depth, g.in_flight, g.breaker, g.org_id
    from outbox.gate g
    where g.next_at >= v_from and g.next_at <= p_now and g.next_at < 'infinity'
      and g.org_id <> all (p_full)
      and (not v_is_partial or (
        select e.kind from outbox.endpoint e where e.id = g.endpoint_id) <> all (v_unsent))
    order by g.next_at
    limit v_most_due
  ), first as materialized (
    select d.*,
      v_refused > 0 and exists (
        select from outbox.endpoint_refusal r
        where r.endpoint_id = d.endpoint_id) as refused
    from (
      select d.*,
        pg_catalog.row_number() over (partition by d.org_id order by d.next_at, d.id) as turn
      from due d
    ) d
    order by d.turn, d.next_at, d.id
    limit greatest(p_limit, 100) + v_refused
  ), summed as materialized (
    select d.*, m.most,
      pg_catalog.sum(m.most) over (order by d.turn, d.next_at, d.id) - m.most as before,
      pg_catalog.sum(m.most) over (partition by d.org_id order by d.turn) - m.most
        as before_of_org
    from first d
    cross join lateral (
      select e.* from outbox.endpoint e where e.id = d.endpoint_id offset 0
    ) e
    cross join lateral (
      select case
        when e.status = 'enabled' and not d.refused then least(
          d.depth, e.quantum, v_of_org, greatest(e.max_in_flight - d.in_flight, 1),
          case when d.breaker = 'closed' then e.quantum else 1 end)
        else 0
      end as most
    ) m
  ), wanted as materialized (
    select w.id, w.changed_at, w.turn, w.org_id, w.most
    from summed w
    where w.before < p_limit and w.before_of_org < v_of_org and not w.refused
  ), locked as materialized (
    select g.endpoint_id, g.next_at, g.id, w.turn, w.org_id, w.most
    from wanted w
    cross join lateral (
      -- next_at is checked again under the lock; coalesce keeps the planner from using the index on
      -- next_at for a lookup by id. Without the bound on changed_at, SKIP LOCKED would read all
      -- older versions, which are dead. If a slower call has meanwhile written an earlier
      -- changed_at, this call misses the gate and the next call finds it.
      select g.endpoint_id, g.next_at, g.id from outbox.gate g
      where g.id = w.id and g.changed_at >= w.changed_at
        and coalesce(g.next_at, 'infinity') <= p_now
      order by g.changed_at desc limit 1
      for no key update skip locked
    ) g
  )
  select (select pg_catalog.array_agg(l.endpoint_id order by l.turn, l.next_at, l.id)
    from locked l),
    case
      when p_full = '{}' and not v_is_partial
      then (select pg_catalog.min(d.next_at) from due d)
      else (
        select g.next_at from outbox.gate g
        where g.next_at >= v_from and g.next_at <= p_now and g.next_at < 'infinity'
        order by g.next_at limit 1
      )
    end,
    (select coalesce(pg_catalog.sum(l.most), 0) from locked l),
    -- All of them: other calls may have locked every gate of `first`.
    case when (select pg_catalog.count(*) from locked) < (select pg_catalog.count(*) from wanted)
      then array(
        select row(d.id, d.changed_at, d.org_id)::outbox.due_gate
        from (
          select d.*,
            pg_catalog.row_number() over (partition by d.org_id order by d.next_at, d.id) as turn
          from due d
        ) d
        where d.id not in (select w.id from wanted w)
          and not (v_refused > 0 and exists (
            select from outbox.endpoint_refusal r where r.endpoint_id = d.endpoint_id))
        order by d.turn, d.next_at, d.id)
    end,
    case when v_of_org < p_limit
      then (
        select coalesce(pg_catalog.jsonb_object_agg(o.org_id, o.most), '{}')
        from (
          select l.org_id, pg_catalog.sum(l.most) as most from locked l group by l.org_id
        ) o)
    end
  into v_endpoints, v_first, v_rows, v_others, v_taken;
  if v_rows < p_limit and pg_catalog.cardinality(v_others) > 0 then
    v_endpoints := v_endpoints
      || outbox.take_others(v_others, p_limit - v_rows, v_of_org, v_taken, p_now);
    v_endpoints := nullif(v_endpoints, '{}');
  end if;
  -- Other calls set next_at to the time at which they started, and commit up to 1 s later.
  v_first := coalesce(v_first, p_now) - interval '1 s';
  if v_first > v_from + interval '500 ms' then
    perform outbox.turn_ring(v_first);
  end if;
  return v_endpoints;
end
$$;
comment on function outbox.due_gates(integer, timestamptz, text[]) is
  'Locks as many due gates as a batch of p_limit needs, and returns their endpoints in the order '
  'of turns; an endpoint that was refused before comes alone; null if none is due. Leaves out the '
  'kinds that the run cannot send (unsent_kinds()). p_full: '
  'organisations whose gates stay as they are, because they hold their share of the run. 55P03: it '
  'has waited for a gate (see the head of gate); the caller tries again. locks: gates with SKIP '
  'LOCKED.';

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
  'The given endpoints whose gate is due, in the same order; null if none is.';
