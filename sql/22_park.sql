-- A gate's place in the ring. Whatever changes a gate or its lanes is followed by park(), which
-- says when the gate is to be looked at next, so that none is forgotten or looked at in vain.
-- Only the tick moves a gate besides, and only to the front: when its endpoint was changed.

create function outbox.allowed_in_flight(
  p_gate outbox.gate, p_endpoint outbox.endpoint, p_now timestamptz
) returns integer
language plpgsql immutable set search_path = ''
as $$
begin
  return case when p_gate.last_timed_out then 1
    else least(p_endpoint.max_in_flight, pg_catalog.ceil(greatest(1, p_endpoint.max_in_flight
      * extract(
        epoch from p_now - greatest(p_gate.ramp_from, p_endpoint.ramp_from)
      ) / 10)))::integer end;
end
$$;
comment on function outbox.allowed_in_flight(outbox.gate, outbox.endpoint, timestamptz) is
  'How many requests an endpoint may have in flight: one after a timeout until it succeeds; '
  'after a resume or a closed breaker a share that grows to max_in_flight within 10 s.';

create function outbox.first_lane_at(p_gate_id bigint) returns timestamptz
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return coalesce(
    (select l.next_at from outbox.lane l
     where l.gate_id = p_gate_id and l.next_at < 'infinity' order by l.next_at limit 1),
    'infinity');
end
$$;
comment on function outbox.first_lane_at(bigint) is
  'When the first lane of a gate is due; infinity when none is.';

create function outbox.park(p_endpoint_ids uuid[], p_now timestamptz) returns void
language plpgsql
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see 00_setup.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
begin
  update outbox.gate g set next_at = n.next_at
  from outbox.gate o
  cross join lateral (
    select e as endpoint, e.* from outbox.endpoint e where e.id = o.endpoint_id offset 0
  ) e
  cross join lateral (
    select greatest(o.not_before, case
      when o.depth = 0 or e.state = 'deleted' then 'infinity'
      when e.state <> 'enabled' then p_now + interval '5 s'
      when o.breaker = 'open' and e.breaker_enabled
      then greatest(o.open_until, outbox.first_lane_at(o.id))
      when (o.breaker = 'half_open' and e.breaker_enabled)
        or o.in_flight >= outbox.allowed_in_flight(o, e.endpoint, p_now)
      then least(
        -- While its share still grows there is more to send before anything comes back.
        case
          when p_now < greatest(o.ramp_from, e.ramp_from) + interval '10 s'
          then p_now + interval '1 s'
        end,
        coalesce(
          (select pg_catalog.min(l.leased_until) from outbox.lane l
           where l.gate_id = o.id and not l.ordered and l.leased > 0),
          (select l.next_at from outbox.lane l
           where l.gate_id = o.id and l.next_at > p_now and l.next_at < 'infinity'
           order by l.next_at limit 1),
          p_now + interval '1 s'))
      else outbox.first_lane_at(o.id)
    end) as next_at
  ) n
  where o.endpoint_id = any (p_endpoint_ids) and g.ctid = o.ctid
    and g.next_at is distinct from n.next_at;
end
$$;
comment on function outbox.park(uuid[], timestamptz) is
  'Puts gates at their place in the ring: when their first lane is due, when a lease ends if '
  'they are full, when the breaker lets a probe through, in a while if the endpoint is paused, '
  'never if nothing is open. locks: the caller holds the gates.';
