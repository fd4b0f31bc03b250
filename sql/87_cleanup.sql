-- Cleanup, daily at 00:00 UTC. Each part is safe at any time, twice, and beside itself.

create function outbox.expire_deliveries(p_limit integer) returns integer
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_before timestamptz := v_now - pg_catalog.make_interval(days => outbox.setting_int('event.retention_days'));
  v_old outbox.delivery[];
  v_delivery outbox.delivery;
  v_expired integer := 0;
begin
  select pg_catalog.array_agg(o) into v_old from (
    select d as o from outbox.delivery d
    where d.event_id < outbox.uuid_v7_floor(v_before) and coalesce(d.replayed_at, '-infinity') < v_before
      and (d.leased_until is null or d.leased_until <= v_now) order by d.event_id, d.endpoint_id limit p_limit
  ) x;
  if v_old is null then
    return 0;
  end if;
  perform outbox.lock_gates(array(select distinct d.endpoint_id from pg_catalog.unnest(v_old) d));
  foreach v_delivery in array v_old loop
    select * into v_delivery from outbox.delivery d
    where d.event_id = v_delivery.event_id and d.endpoint_id = v_delivery.endpoint_id and (d.leased_until is null or d.leased_until <= v_now)
      and coalesce(d.replayed_at, '-infinity') < v_before;
    continue when not found;
    perform outbox.settle_lost(v_delivery, v_now);
    continue when not exists (select from outbox.delivery d where d.event_id = v_delivery.event_id and d.endpoint_id = v_delivery.endpoint_id);
    insert into outbox.dead_letter as x (id, event_id, endpoint_id, org_id, original_topic, original_message, error, retry_count, failed_at,
      correlation_id, attempt, partition_key, idempotency_key, traceparent, event_created_at, why)
    select outbox.uuid_v7(v_now), e.id, v_delivery.endpoint_id, e.org_id, e.type, e.body, 'still open after the retention of events', v_delivery.tries, v_now,
      coalesce(e.correlation_id, e.id::text), v_delivery.attempt, e.partition_key, e.idempotency_key, e.traceparent, e.created_at, 'expired'
    from outbox.find_event(v_delivery.event_id, v_delivery.endpoint_id) e
    on conflict (event_id, endpoint_id) do update set error = excluded.error, failed_at = excluded.failed_at, attempt = excluded.attempt,
      why = excluded.why, replayed_at = null, discarded_at = null, note = null;
    perform outbox.close_delivery(v_delivery, 'expired', 'still open after the retention of events', v_now);
    perform outbox.announce_dead(array[v_delivery.event_id], array[v_delivery.endpoint_id], v_now);
    v_expired := v_expired + 1;
  end loop;
  return v_expired;
end
$$;
comment on function outbox.expire_deliveries(integer) is
  'Makes dead letters (why: expired) of up to p_limit deliveries that are still open event.retention_days after their event, or after their replay; returns how many. locks: gates by id.';

create function outbox.cleanup() returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_expired integer;
  v_keys integer;
  v_letters integer;
  v_runs integer;
begin
  v_expired := outbox.expire_deliveries(10000);
  delete from outbox.idempotency_key k where k.created_at < v_now - interval '24 hours';
  get diagnostics v_keys = row_count;
  delete from outbox.dead_letter x
  where greatest(x.discarded_at, x.delivered_at) < v_now - pg_catalog.make_interval(days => outbox.setting_int('dead_letter.retention_days'))
    and not exists (select from outbox.delivery d where d.event_id = x.event_id and d.endpoint_id = x.endpoint_id);
  get diagnostics v_letters = row_count;
  delete from outbox.lane l
  where not l.ordered and l.key_hash > 0 and l.depth = 0 and l.leased = 0
    and exists (select from outbox.replay_job j where j.id = l.key_hash and j.state in ('done', 'cancelled') and j.finished_at < v_now - interval '1 day')
    and exists (select from outbox.gate g where g.id = l.gate_id for no key update skip locked);
  delete from cron.job_run_details r
  where r.end_time < pg_catalog.clock_timestamp() - interval '7 days'
    and r.jobid in (select j.jobid from cron.job j where j.jobname like 'outhook-%');
  get diagnostics v_runs = row_count;
  return pg_catalog.jsonb_build_object('expired', v_expired, 'idempotency_keys', v_keys, 'dead_letters', v_letters, 'job_runs', v_runs)
    || outbox.add_partitions() || outbox.drop_partitions();
end
$$;
comment on function outbox.cleanup() is
  'Removes what has had its time: {"expired", "idempotency_keys", "dead_letters", "job_runs", "made", "late", "dropped"}. Delivered history goes with its partition after 7 full days.';
