-- Replay jobs over the HTTP API. A job is its org's: one that SQL started for every org is nobody's
-- here.

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
  'A replay job as the API shows it; reachedAt is when the last letter failed that it came to.';

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
      hint = 'The list of replay jobs shows those that there are';
  end if;
  return outbox.replay_job_json(v_job);
end
$$;
comment on function outbox.get_replay_job(text, text) is
  'One replay job of an org, as replay_job_json() shows it. OH002.';

create function outbox.list_replay_jobs(
  p_org_id text, p_cursor text default null, p_limit integer default 50
) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
declare
  v_below bigint := 9223372036854775807;
  v_answer jsonb;
begin
  perform outbox.check_page(p_limit);
  if p_cursor is not null then
    if p_cursor !~ '^[0-9]{1,18}$' then
      perform outbox.invalid('cursor', 'is not one that a list gave',
        'Expected nextCursor of the page before; leave it out for the first page');
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
  into v_answer
  from (
    select j as found, pg_catalog.row_number() over (order by j.id desc) as n
    from outbox.replay_job j
    where j.org_id = p_org_id and j.id < v_below
    order by j.id desc
    limit p_limit + 1
  ) p;
  return v_answer;
end
$$;
comment on function outbox.list_replay_jobs(text, text, integer) is
  'The replay jobs of an org, newest first: {"data", "nextCursor"}. OH001.';

create function outbox.create_replay_job(
  p_org_id text, p_job jsonb, p_key text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_answer jsonb := outbox.begin_request(p_org_id, 'POST /replay-jobs', p_key, p_job);
  v_endpoint uuid := (p_job ->> 'endpointId')::uuid;
begin
  if v_answer is not null then
    return v_answer;
  end if;
  if v_endpoint is not null then
    perform outbox.org_endpoint(p_org_id, v_endpoint);
  end if;
  v_answer := outbox.replay_many(p_org_id, v_endpoint, p_job ->> 'eventType',
    (p_job ->> 'failedFrom')::timestamptz, (p_job ->> 'failedTo')::timestamptz,
    coalesce((p_job ->> 'ratePerSecond')::integer, 50));
  v_answer := outbox.get_replay_job(p_org_id, v_answer ->> 'id');
  perform outbox.end_request(p_org_id, p_key, v_answer);
  return v_answer;
end
$$;
comment on function outbox.create_replay_job(text, jsonb, text) is
  'Starts a job that replays the org''s dead letters that match {"endpointId", "eventType", '
  '"failedFrom", "failedTo", "ratePerSecond"}, and returns it. OH001, OH002, OH003.';

create function outbox.change_replay_job(p_org_id text, p_id text, p_status text) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_job jsonb := outbox.get_replay_job(p_org_id, p_id);
begin
  if v_job ->> 'status' not in ('running', 'paused') then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('replay job %s is %s', p_id, v_job ->> 'status'),
      hint = 'A job that has ended stays so: start another';
  end if;
  perform outbox.set_replay_job(p_id, p_status);
  return outbox.get_replay_job(p_org_id, p_id);
end
$$;
comment on function outbox.change_replay_job(text, text, text) is
  'Pauses, goes on with, or cancels a replay job of an org, and returns it. OH001, OH002; OH004: '
  'it has ended.';
