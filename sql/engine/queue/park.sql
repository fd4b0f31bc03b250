-- A gate's place in the ring. Whatever changes a gate or its lanes is followed by park(), which
-- says when the gate is to be looked at next, so that none is forgotten or looked at in vain.
-- Only the tick moves a gate besides, and only to the front: when its endpoint was changed.

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
  'How many requests an endpoint may have in flight: one after a timeout until it succeeds; '
  'after a resume or a closed breaker a share that grows to max_in_flight within 10 s.';

create function outbox.next_token_at(
  p_tokens double precision, p_tokens_at timestamptz, p_rate_per_second double precision
) returns timestamptz
language plpgsql immutable set search_path = ''
as $$
begin
  -- Up to the microsecond: rounded down there would be no whole token yet.
  return p_tokens_at + pg_catalog.ceil((1 - p_tokens) / p_rate_per_second * 1000000)
    * interval '1 microsecond';
end
$$;
comment on function outbox.next_token_at(double precision, timestamptz, double precision) is
  'When a gate with p_tokens at p_tokens_at has its next whole token, at p_rate_per_second; null '
  'without a rate. It goes by the rate as it is now: a changed one counts from the last claim.';

create function outbox.first_lease_end(p_gate_id bigint) returns timestamptz
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
as $$
begin
  -- The lane that is always there by itself, the newest version first; the jobs' have few.
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
      where l.gate_id = p_gate_id and not l.ordered and l.key_hash > 0
    ) l
    where l.leased > 0);
end
$$;
comment on function outbox.first_lease_end(bigint) is
  'When the first lease in the unordered lanes of a gate ends (the live one, and one for each '
  'replay job), as they noted it; null when they hold none.';

create function outbox.first_lane_at(p_gate_id bigint, p_from timestamptz) returns timestamptz
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return coalesce(
    (select l.next_at from outbox.lane l
     where l.gate_id = p_gate_id and l.next_at >= p_from and l.next_at < 'infinity'
     order by l.next_at limit 1),
    'infinity');
end
$$;
comment on function outbox.first_lane_at(bigint, timestamptz) is
  'When the first lane of a gate is due, of those that are not due before p_from; infinity when '
  'none is.';

create function outbox.park(
  p_endpoint_ids uuid[], p_now timestamptz, p_served uuid[] default '{}'
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
begin
  update outbox.gate g set next_at = n.next_at, lanes_from = n.lanes_from, changed_at = n.changed_at
  from pg_catalog.unnest(p_endpoint_ids) p
  cross join lateral (
    select o.ctid as gate_at, o.* from outbox.gate o
    where o.endpoint_id = p order by o.changed_at desc limit 1
  ) o
  cross join lateral (
    select e.* from outbox.endpoint e where e.id = o.endpoint_id offset 0
  ) e
  cross join lateral (
    -- Whoever changes a lane makes it due at its p_now or later, and comes here with the same
    -- p_now: so none lies before both.
    select coalesce(
      (select l.next_at from outbox.lane l
       where l.gate_id = o.id and l.next_at >= least(o.lanes_from, p_now) and l.next_at < 'infinity'
       order by l.next_at limit 1),
      'infinity') as at
    offset 0
  ) f
  cross join lateral (
    select case
      when e.rate_per_second is not null
      then outbox.next_token_at(o.tokens, o.tokens_at, e.rate_per_second)
    end as next_token_at
    offset 0
  ) t
  cross join lateral (
    select greatest(o.not_before, t.next_token_at, case
      when o.depth = 0 or e.status = 'deleted' then 'infinity'
      when e.status <> 'enabled' then p_now + interval '5 s'
      when o.breaker = 'open' and e.breaker_enabled then greatest(o.open_until, f.at)
      when (o.breaker = 'half_open' and e.breaker_enabled)
        or o.in_flight >= outbox.allowed_in_flight(
          e.max_in_flight, o.last_timed_out, greatest(o.ramp_from, e.ramp_from), p_now)
      then least(
        -- While its share still grows there is more to send before anything comes back.
        case
          when p_now < greatest(o.ramp_from, e.ramp_from) + interval '10 s'
          then p_now + interval '1 s'
        end,
        -- An ordered lane is due when its lease ends, or its retry, and there may be a hundred
        -- thousand of them; an unordered one is due again long before that.
        coalesce(
          least(
            outbox.first_lease_end(o.id),
            (select l.next_at from outbox.lane l
             where l.gate_id = o.id and l.ordered and l.next_at > p_now and l.next_at < 'infinity'
             order by l.next_at limit 1)),
          p_now + interval '1 s'))
      else f.at
    end) as at
    -- Evaluated once, where the planner would write it out four times.
    offset 0
  ) d
  cross join lateral (
    -- Who is due keeps the place that he has, and goes to the back when he was served. Nobody comes
    -- in before now, which is where the ring may begin.
    select
      case
        when d.at > p_now then d.at
        when o.next_at <= p_now and (o.endpoint_id = any (p_served)) is not true then o.next_at
        else p_now
      end as next_at,
      f.at as lanes_from,
      pg_catalog.date_trunc('second', p_now) as changed_at
  ) n
  -- lanes_from may lag behind: a row is not rewritten for the sake of it each time.
  where g.ctid = o.gate_at and (
    g.next_at <> n.next_at or n.lanes_from < o.lanes_from
    or (n.lanes_from > o.lanes_from + interval '1 s' and n.lanes_from < 'infinity'));
end
$$;
comment on function outbox.park(uuid[], timestamptz, uuid[]) is
  'Puts gates at their place in the ring: when their first lane is due, when a lease ends if '
  'they are full, when the breaker lets a probe through, in a while if the endpoint is paused, '
  'never if nothing is open; those that are due and were served at the back. locks: the caller '
  'holds the gates.';

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
  'Holds back one recipient''s lane. The caller holds the gate, and parks it.';
