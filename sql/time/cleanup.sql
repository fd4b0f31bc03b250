-- Cleanup, daily at 00:00 UTC. Each part may run at any time, repeatedly and concurrently.

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
  v_old outbox.delivery[];
  v_delivery outbox.delivery;
  v_expired integer := 0;
begin
  -- Only those that can expire now, or the oldest ones would keep all later ones from expiring.
  -- purge_deleted() cancels the deliveries of a deleted endpoint; nobody could replay them.
  v_old := array(
    select d from outbox.delivery d
    where d.event_id < outbox.uuid_v7_floor(v_before)
      and coalesce(d.replayed_at, '-infinity') < v_before
      and coalesce(d.leased_until, '-infinity') <= v_now
      and exists (
        select from outbox.endpoint e where e.id = d.endpoint_id and e.status <> 'deleted')
      and not exists (
        select from outbox.refusal r
        where r.endpoint_id = d.endpoint_id and r.event_id = d.event_id and r.step = 'expiry'
          and r.again_at > v_now)
    order by d.event_id
    limit p_limit);
  if pg_catalog.cardinality(v_old) = 0 then
    return 0;
  end if;
  v_endpoints := outbox.try_lock_gates(array(
    select distinct o.endpoint_id from pg_catalog.unnest(v_old) o));
  for v_delivery in
    select d.*
    from pg_catalog.unnest(v_old) o
    join outbox.delivery d on d.event_id = o.event_id and d.endpoint_id = o.endpoint_id
    -- Again, because they may have changed before the lock.
    where d.endpoint_id = any (v_endpoints) and coalesce(d.leased_until, '-infinity') <= v_now
      and coalesce(d.replayed_at, '-infinity') < v_before
    order by d.event_id
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
      perform outbox.refuse_expiry(v_delivery, sqlstate, sqlerrm, v_now);
    end;
  end loop;
  return v_expired;
end
$$;
comment on function outbox.expire_deliveries(integer) is
  'Expires up to p_limit deliveries that are still open event.retention_days after their event, or '
  'after their last replay: they become dead letters (why: expired). If the database refuses one, '
  'it is left out for an hour. Returns how many. locks: gates with SKIP LOCKED.';

create function outbox.refuse_expiry(
  p_delivery outbox.delivery, p_sqlstate text, p_error text, p_now timestamptz
) returns void
language plpgsql set search_path = ''
as $$
begin
  perform outbox.note_refusal(p_delivery.event_id, p_delivery.endpoint_id, 'expiry', p_sqlstate,
    p_error, p_now + interval '1 hour', p_now);
exception when others then
  if outbox.is_passing(sqlstate) then
    raise;
  end if;
  raise warning 'outbox: the refusal of event % for endpoint % cannot be recorded: % %',
    p_delivery.event_id, p_delivery.endpoint_id, sqlstate, sqlerrm;
end
$$;
comment on function outbox.refuse_expiry(outbox.delivery, text, text, timestamptz) is
  'Records that a delivery could not expire, so that the next calls leave it out for an hour.';

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
  perform outbox.close_delivery(p_delivery, 'expired', v_why, p_now);
  perform outbox.announce_dead(array[p_delivery.event_id], array[p_delivery.endpoint_id], p_now);
  perform outbox.on_dead_letters(array[p_delivery.event_id], array[p_delivery.endpoint_id],
    p_now);
  perform outbox.park(array[p_delivery.endpoint_id], p_now);
  return true;
end
$$;
comment on function outbox.expire_delivery(outbox.delivery, timestamptz) is
  'Closes a delivery that was open too long as a dead letter; false if it is no longer open. '
  'locks: the caller holds the gate.';

create function outbox.cleanup(p_most integer default 100000) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_keys integer;
  v_letters integer;
  v_runs integer;
  v_step outbox.cleanup_step;
  v_most integer;
  v_n integer;
  v_more boolean := false;
  v_steps jsonb := '{}'::jsonb;
begin
  -- An empty ordered lane stays until its lane_spacing_ms has passed.
  delete from outbox.lane l
  where l.ordered and l.depth = 0 and l.leased = 0 and not l.halted and l.not_before <= v_now
    and exists (select from outbox.gate g where g.id = l.gate_id for no key update skip locked);
  delete from outbox.idempotency_key k where k.ctid = any (array(
    select o.ctid from outbox.idempotency_key o
    where o.created_at < v_now - outbox.key_window() order by o.created_at limit p_most));
  get diagnostics v_keys = row_count;
  delete from outbox.dead_letter x where x.ctid = any (array(
    select o.ctid from outbox.dead_letter o
    where greatest(o.discarded_at, o.delivered_at) < v_now
        - pg_catalog.make_interval(days => outbox.setting_int('dead_letter.retention_days'))
      and not exists (
        select from outbox.delivery d
        where d.event_id = o.event_id and d.endpoint_id = o.endpoint_id)
    limit p_most for update skip locked));
  get diagnostics v_letters = row_count;
  delete from cron.job_run_details r where r.runid = any (array(
    select o.runid from cron.job_run_details o
    where o.end_time < pg_catalog.clock_timestamp() - interval '7 days'
      and o.jobid in (select j.jobid from cron.job j where j.jobname like 'outhook-%')
    limit p_most));
  get diagnostics v_runs = row_count;
  delete from outbox.lane l
  where not l.ordered and l.key_hash > 0 and l.depth = 0 and l.leased = 0
    and exists (
      select from outbox.replay_job j
      where j.id = l.key_hash and j.status in ('done', 'cancelled')
        and j.finished_at < v_now - interval '1 day')
    and exists (select from outbox.gate g where g.id = l.gate_id for no key update skip locked);
  for v_step in select s.* from outbox.cleanup_step s order by s.name loop
    v_most := least(p_most, v_step.most);
    execute pg_catalog.format('select %s($1, $2)', v_step.calls) into v_n using v_now, v_most;
    v_more := v_more or v_n >= v_most;
    v_steps := v_steps || pg_catalog.jsonb_build_object(v_step.name, v_n);
  end loop;
  return v_steps || pg_catalog.jsonb_build_object(
    'idempotency_keys', v_keys, 'dead_letters', v_letters, 'job_runs', v_runs,
    'secrets', outbox.drop_expired_secrets(v_now),
    'more', v_more or greatest(v_keys, v_letters, v_runs) >= p_most);
end
$$;
comment on function outbox.cleanup(integer) is
  'Deletes rows that are older than their retention, up to p_most of each kind. Returns '
  '{"idempotency_keys", "dead_letters", "job_runs", "secrets", for each row of cleanup_step its '
  'name: how many were deleted, "more": whether to call it again, because more may be left}. '
  'drop_partitions() deletes events and attempts.';
