-- New deliveries. add_deliveries() does this for the pairs of a batch:
--
--   1 lanes_of_pairs()      Looks up the lane of each endpoint and key, each once.
--   2                       Inserts the lanes that do not exist, then looks up all again.
--   3 insert_deliveries()   Inserts the deliveries. In an ordered lane each is due at least 1 us
--                           after the one before, so that due_at is their order. In an unordered
--                           lane each is due at deliver_at, or now.
--   4                       Updates each lane (depth, next_at) and each gate (depth) once.
--
-- An example at 12:00:00: the pairs e1-A, e1-B, e2-B, e3-B. A is unordered and has 5 open
-- deliveries. B is ordered by key, and the keys of e1, e2, e3 are x, y, x.
--
--   lane   new rows   due_at                             afterwards
--   A      e1         12:00:00                           depth 6, due at 12:00:00 or earlier
--   B-x    e1, e3     12:00:00.000002, 12:00:00.000004   a new lane: depth 2, due at 12:00:00
--   B-y    e2         12:00:00.000003                    a new lane: depth 1, due at 12:00:00

create type outbox.pair_lane as (
  endpoint_id uuid,
  key_hash bigint,
  gate_id bigint,
  gate_at tid,
  lane_id bigint,
  lane_at tid,
  ordered boolean,
  due_from timestamptz
);
comment on type outbox.pair_lane is
  'The lane of a key of an endpoint (null if it does not exist yet), the places of its row and of '
  'the row of its gate, and the earliest due_at of a new delivery in it.';

create type outbox.lane_gain as (lane_at tid, gate_at tid, n bigint, first_at timestamptz,
  last_at timestamptz);
comment on type outbox.lane_gain is
  'How many deliveries a lane has gained, and their first and last due_at.';

create function outbox.lanes_of_pairs(
  p_pairs outbox.pair[], p_now timestamptz
) returns outbox.pair_lane[]
language plpgsql
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_nestloop = on
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return array(
    select row(
      p.endpoint_id, p.key_hash, g.id, g.gate_at, l.id, l.lane_at, e.ordered,
      -- Ignore a head_at more than 10 s ahead: the clock was wrong when it was set.
      greatest(p_now, case
        when e.ordered then l.tail_at
        when l.head_at < p_now + interval '10 s' then l.head_at
      end)
    )::outbox.pair_lane
    from (select distinct p.endpoint_id, p.key_hash from pg_catalog.unnest(p_pairs) p) p
    cross join lateral (
      select e.ordering <> 'none' as ordered from outbox.endpoint e
      where e.id = p.endpoint_id offset 0
    ) e
    cross join lateral (
      select g.id, g.ctid as gate_at from outbox.gate g
      where g.endpoint_id = p.endpoint_id order by g.changed_at desc limit 1
    ) g
    left join lateral (
      select l.id, l.ctid as lane_at, l.tail_at, l.head_at from outbox.lane l
      where l.gate_id = g.id and l.ordered = e.ordered and l.key_hash = p.key_hash
      order by l.changed_at desc limit 1
    ) l on true);
end
$$;
comment on function outbox.lanes_of_pairs(outbox.pair[], timestamptz) is
  'The lanes that deliveries of these pairs go to. locks: the caller holds the gates.';

create function outbox.insert_deliveries(
  p_pairs outbox.pair[], p_targets outbox.pair_lane[]
) returns outbox.lane_gain[]
language plpgsql
set search_path = ''
-- A hash join: nested loops would compare each pair with each lane.
set enable_hashjoin = on
set enable_nestloop = off
set enable_mergejoin = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_gains outbox.lane_gain[];
begin
  with added as (
    insert into outbox.delivery (event_id, endpoint_id, lane_id, due_at, body_bytes, deliver_at)
    select p.event_id, p.endpoint_id, t.lane_id,
      case
        when t.ordered then t.due_from + p.place * interval '1 microsecond'
        else greatest(t.due_from, p.deliver_at)
      end,
      p.body_bytes, p.deliver_at
    from pg_catalog.unnest(p_pairs) with ordinality
      as p (event_id, endpoint_id, problem, deliver_at, key_hash, body_bytes, is_deleted, place)
    join pg_catalog.unnest(p_targets) t
      on t.endpoint_id = p.endpoint_id and t.key_hash = p.key_hash
    on conflict (event_id, endpoint_id) do nothing
    returning lane_id, due_at
  )
  select pg_catalog.array_agg(
    row(t.lane_at, t.gate_at, a.n, a.first_at, a.last_at)::outbox.lane_gain)
  into v_gains
  from (
    select a.lane_id, pg_catalog.count(*) as n, pg_catalog.min(a.due_at) as first_at,
      pg_catalog.max(a.due_at) as last_at
    from added a
    group by a.lane_id
  ) a
  join pg_catalog.unnest(p_targets) t on t.lane_id = a.lane_id;
  return v_gains;
end
$$;
comment on function outbox.insert_deliveries(outbox.pair[], outbox.pair_lane[]) is
  'Inserts the deliveries of pairs that are not open yet; returns how many each lane has gained.';

create function outbox.add_deliveries(p_pairs outbox.pair[], p_now timestamptz) returns integer
language plpgsql
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_nestloop = on
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_targets outbox.pair_lane[] := outbox.lanes_of_pairs(p_pairs, p_now);
  v_gains outbox.lane_gain[];
begin
  insert into outbox.lane (gate_id, ordered, key_hash)
  select t.gate_id, t.ordered, t.key_hash
  from pg_catalog.unnest(v_targets) t
  where t.lane_id is null;
  if found then
    v_targets := outbox.lanes_of_pairs(p_pairs, p_now);
  end if;
  v_gains := outbox.insert_deliveries(p_pairs, v_targets);
  update outbox.lane l set
    depth = l.depth + b.n,
    changed_at = pg_catalog.date_trunc('second', p_now),
    head_at = case when l.ordered then l.head_at else least(l.head_at, b.first_at) end,
    tail_at = case when l.ordered then b.last_at else l.tail_at end,
    next_at = case
      when not l.ordered then least(l.next_at, b.first_at)
      -- A lane that is not empty may have no delivery that is claimed: see refused_claim.
      when not l.halted and (l.depth = 0 or l.leased = 0 and l.next_at = 'infinity')
      then greatest(p_now, l.not_before)
      else l.next_at
    end
  from pg_catalog.unnest(v_gains) b
  where l.ctid = b.lane_at;
  update outbox.gate g set
    depth = g.depth + b.n,
    changed_at = pg_catalog.date_trunc('second', p_now)
  from (
    select b.gate_at, pg_catalog.sum(b.n) as n from pg_catalog.unnest(v_gains) b group by b.gate_at
  ) b
  where g.ctid = b.gate_at;
  return (select coalesce(pg_catalog.sum(b.n), 0) from pg_catalog.unnest(v_gains) b);
end
$$;
comment on function outbox.add_deliveries(outbox.pair[], timestamptz) is
  'Creates the deliveries of pairs that are not open yet, in the order given; returns how many. '
  'locks: the caller holds the gates.';
