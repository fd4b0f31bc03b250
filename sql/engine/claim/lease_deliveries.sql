-- Leases deliveries of the gates that claim() has locked. A leased delivery stays in its place in
-- its lane. So the lease is a heap-only update, and a claim finds the row again if the lease ends
-- without a result.

create function outbox.lane_quantum(
  p_endpoint_id uuid, p_quantum integer, p_now timestamptz
) returns integer
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
as $$
begin
  return (
    select least(p_quantum, greatest(1, 500 / greatest(1, pg_catalog.max(a.duration_ms))))
    from (
      select t.duration_ms from outbox.attempt t
      where t.endpoint_id = p_endpoint_id and t.at > p_now - interval '1 hour' and t.at <= p_now
        and t.kind = 'attempt'
      order by t.at desc limit 5
    ) a);
end
$$;
comment on function outbox.lane_quantum(uuid, integer, timestamptz) is
  'How many deliveries of one ordered lane a run gets at a time: as many as the endpoint handles '
  'in half a second (the slowest of its last five attempts within an hour decides), from 1 to its '
  'quantum. Without this limit, 200 lanes of a slow endpoint would keep a run busy for minutes.';

-- The steps of lease_deliveries(), one CTE each, in this order:
--
--   1 servable       The gates that may be served now. room: how many requests the gate may make.
--                    It is the least of its free requests in flight, its quantum (or its share of
--                    the batch, if that is more), the batch and its tokens; 1 for a probe. The
--                    organisations share the batch equally, up to most_of_org(), and the gates of
--                    each share its part.
--   2 due_lanes      The first `room` due lanes of each gate, without those that the database
--                    refuses to change (refused_lane). room_of_lane: how many rows the lane
--                    may give. max_requests_before: how many requests the earlier lanes of the same
--                    gate use at most. An ordered lane uses one: its rows are sent one by one.
--   3 bounded_lanes  min_rows_before: how many rows all earlier lanes give at least. rows_left:
--                    while organisations wait for each other, what the earlier lanes of the
--                    organisation leave of most_of_org(), if these give all that they may.
--   4 free_rows      lane_limit: the least of room_of_lane and rows_left. The first lane_limit + 1
--                    due rows of each lane that are not leased, without those that could not be
--                    leased before (refused_claim; of an ordered lane without those that are set
--                    aside, so that the order stays); the extra row shows that the lane has more. A
--                    lane without such a row gives one row of nulls, and step 8 sets when it is due
--                    again. Lanes whose min_rows_before fills the batch, or without rows_left, are
--                    not read: 100 ordered lanes may have a whole quantum each.
--   5 numbered       request_no, token_no, gate_bytes: the requests that the gate has made, and the
--                    tokens and bytes that it has spent up to this row. fits_gate: all are within
--                    the gate's limits, and the row is within lane_limit. batch_no, batch_bytes:
--                    the number and the bytes of the rows of all gates that fit, up to this row.
--   6 chosen         picked: the row fits its gate, p_limit and 4 MiB. While organisations wait for
--                    each other, a gate has 256 KiB and a call 1 MiB. The first row of a gate fits
--                    it whatever its size is, and that of the call is picked, or a large body would
--                    never be sent.
--   7 by_lane        How many rows were read from each lane, and how many were picked.
--   8 updated_lanes, leased: the writes. park(), which follows, counts the claim in the gates: it
--                    writes each of them anyway, and so once.
--
-- An example, checked by tests/sql/engine/claim/example.test.sql: p_limit is 8, every quantum is 3.
--
--   gate (requests in flight, limit)  room  lane (due rows)  lane_limit  requests  rows taken
--   A, unordered (0 of 10)               3  a (5)                     3         3  a1 a2 a3
--   B, ordered (2 of 4)                  2  b1 (2)                    3         1  b1.1 b1.2
--                                           b2 (1)                    3         1  b2.1
--                                           b3 (1)                    -         -  not read
--   C, unordered (0 of 10)               3  c (4)                     3         2  c1 c2
--
-- A gives its quantum. B has two free requests, which its first two lanes use: b1 gives both of its
-- rows for one request, and b3 is not read. Two places of the batch are left for C. min_rows_before
-- of c is 3, from b1 and b2. Lane a counts as nothing there, because some of its rows may be due
-- later. a, b3 and c are due at once; b1 and b2 are due when their lease ends.
--
-- A lane that has more rows goes behind the other due lanes of its gate: its next_at becomes p_now.
-- If no other one is due, as at an endpoint without order, it keeps a next_at of the same second.
-- So its row is written without index entries, however many calls serve it in this second:
--
--   lane a, alone   call at 12:00:00.1   at 12:00:00.4   at 12:00:00.9   at 12:00:01.2
--   its next_at     12:00:00.1           12:00:00.1      12:00:00.1      12:00:01.2
--
-- Not longer: with an open transaction, a lookup from lanes_from on would read all dead rows.
create function outbox.lease_deliveries(
  p_endpoint_ids uuid[], p_limit integer, p_now timestamptz, p_isolated boolean default false
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
  v_of_org integer := outbox.most_of_org(p_limit, p_now);
  v_max_bytes bigint := 4 * 1024 * 1024;
  -- Of one gate. While organisations wait for each other, the gate of the next one must not wait
  -- until large bodies were read, sent to the run and signed: 1 MiB takes 20 ms.
  v_gate_bytes bigint := v_max_bytes;
  -- Normally there is none, and nothing is looked up.
  v_refused boolean := exists (
    select from outbox.refusal r where r.step = 'claim' and r.again_at > p_now);
  v_left_out boolean := exists (select from outbox.lane_refusal);
  -- In one call: 0.5 ms more for 400 gates than in the statement below, of 135 ms of CPU time. A
  -- call for each gate would take 10 us.
  v_secrets uuid[] := outbox.signing_secrets(p_endpoint_ids, p_now);
begin
  if outbox.is_shared(outbox.current_router(), p_now) then
    v_max_bytes := v_max_bytes / 4;
    v_gate_bytes := v_max_bytes / 4;
  end if;
  with gates as materialized (
    select o.place, o.signing, g.*, pg_catalog.count(*) over (partition by g.org_id) as of_org
    from unnest(p_endpoint_ids, v_secrets) with ordinality as o (endpoint_id, signing, place)
    cross join lateral (
      select g.* from outbox.gate g
      where g.endpoint_id = o.endpoint_id order by g.changed_at desc limit 1
    ) g
  ), servable as materialized (
    select g.id as gate_id, g.org_id, g.lanes_from, g.place, c.chain, b.probing,
      t.tokens,
      case
        when b.probing then 1
        else least(a.allowed - g.in_flight, greatest(e.quantum, s.share), p_limit,
          pg_catalog.floor(t.tokens)::integer)
      end as room,
      e.timeout_ms * interval '1 ms' + interval '5 s' as lease,
      g.signing as secret_id
    from gates g
    cross join lateral (
      -- A scalar subquery is evaluated once, a join would count the organisations for each gate.
      select pg_catalog.ceil(
        least(
          p_limit::numeric / (select pg_catalog.count(distinct n.org_id) from gates n), v_of_org)
        / g.of_org)::integer as share
    ) s
    cross join lateral (
      select e.* from outbox.endpoint e where e.id = g.endpoint_id offset 0
    ) e
    cross join lateral (
      select e.breaker_enabled and g.breaker = 'open' and g.open_until <= p_now as probing
    ) b
    cross join lateral (
      select case
        when e.rate_per_second is not null
        then outbox.tokens_at(g.tokens, g.tokens_at, e.rate_per_second, e.rate_burst, p_now)
      end as tokens
    ) t
    cross join lateral (
      select outbox.allowed_in_flight(
          e.max_in_flight, g.last_timed_out, greatest(g.ramp_from, e.ramp_from), p_now)
        + case when v_left_out then outbox.stuck_requests(g.id) else 0 end as allowed
      offset 0
    ) a
    cross join lateral (
      select case
        when e.ordering <> 'none' then outbox.lane_quantum(g.endpoint_id, e.quantum, p_now)
      end as chain
      offset 0
    ) c
    where e.status = 'enabled' and g.not_before <= p_now
      and (b.probing or g.breaker = 'closed' or not e.breaker_enabled)
      and (b.probing or a.allowed > g.in_flight)
      and coalesce(t.tokens >= 1, true)
  ), due_lanes as (
    select r.org_id, r.place, r.room, r.lease, r.secret_id, r.probing, r.tokens,
      pg_catalog.count(*) over (partition by r.place) = 1 as alone,
      l.lane_at, l.lane_id, l.ordered, l.next_at, l.head_at, l.depth,
      case when l.ordered and not r.probing then r.chain else r.room end as room_of_lane,
      pg_catalog.sum(case when l.ordered then 1 else least(l.depth, r.room)::integer end) over (
        partition by r.place order by l.next_at, l.lane_id
        rows between unbounded preceding and 1 preceding) as max_requests_before
    from servable r
    cross join lateral (
      select l.ctid as lane_at, l.id as lane_id, l.ordered, l.next_at, l.head_at, l.depth
      from outbox.lane l
      where l.gate_id = r.gate_id and l.next_at <= p_now and l.next_at < 'infinity'
        and l.next_at >= case when p_isolated then '-infinity' else r.lanes_from end
        and l.isolated = p_isolated
        and (not l.ordered or l.leased = 0)
        and (not v_left_out or not outbox.is_left_out(l.id, p_now))
      order by l.next_at
      -- One lane more than a room of 1 needs shows whether the first one is alone.
      limit greatest(r.room, 2)
    ) l
  ), bounded_lanes as (
    -- Known only for an ordered lane that certainly gets a request: all of its rows are due. Tokens
    -- may run out, so a gate with a rate counts as nothing.
    select l.*,
      pg_catalog.sum(
        case
          when l.ordered and l.tokens is null and coalesce(l.max_requests_before, 0) < l.room
          then least(l.depth, l.room_of_lane, greatest(l.rows_left, 0))::integer
        end) over (
        order by l.place, l.next_at, l.lane_id
        rows between unbounded preceding and 1 preceding) as min_rows_before
    from (
      select l.*,
        case
          when v_of_org < p_limit then v_of_org - coalesce(
            pg_catalog.sum(least(l.depth, l.room_of_lane)::integer) over (
              partition by l.org_id order by l.place, l.next_at, l.lane_id
              rows between unbounded preceding and 1 preceding),
            0)
          else p_limit
        end as rows_left
      from due_lanes l
    ) l
  ), free_rows as (
    select t.place, t.room, t.alone, t.lease, t.secret_id, t.probing, t.tokens,
      t.lane_id, t.lane_at, t.ordered, t.next_at, t.lane_limit,
      d.row_at, d.event_id, d.attempt, d.body_bytes, d.nth
    from (
      select l.*, least(l.room_of_lane, l.rows_left)::integer as lane_limit
      from bounded_lanes l
      where coalesce(l.min_rows_before, 0) < p_limit and l.rows_left > 0
    ) t
    left join lateral (
      -- An ordered lane is due as a whole: due_at is only the order of its rows.
      select d.ctid as row_at, d.event_id, d.attempt, d.body_bytes,
        pg_catalog.row_number() over (order by d.due_at, d.event_id) as nth
      from outbox.delivery d
      where d.lane_id = t.lane_id and d.lane_id > 0 and d.due_at >= t.head_at
        and d.due_at <= case when t.ordered then 'infinity' else p_now end
        and d.leased_until is null
        -- A scalar subquery: the planner could hash the whole table for "not exists".
        and (not v_refused or (
          select case when t.ordered then r.again_at = 'infinity' else r.again_at > p_now end
          from outbox.refusal r
          where r.endpoint_id = d.endpoint_id and r.event_id = d.event_id and r.step = 'claim'
        ) is not true)
      order by d.due_at, d.event_id
      limit t.lane_limit + 1
    ) d on true
  ), numbered as (
    select f.*,
      pg_catalog.count(*) filter (where f.fits_gate) over in_ring_order as batch_no,
      pg_catalog.sum(f.body_bytes) filter (where f.fits_gate) over in_ring_order as batch_bytes
    from (
      select s.*, coalesce(s.nth <= s.lane_limit and s.request_no <= s.room
        and s.token_no <= coalesce(s.tokens, 'Infinity')
        and (s.gate_bytes <= v_gate_bytes or s.token_no = 1), false) as fits_gate
      from (
        select s.*,
          pg_catalog.count(*) filter (
            where s.row_at is not null and (not s.ordered or s.nth = 1)) over of_gate as request_no,
          pg_catalog.count(*) filter (where s.nth <= s.lane_limit) over of_gate as token_no,
          pg_catalog.sum(s.body_bytes) filter (where s.nth <= s.lane_limit) over of_gate
            as gate_bytes
        from free_rows s
        window of_gate as (partition by s.place order by s.next_at, s.lane_id, s.nth)
      ) s
    ) f
    -- The same order as of_gate, so that Postgres sorts once.
    window in_ring_order as (order by f.place, f.next_at, f.lane_id, f.nth)
  ), chosen as materialized (
    select r.lane_at, r.row_at, r.ordered, r.alone, r.lease, r.secret_id, r.batch_no,
      r.fits_gate and r.batch_no <= p_limit
        and (r.batch_bytes <= v_max_bytes or r.batch_no = 1) as picked
    from numbered r
  ), by_lane as materialized (
    select m.lane_at, m.ordered, m.alone,
      pg_catalog.count(m.row_at) as rows_read,
      pg_catalog.count(*) filter (where m.picked)::integer as taken,
      case when pg_catalog.bool_or(m.picked) then p_now + m.lease end as lease_end
    from chosen m
    group by m.lane_at, m.ordered, m.alone, m.lease
  ), updated_lanes as (
    update outbox.lane l set
      -- An ordered lane stays isolated if its next delivery has lost two leases too. If this one
      -- loses another lease, apply_results() isolates the lane again.
      isolated = case
        when l.isolated and b.ordered and b.taken > 0 then coalesce((
          select d.lost_leases >= outbox.isolated_after() from outbox.delivery d
          where d.lane_id = l.id and d.lane_id > 0 and d.due_at >= l.head_at
            and d.leased_until is null
          order by d.due_at, d.event_id offset 1 limit 1), false)
        else l.isolated
      end,
      head_at = coalesce(
        (select d.due_at from outbox.delivery d
         where d.lane_id = l.id and d.lane_id > 0 and d.due_at >= l.head_at
           and d.due_at <= case when b.ordered then 'infinity' else p_now end
         order by d.due_at limit 1),
        case when b.ordered then l.head_at else greatest(l.head_at, p_now) end),
      leased = l.leased + b.taken,
      -- May be out of date, if the first lease has ended with a result: record_lost_leases() sets
      -- it.
      leased_until = least(l.leased_until, b.lease_end),
      changed_at = pg_catalog.date_trunc('second', p_now),
      next_at = case
        when b.ordered and b.taken > 0 then b.lease_end
        when b.rows_read > b.taken then case
          when b.alone and l.next_at >= pg_catalog.date_trunc('second', p_now) then l.next_at
          else p_now
        end
        else greatest(p_now, coalesce(
          least(l.leased_until, b.lease_end, (
            select d.due_at from outbox.delivery d
            where d.lane_id = l.id and d.lane_id > 0 and d.due_at > p_now
            order by d.due_at limit 1),
            case when v_refused then outbox.refused_until(l.gate_id, l.id, p_now) end),
          'infinity'))
      end
    from by_lane b
    -- A lane that gave nothing because the gate or the batch was full keeps its next_at.
    where l.ctid = b.lane_at and (b.taken > 0 or b.rows_read = 0)
  ), leased as (
    -- By ctid: only the holder of the gate's lock may move the row.
    update outbox.delivery d set
      attempt = d.attempt + 1,
      leased_until = p_now + m.lease,
      secret_id = case
        when d.rejected_secrets is null then m.secret_id
        else outbox.signing_secret(d.endpoint_id, p_now, d.rejected_secrets)
      end
    from chosen m
    where d.ctid = m.row_at and m.picked
    returning d.event_id, d.endpoint_id, d.attempt,
      d.failed_attempts + d.lost_leases + d.lost_before as failed_attempts, d.lane_id, m.ordered,
      d.replayed_at is not null as replayed,
      (extract(epoch from d.leased_until - p_now) * 1000)::integer as lease_ms, m.batch_no
  )
  -- One sort here; "order by" in the aggregates would sort for each of them.
  select pg_catalog.array_agg(h.event_id), pg_catalog.array_agg(h.endpoint_id),
    pg_catalog.array_agg(h.attempt), pg_catalog.array_agg(h.failed_attempts),
    pg_catalog.array_agg(h.lane_id), pg_catalog.array_agg(h.ordered),
    pg_catalog.array_agg(h.replayed), pg_catalog.array_agg(h.lease_ms)
  into v_claimed
  from (select h.* from leased h order by h.batch_no) h;
  return v_claimed;
end
$$;
comment on function outbox.lease_deliveries(uuid[], integer, timestamptz, boolean) is
  'Leases due deliveries of these endpoints, in the order given: at most p_limit and 4 MiB of '
  'bodies, 1 MiB while organisations wait for each other; with p_isolated those of isolated lanes, '
  'else those of all other lanes. locks: the caller holds the gates. It then calls park(), which '
  'counts the claim.';
