-- Which lanes of an endpoint the database refuses to change. serve_one() asks if a claim fails and
-- no delivery is the cause. Each change is tried and undone. If the row of the gate, or each lane
-- of it, is refused, the cause is the endpoint.

create function outbox.try_lane(p_lane_id bigint, p_now timestamptz) returns void
language plpgsql set search_path = ''
as $$
begin
  update outbox.lane l set
    leased = l.leased + 1, leased_until = p_now + interval '1 s', next_at = p_now + interval '1 s',
    changed_at = pg_catalog.date_trunc('second', p_now)
  where l.id = p_lane_id;
  raise exception using errcode = 'OH000', message = 'the change was only tried';
exception when sqlstate 'OH000' then
  return;
end
$$;
comment on function outbox.try_lane(bigint, timestamptz) is
  'Changes a lane as a claim does, and undoes that. Raises the error if the database refuses it.';

create function outbox.new_lane_error(p_gate_id bigint, p_now timestamptz) returns text[]
language plpgsql set search_path = ''
as $$
declare
  v_lane bigint;
begin
  begin
    insert into outbox.lane (gate_id, ordered, key_hash) values (p_gate_id, true, p_gate_id)
    returning id into v_lane;
    perform outbox.try_lane(v_lane, p_now);
    raise exception using errcode = 'OH000', message = 'the lane was only tried';
  exception when sqlstate 'OH000' then
    return null;
  end;
exception when query_canceled or assert_failure or others then
  if outbox.is_passing(sqlstate) and not outbox.may_stay(sqlstate) then
    raise;
  end if;
  return array[sqlstate, sqlerrm];
end
$$;
comment on function outbox.new_lane_error(bigint, timestamptz) is
  'Creates and changes a new lane of a gate, and undoes that. Returns the SQLSTATE and the text of '
  'the error if the database refuses it, or null.';

create function outbox.lanes_to_try(
  p_endpoint_id uuid, p_most integer, p_now timestamptz
) returns bigint[]
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
as $$
begin
  return array(
    select o.id
    from outbox.gate g
    cross join lateral (
      (
        select l.id, l.next_at from outbox.lane l
        where l.gate_id = g.id and l.next_at <= p_now and l.next_at < 'infinity'
          and not outbox.is_left_out(l.id, p_now)
        order by l.next_at limit p_most
      )
      union
      -- record_lost_leases() changes these too.
      select l.id, l.next_at from outbox.lane l
      where l.gate_id = g.id and not l.ordered and l.leased > 0 and l.leased_until <= p_now
        and not outbox.is_left_out(l.id, p_now)
    ) o
    where g.endpoint_id = p_endpoint_id
    order by o.next_at, o.id);
end
$$;
comment on function outbox.lanes_to_try(uuid, integer, timestamptz) is
  'The lanes of an endpoint that a claim may change: up to p_most that are due, and the unordered '
  'ones with ended leases.';

create function outbox.refuse_lanes(p_endpoint_id uuid, p_now timestamptz) returns integer
language plpgsql set search_path = ''
as $$
declare
  v_most constant integer := 64;
  v_gate bigint := (
    select g.id from outbox.gate g
    where g.endpoint_id = p_endpoint_id order by g.changed_at desc limit 1);
  v_lanes bigint[] := outbox.lanes_to_try(p_endpoint_id, v_most, p_now);
  v_lane bigint;
  v_started timestamptz := pg_catalog.clock_timestamp();
  -- First, so that a slow lane can be compared with another one.
  v_new_error text[] := outbox.new_lane_error(v_gate, p_now);
  v_is_cause boolean := v_new_error is null;
  v_slowest interval := pg_catalog.clock_timestamp() - v_started;
  v_refused bigint[] := array[]::bigint[];
  v_sqlstates text[] := array[]::text[];
  v_errors text[] := array[]::text[];
  v_late text[];
  v_is_like_others boolean := false;
begin
  if outbox.is_timeout(v_new_error[1]) then
    v_late := v_new_error;
    v_lanes := '{}';
  end if;
  foreach v_lane in array v_lanes loop
    -- A call has 5 s. So a lane that is started before this and times out is much slower than
    -- those before it.
    exit when outbox.is_late_claim();
    v_started := pg_catalog.clock_timestamp();
    begin
      perform outbox.try_lane(v_lane, p_now);
      v_is_cause := true;
      v_slowest := greatest(v_slowest, pg_catalog.clock_timestamp() - v_started);
    exception when query_canceled or assert_failure or others then
      if outbox.is_passing(sqlstate) and not outbox.may_stay(sqlstate) then
        raise;
      end if;
      if outbox.is_timeout(sqlstate) then
        v_late := array[sqlstate, sqlerrm];
      end if;
      -- If it is as slow as the others, the database is slow.
      v_is_like_others := v_late is not null
        and pg_catalog.clock_timestamp() - v_started < 2 * v_slowest;
      if not v_is_like_others then
        v_refused := v_refused || v_lane;
        v_sqlstates := v_sqlstates || sqlstate;
        v_errors := v_errors || sqlerrm;
      end if;
      -- The statement timeout fires only once, so nothing more is tried after it.
      exit when v_late is not null;
    end;
  end loop;
  if v_late is not null and (v_is_like_others or not v_is_cause) then
    perform outbox.refuse_endpoint(p_endpoint_id, v_late[1], v_late[2], p_now);
  end if;
  for v_place in 1 .. case when v_is_cause then pg_catalog.cardinality(v_refused) else 0 end loop
    perform outbox.refuse_lane(v_refused[v_place], p_endpoint_id, v_sqlstates[v_place],
      v_errors[v_place], p_now);
  end loop;
  return case
    when v_late is not null then null
    when v_is_cause then pg_catalog.cardinality(v_refused)
    else 0
  end;
end
$$;
comment on function outbox.refuse_lanes(uuid, timestamptz) is
  'Finds the lanes of an endpoint that the database refuses to change, leaves them out for a while '
  'and returns how many; null if the statement timed out, so that no time is left. If it refuses '
  'each lane, a new one too, it leaves out none: then the cause is the endpoint. If a lane times '
  'out that takes as long as the others, it leaves out the endpoint. locks: the caller holds the '
  'gate.';
