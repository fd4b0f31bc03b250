-- Replay: sends a finished delivery again. The event id stays the same, failed_attempts starts at
-- 0, attempt numbers continue, and order is not guaranteed. For many dead letters:
-- operations/replay_job.

create function outbox.last_attempt(p_event_id uuid, p_endpoint_id uuid) returns integer
language plpgsql stable set search_path = ''
as $$
begin
  return greatest(
    (select pg_catalog.max(a.attempt) from outbox.attempt a
     -- Not =: without statistics of the partition of today the planner would read all attempts of
     -- the endpoint.
     where a.event_id = p_event_id and a.endpoint_id is not distinct from p_endpoint_id),
    (select x.attempt from outbox.dead_letter x
     where x.event_id = p_event_id and x.endpoint_id = p_endpoint_id));
end
$$;
comment on function outbox.last_attempt(uuid, uuid) is
  'The last attempt number of a finished delivery; null if there is no attempt and no dead letter.';

create function outbox.reopen_delivery(
  p_event_id uuid, p_endpoint_id uuid, p_job bigint, p_now timestamptz
) returns boolean
language plpgsql set search_path = ''
as $$
declare
  v_gate bigint;
  v_lane outbox.lane;
  v_bytes integer;
  v_due timestamptz;
begin
  perform outbox.refuse_change(e.org_id) from outbox.endpoint e where e.id = p_endpoint_id;
  select g.id
  into v_gate
  from outbox.gate g
  join outbox.endpoint e on e.id = g.endpoint_id
  where g.endpoint_id = p_endpoint_id and e.status <> 'deleted';
  -- Lock the dead letter before reading the body: cleanup may delete it, and it may have the only
  -- copy.
  perform from outbox.dead_letter x
  where x.event_id = p_event_id and x.endpoint_id = p_endpoint_id
  for no key update;
  if not found then
    -- The only copy is the event: see time/sweep_events. The next statement does not see an event
    -- that was deleted meanwhile.
    perform from outbox.event e where e.id = p_event_id for key share;
  end if;
  select pg_catalog.octet_length(e.body)
  into v_bytes
  from outbox.find_event(p_event_id, p_endpoint_id) e;
  if v_gate is null or v_bytes is null then
    return false;
  end if;
  v_lane := outbox.replay_lane(v_gate, p_job);
  v_due := greatest(p_now, v_lane.head_at);
  insert into outbox.delivery (event_id, endpoint_id, lane_id, due_at, attempt, body_bytes,
    replayed_at)
  values (p_event_id, p_endpoint_id, v_lane.id, v_due,
    coalesce(outbox.last_attempt(p_event_id, p_endpoint_id), 0), v_bytes, p_now)
  on conflict (event_id, endpoint_id) do nothing;
  if not found then
    return false;
  end if;
  update outbox.lane l set depth = l.depth + 1, next_at = least(l.next_at, v_due)
  where l.id = v_lane.id;
  update outbox.gate g set depth = g.depth + 1 where g.id = v_gate;
  update outbox.dead_letter x set replayed_at = p_now, at_broker = false
  where x.event_id = p_event_id and x.endpoint_id = p_endpoint_id;
  return true;
end
$$;
comment on function outbox.reopen_delivery(uuid, uuid, bigint, timestamptz) is
  'Opens a finished delivery again. False if it is open, or if its event or endpoint was deleted. '
  'OH012: the organisation moves. locks: dead_letter, or event without one; the caller has the '
  'gate locked.';

create function outbox.restart_open_checks(p_event_ids uuid[]) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  -- In the lock order of drop_partitions().
  update outbox.partition_check c set clean_nights = 0
  from (
    select o.name from outbox.partition_check o
    where o.name in (
      select t.relname
      from pg_catalog.unnest(p_event_ids) u
      cross join lateral (select e.tableoid from outbox.event e where e.id = u offset 0) e
      join pg_catalog.pg_class t on t.oid = e.tableoid)
    order by o.name
    for update
  ) o
  where c.name = o.name;
end
$$;
comment on function outbox.restart_open_checks(uuid[]) is
  'Restarts the count of nights without an open delivery for the partitions of replayed events. '
  'locks: partition_check by name, after the gates.';

create function outbox.replay(p_event_id uuid, p_endpoint_id uuid) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_delivery outbox.delivery;
begin
  perform pg_catalog.set_config('idle_in_transaction_session_timeout', '2s', true);
  perform outbox.lock_gates(array[p_endpoint_id]);
  -- After the lock, because the endpoint may have been deleted before.
  perform outbox.check_endpoint(p_endpoint_id);
  if exists (
    select from outbox.delivery d where d.event_id = p_event_id and d.endpoint_id = p_endpoint_id
  ) then
    -- Replaces a pending retry: the delivery is due now, with failed_attempts 0.
    v_delivery := outbox.lock_open_delivery(p_event_id, p_endpoint_id);
    perform outbox.record_lost_lease(v_delivery, v_now);
    update outbox.delivery d set
      failed_attempts = 0, lost_leases = 0, lost_before = 0, replayed_at = v_now,
      rejected_secrets = null
    where d.event_id = p_event_id and d.endpoint_id = p_endpoint_id;
    if found then
      perform outbox.make_due(p_event_id, p_endpoint_id, interval '0');
      perform outbox.note_delivery(p_event_id, p_endpoint_id, 'REPLAYED', 'Delivery replayed');
      return pg_catalog.jsonb_build_object(
        'event_id', p_event_id, 'endpoint_id', p_endpoint_id, 'replaced', true);
    end if;
  end if;
  if outbox.last_attempt(p_event_id, p_endpoint_id) is null
    or not outbox.reopen_delivery(p_event_id, p_endpoint_id, 0, v_now)
  then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('event %s has no delivery and no dead letter for endpoint %s',
        pg_catalog.quote_nullable(p_event_id::text), p_endpoint_id),
      hint =
        'Replay a delivered event within event.delivered_days, a dead letter while it is stored';
  end if;
  perform outbox.restart_open_checks(array[p_event_id]);
  perform outbox.park(array[p_endpoint_id], v_now);
  perform outbox.kick_on_commit();
  perform outbox.note_delivery(p_event_id, p_endpoint_id, 'REPLAYED', 'Delivery replayed');
  return pg_catalog.jsonb_build_object(
    'event_id', p_event_id, 'endpoint_id', p_endpoint_id, 'replaced', false);
end
$$;
comment on function outbox.replay(uuid, uuid) is
  'Sends a finished delivery again, or restarts an open one with failed_attempts 0: {"event_id", '
  '"endpoint_id", "replaced": true if it was open}. OH002: there is neither a delivery nor a dead '
  'letter; OH004: it is in flight.';
