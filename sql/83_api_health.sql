-- Health over the HTTP API: what a monitor asks every few seconds, so it counts nothing.

create function outbox.get_health() returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
declare
  v_now timestamptz := pg_catalog.clock_timestamp();
  v_tick timestamptz;
  v_waiting jsonb := outbox.waiting();
  v_due timestamptz := least((v_waiting ->> 'oldest_unrouted_at')::timestamptz,
    (v_waiting ->> 'oldest_due_at')::timestamptz);
  v_problems text[] := array[]::text[];
begin
  select d.start_time
  into v_tick
  from cron.job_run_details d
  where d.jobid = (select j.jobid from cron.job j where j.jobname = 'outhook-tick' and j.active)
  order by d.runid desc
  limit 1;
  -- pg_cron 1.4 starts the tick once a minute, and it stays for that minute.
  if v_tick is null or v_tick < v_now - interval '90 s' then
    v_problems := v_problems || 'the tick does not run'::text;
  end if;
  if v_due < v_now - interval '60 s' then
    v_problems := v_problems || 'work has been due for more than a minute'::text;
  end if;
  if not outbox.setting_on('worker.enabled') then
    v_problems := v_problems || 'delivery is switched off'::text;
  end if;
  return pg_catalog.jsonb_build_object(
    'status', case when pg_catalog.cardinality(v_problems) = 0 then 'ok' else 'degraded' end,
    'version', outbox.version() ->> 'version',
    'time', outbox.iso_time(v_now),
    'lastTickAt', outbox.iso_time(v_tick),
    'oldestDueAt', case when v_due <= v_now then outbox.iso_time(v_due) end,
    'problems', pg_catalog.to_jsonb(v_problems));
end
$$;
comment on function outbox.get_health() is
  'Whether the outbox works: {"status": "ok" or "degraded", "version", "time", "lastTickAt", '
  '"oldestDueAt": null when nothing is due, "problems"}. Reads one row of each index.';
