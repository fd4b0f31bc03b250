-- Health over the HTTP API. A monitor calls it every few seconds, so it counts nothing large.

create function outbox.get_health() returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
declare
  v_now timestamptz := pg_catalog.clock_timestamp();
  v_backlog jsonb := outbox.queue_backlog();
  v_problems text[] := outbox.queue_problems(v_backlog);
  v_due timestamptz := least((v_backlog ->> 'oldest_unrouted_at')::timestamptz,
    (v_backlog ->> 'oldest_due_at')::timestamptz);
begin
  return pg_catalog.jsonb_build_object(
    'status', case when pg_catalog.cardinality(v_problems) = 0 then 'ok' else 'degraded' end,
    'version', outbox.version() ->> 'version',
    'time', outbox.iso_time(v_now),
    'lastTickAt', outbox.iso_time(outbox.last_tick_at()),
    'oldestDueAt', case when v_due <= v_now then outbox.iso_time(v_due) end,
    'problems', pg_catalog.to_jsonb(v_problems),
    'warnings', pg_catalog.to_jsonb(outbox.limit_warnings(outbox.clock())));
end
$$;
comment on function outbox.get_health() is
  'Whether deliveries work: {"status": "ok" or "degraded", "version", "time", "lastTickAt", '
  '"oldestDueAt": null if nothing is due, "problems", "warnings": limits of the database that are '
  'near}. OK if there are no problems.';
