-- What a backfill would send, before it is started. It decides about each event as backfill_kept().

create function outbox.preview_job(
  p_org_id text, p_endpoint_id uuid, p_job jsonb
) returns outbox.replay_job
language plpgsql stable set search_path = ''
as $$
declare
  v_job outbox.replay_job;
begin
  perform outbox.org_endpoint(p_org_id, p_endpoint_id);
  perform outbox.backfilled_endpoint(p_endpoint_id);
  v_job.org_id := p_org_id;
  v_job.endpoint_id := p_endpoint_id;
  v_job.by_subscription := true;
  v_job.include_delivered := coalesce((p_job ->> 'includeDelivered')::boolean, false);
  v_job.created_at := outbox.clock();
  v_job.filter := p_job ->> 'filter';
  v_job.failed_from := (p_job ->> 'from')::timestamptz;
  -- Whole milliseconds, as the API writes a time, so that the job gets the same bound.
  v_job.failed_to := least((p_job ->> 'until')::timestamptz,
    pg_catalog.date_trunc('milliseconds', outbox.latest_event_time()));
  perform outbox.check_bound('from', v_job.failed_from);
  perform outbox.check_bound('until', v_job.failed_to);
  if v_job.failed_from > v_job.failed_to then
    perform outbox.invalid('from', 'is after until', 'Expected a span in the past');
  end if;
  if p_job ? 'eventTypes' then
    v_job.types := array(select pg_catalog.jsonb_array_elements_text(p_job -> 'eventTypes'));
    perform outbox.check_patterns(v_job.types);
  end if;
  v_job.at_id := outbox.uuid_v7_floor(coalesce(v_job.failed_from, '1970-01-01 00:00:00+00'));
  return v_job;
end
$$;
comment on function outbox.preview_job(text, uuid, jsonb) is
  'A backfill as create_backfill() would store it, without storing it. OH001, OH002.';

create function outbox.preview_backfill(
  p_org_id text, p_endpoint_id uuid, p_job jsonb
) returns jsonb
language plpgsql stable security definer
set search_path = ''
set enable_seqscan = off
as $$
declare
  -- The most events that it reads, and 0.1 s of filters.
  v_most constant integer := 5000;
  v_most_work constant bigint := 200000;
  v_job outbox.replay_job := outbox.preview_job(p_org_id, p_endpoint_id, p_job);
  v_filter outbox.filter := outbox.job_filter(v_job);
  v_ordering text := (select e.ordering from outbox.endpoint e where e.id = p_endpoint_id);
  v_event outbox.kept_event;
  v_body text;
  v_rows integer := 0;
  v_total integer := 0;
  v_action text;
  v_again integer := 0;
  v_work bigint := 0;
  v_at uuid;
begin
  for v_event in select * from outbox.next_kept(v_job, v_most) loop
    exit when v_work > v_most_work;
    v_rows := v_rows + 1;
    v_at := v_event.id;
    continue when not v_event.is_wanted
      or v_ordering <> 'none' and v_event.deliver_at > outbox.clock()
      -- Its routing, or route_again(), decides.
      or exists (select from outbox.unrouted u where u.event_id = v_event.id)
      or exists (select from outbox.unroutable u where u.event_id = v_event.id);
    v_action := outbox.kept_action(v_job, v_event.id);
    continue when v_action = 'none';
    if v_filter.path is not null or not v_event.is_open then
      v_body := (select e.body from outbox.event e where e.id = v_event.id);
      v_work := v_work + outbox.body_work(v_body) + outbox.filter_steps(
        v_event.weights || v_filter.weight, outbox.count_values(v_body));
      continue when outbox.kept_problem(v_filter, v_event, v_body) is not null;
    end if;
    v_total := v_total + 1;
    v_again := v_again + (v_action = 'again')::integer;
  end loop;
  return pg_catalog.jsonb_build_object('total', v_total, 'alreadyDelivered', v_again,
    'capped', v_rows = v_most or v_work > v_most_work, 'read', v_rows,
    'readUntil', case when v_at is not null then outbox.iso_time(outbox.uuid_v7_time(v_at)) end,
    'until', outbox.iso_time(v_job.failed_to), 'work', v_work);
end
$$;
comment on function outbox.preview_backfill(text, uuid, jsonb) is
  'What create_backfill() with the same selection would send, of at most 5,000 events, the oldest '
  'first: {"total", "alreadyDelivered": how many of them it sends again, "capped": there may be '
  'more, "read": how many events were read, "readUntil": the time of the last of them, "until": '
  'pass it to the job, "work": steps of filters}. OH001, OH002.';
