-- Expiry: a delivery that is still open event.retention_days after its event becomes a dead letter.
-- A call looks at 5,000 old deliveries, among which the organisations take turns, and the endpoints
-- of each, and the next call at those after them. So an organisation with a million old deliveries
-- delays no other one until all of its own have expired, and an endpoint whose gate is held no
-- other endpoint. cleanup_progress stores the last event that a call looked at, if
-- there are more than 5,000.

create function outbox.old_deliveries(
  p_limit integer, p_before timestamptz, p_now timestamptz
) returns outbox.delivery[]
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
  v_start constant uuid := '00000000-0000-0000-0000-000000000000'::uuid;
  v_most constant integer := 5000;
  v_from constant uuid := (
    select p.swept_to from outbox.cleanup_progress p where p.name = 'expired_deliveries');
  -- The other project expires what moves, and announces it. Normally there is none.
  v_elsewhere constant text[] := array(
    select m.org_id from outbox.org_move m where m.status in ('receiving', 'moved'));
  v_to uuid;
  v_old outbox.delivery[];
begin
  -- Only those that can expire now, or the oldest ones would keep all later ones from expiring.
  -- purge_deleted() cancels the deliveries of a deleted endpoint; nobody could replay them.
  with looked as materialized (
    select d as delivery, d.event_id, d.endpoint_id, d.replayed_at, d.leased_until
    from outbox.delivery d
    where d.event_id > coalesce(v_from, v_start) and d.event_id < outbox.uuid_v7_floor(p_before)
    order by d.event_id
    fetch first (v_most) rows with ties
  )
  select array(
      select o.delivery
      from (
        select d.delivery, d.event_id, e.org_id,
          pg_catalog.row_number() over (partition by d.endpoint_id order by d.event_id) as turn
        from looked d
        cross join lateral (
          select e.org_id from outbox.endpoint e
          where e.id = d.endpoint_id and e.status <> 'deleted' offset 0
        ) e
        where coalesce(d.replayed_at, '-infinity') < p_before
          and coalesce(d.leased_until, '-infinity') <= p_now
          and not exists (
            select from outbox.refusal r
            where r.endpoint_id = d.endpoint_id and r.event_id = d.event_id and r.step = 'expiry'
              and r.again_at > p_now)
          and e.org_id <> all (v_elsewhere)
      ) o
      order by pg_catalog.row_number() over (partition by o.org_id order by o.turn, o.event_id),
        o.event_id
      limit p_limit),
    case
      when (select pg_catalog.count(*) from looked) >= v_most
      then (select l.event_id from looked l order by l.event_id desc limit 1)
    end
  into v_old, v_to;
  if v_to is distinct from v_from then
    insert into outbox.cleanup_progress as p (name, swept_to) values ('expired_deliveries', v_to)
    on conflict (name) do update set swept_to = excluded.swept_to
    -- Another call may have continued meanwhile.
    where p.swept_to is not distinct from v_from;
  end if;
  return v_old;
end
$$;
comment on function outbox.old_deliveries(integer, timestamptz, timestamptz) is
  'Up to p_limit deliveries that can expire, in turns between organisations and the endpoints of '
  'each, among the next 5,000 of events older than p_before. After the last one it begins with the '
  'oldest one again. Without those that the other project of a move delivers.';

create function outbox.expire_deliveries(p_limit integer) returns integer
language plpgsql security definer
set search_path = ''
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
-- A dead letter that another session has locked: its delivery is left out for an hour. Runs cannot
-- lock the gates meanwhile.
set lock_timeout = '100ms'
as $$
declare
  v_now timestamptz := outbox.clock();
  v_before timestamptz :=
    v_now - pg_catalog.make_interval(days => outbox.setting_int('event.retention_days'));
  v_deadline timestamptz := outbox.job_deadline();
  -- Each of many deliveries may wait for a lock, and the other work of the tick with it.
  v_most_waits constant integer := 10;
  v_waits integer := 0;
  v_endpoints uuid[];
  v_old outbox.delivery[] := outbox.old_deliveries(p_limit, v_before, v_now);
  v_delivery outbox.delivery;
  v_expired integer := 0;
begin
  if pg_catalog.cardinality(v_old) = 0 then
    return 0;
  end if;
  v_endpoints := outbox.try_lock_gates(array(
    select distinct o.endpoint_id from pg_catalog.unnest(v_old) o));
  for v_delivery in
    select d.*
    from pg_catalog.unnest(v_old) o
    cross join lateral (
      select d.* from outbox.delivery d
      where d.event_id = o.event_id and d.endpoint_id = o.endpoint_id
        and d.endpoint_id = any (v_endpoints)
      for update skip locked
    ) d
    -- Again, because they may have changed before the lock.
    where coalesce(d.leased_until, '-infinity') <= v_now
      and coalesce(d.replayed_at, '-infinity') < v_before
    order by d.event_id
  loop
    -- If the database refuses to end one, go on with the others.
    begin
      perform outbox.record_lost_lease(v_delivery, v_now);
      v_expired := v_expired + outbox.expire_delivery(v_delivery, v_now)::integer;
    exception when query_canceled or assert_failure or others then
      if outbox.fails_upkeep(sqlstate) then
        raise;
      end if;
      raise warning 'outbox: event % for endpoint % cannot expire: % %', v_delivery.event_id,
        v_delivery.endpoint_id, sqlstate, sqlerrm;
      perform outbox.refuse_expiry(v_delivery, sqlstate, sqlerrm, v_now);
      v_waits := v_waits + (sqlstate = '55P03')::integer;
    end;
    -- After a timeout, nothing ends the statement any more.
    exit when v_waits = v_most_waits or pg_catalog.clock_timestamp() >= v_deadline;
  end loop;
  return v_expired;
end
$$;
comment on function outbox.expire_deliveries(integer) is
  'Expires up to p_limit deliveries that are still open event.retention_days after their event, or '
  'after their last replay: they become dead letters (why: expired). Organisations take turns, and '
  'their endpoints. If '
  'the database refuses one, or waits for a lock for 100 ms, it is left out for an hour; one that '
  'is locked, until the next call. After ten such waits it begins with no other one. Returns how '
  'many. locks: gates, then deliveries, with SKIP LOCKED.';

create function outbox.refuse_expiry(
  p_delivery outbox.delivery, p_sqlstate text, p_error text, p_now timestamptz
) returns void
language plpgsql set search_path = ''
as $$
begin
  perform outbox.note_refusal(p_delivery.event_id, p_delivery.endpoint_id, 'expiry', p_sqlstate,
    p_error, p_now + interval '1 hour', p_now);
exception when query_canceled or assert_failure or others then
  if outbox.fails_upkeep(sqlstate) then
    raise;
  end if;
  raise warning 'outbox: the refusal of event % for endpoint % cannot be recorded: % %',
    p_delivery.event_id, p_delivery.endpoint_id, sqlstate, sqlerrm;
end
$$;
comment on function outbox.refuse_expiry(outbox.delivery, text, text, timestamptz) is
  'Records that a delivery could not expire, so that the next calls leave it out for an hour, or '
  'that it could not be removed with its endpoint.';

create function outbox.expire_delivery(
  p_delivery outbox.delivery, p_now timestamptz
) returns boolean
language plpgsql set search_path = ''
as $$
declare
  v_why constant text := 'still open after the retention of events';
begin
  -- Read it again: record_lost_lease() may have changed or closed it.
  select *
  into p_delivery
  from outbox.delivery d
  where d.event_id = p_delivery.event_id and d.endpoint_id = p_delivery.endpoint_id;
  if not found then
    return false;
  end if;
  insert into outbox.dead_letter as x (
    id, event_id, endpoint_id,
    org_id, original_topic, original_message, partition_key, idempotency_key, traceparent,
    correlation_id, event_created_at,
    error, retry_count, failed_at, attempt, why)
  select
    outbox.uuid_v7(p_now), e.id, p_delivery.endpoint_id,
    e.org_id, e.type, e.body, e.partition_key, e.idempotency_key, e.traceparent,
    coalesce(e.correlation_id, e.id::text), e.created_at,
    v_why, p_delivery.failed_attempts, p_now, p_delivery.attempt, 'expired'
  from outbox.find_event(p_delivery.event_id, p_delivery.endpoint_id) e
  on conflict (event_id, endpoint_id) do update set
    error = excluded.error, retry_count = excluded.retry_count, failed_at = excluded.failed_at,
    attempt = excluded.attempt, why = excluded.why,
    replayed_at = null, at_broker = false, delivered_at = null, discarded_at = null, note = null;
  if not found then
    -- There is nothing to store as a dead letter.
    perform outbox.close_missing(p_delivery, p_now);
    return true;
  end if;
  perform outbox.close_delivery(p_delivery, 'expired', v_why, p_now);
  perform outbox.announce_dead(array[p_delivery.event_id], array[p_delivery.endpoint_id]);
  perform outbox.on_dead_letters(array[p_delivery.event_id], array[p_delivery.endpoint_id],
    p_now);
  perform outbox.park(array[p_delivery.endpoint_id], p_now);
  return true;
end
$$;
comment on function outbox.expire_delivery(outbox.delivery, timestamptz) is
  'Closes a delivery that was open too long as a dead letter (event_missing if there is no event); '
  'false if it is no longer open. '
  'locks: the caller holds the gate.';
