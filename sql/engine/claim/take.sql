-- What is leased of the gates whose turn it is. Each gives rows of its due lanes, at most its
-- quantum (less of an ordered lane whose endpoint is slow, and more only when too few gates are due
-- to fill the batch) and never more than its endpoint may have in flight. A row keeps its place in
-- its lane, so that taking it is a heap-only update; it is found again when its lease has ended. No
-- row is read that is not due, save one per lane to know when to look again, and none behind a gate
-- that may not be served.

create type outbox.claimed as (
  events uuid[],
  endpoints uuid[],
  attempts integer[],
  failed_attempts integer[],
  lanes bigint[],
  ordered boolean[],
  replayed boolean[],
  leases_ms integer[]
);
comment on type outbox.claimed is
  'Claimed deliveries, as arrays of one length; leases_ms: what is left of each lease.';

create function outbox.chain_length(
  p_endpoint_id uuid, p_quantum integer, p_now timestamptz
) returns integer
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
begin
  return (
    select least(p_quantum, greatest(1, 500 / greatest(1, pg_catalog.max(a.duration_ms))))
    from (
      select t.duration_ms from outbox.attempt t
      where t.endpoint_id = p_endpoint_id and t.at > p_now - interval '1 hour' and t.at <= p_now
        and t.kind = 'try'
      order by t.at desc limit 5
    ) a);
end
$$;
comment on function outbox.chain_length(uuid, integer, timestamptz) is
  'How many deliveries of one ordered lane a run is given: what it sends in half a second, as the '
  'slowest of the endpoint''s last five attempts within an hour went; from 1 to its quantum. A run '
  'holds all that it is given, and 200 lanes of a slow endpoint would fill its hand for minutes.';

create function outbox.take(
  p_endpoint_ids uuid[], p_limit integer, p_now timestamptz
) returns outbox.claimed
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
  v_claimed outbox.claimed;
  v_share integer := pg_catalog.ceil(p_limit::numeric / pg_catalog.cardinality(p_endpoint_ids));
  v_bytes constant bigint := 4 * 1024 * 1024;
begin
  with ring as materialized (
    -- An open breaker whose time is up lets one delivery through, the probe.
    select g.id as gate_id, g.gate_at, g.lanes_from, o.place, c.chain, b.probing, t.tokens,
      case
        when b.probing then 1
        else least(a.allowed - g.in_flight, greatest(e.quantum, v_share), p_limit,
          pg_catalog.floor(t.tokens)::integer)
      end as room,
      e.timeout_ms * interval '1 ms' + interval '5 s' as lease
    from pg_catalog.unnest(p_endpoint_ids) with ordinality as o (endpoint_id, place)
    cross join lateral (
      select g.ctid as gate_at, g.* from outbox.gate g
      where g.endpoint_id = o.endpoint_id order by g.changed_at desc limit 1
    ) g
    cross join lateral (
      select e.* from outbox.endpoint e where e.id = o.endpoint_id offset 0
    ) e
    cross join lateral (
      select e.breaker_enabled and g.breaker = 'open' and g.open_until <= p_now as probing
    ) b
    cross join lateral (
      select case
        when e.rate_per_second is not null then least(
          e.rate_burst,
          -- A sum that rounding keeps from one is one.
          g.tokens + greatest(0, extract(epoch from p_now - g.tokens_at)) * e.rate_per_second
            + 1e-9)
      end as tokens
    ) t
    cross join lateral (
      select outbox.allowed_in_flight(
        e.max_in_flight, g.last_timed_out, greatest(g.ramp_from, e.ramp_from), p_now) as allowed
      offset 0
    ) a
    cross join lateral (
      select case
        when e.ordering <> 'none' then outbox.chain_length(o.endpoint_id, e.quantum, p_now)
      end as chain
      offset 0
    ) c
    where e.status = 'enabled' and g.not_before <= p_now
      and (b.probing or g.breaker = 'closed' or not e.breaker_enabled)
      and (b.probing or a.allowed > g.in_flight)
      and coalesce(t.tokens >= 1, true)
  ), lanes_due as (
    select r.gate_at, r.place, r.room, r.lease, r.probing, r.tokens,
      l.lane_at, l.lane_id, l.ordered, l.next_at, l.head_at, l.depth,
      case when l.ordered and not r.probing then r.chain else r.room end as most,
      -- How many slots the lanes before it take, at most.
      pg_catalog.sum(case when l.ordered then 1 else least(l.depth, r.room)::integer end) over (
        partition by r.place order by l.next_at, l.lane_id
        rows between unbounded preceding and 1 preceding) as slots_before
    from ring r
    cross join lateral (
      select l.ctid as lane_at, l.id as lane_id, l.ordered, l.next_at, l.head_at, l.depth
      from outbox.lane l
      where l.gate_id = r.gate_id and l.next_at >= r.lanes_from and l.next_at <= p_now
        and l.next_at < 'infinity'
        and (not l.ordered or l.leased = 0)
      order by l.next_at
      limit r.room
    ) l
  ), turns as (
    -- Each of a hundred keys may have a whole quantum to give: none is read behind lanes that are
    -- sure to fill the batch. sure_before: what those give at least, which is known of an ordered
    -- one that has a slot, for all that it has is due, and of no other.
    select l.*,
      pg_catalog.sum(
        case
          when l.ordered and l.tokens is null and coalesce(l.slots_before, 0) < l.room
          then least(l.depth, l.most)::integer
        end) over (
        order by l.place, l.next_at, l.lane_id
        rows between unbounded preceding and 1 preceding) as sure_before
    from lanes_due l
  ), seen as (
    -- One row per delivery that is free and due; a lane without any has one row of nulls. What is
    -- leased, at the head of an unordered lane, is passed by.
    select t.gate_at, t.place, t.room, t.lease, t.probing, t.tokens,
      t.lane_id, t.lane_at, t.ordered, t.next_at, t.most,
      d.row_at, d.event_id, d.attempt, d.body_bytes, d.nth
    from turns t
    left join lateral (
      -- An ordered lane is due as a whole: its rows' due_at is their order, nothing else.
      select d.ctid as row_at, d.event_id, d.attempt, d.body_bytes,
        pg_catalog.row_number() over (order by d.due_at, d.event_id) as nth
      from outbox.delivery d
      where d.lane_id = t.lane_id and d.lane_id > 0 and d.due_at >= t.head_at
        and d.due_at <= case when t.ordered then 'infinity' else p_now end
        and d.leased_until is null
      order by d.due_at, d.event_id
      limit t.most + 1
    ) d on true
    where coalesce(t.sure_before, 0) < p_limit
  ), ranked as (
    -- slot: how many requests of the gate this row makes; an ordered lane is sent one by one.
    -- spent: how many of its rate's tokens the gate has given out up to this row.
    select f.*,
      pg_catalog.count(*) filter (where f.fits) over round as rank,
      pg_catalog.sum(f.body_bytes) filter (where f.fits) over round as bytes
    from (
      select s.*, coalesce(s.nth <= s.most and s.slot <= s.room
        and s.spent <= coalesce(s.tokens, 'Infinity'), false) as fits
      from (
        select s.*,
          pg_catalog.count(*) filter (
            where s.row_at is not null and (not s.ordered or s.nth = 1)) over of_gate as slot,
          pg_catalog.count(*) filter (where s.nth <= s.most) over of_gate as spent
        from seen s
        window of_gate as (partition by s.place order by s.next_at, s.lane_id, s.nth)
      ) s
    ) f
    -- As of_gate is sorted: one sort serves both.
    window round as (order by f.place, f.next_at, f.lane_id, f.nth)
  ), marked as materialized (
    select r.gate_at, r.lane_at, r.row_at, r.lane_id, r.ordered, r.lease, r.probing, r.tokens,
      r.event_id, r.attempt, r.rank,
      r.fits and r.rank <= p_limit and (r.bytes <= v_bytes or r.rank = 1) as picked
    from ranked r
  ), by_lane as materialized (
    select m.gate_at, m.lane_at, m.ordered, m.tokens,
      (pg_catalog.array_agg(m.event_id) filter (where m.picked and m.probing))[1]
        as probe_event,
      (pg_catalog.array_agg(m.attempt + 1) filter (where m.picked and m.probing))[1]
        as probe_attempt,
      pg_catalog.count(m.row_at) as n,
      pg_catalog.count(*) filter (where m.picked)::integer as taken,
      case when pg_catalog.bool_or(m.picked) then p_now + m.lease end as lease_end
    from marked m
    group by m.gate_at, m.lane_at, m.ordered, m.lease, m.tokens
  ), lanes as (
    update outbox.lane l set
      head_at = coalesce(
        (select d.due_at from outbox.delivery d
         where d.lane_id = l.id and d.lane_id > 0 and d.due_at >= l.head_at
           and d.due_at <= case when b.ordered then 'infinity' else p_now end
         order by d.due_at limit 1),
        case when b.ordered then l.head_at else greatest(l.head_at, p_now) end),
      leased = l.leased + b.taken,
      -- The first may have ended with a result meanwhile: lose_leases() looks again then.
      leased_until = least(l.leased_until, b.lease_end),
      changed_at = pg_catalog.date_trunc('second', p_now),
      next_at = case
        when b.ordered and b.taken > 0 then b.lease_end
        when b.n > b.taken then p_now
        else greatest(p_now, coalesce(
          least(l.leased_until, b.lease_end, (
            select d.due_at from outbox.delivery d
            where d.lane_id = l.id and d.lane_id > 0 and d.due_at > p_now
            order by d.due_at limit 1)),
          'infinity'))
      end
    from by_lane b
    -- A lane that was served nothing for want of room keeps its turn.
    where l.ctid = b.lane_at and (b.taken > 0 or b.n = 0)
    returning b.gate_at, b.taken,
      case when b.ordered then least(b.taken, 1) else b.taken end as slots,
      b.probe_event, b.probe_attempt, b.tokens
  ), gates as (
    update outbox.gate g set
      in_flight = g.in_flight + s.slots,
      changed_at = pg_catalog.date_trunc('second', p_now),
      tokens = coalesce(s.tokens - s.taken, g.tokens),
      tokens_at = case when s.tokens is null then g.tokens_at else p_now end,
      breaker = case when s.probe_event is null then g.breaker else 'half_open' end,
      probe_event = coalesce(s.probe_event, g.probe_event),
      probe_attempt = coalesce(s.probe_attempt, g.probe_attempt)
    from (
      select l.gate_at, l.tokens,
        pg_catalog.sum(l.slots) as slots,
        pg_catalog.sum(l.taken) as taken,
        (pg_catalog.array_agg(l.probe_event) filter (where l.probe_event is not null))[1]
          as probe_event,
        pg_catalog.max(l.probe_attempt) as probe_attempt
      from lanes l
      group by l.gate_at, l.tokens
    ) s
    where g.ctid = s.gate_at and s.slots > 0
  ), held as (
    -- By ctid: whoever could move the row waits for the gate.
    update outbox.delivery d set
      attempt = d.attempt + 1,
      leased_until = p_now + m.lease
    from marked m
    where d.ctid = m.row_at and m.picked
    returning d.event_id, d.endpoint_id, d.attempt, d.failed_attempts, d.lane_id, m.ordered,
      d.replayed_at is not null as replayed,
      (extract(epoch from d.leased_until - p_now) * 1000)::integer as lease_ms, m.rank
  )
  -- Sorted once, where "order by" within the aggregates would sort for each of them.
  select pg_catalog.array_agg(h.event_id), pg_catalog.array_agg(h.endpoint_id),
    pg_catalog.array_agg(h.attempt), pg_catalog.array_agg(h.failed_attempts),
    pg_catalog.array_agg(h.lane_id), pg_catalog.array_agg(h.ordered),
    pg_catalog.array_agg(h.replayed), pg_catalog.array_agg(h.lease_ms)
  into v_claimed
  from (select h.* from held h order by h.rank) h;
  return v_claimed;
end
$$;
comment on function outbox.take(uuid[], integer, timestamptz) is
  'Leases due deliveries of these endpoints, at most p_limit and 4 MiB of bodies, round after '
  'round of the ring. locks: the caller holds the gates.';
