-- Replay jobs and backfills over the HTTP API. A job belongs to one organisation. A job for all
-- organisations, started in SQL, is not visible here, nor is a backfill that was started in SQL: an
-- organisation could resume one that an operator has paused, and see its filter.

create function outbox.replay_job_json(p_job outbox.replay_job) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return pg_catalog.jsonb_build_object(
    'id', p_job.id::text, 'status', p_job.status, 'source', p_job.source,
    'endpointId', p_job.endpoint_id, 'ratePerSecond', p_job.rate_per_second,
    'skipped', p_job.skipped, 'reachedAt', outbox.iso_time(p_job.at_failed),
    'createdAt', outbox.iso_time(p_job.created_at),
    'finishedAt', outbox.iso_time(p_job.finished_at))
    || case p_job.source
      when 'dead_letters' then pg_catalog.jsonb_build_object(
        'eventType', p_job.event_type, 'exceptType', p_job.except_type, 'error', p_job.error,
        'failedFrom', outbox.iso_time(p_job.failed_from),
        'failedTo', outbox.iso_time(p_job.failed_to), 'replayed', p_job.replayed)
      else pg_catalog.jsonb_build_object(
        'eventTypes', p_job.types, 'filter', p_job.filter,
        'includeDelivered', p_job.include_delivered,
        'from', outbox.iso_time(p_job.failed_from),
        'until', outbox.iso_time(p_job.failed_to), 'read', p_job.looked, 'sent', p_job.replayed)
    end;
end
$$;
comment on function outbox.replay_job_json(outbox.replay_job) is
  'A replay job or a backfill in the form of the API, see its source. exceptType: a type that a '
  'replay job leaves out; from, until: the times of publication of the events of a backfill; '
  'read: how many of them it has read; sent: how many it has sent; reachedAt: the time of failure '
  'of the last dead letter that it has handled, or of publication of the last event.';

create function outbox.get_replay_job(p_org_id text, p_id text) returns jsonb
language plpgsql stable security definer
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_job outbox.replay_job;
begin
  if p_id ~ '^[0-9]{1,18}$' then
    select * into v_job from outbox.replay_job j
    where j.id = p_id::bigint and j.org_id = p_org_id
      and (j.source = 'dead_letters' or j.by_api);
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
language plpgsql stable security definer
set search_path = ''
-- The order is that of the index by organisation.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
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
    select o.found, pg_catalog.row_number() over (order by (o.found).id desc) as n
    from (
      -- With "org_id =" the primary key would give the order too, with the jobs of all others.
      select j as found from outbox.replay_job j
      where (j.org_id, j.id) < (p_org_id, v_below) and j.org_id >= p_org_id
        and (j.source = 'dead_letters' or j.by_api)
      order by j.org_id desc, j.id desc
      limit p_limit + 1
    ) o
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
  update outbox.replay_job j set except_type = p_job ->> 'exceptType',
    error = pg_catalog.left(p_job ->> 'error', 200)
  where j.id = (v_result ->> 'id')::bigint
    and p_job operator(pg_catalog.?|) array['exceptType', 'error'];
  v_result := outbox.get_replay_job(p_org_id, v_result ->> 'id');
  perform outbox.end_request(p_org_id, p_key, v_result);
  return v_result;
end
$$;
comment on function outbox.create_replay_job(text, jsonb, text) is
  'Starts a job that replays the dead letters of the organisation that match {"endpointId", '
  '"eventType", "failedFrom", "failedTo", "error": only its first 200 characters count, as in '
  'group_dead_letters(), "ratePerSecond"} and are not of the type "exceptType", and returns it. '
  'OH001, OH002, OH003, OH010.';

-- Reads the same rows as group_dead_letters(), so that a group and the preview of its job have the
-- same number.
create function outbox.open_waiting_list(
  p_endpoint_id uuid, p_from timestamptz, p_to timestamptz
) returns refcursor
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_list refcursor;
begin
  -- With "endpoint_id =" the planner could use the index by time of all organisations, and read
  -- rows of others.
  open v_list for
  select x.*
  from outbox.dead_letter x
  where (x.endpoint_id, x.failed_at) >= (p_endpoint_id, p_from)
    and (x.endpoint_id, x.failed_at) <= (p_endpoint_id, p_to)
    and x.replayed_at is null and x.discarded_at is null
  order by x.endpoint_id desc, x.failed_at desc;
  return v_list;
end
$$;
comment on function outbox.open_waiting_list(uuid, timestamptz, timestamptz) is
  'A cursor over the dead letters of an endpoint that wait for a decision and failed from p_from '
  'to p_to, newest first.';

create function outbox.preview_replay_job(p_org_id text, p_job jsonb) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
declare
  -- The most dead letters that it reads.
  v_most constant integer := 20000;
  v_endpoint uuid := (p_job ->> 'endpointId')::uuid;
  v_from timestamptz := coalesce((p_job ->> 'failedFrom')::timestamptz, '-infinity');
  -- Whole milliseconds, as the API writes a time, so that the job gets the same bound.
  v_to timestamptz := least(
    pg_catalog.date_trunc('milliseconds', (p_job ->> 'failedTo')::timestamptz),
    pg_catalog.date_trunc('milliseconds', outbox.clock() + interval '1 ms'));
  -- All errors with the same first 200 characters are one group.
  v_error text := pg_catalog.left(p_job ->> 'error', 200);
  v_list refcursor;
  v_letter outbox.dead_letter;
  v_rows integer := 0;
  v_total integer := 0;
  v_first timestamptz;
  v_sample jsonb[] := array[]::jsonb[];
begin
  if v_endpoint is not null then
    perform outbox.org_endpoint(p_org_id, v_endpoint);
  end if;
  if v_from > v_to then
    perform outbox.invalid('failedFrom', 'is after failedTo', 'Expected a span in the past');
  end if;
  v_list := case
    when v_endpoint is null then outbox.open_letter_list(p_org_id, null, v_from, v_to,
      'ffffffff-ffff-ffff-ffff-ffffffffffff')
    else outbox.open_waiting_list(v_endpoint, v_from, v_to)
  end;
  while v_rows < v_most loop
    fetch v_list into v_letter;
    exit when not found;
    v_rows := v_rows + 1;
    if v_letter.discarded_at is null and v_letter.replayed_at is null
      and v_letter.original_topic = coalesce(p_job ->> 'eventType', v_letter.original_topic)
      and v_letter.original_topic is distinct from (p_job ->> 'exceptType')
      and pg_catalog.left(v_letter.error, 200)
        = coalesce(v_error, pg_catalog.left(v_letter.error, 200))
    then
      v_total := v_total + 1;
      v_first := v_letter.failed_at;
      if v_total <= 5 then
        v_sample := v_sample || outbox.dead_letter_json(v_letter);
      end if;
    end if;
  end loop;
  close v_list;
  return pg_catalog.jsonb_build_object('total', v_total, 'capped', v_rows = v_most,
    'oldestFailedAt', outbox.iso_time(v_first), 'failedTo', outbox.iso_time(v_to),
    'sample', pg_catalog.to_jsonb(v_sample), 'rows', v_rows);
end
$$;
comment on function outbox.preview_replay_job(text, jsonb) is
  'What create_replay_job() with the same selection would replay, at most 20,000 rows read: '
  '{"total", "capped": there may be more, "oldestFailedAt", "failedTo": pass it to the job, so '
  'that it replays the same ones, "sample": the newest 5, "rows": how many were read}. OH001, '
  'OH002.';

create function outbox.create_backfill(
  p_org_id text, p_endpoint_id uuid, p_job jsonb, p_key text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_result jsonb := outbox.begin_request(p_org_id,
    pg_catalog.format('POST /endpoints/%s/backfills', p_endpoint_id), p_key, p_job);
begin
  if v_result is not null then
    return v_result;
  end if;
  perform outbox.org_endpoint(p_org_id, p_endpoint_id);
  perform outbox.check_new_job(p_org_id, coalesce((p_job ->> 'ratePerSecond')::integer, 50));
  v_result := outbox.backfill_events(p_endpoint_id,
    case when p_job ? 'eventTypes' then
      array(select pg_catalog.jsonb_array_elements_text(p_job -> 'eventTypes'))
    end,
    (p_job ->> 'from')::timestamptz, (p_job ->> 'until')::timestamptz, p_job ->> 'filter', true,
    coalesce((p_job ->> 'ratePerSecond')::integer, 50),
    coalesce((p_job ->> 'includeDelivered')::boolean, false));
  update outbox.replay_job j set by_api = true where j.id = (v_result ->> 'id')::bigint;
  v_result := outbox.get_replay_job(p_org_id, v_result ->> 'id');
  perform outbox.end_request(p_org_id, p_key, v_result);
  return v_result;
end
$$;
comment on function outbox.create_backfill(text, uuid, jsonb, text) is
  'Starts a backfill of kept events to an endpoint of the organisation with {"eventTypes", "from", '
  '"until", "filter", "includeDelivered", "ratePerSecond"}, and returns it: backfill_events(). '
  'Only events that its subscriptions select, so a caller gets no event this way that the endpoint '
  'would not get. '
  'OH001, OH002, OH003, OH010.';

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
