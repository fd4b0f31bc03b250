-- Manual actions on one delivery. Like dispatch(), they wait for the gate. A forgotten transaction
-- at a console would block an endpoint, so it is ended after two idle seconds.

create function outbox.lock_open_delivery(
  p_event_id uuid, p_endpoint_id uuid
) returns outbox.delivery
language plpgsql set search_path = ''
as $$
declare
  v_delivery outbox.delivery;
begin
  perform outbox.refuse_change(e.org_id) from outbox.endpoint e where e.id = p_endpoint_id;
  perform pg_catalog.set_config('idle_in_transaction_session_timeout', '2s', true);
  perform outbox.lock_gates(array[p_endpoint_id]);
  -- The deliveries of a deleted endpoint count as cancelled, although their rows still exist.
  select d.*
  into v_delivery
  from outbox.delivery d
  join outbox.endpoint e on e.id = d.endpoint_id and e.status <> 'deleted'
  where d.event_id = p_event_id and d.endpoint_id = p_endpoint_id;
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('event %s has no open delivery for endpoint %s',
        pg_catalog.quote_nullable(p_event_id::text),
        pg_catalog.quote_nullable(p_endpoint_id::text)),
      hint = 'outbox.delivery_status has its status; replay() sends a finished delivery again';
  elsif v_delivery.leased_until > outbox.clock() then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format(
        'the delivery of event %s to endpoint %s is in flight', p_event_id,
        p_endpoint_id),
      hint = pg_catalog.format('Repeat the call after its attempt, at %s at the latest',
        v_delivery.leased_until);
  end if;
  return v_delivery;
end
$$;
comment on function outbox.lock_open_delivery(uuid, uuid) is
  'Locks the gate and returns the open delivery. OH002: it is not open; OH004: it is in flight; '
  'OH012: the organisation moves.';

create function outbox.make_due(
  p_event_id uuid, p_endpoint_id uuid, p_delay interval
) returns jsonb
language plpgsql set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_delivery outbox.delivery;
  v_at timestamptz;
begin
  if p_delay is null or p_delay > interval '7 days' then
    perform outbox.invalid('delay',
      pg_catalog.format('is %s', pg_catalog.quote_nullable(p_delay::text)),
      'Expected an interval of at most 7 days');
  end if;
  v_at := v_now + greatest(p_delay, interval '0');
  perform outbox.create_refused(p_event_id, p_endpoint_id, v_now);
  perform outbox.record_lost_lease(outbox.lock_open_delivery(p_event_id, p_endpoint_id), v_now);
  select * into v_delivery from outbox.delivery d
  where d.event_id = p_event_id and d.endpoint_id = p_endpoint_id;
  if not found then
    -- The expired lease was the last attempt. No error, so that this is recorded.
    return pg_catalog.jsonb_build_object('event_id', p_event_id, 'endpoint_id', p_endpoint_id,
      'due_at', null);
  end if;
  update outbox.lane l set
    not_before = case when l.ordered then v_at else l.not_before end,
    -- An ordered lane with a lease stays out of the ring until the lease ends. Otherwise its gate
    -- would be due without a delivery to claim.
    next_at = case
      when l.halted or (l.ordered and l.leased > 0) then l.next_at
      when l.ordered then v_at
      else least(l.next_at, greatest(v_at, l.head_at))
    end
  where l.id = v_delivery.lane_id;
  update outbox.delivery d set
    due_at = case when l.ordered then d.due_at else greatest(v_at, l.head_at) end
  from outbox.lane l
  where d.event_id = p_event_id and d.endpoint_id = p_endpoint_id and l.id = d.lane_id;
  delete from outbox.refusal r
  where r.endpoint_id = p_endpoint_id and r.event_id = p_event_id;
  perform outbox.park(array[p_endpoint_id], v_now);
  perform outbox.kick_on_commit();
  return pg_catalog.jsonb_build_object(
    'event_id', p_event_id, 'endpoint_id', p_endpoint_id, 'due_at', v_at);
end
$$;
comment on function outbox.make_due(uuid, uuid, interval) is
  'What schedule_retry() does, but no row in the audit trail.';

create function outbox.schedule_retry(
  p_event_id uuid, p_endpoint_id uuid, p_delay interval
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_result jsonb := outbox.make_due(p_event_id, p_endpoint_id, p_delay);
begin
  perform outbox.note_delivery(p_event_id, p_endpoint_id, 'RETRIED', 'Next attempt moved');
  return v_result;
end
$$;
comment on function outbox.schedule_retry(uuid, uuid, interval) is
  'Sets the time of the next attempt of an open delivery and, if it is ordered, of its lane. Also '
  'releases a delivery that was set aside. p_delay: at most 7 days. Returns {"event_id", '
  '"endpoint_id", "due_at"}; due_at is null if an expired lease was its last attempt, so that it '
  'is a dead letter now. OH001, OH002, OH004.';

create function outbox.retry_now(p_event_id uuid, p_endpoint_id uuid) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  return outbox.schedule_retry(p_event_id, p_endpoint_id, interval '0');
end
$$;
comment on function outbox.retry_now(uuid, uuid) is
  'Makes an open delivery due at once, also one that was set aside. It does not resume a held '
  'endpoint. Returns {"event_id", "endpoint_id", "due_at"} as schedule_retry(). OH002, OH004.';

create function outbox.first_retry_at(p_lane_id bigint) returns timestamptz
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return (
    select t.next_retry_at
    from (
      select d.event_id, d.endpoint_id, d.failed_attempts, d.lost_leases from outbox.delivery d
      where d.lane_id = p_lane_id and d.lane_id > 0
      order by d.due_at, d.event_id limit 1
    ) f
    cross join lateral (
      select a.next_retry_at from outbox.attempt a
      -- Not =: see last_attempt().
      where a.event_id = f.event_id and a.endpoint_id is not distinct from f.endpoint_id
        and a.kind = 'attempt'
      order by a.attempt desc limit 1
    ) t
    where f.failed_attempts > 0 or f.lost_leases > 0);
end
$$;
comment on function outbox.first_retry_at(bigint) is
  'The time of the next attempt of the first delivery of a lane, from its last attempt; null if '
  'it has not failed.';

create function outbox.close_missing(
  p_delivery outbox.delivery, p_now timestamptz
) returns void
language plpgsql set search_path = ''
as $$
begin
  raise warning 'outbox: event % is not stored, so its delivery to endpoint % ends',
    p_delivery.event_id, p_delivery.endpoint_id;
  perform outbox.close_delivery(p_delivery, 'event_missing', 'the event is not stored', p_now);
  perform outbox.park(array[p_delivery.endpoint_id], p_now);
end
$$;
comment on function outbox.close_missing(outbox.delivery, timestamptz) is
  'Ends a delivery without a lease whose event is not stored, as event_missing: there is nothing '
  'to send. locks: the caller holds the gate.';

create function outbox.close_delivery(
  p_delivery outbox.delivery, p_outcome text, p_why text, p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_was_first boolean;
  v_retry_at timestamptz;
begin
  delete from outbox.delivery d
  where d.event_id = p_delivery.event_id and d.endpoint_id = p_delivery.endpoint_id;
  insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome, error,
    failed_attempts)
  values (p_delivery.event_id, p_delivery.endpoint_id, p_delivery.attempt, p_now, 'close',
    p_outcome, p_why, p_delivery.failed_attempts);
  perform outbox.count_ended(p_delivery.endpoint_id, p_outcome, 1);
  update outbox.dead_letter x set attempt = p_delivery.attempt
  where x.event_id = p_delivery.event_id and x.endpoint_id = p_delivery.endpoint_id;
  delete from outbox.refusal r
  where r.endpoint_id = p_delivery.endpoint_id and r.event_id = p_delivery.event_id;
  -- An ordered lane waits only for the retry of its first delivery. After that is closed, the next
  -- one may also wait for a retry, because an expired lease fails all claimed deliveries of a lane.
  v_was_first := not exists (
    select from outbox.delivery d
    where d.lane_id = p_delivery.lane_id and d.lane_id > 0
      and (d.due_at, d.event_id) < (p_delivery.due_at, p_delivery.event_id));
  if v_was_first then
    v_retry_at := coalesce(outbox.first_retry_at(p_delivery.lane_id), p_now);
  end if;
  update outbox.lane l set
    depth = l.depth - 1,
    not_before = case
      when l.ordered and v_was_first then least(l.not_before, v_retry_at)
      else l.not_before
    end,
    next_at = case
      when l.depth = 1 then 'infinity'
      when l.ordered and v_was_first and not l.halted and l.leased = 0
        then greatest(p_now, least(l.not_before, v_retry_at))
      else l.next_at
    end
  where l.id = p_delivery.lane_id;
  update outbox.gate g set depth = g.depth - 1 where g.endpoint_id = p_delivery.endpoint_id;
  perform outbox.on_closed(p_delivery.event_id, p_outcome, p_why, p_now);
  delete from outbox.lane l
  where l.id = p_delivery.lane_id and l.ordered and l.depth = 0 and not l.halted and l.leased = 0;
  perform outbox.park(array[p_delivery.endpoint_id], p_now);
end
$$;
comment on function outbox.close_delivery(outbox.delivery, text, text, timestamptz) is
  'Ends a delivery that is not in flight, and records its end as an attempt of kind close. locks: '
  'the caller has the gate locked.';

create function outbox.cancel_delivery(
  p_event_id uuid, p_endpoint_id uuid, p_why text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
begin
  perform outbox.create_refused(p_event_id, p_endpoint_id, v_now);
  perform outbox.record_lost_lease(outbox.lock_open_delivery(p_event_id, p_endpoint_id), v_now);
  perform outbox.close_delivery(outbox.lock_open_delivery(p_event_id, p_endpoint_id), 'cancelled',
    coalesce(p_why, 'cancelled by hand'), v_now);
  perform outbox.note_delivery(p_event_id, p_endpoint_id, 'CANCELLED',
    pg_catalog.format('Delivery cancelled: %s', coalesce(p_why, 'by hand')));
  return pg_catalog.jsonb_build_object(
    'event_id', p_event_id, 'endpoint_id', p_endpoint_id, 'status', 'cancelled');
end
$$;
comment on function outbox.cancel_delivery(uuid, uuid, text) is
  'Cancels an open delivery that is not in flight: {"event_id", "endpoint_id", "status": '
  '"cancelled"}. OH002, OH004.';

create function outbox.resume_lane(
  p_endpoint_id uuid, p_partition_key text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_ordering text;
  v_depth bigint;
begin
  perform pg_catalog.set_config('idle_in_transaction_session_timeout', '2s', true);
  perform outbox.lock_gates(array[p_endpoint_id]);
  -- After the lock, because the endpoint may have been deleted before.
  v_ordering := (outbox.check_endpoint(p_endpoint_id)).ordering;
  perform outbox.refuse_change(e.org_id) from outbox.endpoint e where e.id = p_endpoint_id;
  update outbox.lane l set
    halted = false,
    next_at = case
      when l.leased > 0 then l.next_at
      when l.depth > 0 then greatest(v_now, l.not_before)
      else 'infinity'
    end
  from outbox.gate g
  where g.endpoint_id = p_endpoint_id and l.gate_id = g.id and l.ordered
    and l.key_hash = outbox.key_hash(v_ordering, p_partition_key) and l.halted
  returning l.depth into v_depth;
  if not found then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('key %s of endpoint %s is not halted',
        pg_catalog.quote_nullable(p_partition_key), p_endpoint_id),
      hint =
        'Only a lane of an ordered endpoint with on_dead_letter = halt stops, after a dead letter';
  end if;
  delete from outbox.lane l using outbox.gate g
  where v_depth = 0 and g.endpoint_id = p_endpoint_id and l.gate_id = g.id and l.ordered
    and l.key_hash = outbox.key_hash(v_ordering, p_partition_key) and l.leased = 0;
  perform outbox.park(array[p_endpoint_id], v_now);
  perform outbox.kick_on_commit();
  perform outbox.note_endpoint(p_endpoint_id, 'LANE_RESUMED', 'Halted partition key resumed');
  return pg_catalog.jsonb_build_object(
    'endpoint_id', p_endpoint_id, 'partition_key', p_partition_key, 'open', v_depth);
end
$$;
comment on function outbox.resume_lane(uuid, text) is
  'Resumes an ordered key that stopped after a dead letter: {"endpoint_id", "partition_key", '
  '"open"}. OH002; OH004: it is not halted.';
