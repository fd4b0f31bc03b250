-- Claiming. claim() does this in one transaction:
--
--   1 park() for the gates that the results and new deliveries of this call have changed.
--   2 due_gates() locks due gates, only as many as fill the batch.
--   3 serve(): record_lost_leases() for the ended leases, lease_deliveries(), and park() again,
--     which also counts the claim in the gates; then on_claimed().
--   4 If the database refuses step 3: serve_apart() serves each gate in its own block. Of a gate
--     that fails, refuse_rows() leaves out the deliveries that cannot be leased (refused_claim),
--     refuse_lanes() the lanes that cannot be changed (refused_lane), and if it still fails,
--     refuse_endpoint() leaves out the gate. After a timeout this call has no time left:
--     suspect_endpoints() makes the next calls serve each gate alone.

create function outbox.serve(
  p_endpoint_ids uuid[], p_limit integer, p_now timestamptz
) returns outbox.claimed
language plpgsql set search_path = ''
as $$
declare
  v_endpoints uuid[] := p_endpoint_ids;
  v_claimed outbox.claimed;
begin
  if outbox.record_lost_leases(v_endpoints, p_now) > 0 then
    perform outbox.park(v_endpoints, p_now);
  end if;
  -- A lane may be due without a due delivery: its first delivery was postponed, or the clock was
  -- set back. lease_deliveries() sets when such a lane is due again. If it has read only such
  -- lanes, read the next ones: at most 100 rounds, as a precaution.
  for v_look in 1 .. 100 loop
    exit when v_endpoints is null;
    v_claimed := outbox.lease_deliveries(v_endpoints, p_limit, p_now);
    perform outbox.park(v_endpoints, p_now, v_claimed);
    if v_claimed.events is not null then
      v_claimed := outbox.on_claimed(v_claimed, p_now);
    end if;
    exit when v_claimed.events is not null;
    v_endpoints := outbox.still_due(v_endpoints, p_now);
  end loop;
  perform outbox.admit_endpoints(p_endpoint_ids);
  return v_claimed;
end
$$;
comment on function outbox.serve(uuid[], integer, timestamptz) is
  'Records the lost leases of these endpoints, leases up to p_limit of their due deliveries and '
  'parks their gates. locks: the caller holds the gates.';

create function outbox.joined(
  p_claimed outbox.claimed, p_more outbox.claimed
) returns outbox.claimed
language sql immutable set search_path = ''
as $$
  select row(
    p_claimed.events || p_more.events, p_claimed.endpoints || p_more.endpoints,
    p_claimed.attempts || p_more.attempts, p_claimed.failed_attempts || p_more.failed_attempts,
    p_claimed.lanes || p_more.lanes, p_claimed.ordered || p_more.ordered,
    p_claimed.replayed || p_more.replayed, p_claimed.leases_ms || p_more.leases_ms
  )::outbox.claimed
$$;
comment on function outbox.joined(outbox.claimed, outbox.claimed) is
  'Two claims joined into one.';

create function outbox.serve_one(
  p_endpoint_id uuid, p_limit integer, p_now timestamptz, p_isolated boolean default false
) returns outbox.claimed
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_most constant integer := 32;
  v_timed_out boolean := exists (
    select from outbox.endpoint_refusal r
    where r.endpoint_id = p_endpoint_id and r.failures > 0 and r.sqlstate = '57014');
  v_limit integer;
  v_lanes integer;
  v_sqlstate text;
  v_error text;
begin
  -- If it timed out before, first find the delivery that takes the time.
  if not v_timed_out then
    begin
      return case
        when p_isolated then outbox.serve_isolated(p_endpoint_id, p_now)
        else outbox.serve(array[p_endpoint_id], p_limit, p_now)
      end;
    exception when query_canceled or assert_failure or others then
      if outbox.is_passing(sqlstate) and not outbox.may_stay(sqlstate) then
        raise;
      elsif outbox.is_timeout(sqlstate) then
        perform outbox.refuse_endpoint(p_endpoint_id, sqlstate, sqlerrm, p_now);
        return null;
      end if;
    end;
  end if;
  -- Outside the block, so that the refusals stay if it fails.
  v_limit := least(p_limit, outbox.refuse_rows(p_endpoint_id, p_isolated, v_most, p_now));
  if v_limit = 0 then
    return null;
  end if;
  -- As above, for the lanes.
  if v_timed_out and outbox.refuse_lanes(p_endpoint_id, p_now) is null then
    return null;
  end if;
  for v_try in 1 .. 2 loop
    begin
      return case
        when p_isolated then outbox.serve_isolated(p_endpoint_id, p_now)
        else outbox.serve(array[p_endpoint_id], v_limit, p_now)
      end;
    exception when query_canceled or assert_failure or others then
      if outbox.is_passing(sqlstate) and not outbox.may_stay(sqlstate) then
        raise;
      end if;
      v_sqlstate := sqlstate;
      v_error := sqlerrm;
    end;
    exit when v_try = 2 or outbox.is_timeout(v_sqlstate);
    v_lanes := outbox.refuse_lanes(p_endpoint_id, p_now);
    if v_lanes is null then
      return null;
    end if;
    exit when v_lanes = 0;
  end loop;
  perform outbox.refuse_endpoint(p_endpoint_id, v_sqlstate, v_error, p_now);
  return null;
end
$$;
comment on function outbox.serve_one(uuid, integer, timestamptz, boolean) is
  'As serve() for one endpoint, or serve_isolated(). Deliveries that the database refuses to lease '
  'are left out, and then lanes that it refuses to change. If it still refuses to claim, the '
  'endpoint is left out for a while. locks: the caller holds the gate.';

create function outbox.serve_apart(
  p_endpoint_ids uuid[], p_limit integer, p_now timestamptz
) returns outbox.claimed
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_most_bytes constant bigint := 4 * 1024 * 1024;
  v_endpoint uuid;
  v_claimed outbox.claimed;
  v_one outbox.claimed;
  v_left integer := p_limit;
  v_bytes bigint := 0;
  v_of_org constant integer := outbox.most_of_org(p_limit, p_now);
  v_org text;
  -- How many deliveries each organisation has.
  v_taken jsonb := '{}'::jsonb;
  v_room integer;
begin
  foreach v_endpoint in array p_endpoint_ids loop
    exit when v_left <= 0 or v_bytes >= v_most_bytes;
    v_org := (select e.org_id from outbox.endpoint e where e.id = v_endpoint);
    v_room := least(v_left, v_of_org - coalesce((v_taken ->> v_org)::integer, 0));
    continue when v_room <= 0;
    v_one := outbox.serve_one(v_endpoint, v_room, p_now);
    if v_one.events is not null then
      v_claimed := outbox.joined(v_claimed, v_one);
      v_left := v_left - pg_catalog.cardinality(v_one.events);
      v_taken := v_taken || pg_catalog.jsonb_build_object(v_org,
        coalesce((v_taken ->> v_org)::integer, 0) + pg_catalog.cardinality(v_one.events));
      v_bytes := v_bytes + (
        select pg_catalog.sum(d.body_bytes) from outbox.delivery d
        where d.event_id = any (v_one.events) and d.endpoint_id = v_endpoint);
    else
      -- It may have timed out. The statement timeout fires only once, so claim nothing after it.
      exit when outbox.is_timeout('57014');
    end if;
  end loop;
  return v_claimed;
end
$$;
comment on function outbox.serve_apart(uuid[], integer, timestamptz) is
  'As serve_one(), for one endpoint after the other; each organisation has most_of_org() of '
  'p_limit. locks: the caller holds the gates.';

create function outbox.park_apart(p_endpoint_ids uuid[], p_now timestamptz) returns void
language plpgsql set search_path = ''
as $$
declare
  v_endpoint uuid;
begin
  begin
    perform outbox.park(p_endpoint_ids, p_now);
    return;
  exception when query_canceled or assert_failure or others then
    if outbox.fails_call(sqlstate) then
      raise;
    end if;
  end;
  foreach v_endpoint in array p_endpoint_ids loop
    begin
      perform outbox.park(array[v_endpoint], p_now);
    exception when query_canceled or assert_failure or others then
      if outbox.fails_call(sqlstate) then
        raise;
      end if;
      perform outbox.refuse_endpoint(v_endpoint, sqlstate, sqlerrm, p_now);
    end;
  end loop;
end
$$;
comment on function outbox.park_apart(uuid[], timestamptz) is
  'As park(); if the database refuses to park one gate, all others are parked. locks: the caller '
  'holds the gates.';

create function outbox.claim(
  p_limit integer, p_touched uuid[], p_now timestamptz, p_full text[]
) returns outbox.claimed
language plpgsql set search_path = ''
as $$
declare
  v_endpoints uuid[];
begin
  if p_touched is not null then
    perform outbox.park_apart(p_touched, p_now);
  end if;
  if p_limit < 1 then
    return null;
  end if;
  -- Again if it has waited for a gate: see the head of engine/queue/gate.
  for v_try in 1 .. 3 loop
    begin
      -- Outside the block of serve(), so that the gates stay locked if that block fails.
      v_endpoints := outbox.due_gates(p_limit, p_now, p_full);
      exit;
    exception when lock_not_available then
      v_endpoints := null;
    end;
  end loop;
  if v_endpoints is null then
    return null;
  end if;
  if pg_catalog.cardinality(v_endpoints) = 1 then
    return outbox.serve_one(v_endpoints[1], p_limit, p_now);
  end if;
  begin
    return outbox.serve(v_endpoints, p_limit, p_now);
  exception when query_canceled or assert_failure or others then
    if outbox.is_passing(sqlstate) and not outbox.may_stay(sqlstate) then
      raise;
    elsif sqlstate = '57014' then
      perform outbox.suspect_endpoints(v_endpoints, sqlstate, sqlerrm, p_now);
      return null;
    end if;
  end;
  return outbox.serve_apart(v_endpoints, p_limit, p_now);
end
$$;
comment on function outbox.claim(integer, uuid[], timestamptz, text[]) is
  'Parks the gates of p_touched, which complete() and route() have changed, then leases up to '
  'p_limit deliveries of due gates, but none of the organisations p_full. If the database refuses '
  'to lease a delivery or to claim from an endpoint, all others are served. After a timeout, the '
  'next calls find the slow endpoint. An error of the server is raised.';

create function outbox.is_cut(
  p_claimed outbox.claimed, p_limit integer, p_routed integer, p_now timestamptz
) returns boolean
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_of_org integer := outbox.most_of_org(p_limit, p_now);
begin
  if p_limit < 1 then
    return false;
  end if;
  return v_of_org < p_limit
      and coalesce(pg_catalog.cardinality(p_claimed.events), 0) >= v_of_org
    -- A call that routes nothing may find the same parts again.
    or p_routed > 0 and exists (select from outbox.waiting_part);
end
$$;
comment on function outbox.is_cut(outbox.claimed, integer, integer, timestamptz) is
  'Whether a call with p_limit free slots probably left work because organisations take turns: due '
  'deliveries (most_of_org()), or events to route besides the p_routed deliveries that it created. '
  'Then the run asks again at once, as after a claim that filled all its slots.';

create function outbox.claimed_before(
  p_run uuid, p_seq bigint, p_now timestamptz
) returns outbox.claimed
language plpgsql stable
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
begin
  select pg_catalog.array_agg(h.event_id), pg_catalog.array_agg(h.endpoint_id),
    pg_catalog.array_agg(h.attempt), pg_catalog.array_agg(h.failed_attempts),
    pg_catalog.array_agg(h.lane_id), pg_catalog.array_agg(h.ordered),
    pg_catalog.array_agg(h.replayed), pg_catalog.array_agg(h.lease_ms)
  into v_claimed
  from (
    select d.event_id, d.endpoint_id, d.attempt,
      d.failed_attempts + d.lost_leases + d.lost_before as failed_attempts, d.lane_id, l.ordered,
      d.replayed_at is not null as replayed,
      (extract(epoch from d.leased_until - p_now) * 1000)::integer as lease_ms
    from outbox.run_batch b
    cross join lateral unnest(b.events, b.endpoints, b.attempts) with ordinality
      as c (event_id, endpoint_id, attempt, place)
    cross join lateral (
      select d.* from outbox.delivery d
      where d.event_id = c.event_id and d.endpoint_id = c.endpoint_id and d.attempt = c.attempt
        and d.leased_until > p_now offset 0
    ) d
    cross join lateral (
      select l.ordered from outbox.lane l
      where l.id = d.lane_id order by l.changed_at desc limit 1
    ) l
    where b.run_id = p_run and b.seq = p_seq
    order by c.place
  ) h;
  return v_claimed;
end
$$;
comment on function outbox.claimed_before(uuid, bigint, timestamptz) is
  'The deliveries that an earlier call of a run claimed and that are still leased.';
