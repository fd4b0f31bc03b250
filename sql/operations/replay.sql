-- Replay: sending again what is finished. It begins a new life of the delivery: the same event id,
-- a fresh budget, attempt numbers that go on, no promise of order. One at a time here, many as a
-- job (operations/replay_job).

create function outbox.last_attempt(p_event_id uuid, p_endpoint_id uuid) returns integer
language plpgsql stable set search_path = ''
as $$
begin
  return greatest(
    (select pg_catalog.max(a.attempt) from outbox.attempt a
     -- Not =, or the planner, without statistics of today's partition, reads all of the endpoint's.
     where a.event_id = p_event_id and a.endpoint_id is not distinct from p_endpoint_id),
    (select x.attempt from outbox.dead_letter x
     where x.event_id = p_event_id and x.endpoint_id = p_endpoint_id));
end
$$;
comment on function outbox.last_attempt(uuid, uuid) is
  'The last attempt number of a finished delivery; null when nothing is known of it.';

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
  select g.id
  into v_gate
  from outbox.gate g
  join outbox.endpoint e on e.id = g.endpoint_id
  where g.endpoint_id = p_endpoint_id and e.status <> 'deleted';
  -- Cleanup may be removing the letter that alone still has the body: what it leaves is read after.
  perform from outbox.dead_letter x
  where x.event_id = p_event_id and x.endpoint_id = p_endpoint_id
  for no key update;
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
  update outbox.dead_letter x set replayed_at = p_now
  where x.event_id = p_event_id and x.endpoint_id = p_endpoint_id;
  return true;
end
$$;
comment on function outbox.reopen_delivery(uuid, uuid, bigint, timestamptz) is
  'Opens a finished delivery again; false when it is open, or when its event or endpoint is '
  'gone. locks: the caller holds the gate.';

create function outbox.restart_open_checks(p_event_ids uuid[]) returns void
language plpgsql set search_path = ''
as $$
begin
  -- In the order in which drop_partitions() comes to them.
  delete from outbox.partition_check c
  using (
    select o.name from outbox.partition_check o
    where o.name in (
      select outbox.partition_name('event',
        (outbox.uuid_v7_time(u) at time zone 'UTC')::date)
      from pg_catalog.unnest(p_event_ids) u)
    order by o.name
    for update
  ) o
  where c.name = o.name;
end
$$;
comment on function outbox.restart_open_checks(uuid[]) is
  'Starts the count of nights without anything open anew for the days of replayed events. locks: '
  'partition_check by name, behind the gates.';

create function outbox.replay(p_event_id uuid, p_endpoint_id uuid) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_delivery outbox.delivery;
begin
  perform pg_catalog.set_config('idle_in_transaction_session_timeout', '2s', true);
  perform outbox.lock_gates(array[p_endpoint_id]);
  -- It may have been deleted while this waited.
  perform outbox.check_endpoint(p_endpoint_id);
  if exists (
    select from outbox.delivery d where d.event_id = p_event_id and d.endpoint_id = p_endpoint_id
  ) then
    -- A pending retry is replaced: the same delivery, with a fresh budget, now.
    v_delivery := outbox.lock_open_delivery(p_event_id, p_endpoint_id);
    perform outbox.record_lost_lease(v_delivery, v_now);
    update outbox.delivery d set failed_attempts = 0, replayed_at = v_now
    where d.event_id = p_event_id and d.endpoint_id = p_endpoint_id;
    if found then
      perform outbox.schedule_retry(p_event_id, p_endpoint_id, interval '0');
      return pg_catalog.jsonb_build_object(
        'event_id', p_event_id, 'endpoint_id', p_endpoint_id, 'replaced', true);
    end if;
  end if;
  if outbox.last_attempt(p_event_id, p_endpoint_id) is null
    or not outbox.reopen_delivery(p_event_id, p_endpoint_id, 0, v_now)
  then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('nothing is known of event %s for endpoint %s',
        pg_catalog.quote_nullable(p_event_id::text), p_endpoint_id),
      hint = 'A delivered event can be replayed for event.delivered_days, a dead letter as long as '
        'it is there';
  end if;
  perform outbox.restart_open_checks(array[p_event_id]);
  perform outbox.park(array[p_endpoint_id], v_now);
  perform outbox.kick_on_commit();
  return pg_catalog.jsonb_build_object(
    'event_id', p_event_id, 'endpoint_id', p_endpoint_id, 'replaced', false);
end
$$;
comment on function outbox.replay(uuid, uuid) is
  'Sends a finished delivery again, or an open one anew with a fresh budget: {"event_id", '
  '"endpoint_id", "replaced": whether it replaced a pending retry}. OH002: nothing is known of '
  'it; OH004: it is being sent.';
