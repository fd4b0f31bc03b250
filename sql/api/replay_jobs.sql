-- Replay jobs over the HTTP API. A job belongs to one organisation. A job for all organisations,
-- started in SQL, is not visible here.

create function outbox.replay_job_json(p_job outbox.replay_job) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return pg_catalog.jsonb_build_object(
    'id', p_job.id::text, 'status', p_job.status, 'endpointId', p_job.endpoint_id,
    'eventType', p_job.event_type, 'failedFrom', outbox.iso_time(p_job.failed_from),
    'failedTo', outbox.iso_time(p_job.failed_to), 'ratePerSecond', p_job.rate_per_second,
    'replayed', p_job.replayed, 'skipped', p_job.skipped,
    'reachedAt', outbox.iso_time(p_job.at_failed),
    'createdAt', outbox.iso_time(p_job.created_at),
    'finishedAt', outbox.iso_time(p_job.finished_at));
end
$$;
comment on function outbox.replay_job_json(outbox.replay_job) is
  'A replay job in the form of the API. reachedAt: the time of failure of the last dead letter '
  'that it has handled.';

create function outbox.get_replay_job(p_org_id text, p_id text) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
declare
  v_job outbox.replay_job;
begin
  if p_id ~ '^[0-9]{1,18}$' then
    select * into v_job from outbox.replay_job j where j.id = p_id::bigint and j.org_id = p_org_id;
  end if;
  if v_job.id is null then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('replay job %s does not exist', pg_catalog.quote_nullable(p_id)),
      hint = 'Use an id from the list of replay jobs';
  end if;
  return outbox.replay_job_json(v_job);
end
$$;
comment on function outbox.get_replay_job(text, text) is
  'One replay job of an organisation: replay_job_json(). OH002.';

create function outbox.list_replay_jobs(
  p_org_id text, p_cursor text default null, p_limit integer default 50
) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
declare
  v_below bigint := 9223372036854775807;
  v_result jsonb;
begin
  perform outbox.check_page(p_limit);
  if p_cursor is not null then
    if p_cursor !~ '^[0-9]{1,18}$' then
      perform outbox.invalid('cursor', 'is not a cursor of this list',
        'Expected nextCursor of the previous page; omit it for the first page');
    end if;
    v_below := p_cursor::bigint;
  end if;
  select pg_catalog.jsonb_build_object(
    'data', coalesce(
      pg_catalog.jsonb_agg(outbox.replay_job_json(p.found) order by p.n)
        filter (where p.n <= p_limit),
      '[]'),
    'nextCursor', case when pg_catalog.count(*) > p_limit then
      pg_catalog.min((p.found).id) filter (where p.n = p_limit)::text end)
  into v_result
  from (
    select j as found, pg_catalog.row_number() over (order by j.id desc) as n
    from outbox.replay_job j
    where j.org_id = p_org_id and j.id < v_below
    order by j.id desc
    limit p_limit + 1
  ) p;
  return v_result;
end
$$;
comment on function outbox.list_replay_jobs(text, text, integer) is
  'The replay jobs of an organisation, newest first: {"data", "nextCursor"}. OH001.';

create function outbox.create_replay_job(
  p_org_id text, p_job jsonb, p_key text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_result jsonb := outbox.begin_request(p_org_id, 'POST /replay-jobs', p_key, p_job);
  v_endpoint uuid := (p_job ->> 'endpointId')::uuid;
begin
  if v_result is not null then
    return v_result;
  end if;
  if v_endpoint is not null then
    perform outbox.org_endpoint(p_org_id, v_endpoint);
  end if;
  v_result := outbox.replay_many(p_org_id, v_endpoint, p_job ->> 'eventType',
    (p_job ->> 'failedFrom')::timestamptz, (p_job ->> 'failedTo')::timestamptz,
    coalesce((p_job ->> 'ratePerSecond')::integer, 50));
  update outbox.replay_job j set except_type = p_job ->> 'exceptType'
  where j.id = (v_result ->> 'id')::bigint and p_job ? 'exceptType';
  v_result := outbox.get_replay_job(p_org_id, v_result ->> 'id');
  perform outbox.end_request(p_org_id, p_key, v_result);
  return v_result;
end
$$;
comment on function outbox.create_replay_job(text, jsonb, text) is
  'Starts a job that replays the dead letters of the organisation that match {"endpointId", '
  '"eventType", "failedFrom", "failedTo", "ratePerSecond"} and are not of the type "exceptType", '
  'and returns it. OH001, OH002, OH003, OH010.';

create function outbox.change_replay_job(p_org_id text, p_id text, p_status text) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_job jsonb := outbox.get_replay_job(p_org_id, p_id);
begin
  if v_job ->> 'status' not in ('running', 'paused') then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('replay job %s is %s', p_id, v_job ->> 'status'),
      hint = 'A job that has ended cannot change: start another job';
  end if;
  perform outbox.set_replay_job(p_id, p_status);
  return outbox.get_replay_job(p_org_id, p_id);
end
$$;
comment on function outbox.change_replay_job(text, text, text) is
  'Pauses, resumes or cancels a replay job of an organisation, and returns it. OH001, OH002; '
  'OH004: it has ended.';
