-- Expiry: a delivery that is still open event.retention_days after its event becomes a dead letter.

create function outbox.expire_deliveries(p_limit integer) returns integer
language plpgsql security definer
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_now timestamptz := outbox.clock();
  v_before timestamptz :=
    v_now - pg_catalog.make_interval(days => outbox.setting_int('event.retention_days'));
  v_endpoints uuid[];
  v_delivery outbox.delivery;
  v_expired integer := 0;
begin
  select pg_catalog.array_agg(distinct o.endpoint_id) into v_endpoints
  from (
    select d.endpoint_id from outbox.delivery d
    where d.event_id < outbox.uuid_v7_floor(v_before)
      and coalesce(d.replayed_at, '-infinity') < v_before
    order by d.event_id
    limit p_limit
  ) o;
  if v_endpoints is null then
    return 0;
  end if;
  -- purge_deleted() cancels the deliveries of a deleted endpoint; nobody could replay them.
  v_endpoints := outbox.try_lock_gates(array(
    select e.id from outbox.endpoint e where e.id = any (v_endpoints) and e.status <> 'deleted'));
  for v_delivery in
    select d.* from outbox.delivery d
    where d.event_id < outbox.uuid_v7_floor(v_before)
      and coalesce(d.replayed_at, '-infinity') < v_before
      and d.endpoint_id = any (v_endpoints) and coalesce(d.leased_until, '-infinity') <= v_now
    order by d.event_id
    limit p_limit
  loop
    -- If the database refuses to end one, go on with the others.
    begin
      perform outbox.record_lost_lease(v_delivery, v_now);
      v_expired := v_expired + outbox.expire_delivery(v_delivery, v_now)::integer;
    exception when others then
      if outbox.is_passing(sqlstate) then
        raise;
      end if;
      raise warning 'outbox: event % for endpoint % cannot expire: % %', v_delivery.event_id,
        v_delivery.endpoint_id, sqlstate, sqlerrm;
    end;
  end loop;
  return v_expired;
end
$$;
comment on function outbox.expire_deliveries(integer) is
  'Expires up to p_limit deliveries that are still open event.retention_days after their event, or '
  'after their last replay: they become dead letters (why: expired). Returns how many. locks: '
  'gates with SKIP LOCKED.';

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
    replayed_at = null, delivered_at = null, discarded_at = null, note = null;
  if not found then
    -- There is nothing to store as a dead letter.
    perform outbox.close_missing(p_delivery, p_now);
    return true;
  end if;
  perform outbox.close_delivery(p_delivery, 'expired', v_why, p_now);
  perform outbox.announce_dead(array[p_delivery.event_id], array[p_delivery.endpoint_id], p_now);
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
