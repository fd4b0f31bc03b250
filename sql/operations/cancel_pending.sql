-- Cancels everything that waits to be delivered, for a copy of the database that becomes a project
-- of its own. No run delivers from the copy meanwhile. Measured on a busy machine: 57 s for 100,000
-- deliveries that are not routed yet, so one call ends in time and the next one continues.

create function outbox.route_all(p_now timestamptz, p_until timestamptz) returns boolean
language plpgsql set search_path = ''
as $$
declare
  v_batch outbox.routing;
begin
  -- Events that are not routed yet get their deliveries first, so that each has a recorded end.
  loop
    v_batch := outbox.read_unrouted();
    if v_batch.events is not null then
      perform outbox.lock_gates(array(
        select distinct p.endpoint_id from pg_catalog.unnest(v_batch.pairs) p));
      perform outbox.route(v_batch, p_now);
    elsif not outbox.has_unrouted() then
      return true;
    else
      -- Another call is routing.
      perform pg_catalog.pg_sleep(0.01);
    end if;
    if pg_catalog.clock_timestamp() >= p_until then
      return false;
    end if;
  end loop;
  -- plpgsql_check requires a return after a loop.
  return null;
end
$$;
comment on function outbox.route_all(timestamptz, timestamptz) is
  'Routes all events until p_until, one batch at least; returns whether no more event was found. '
  'locks: router with SKIP LOCKED, gates by id.';

create function outbox.cancel_open(
  p_endpoint_id uuid, p_why text, p_now timestamptz
) returns bigint
language plpgsql
set search_path = ''
set enable_bitmapscan = off
as $$
declare
  v_gate bigint := (
    select g.id from outbox.gate g
    where g.endpoint_id = p_endpoint_id order by g.changed_at desc limit 1);
  v_events uuid[];
begin
  with lanes as materialized (
    select l.id from outbox.lane l where l.gate_id = v_gate
  ), deleted as (
    delete from outbox.delivery d using lanes l
    where d.lane_id = l.id and d.lane_id > 0
    returning d.event_id, d.attempt
  ), attempts as (
    insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome, error)
    select d.event_id, p_endpoint_id, d.attempt, p_now, 'close', 'cancelled', p_why
    from deleted d
  ), letters as (
    update outbox.dead_letter x set attempt = d.attempt
    from deleted d
    where x.event_id = d.event_id and x.endpoint_id = p_endpoint_id
  )
  select pg_catalog.array_agg(d.event_id) into v_events from deleted d;
  if v_events is null then
    return 0;
  end if;
  delete from outbox.refusal r where r.endpoint_id = p_endpoint_id;
  delete from outbox.lane l where l.gate_id = v_gate and l.ordered and not l.halted;
  update outbox.lane l set depth = 0, leased = 0, leased_until = null, next_at = 'infinity'
  where l.gate_id = v_gate;
  -- A probe was cancelled with the rest: the next delivery is one.
  update outbox.gate g set depth = 0, in_flight = 0,
    breaker = case when g.breaker = 'half_open' then 'open' else g.breaker end,
    probe_event = null, probe_attempt = null
  where g.id = v_gate;
  perform outbox.count_ended(p_endpoint_id, 'cancelled', pg_catalog.cardinality(v_events));
  perform outbox.on_closed(e, 'cancelled', p_why, p_now) from pg_catalog.unnest(v_events) e;
  perform outbox.park(array[p_endpoint_id], p_now);
  return pg_catalog.cardinality(v_events);
end
$$;
comment on function outbox.cancel_open(uuid, text, timestamptz) is
  'Cancels all open deliveries of an endpoint, also those in flight, and records the end of each; '
  'returns how many. locks: the caller holds the gate.';

create function outbox.stop_waiting() returns void
language plpgsql set search_path = ''
as $$
begin
  update outbox.unroutable u set again_at = 'infinity' where u.again_at < 'infinity';
  update outbox.refusal r set again_at = 'infinity'
  where r.step = 'routing' and r.again_at < 'infinity';
end
$$;
comment on function outbox.stop_waiting() is
  'Sets aside the events and deliveries that wait after a temporary error of routing, so that only '
  'a person continues them: route_again(), retry_now().';

create function outbox.cancel_pending(p_why text, p_now timestamptz, p_until timestamptz)
returns jsonb
language plpgsql set search_path = ''
as $$
declare
  v_jobs bigint;
  v_endpoints uuid[];
  v_endpoint uuid;
  v_count bigint;
  v_cancelled bigint := 0;
  v_more boolean;
begin
  -- In the order of work_replay_jobs(), which changes its jobs while it holds the gates.
  perform pg_catalog.pg_advisory_xact_lock('outbox.replay_job'::regclass::oid::bigint);
  with ended as (
    update outbox.replay_job j set status = 'cancelled', finished_at = p_now
    where j.status in ('running', 'paused')
    returning j.id
  )
  select pg_catalog.count(*) into v_jobs from ended;
  v_more := not outbox.route_all(p_now, p_until);
  -- After it, because an event whose routing fails waits too.
  perform outbox.stop_waiting();
  if not v_more then
    v_endpoints := array(select e.id from outbox.endpoint e);
    perform outbox.lock_gates(v_endpoints);
    foreach v_endpoint in array v_endpoints loop
      v_count := outbox.cancel_open(v_endpoint, p_why, p_now);
      v_cancelled := v_cancelled + v_count;
      v_more := v_count > 0 and pg_catalog.clock_timestamp() >= p_until;
      exit when v_more;
    end loop;
  end if;
  return pg_catalog.jsonb_build_object(
    'deliveries', v_cancelled, 'replay_jobs', v_jobs, 'more', v_more);
end
$$;
comment on function outbox.cancel_pending(text, timestamptz, timestamptz) is
  'Cancels all open deliveries, those of events that are not routed yet included, and all replay '
  'jobs, and sets aside what waits after an error of routing, until p_until: {"deliveries", '
  '"replay_jobs": how many, "more": true if it has to be called again}. Each call routes one batch '
  'or cancels the deliveries of one endpoint at least. locks: the advisory lock of '
  'work_replay_jobs(), replay jobs, router with SKIP LOCKED, all gates by id.';
