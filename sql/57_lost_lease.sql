-- Lost leases. A run may die between any two statements; what it had claimed is held until the
-- lease ends, and is then recorded as a failed attempt before anything else becomes of it.

create function outbox.lost(p_delivery outbox.delivery) returns outbox.result
language plpgsql immutable set search_path = ''
as $$
begin
  return row(p_delivery.event_id, p_delivery.endpoint_id, p_delivery.attempt,
    'failed', null, 'lease_expired', 'The run that held the delivery ended without a result',
    null, null, null, null, null, null, null)::outbox.result;
end
$$;
comment on function outbox.lost(outbox.delivery) is
  'The result of a delivery whose lease has ended.';

create function outbox.lose_leases(p_endpoint_ids uuid[], p_now timestamptz) returns integer
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
  v_lost outbox.result[];
  v_lanes bigint[];
  v_applied integer := 0;
begin
  select pg_catalog.array_agg(outbox.lost(d.held)) into v_lost
  from pg_catalog.unnest(p_endpoint_ids) p
  cross join lateral (
    select o as gate, o.* from outbox.gate o
    where o.endpoint_id = p order by o.changed_at desc limit 1
  ) g
  cross join lateral (select e from outbox.endpoint e where e.id = g.endpoint_id offset 0) x
  cross join lateral (
    -- The lanes whose turn it is, as take() will see them. All that are due (100,000 take 40 ms)
    -- only when the gate is full or waits for its probe: no turn comes then before a lease ends.
    select n.* from outbox.lane n
    where n.gate_id = g.id and n.next_at >= g.lanes_from and n.next_at <= p_now
      and n.next_at < 'infinity'
    order by n.next_at
    limit case
      when g.breaker = 'closed' and g.in_flight < outbox.allowed_in_flight(g.gate, x.e, p_now)
      then 1000
    end
  ) l
  cross join lateral (
    -- Leased rows lie at the head of their lane, behind none but rows that were given back, of
    -- which there are never more than may be in flight (1,000).
    select d as held from outbox.delivery d
    where d.lane_id = l.id and d.lane_id > 0 and d.due_at >= l.head_at
    order by d.due_at, d.event_id
    limit 2000
  ) d
  where l.leased > 0 and l.leased_until <= p_now and (d.held).leased_until <= p_now;
  if v_lost is not null then
    v_applied := outbox.complete(v_lost, p_now);
  end if;
  -- The lease that a lane noted as its first may have ended with a result. A gate that is full goes
  -- by that note, and would be due in vain until the next lease ends.
  v_lanes := array(
    select l.id
    from pg_catalog.unnest(p_endpoint_ids) p
    cross join lateral (
      select o.id from outbox.gate o
      where o.endpoint_id = p order by o.changed_at desc limit 1
    ) g
    cross join lateral outbox.unordered_lanes(g.id) l
    where l.leased > 0 and l.leased_until <= p_now);
  if pg_catalog.cardinality(v_lanes) > 0 then
    update outbox.lane l set leased_until = coalesce((
      select pg_catalog.min(d.leased_until) from (
        select d.leased_until from outbox.delivery d
        where d.lane_id = l.id and d.lane_id > 0 and d.due_at >= l.head_at
        order by d.due_at, d.event_id
        limit 2000
      ) d), l.leased_until)
    where l.id = any (v_lanes);
  end if;
  return v_applied;
end
$$;
comment on function outbox.lose_leases(uuid[], timestamptz) is
  'Records every lease of these endpoints that has ended as a failed attempt of class '
  'lease_expired and returns how many: it spends a try and waits for its retry like any other, '
  'so that a delivery that kills its run does not kill one after the other. locks: the caller '
  'holds the gates.';

create function outbox.settle_lost(p_delivery outbox.delivery, p_now timestamptz) returns void
language plpgsql set search_path = ''
as $$
begin
  -- A lease that has ended is recorded before anything else becomes of the delivery.
  if p_delivery.leased_until is not null then
    perform outbox.complete(array[outbox.lost(p_delivery)], p_now);
  end if;
end
$$;
comment on function outbox.settle_lost(outbox.delivery, timestamptz) is
  'Records the ended lease of a delivery, if it has one. locks: the caller holds the gate.';
