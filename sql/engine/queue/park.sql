-- When a gate is due. Each transaction that changes a gate or its lanes calls park() with its own
-- p_now, so that claim() misses no due gate and reads no other one.

create function outbox.allowed_in_flight(
  p_max integer, p_last_timed_out boolean, p_ramp_from timestamptz, p_now timestamptz
) returns integer
language plpgsql immutable set search_path = ''
as $$
begin
  return case
    when p_last_timed_out then 1
    when p_ramp_from <= p_now - interval '10 s' then p_max
    else least(p_max,
      pg_catalog.ceil(greatest(1, p_max * extract(epoch from p_now - p_ramp_from) / 10)))::integer
  end;
end
$$;
comment on function outbox.allowed_in_flight(integer, boolean, timestamptz, timestamptz) is
  'How many requests an endpoint may have in flight: 1 after a timeout, or while its server cannot '
  'be reached, until one succeeds; after a resume or a closed breaker a share that grows to '
  'max_in_flight within 10 s.';

create function outbox.isolated_after() returns integer
language plpgsql immutable set search_path = ''
as $$
begin
  return 2;
end
$$;
comment on function outbox.isolated_after() is
  'After how many lost leases in a row a delivery is sent alone.';

create function outbox.next_token_at(
  p_tokens double precision, p_tokens_at timestamptz, p_rate_per_second double precision
) returns timestamptz
language plpgsql immutable set search_path = ''
as $$
begin
  -- Rounded up to the microsecond, or there would be a little less than a whole token.
  return p_tokens_at + pg_catalog.ceil((1 - p_tokens) / p_rate_per_second * 1000000)
    * interval '1 microsecond';
end
$$;
comment on function outbox.next_token_at(double precision, timestamptz, double precision) is
  'When a gate that had p_tokens at p_tokens_at has its next whole token; null without a rate. A '
  'changed rate applies from the last claim.';

create function outbox.tokens_at(
  p_tokens double precision, p_tokens_at timestamptz, p_rate_per_second double precision,
  p_burst double precision, p_now timestamptz
) returns double precision
language plpgsql immutable set search_path = ''
as $$
begin
  return least(
    p_burst,
    -- 1e-9 so that rounding does not turn a whole token into 0.999...
    p_tokens + greatest(0, extract(epoch from p_now - p_tokens_at)) * p_rate_per_second + 1e-9);
end
$$;
comment on function outbox.tokens_at(
  double precision, timestamptz, double precision, double precision, timestamptz) is
  'How many tokens a gate that had p_tokens at p_tokens_at has now, p_burst at most.';

create function outbox.first_lease_end(p_gate_id bigint) returns timestamptz
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
as $$
begin
  -- The lane of new deliveries has many dead versions, so it is read alone, newest first. The other
  -- lanes have few.
  return (
    select pg_catalog.min(l.leased_until)
    from (
      (
        select l.leased_until, l.leased from outbox.lane l
        where l.gate_id = p_gate_id and not l.ordered and l.key_hash = 0
        order by l.changed_at desc limit 1
      )
      union all
      select l.leased_until, l.leased from outbox.lane l
      where l.gate_id = p_gate_id and not l.ordered and l.key_hash <> 0
    ) l
    where l.leased > 0);
end
$$;
comment on function outbox.first_lease_end(bigint) is
  'The earliest leased_until of the unordered lanes of a gate (one for new deliveries, one for '
  'each replay job, one for isolated deliveries); null if nothing is leased.';

create function outbox.first_lane_at(p_gate_id bigint, p_from timestamptz) returns timestamptz
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return coalesce(
    (select l.next_at from outbox.lane l
     where l.gate_id = p_gate_id and l.next_at >= p_from and l.next_at < 'infinity'
       and not l.isolated
     order by l.next_at limit 1),
    'infinity');
end
$$;
comment on function outbox.first_lane_at(bigint, timestamptz) is
  'When the first lane of a gate that is not isolated is due, at p_from or later; infinity if none '
  'is.';

-- The steps of park(), one lateral subquery each, for each gate:
--
--   p            Each endpoint once, with the requests and rows that were just claimed from it.
--   o, e         The gate and its endpoint, as they are.
--   served       What the claim changes in the gate: requests in flight, tokens, the breaker's
--                probe. Written here and not by lease_deliveries(), so that a gate that is served
--                has one new row version and not two.
--   first_lane   due_at: when the first lane of the gate is due; claim_at: the same, but a lane
--                that the database refuses to change counts as due when it is tried again.
--   rate         next_token_at: when the gate has its next token; null without a rate.
--   earliest     at: when the gate may be served. The latest of the gate's not_before, of
--                next_token_at, and of the first of these that applies:
--       nothing is open, or the endpoint is deleted   never (infinity)
--       the endpoint is paused or disabled            in 5 s; after a resume the tick sets now
--       the breaker is open                           the later of open_until and the first lane
--       the breaker is half open, or in_flight is     when the first lease ends or an ordered lane
--       at its limit                                  is due; in 1 s without both, and in 1 s at
--                                                     most while the limit still grows
--       otherwise                                     when the first lane is due
--   isolated     at: as earliest, for the isolated lanes.
--   decided      next_at: earliest.at if that is in the future. A gate that is due keeps its place,
--                or goes to the back (p_now) if it was served. So next_at is never set before
--                p_now, and due_gates() need not read earlier ones.
--
-- An example, which continues the one of lease_deliveries() and is checked by the same test. It is
-- 12:00:00, and the leases last 20 s. A and C were served and have more: their next_at is
-- 12:00:00, after all gates that are due already. B is at its limit, so its next_at is 12:00:20,
-- when its leases end, although b3 is due now. If a result of B arrives earlier, park() is called
-- again.
create function outbox.park(
  p_endpoint_ids uuid[], p_now timestamptz, p_claimed outbox.claimed default null
) returns void
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
  -- Normally there is none, and nothing is looked up.
  v_left_out boolean := exists (select from outbox.lane_refusal);
begin
  update outbox.gate g set
    next_at = decided.next_at, lanes_from = decided.lanes_from, changed_at = decided.changed_at,
    isolated_at = isolated.at, in_flight = served.in_flight, tokens = served.tokens,
    tokens_at = served.tokens_at, breaker = served.breaker, probe_event = served.probe_event,
    probe_attempt = served.probe_attempt
  from (
    -- Grouped, because a join would compare each gate with each claimed delivery.
    select u.endpoint_id, pg_catalog.sum(u.requests)::integer as requests,
      pg_catalog.sum(u.taken)::integer as taken,
      (pg_catalog.array_agg(u.event_id) filter (where u.taken > 0))[1] as event_id,
      pg_catalog.max(u.attempt) as attempt
    from (
      select p as endpoint_id, 0 as requests, 0 as taken, null::uuid as event_id, null as attempt
      from pg_catalog.unnest(p_endpoint_ids) p
      union all
      -- An ordered lane is one request.
      select c.endpoint_id, case when c.ordered then 1 else pg_catalog.count(*) end,
        pg_catalog.count(*), (pg_catalog.array_agg(c.event_id))[1], pg_catalog.max(c.attempt)
      from unnest(p_claimed.events, p_claimed.endpoints, p_claimed.attempts, p_claimed.lanes,
        p_claimed.ordered) as c (event_id, endpoint_id, attempt, lane_id, ordered)
      group by c.endpoint_id, c.lane_id, c.ordered
    ) u
    group by u.endpoint_id
  ) p
  cross join lateral (
    select o.ctid as gate_at, o.* from outbox.gate o
    where o.endpoint_id = p.endpoint_id order by o.changed_at desc limit 1
  ) o
  cross join lateral (
    select e.* from outbox.endpoint e where e.id = o.endpoint_id offset 0
  ) e
  cross join lateral (
    select p.taken > 0 and e.breaker_enabled and o.breaker = 'open' and o.open_until <= p_now
      as probing
  ) b
  cross join lateral (
    select o.in_flight + p.requests as in_flight,
      case
        when p.taken > 0 and e.rate_per_second is not null
        then outbox.tokens_at(o.tokens, o.tokens_at, e.rate_per_second, e.rate_burst, p_now)
          - p.taken
        else o.tokens
      end as tokens,
      case when p.taken > 0 and e.rate_per_second is not null then p_now else o.tokens_at end
        as tokens_at,
      case when b.probing then 'half_open' else o.breaker end as breaker,
      case when b.probing then p.event_id else o.probe_event end as probe_event,
      case when b.probing then p.attempt else o.probe_attempt end as probe_attempt
    offset 0
  ) served
  cross join lateral (
    -- No lane is due before both lanes_from and p_now: a change of a lane makes it due at the p_now
    -- of its transaction or later, and that transaction calls park() with the same p_now.
    select coalesce(
      (select l.next_at from outbox.lane l
       where l.gate_id = o.id and l.next_at >= least(o.lanes_from, p_now) and l.next_at < 'infinity'
         and not l.isolated
       order by l.next_at limit 1),
      'infinity') as due_at
    offset 0
  ) lane_in_order
  cross join lateral (
    select lane_in_order.due_at, case
      when v_left_out then outbox.lane_due_at(o.id, least(o.lanes_from, p_now), false, p_now)
      else lane_in_order.due_at
    end as claim_at
    offset 0
  ) first_lane
  cross join lateral (
    select case
      when e.rate_per_second is not null
      then outbox.next_token_at(served.tokens, served.tokens_at, e.rate_per_second)
    end as next_token_at
    offset 0
  ) rate
  cross join lateral (
    select greatest(o.not_before, rate.next_token_at, case
      when o.depth = 0 or e.status = 'deleted' then 'infinity'
      when e.status <> 'enabled' then p_now + interval '5 s'
      when served.breaker = 'open' and e.breaker_enabled
      then greatest(o.open_until, first_lane.claim_at)
      when (served.breaker = 'half_open' and e.breaker_enabled)
        or served.in_flight - case when v_left_out then outbox.stuck_requests(o.id) else 0 end
          >= outbox.allowed_in_flight(
            e.max_in_flight, o.last_timed_out, greatest(o.ramp_from, e.ramp_from), p_now)
      then least(
        -- While its limit grows, it may send more before any result arrives.
        case
          when p_now < greatest(o.ramp_from, e.ramp_from) + interval '10 s'
          then p_now + interval '1 s'
        end,
        -- Of ordered lanes, next_at is the end of the lease or the retry; there may be 100,000, so
        -- the index finds the first. An unordered lane may be due before its lease ends.
        coalesce(
          least(
            -- Leases in a lane that is left out may have ended long ago.
            case
              when v_left_out then greatest(outbox.first_lease_end(o.id), p_now + interval '1 s')
              else outbox.first_lease_end(o.id)
            end,
            (select l.next_at from outbox.lane l
             where l.gate_id = o.id and l.ordered and l.next_at > p_now and l.next_at < 'infinity'
             order by l.next_at limit 1)),
          p_now + interval '1 s'))
      else first_lane.claim_at
    end) as at
    -- offset 0: evaluated once; the planner would copy the expression four times.
    offset 0
  ) earliest
  cross join lateral (
    -- Normally there is no isolated lane.
    select case
      when coalesce(f.due_at, 'infinity') = 'infinity' or o.depth = 0 or e.status = 'deleted'
      then 'infinity'
      else greatest(f.due_at, o.not_before, rate.next_token_at, case
        when e.status <> 'enabled' then p_now + interval '5 s'
        when e.breaker_enabled and served.breaker = 'open' then o.open_until
        when (e.breaker_enabled and served.breaker = 'half_open')
          or served.in_flight - case when v_left_out then outbox.stuck_requests(o.id) else 0 end
            >= outbox.allowed_in_flight(
              e.max_in_flight, o.last_timed_out, greatest(o.ramp_from, e.ramp_from), p_now)
        then p_now + interval '1 s'
      end)
    end as at
    from (
      select case
        when v_left_out then outbox.lane_due_at(o.id, '-infinity', true, p_now)
        else pg_catalog.min(l.next_at)
      end as due_at
      from outbox.lane l
      where l.gate_id = o.id and l.isolated
    ) f
    offset 0
  ) isolated
  cross join lateral (
    select
      case
        when earliest.at > p_now then earliest.at
        when o.next_at <= p_now and p.taken = 0 then o.next_at
        else p_now
      end as next_at,
      first_lane.due_at as lanes_from,
      pg_catalog.date_trunc('second', p_now) as changed_at
  ) decided
  -- lanes_from may stay up to 1 s too early, which saves writes.
  where g.ctid = o.gate_at and (
    p.taken > 0 or g.next_at <> decided.next_at or g.isolated_at <> isolated.at
    or decided.lanes_from < o.lanes_from
    or (decided.lanes_from > o.lanes_from + interval '1 s' and decided.lanes_from < 'infinity'));
end
$$;
comment on function outbox.park(uuid[], timestamptz, outbox.claimed) is
  'Sets when the gates of these endpoints are due. p_claimed: what was just claimed from them; its '
  'requests, tokens and probes are counted, and the gates that are still due go to the back of the '
  'ring. locks: the caller holds the gates.';

create function outbox.rest_lane(
  p_lane_id bigint, p_for interval, p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  update outbox.lane l set
    not_before = greatest(l.not_before, p_now + p_for),
    next_at = case
      when l.halted or l.leased > 0 or l.next_at = 'infinity' then l.next_at
      else greatest(l.next_at, p_now + p_for)
    end
  where l.id = p_lane_id and l.ordered;
end
$$;
comment on function outbox.rest_lane(bigint, interval, timestamptz) is
  'Delays an ordered lane by p_for. locks: the caller holds the gate, and parks it afterwards.';
