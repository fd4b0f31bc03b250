-- Isolated deliveries. A delivery may end its run each time, for example because its response makes
-- the process run out of memory. All deliveries that the run holds lose their leases with it, and
-- nobody knows which one is the cause. So after two lost leases in a row each of them is sent
-- alone: a run that holds nothing else gets exactly this one, and nothing more until it has ended.
-- Only the cause loses further leases and becomes a dead letter. Any result ends the isolation.
--
-- Isolated deliveries wait for runs that hold nothing. While other deliveries are due, one of them
-- is claimed every 5 s at most. If one has waited for 5 s because each run is busy, one run drains:
-- it gets nothing until it holds nothing.

create unlogged table outbox.isolation (
  run_id uuid primary key,
  claimed_at timestamptz,
  drains_from timestamptz,
  event_id uuid,
  endpoint_id uuid,
  attempt integer
);
comment on table outbox.isolation is
  'Runs that have claimed an isolated delivery (claimed_at, and the delivery while it is in '
  'flight) or that get nothing until they hold nothing (drains_from).';

create function outbox.has_isolated(p_before timestamptz) returns boolean
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_unsent text[] := outbox.unsent_kinds();
begin
  return exists (
    select from outbox.gate g
    where g.isolated_at <= p_before and g.isolated_at < 'infinity'
      and (v_unsent = '{}' or not outbox.is_unsent(g.endpoint_id, v_unsent)));
end
$$;
comment on function outbox.has_isolated(timestamptz) is
  'Whether an isolated delivery that the run can send has been due since p_before or longer.';

create function outbox.holds_isolated(p_run uuid, p_now timestamptz) returns boolean
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  if exists (
    select from outbox.isolation i
    join outbox.delivery d on d.event_id = i.event_id and d.endpoint_id = i.endpoint_id
      and d.attempt = i.attempt and d.leased_until > p_now
    where i.run_id = p_run)
  then
    return true;
  end if;
  update outbox.isolation i set event_id = null, endpoint_id = null, attempt = null
  where i.run_id = p_run and i.event_id is not null;
  return false;
end
$$;
comment on function outbox.holds_isolated(uuid, timestamptz) is
  'Whether a run has an isolated delivery in flight, so that it gets no other one.';

create function outbox.drains(p_run uuid, p_now timestamptz) returns boolean
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  if exists (
    select from outbox.isolation i
    where i.run_id = p_run and i.drains_from > p_now - interval '1 minute')
  then
    return true;
  end if;
  -- One run at a time. A run that has not become empty within a minute goes on.
  if not outbox.has_isolated(p_now - interval '5 s') or exists (
    select from outbox.isolation i
    where i.drains_from > p_now - interval '2 minutes' or i.claimed_at > p_now - interval '5 s')
  then
    return false;
  end if;
  insert into outbox.isolation (run_id, drains_from) values (p_run, p_now)
  on conflict (run_id) do update set drains_from = excluded.drains_from;
  return true;
end
$$;
comment on function outbox.drains(uuid, timestamptz) is
  'Whether a run gets nothing until it holds nothing, because an isolated delivery has waited for '
  '5 s. One run at a time does this.';

create function outbox.is_isolated_turn(p_run uuid, p_now timestamptz) returns boolean
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_from timestamptz := outbox.ring_from(p_now);
begin
  return exists (
      select from outbox.isolation i
      where i.run_id = p_run and i.drains_from > p_now - interval '1 minute')
    or not exists (
      select from outbox.gate g
      where g.next_at >= v_from and g.next_at <= p_now and g.next_at < 'infinity')
    or not exists (
      select from outbox.isolation i where i.claimed_at > p_now - interval '5 s');
end
$$;
comment on function outbox.is_isolated_turn(uuid, timestamptz) is
  'Whether a run that holds nothing gets an isolated delivery: it has drained, nothing else is '
  'due, or the last one was claimed 5 s ago.';

create function outbox.rejoin(p_endpoint_id uuid, p_now timestamptz) returns integer
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_delivery outbox.delivery;
  v_gate bigint;
  v_moved integer := 0;
begin
  for v_delivery in
    select d.*
    from outbox.gate g
    join outbox.lane l on l.gate_id = g.id and not l.ordered and l.key_hash = -1
    cross join lateral (
      select o.* from outbox.delivery o
      where o.lane_id = l.id and o.lane_id > 0 and o.due_at >= l.head_at and o.due_at <= p_now
        and o.leased_until is null
      order by o.due_at, o.event_id limit 100
    ) d
    where g.endpoint_id = p_endpoint_id and d.lost_leases < outbox.isolated_after()
  loop
    v_gate := coalesce(v_gate, (
      select g.id from outbox.gate g where g.endpoint_id = p_endpoint_id
      order by g.changed_at desc limit 1));
    perform outbox.change_lane(v_delivery, outbox.replay_lane(v_gate, 0), p_now);
    v_moved := v_moved + 1;
  end loop;
  return v_moved;
end
$$;
comment on function outbox.rejoin(uuid, timestamptz) is
  'Moves due deliveries of the isolated lane that had a result since to the normal lane, and '
  'returns how many. locks: the caller holds the gate, and parks it afterwards.';

create function outbox.postpone_isolated(
  p_endpoint_id uuid, p_now timestamptz
) returns boolean
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
as $$
begin
  update outbox.lane l set
    next_at = coalesce(
      least(l.leased_until, (
        select d.due_at from outbox.delivery d
        where d.lane_id = l.id and d.lane_id > 0 and d.due_at > p_now
        order by d.due_at limit 1)),
      'infinity'),
    changed_at = pg_catalog.date_trunc('second', p_now)
  from outbox.gate g
  where g.endpoint_id = p_endpoint_id and l.gate_id = g.id
    and not l.ordered and l.key_hash = -1 and l.next_at <= p_now
    and (l.leased = 0 or l.leased_until > p_now)
    and not exists (
      select from outbox.delivery d
      where d.lane_id = l.id and d.lane_id > 0 and d.due_at >= l.head_at and d.due_at <= p_now
        and d.leased_until is null);
  return found;
end
$$;
comment on function outbox.postpone_isolated(uuid, timestamptz) is
  'Sets when the isolated lane of an endpoint is due again, if no delivery of it is due: that of '
  'its last claim failed, and waits for its retry. Returns whether it did. locks: the caller holds '
  'the gate, and parks it afterwards.';

create function outbox.rejoin_due(p_now timestamptz) returns void
language plpgsql set search_path = ''
as $$
declare
  v_endpoint uuid := outbox.due_isolated_gate(p_now);
begin
  -- A lane that is due in vain is not left to the next empty run: busy runs would drain for it.
  if v_endpoint is not null
    and (outbox.rejoin(v_endpoint, p_now) > 0 or outbox.postpone_isolated(v_endpoint, p_now))
  then
    perform outbox.park(array[v_endpoint], p_now);
  end if;
end
$$;
comment on function outbox.rejoin_due(timestamptz) is
  'As rejoin() and postpone_isolated(), for the endpoint whose isolated lane has been due longest, '
  'so that a busy run can claim these deliveries too, and does not drain for none. locks: the gate '
  'with SKIP LOCKED.';

create function outbox.serve_isolated(
  p_endpoint_id uuid, p_now timestamptz
) returns outbox.claimed
language plpgsql set search_path = ''
as $$
declare
  v_claimed outbox.claimed;
begin
  perform outbox.record_lost_leases(array[p_endpoint_id], p_now);
  if outbox.rejoin(p_endpoint_id, p_now) > 0 then
    perform outbox.park(array[p_endpoint_id], p_now);
  end if;
  v_claimed := outbox.lease_deliveries(array[p_endpoint_id], 1, p_now, true);
  perform outbox.park(array[p_endpoint_id], p_now, v_claimed);
  if v_claimed.events is not null then
    v_claimed := outbox.on_claimed(v_claimed, p_now);
  end if;
  perform outbox.admit_endpoints(array[p_endpoint_id]);
  return v_claimed;
end
$$;
comment on function outbox.serve_isolated(uuid, timestamptz) is
  'As serve(), for one isolated delivery of an endpoint. locks: the caller holds the gate.';

create function outbox.due_isolated_gate(p_now timestamptz) returns uuid
language plpgsql
set search_path = ''
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
set lock_timeout = '20ms'
as $$
declare
  v_unsent text[] := outbox.unsent_kinds();
begin
  return (
    select g.endpoint_id from outbox.gate g
    where g.isolated_at <= p_now and g.isolated_at < 'infinity'
      and (v_unsent = '{}' or not outbox.is_unsent(g.endpoint_id, v_unsent))
      and not exists (
        select from outbox.endpoint_refusal r
        where r.endpoint_id = g.endpoint_id and r.again_at > p_now)
    order by g.isolated_at limit 1
    for no key update of g skip locked);
exception when lock_not_available then
  return null;
end
$$;
comment on function outbox.due_isolated_gate(timestamptz) is
  'Locks the gate whose isolated delivery has been due longest, and returns its endpoint; null if '
  'there is none, or after a wait of 20 ms (see the head of gate). locks: the gate with SKIP '
  'LOCKED.';

create function outbox.claim_isolated(p_run uuid, p_now timestamptz) returns outbox.claimed
language plpgsql set search_path = ''
as $$
declare
  v_claimed outbox.claimed;
  v_endpoint uuid;
begin
  -- An endpoint may have none that is due after all: then park() has set a later isolated_at.
  for v_look in 1 .. 10 loop
    v_endpoint := outbox.due_isolated_gate(p_now);
    exit when v_endpoint is null;
    v_claimed := outbox.serve_one(v_endpoint, 1, p_now, true);
    -- It may have timed out.
    exit when v_claimed.events is not null or outbox.is_timeout('57014');
  end loop;
  if v_claimed.events is not null then
    insert into outbox.isolation (run_id, claimed_at, event_id, endpoint_id, attempt)
    values (p_run, p_now, v_claimed.events[1], v_claimed.endpoints[1], v_claimed.attempts[1])
    on conflict (run_id) do update set
      claimed_at = excluded.claimed_at, drains_from = null, event_id = excluded.event_id,
      endpoint_id = excluded.endpoint_id, attempt = excluded.attempt;
  end if;
  return v_claimed;
end
$$;
comment on function outbox.claim_isolated(uuid, timestamptz) is
  'Leases one isolated delivery to a run that holds nothing; null if none is due. If the database '
  'refuses it, it is left out (serve_one()). locks: gates with SKIP LOCKED.';

create function outbox.claim_for(
  p_run uuid, p_held integer, p_limit integer, p_touched uuid[], p_now timestamptz,
  p_full text[]
) returns outbox.claimed
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_claimed outbox.claimed;
begin
  if p_limit = 0 or not (
    outbox.has_isolated(p_now)
    or exists (select from outbox.isolation i where i.run_id = p_run))
  then
    return outbox.claim(p_limit, p_touched, p_now, p_full);
  end if;
  perform outbox.claim(0, p_touched, p_now, p_full);
  if outbox.holds_isolated(p_run, p_now) then
    return null;
  end if;
  perform outbox.rejoin_due(p_now);
  if p_held > 0 then
    if outbox.drains(p_run, p_now) then
      return null;
    end if;
  elsif outbox.is_isolated_turn(p_run, p_now) then
    v_claimed := outbox.claim_isolated(p_run, p_now);
    if v_claimed.events is not null then
      return v_claimed;
    end if;
    update outbox.isolation i set drains_from = null
    where i.run_id = p_run and i.drains_from is not null;
  end if;
  return outbox.claim(p_limit, null, p_now, p_full);
end
$$;
comment on function outbox.claim_for(uuid, integer, integer, uuid[], timestamptz, text[]) is
  'As claim(), or one isolated delivery. p_held: how many deliveries the run holds; null counts as '
  'none. A run that holds an isolated delivery gets nothing.';
