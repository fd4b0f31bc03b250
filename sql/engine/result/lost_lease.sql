-- Lost leases. A run may die between any two statements. Its claimed deliveries stay leased until
-- the lease ends. Then each is recorded as a failed attempt, before it is claimed again. This uses
-- up no retry. A delivery that ends its run each time must not end its neighbours too: after two
-- lost leases in a row it is isolated (claim/isolated), and after delivery.max_lost_leases it is a
-- dead letter.

create function outbox.lost(p_delivery outbox.delivery) returns outbox.result
language plpgsql immutable set search_path = ''
as $$
begin
  return row(p_delivery.event_id, p_delivery.endpoint_id, p_delivery.attempt,
    'failed', null, 'lease_expired', 'The run that held the delivery ended without a result',
    null, null, null, null, null, null, null, null, null, null)::outbox.result;
end
$$;
comment on function outbox.lost(outbox.delivery) is
  'The result of a delivery whose lease has ended without one: a failure of class lease_expired.';

create function outbox.change_lane(
  p_delivery outbox.delivery, p_to outbox.lane, p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_due_at timestamptz := greatest(p_delivery.due_at, p_to.head_at);
begin
  update outbox.delivery d set lane_id = p_to.id, due_at = v_due_at
  where d.event_id = p_delivery.event_id and d.endpoint_id = p_delivery.endpoint_id;
  update outbox.lane l set
    depth = l.depth + 1,
    next_at = least(l.next_at, greatest(v_due_at, p_now))
  where l.id = p_to.id;
  update outbox.lane l set
    depth = l.depth - 1,
    next_at = case when l.depth = 1 then 'infinity' else l.next_at end
  where l.id = p_delivery.lane_id;
end
$$;
comment on function outbox.change_lane(outbox.delivery, outbox.lane, timestamptz) is
  'Moves a delivery that is not leased from one unordered lane to another. locks: the caller holds '
  'the gate, and parks it afterwards.';

create function outbox.isolate(p_lost outbox.result[], p_now timestamptz) returns void
language plpgsql
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_delivery outbox.delivery;
  v_gate bigint;
begin
  for v_delivery in
    select d.*
    from pg_catalog.unnest(p_lost) r
    cross join lateral (
      select o.* from outbox.delivery o
      where o.event_id = r.event and o.endpoint_id = r.endpoint and o.leased_until is null
        and o.lost_leases >= outbox.isolated_after() offset 0
    ) d
  loop
    v_gate := (
      select l.gate_id from outbox.lane l
      where l.id = v_delivery.lane_id and not l.ordered and not l.isolated
      order by l.changed_at desc limit 1);
    if v_gate is not null then
      perform outbox.change_lane(v_delivery, outbox.replay_lane(v_gate, -1), p_now);
    end if;
  end loop;
end
$$;
comment on function outbox.isolate(outbox.result[], timestamptz) is
  'Moves those of these unordered deliveries that have lost two leases in a row to the isolated '
  'lane. apply_results() isolates ordered lanes. locks: the caller holds the gates, and parks them '
  'afterwards.';

-- The steps of record_lost_leases():
--
--   1 v_lanes   The lanes of these gates whose leased_until has passed: of the due lanes, as
--               lease_deliveries() will read them, and of the unordered ones, because park() waits
--               for their leased_until when a gate is at its limit; and the isolated ones. Normally
--               the first 1,000 due
--               lanes; the next call finds the rest. All due lanes (40 ms for 100,000) if the gate
--               is at its limit or waits for its probe: then it is not due before a lease ends.
--   2 v_lost    The deliveries of these lanes whose lease has ended.
--   3           complete_apart() records them as failures, isolate() moves those that are isolated.
--   4           leased_until of each lane that still has leases becomes the end of the first lease.
--
-- An example at 12:00:25, checked by tests/sql/engine/complete/lost_lease_example.test.sql:
--
--   lane            leased_until   its leases end at     recorded   leased_until after
--   a (unordered)   12:00:20       12:00:20, 12:00:30    the first  12:00:30
--   b (ordered)     12:00:25       12:00:25, 12:00:25    both       null
--   c (ordered)     12:00:35       12:00:35              none       12:00:35, the lane is not due
--
-- No delivery uses up a retry, and two requests are no longer in flight: b was one request.
create function outbox.record_lost_leases(p_endpoint_ids uuid[], p_now timestamptz) returns integer
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
  v_lost outbox.result[];
  v_lanes bigint[];
  v_done outbox.completed;
begin
  v_lanes := array(
    select n.id
    from pg_catalog.unnest(p_endpoint_ids) p
    cross join lateral (
      select o.* from outbox.gate o
      where o.endpoint_id = p order by o.changed_at desc limit 1
    ) g
    cross join lateral (select e.* from outbox.endpoint e where e.id = g.endpoint_id offset 0) e
    cross join lateral (
      (
        select l.id, l.leased, l.leased_until from outbox.lane l
        where l.gate_id = g.id and l.next_at >= g.lanes_from and l.next_at <= p_now
          and l.next_at < 'infinity'
        order by l.next_at
        limit case
          when g.breaker = 'closed' and g.in_flight < outbox.allowed_in_flight(
            e.max_in_flight, g.last_timed_out, greatest(g.ramp_from, e.ramp_from), p_now)
          then 1000
        end
      )
      union all
      (
        select l.id, l.leased, l.leased_until from outbox.lane l
        where l.gate_id = g.id and not l.ordered and l.key_hash = 0
        order by l.changed_at desc limit 1
      )
      union all
      select l.id, l.leased, l.leased_until from outbox.lane l
      where l.gate_id = g.id and not l.ordered and l.key_hash <> 0
      union all
      select l.id, l.leased, l.leased_until from outbox.lane l
      where l.gate_id = g.id and l.isolated and l.next_at <= p_now
    ) n
    -- The lanes of a gate without a request in flight are not read: they have no lease.
    where g.in_flight > 0 and n.leased > 0 and n.leased_until <= p_now
      and not outbox.is_left_out(n.id, p_now));
  if pg_catalog.cardinality(v_lanes) = 0 then
    return 0;
  end if;
  v_lost := array(
    select outbox.lost(d.held)
    from (select distinct u from pg_catalog.unnest(v_lanes) u) n (id)
    cross join lateral (
      select l.id, l.head_at from outbox.lane l
      where l.id = n.id order by l.changed_at desc limit 1
    ) l
    cross join lateral (
      -- Leased rows are at the head of their lane. Only released rows may be before them, at most
      -- as many as may be in flight (1,000).
      select d as held from outbox.delivery d
      where d.lane_id = l.id and d.lane_id > 0 and d.due_at >= l.head_at
      order by d.due_at, d.event_id
      limit 2000
    ) d
    where (d.held).leased_until <= p_now
      -- Skip a delivery that could not be released, or each call would process it again.
      and not exists (
        select from outbox.refusal r
        where r.endpoint_id = (d.held).endpoint_id and r.event_id = (d.held).event_id
          and r.step <> 'expiry' and r.again_at > p_now));
  if pg_catalog.cardinality(v_lost) > 0 then
    v_done := outbox.complete_apart(v_lost, p_now);
    perform outbox.isolate(v_lost, p_now);
  end if;
  -- If the first lease ended with a result, leased_until is too early.
  update outbox.lane l set leased_until = coalesce((
    select pg_catalog.min(d.leased_until) from (
      select d.leased_until from outbox.delivery d
      where d.lane_id = l.id and d.lane_id > 0 and d.due_at >= l.head_at
      order by d.due_at, d.event_id
      limit 2000
    ) d), l.leased_until)
  where l.id = any (v_lanes) and l.leased > 0;
  return coalesce(v_done.applied + v_done.refused, 0);
end
$$;
comment on function outbox.record_lost_leases(uuid[], timestamptz) is
  'Records the ended leases of these endpoints as failed attempts of class lease_expired, and '
  'returns how many, with those that the database refused to record. Isolates the deliveries that '
  'have lost two leases in a row. locks: the caller holds the gates.';

create function outbox.record_lost_lease(p_delivery outbox.delivery, p_now timestamptz) returns void
language plpgsql set search_path = ''
as $$
begin
  if p_delivery.leased_until is not null then
    perform outbox.complete(array[outbox.lost(p_delivery)], p_now);
    perform outbox.isolate(array[outbox.lost(p_delivery)], p_now);
  end if;
end
$$;
comment on function outbox.record_lost_lease(outbox.delivery, timestamptz) is
  'Records the ended lease of a delivery, if it has one, before the delivery is changed by hand. '
  'locks: the caller holds the gate.';
