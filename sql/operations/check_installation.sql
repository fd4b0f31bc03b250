-- The facts that the command `outhook check` needs from the database. The command judges them,
-- because it also knows the project, its functions and the Data API.

create function outbox.job_statuses() returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  if pg_catalog.to_regclass('cron.job') is null then
    return null;
  end if;
  return (
    select coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
      'name', j.jobname, 'active', j.active, 'status', r.status,
      'started_at', outbox.iso_time(r.start_time),
      'message', pg_catalog.left(r.return_message, 200)) order by j.jobname), '[]')
    from cron.job j
    left join lateral (
      select d.status, d.start_time, d.return_message
      from cron.job_run_details d where d.jobid = j.jobid order by d.runid desc limit 1
    ) r on true
    where j.jobname = any (outbox.job_names()));
end
$$;
comment on function outbox.job_statuses() is
  'The jobs of Outhook in pg_cron, each with its last start: [{"name", "active", "status", '
  '"started_at", "message"}]. Null if pg_cron is not installed in this database.';

create function outbox.kick_responses() returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  if pg_catalog.to_regclass('net._http_response') is null
    or not pg_catalog.has_table_privilege('net._http_response', 'select')
  then
    return null;
  end if;
  return (
    select coalesce(pg_catalog.jsonb_agg(pg_catalog.to_jsonb(g) order by g.last_at desc), '[]')
    from (
      select r.status, r.code, r.error, pg_catalog.count(*) as responses,
        outbox.iso_time(pg_catalog.max(r.created)) as last_at,
        pg_catalog.max(r.region) as region
      from (
        select o.status_code as status, o.created,
          pg_catalog.left(o.headers ->> 'x-sb-edge-region', 60) as region,
          -- Not parsed as JSON: a response of the platform may be a page.
          pg_catalog.substring(pg_catalog.left(o.content, 2000), '"code" *: *"([a-z_]+)"') as code,
          case
            when o.timed_out then 'timed out'
            else pg_catalog.left(o.error_msg, 200)
          end as error
        from net._http_response o
        where o.created > pg_catalog.now() - interval '5 minutes'
        order by o.created desc limit 1000
      ) r
      group by r.status, r.code, r.error
      order by pg_catalog.max(r.created) desc limit 20
    ) g);
end
$$;
comment on function outbox.kick_responses() is
  'The responses that pg_net got in the last 5 minutes, with those to requests of the application: '
  '[{"status", "code", "error", "responses", "last_at", "region"}], the newest first. "code" is '
  'that of a problem of a function, "region" that in which a function of the platform ran. Null '
  'if pg_net is missing or must not be read.';

create function outbox.test_attempts(p_event_id uuid) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return (
    select pg_catalog.jsonb_build_object(
      'published_at', outbox.iso_time(v.created_at),
      'attempts', (
        select coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
          'at', outbox.iso_time(a.at), 'outcome', a.outcome, 'status', a.status,
          'error', a.error, 'duration_ms', a.duration_ms) order by a.at, a.attempt), '[]')
        from outbox.attempt a where a.event_id = v.id))
    from outbox.event v where v.id = p_event_id and v.type = 'outhook.test');
end
$$;
comment on function outbox.test_attempts(uuid) is
  'The attempts of an event of send_test_event(): {"published_at", "attempts": [{"at", "outcome", '
  '"status", "error", "duration_ms"}]}. Null for any other event.';

create function outbox.check_installation(p_event_id uuid default null) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
begin
  return pg_catalog.jsonb_build_object(
    'at', outbox.iso_time(pg_catalog.clock_timestamp()),
    'postgres', pg_catalog.current_setting('server_version'),
    'version', outbox.version() ->> 'version',
    'modules', outbox.installed_modules(),
    'module_versions', outbox.module_versions(),
    'contracts', outbox.contracts(),
    'configured', (
      select pg_catalog.jsonb_build_object(
        'functions_url', pg_catalog.max(outbox.try_read(s.id))
          filter (where s.name = 'outhook_functions_url'),
        'stored', pg_catalog.count(*), 'readable', pg_catalog.count(outbox.try_read(s.id)))
      from vault.secrets s
      where s.name in ('outhook_functions_url', 'outhook_worker_secret')),
    'jobs', outbox.job_statuses(),
    'last_tick_at', outbox.iso_time(outbox.last_tick_at()),
    'responses', outbox.kick_responses(),
    'runs', (
      select coalesce(pg_catalog.jsonb_object_agg(r.kind, r.n), '{}')
      from (
        select r.kind, pg_catalog.count(*) as n from outbox.run r
        where r.ended_at is null and r.polled_at > pg_catalog.now() - interval '10 s'
        group by r.kind
      ) r),
    'queue', (
      select pg_catalog.to_jsonb(q) - array['problems', 'warnings'] from outbox.queue_health q),
    'problems', pg_catalog.to_jsonb(outbox.queue_problems(outbox.queue_backlog())),
    'warnings', pg_catalog.to_jsonb(outbox.limit_warnings(outbox.clock())),
    'test', outbox.test_attempts(p_event_id));
end
$$;
comment on function outbox.check_installation(uuid) is
  'The facts for `outhook check`: {"at", "postgres", "version", "modules", '
  '"module_versions", "contracts", "configured": {"functions_url", "stored": how many of URL and '
  'secret are in Vault, "readable"}, "jobs", "last_tick_at", "responses", "runs": numbers by '
  'kind, "queue": queue_health, "problems", "warnings", "test"}. p_event_id: the test event whose '
  'attempts are "test".';
