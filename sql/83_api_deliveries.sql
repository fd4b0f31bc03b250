-- Deliveries over the HTTP API: read, and tried now, sent again or cancelled by their event and
-- endpoint. Lists go by (event, endpoint), newest first, over whichever of three tables has what is
-- asked for: open deliveries, dead letters, or else the events.

create function outbox.delivery_ends(p_event_id uuid) returns table (endpoint_id uuid)
language plpgsql stable rows 10
set search_path = ''
set enable_seqscan = off
as $$
begin
  return query
  select d.endpoint_id from outbox.delivery d where d.event_id = p_event_id
  union
  select a.endpoint_id from outbox.attempt a
  where a.event_id = p_event_id and a.endpoint_id is not null
  order by 1 desc;
end
$$;
comment on function outbox.delivery_ends(uuid) is
  'The endpoints that an event has a delivery for, open or finished, by id from the highest.';

create function outbox.delivery_json(p_event_id uuid, p_endpoint_id uuid) returns jsonb
language plpgsql stable
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see 00_setup.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_answer jsonb;
begin
  select pg_catalog.jsonb_build_object(
    'eventType', s.event_type,
    'status', case s.status when 'failed' then 'retrying' else s.status end,
    'reason', s.held_because, 'attempt', s.attempt, 'tries', s.tries,
    'nextAttemptAt', outbox.iso_time(s.next_attempt_at),
    'createdAt', outbox.iso_time(s.created_at), 'finishedAt', outbox.iso_time(s.finished_at))
  into v_answer
  from outbox.delivery_status s
  -- Not =: without statistics of today's partition the planner would read the endpoint's receipts.
  where s.event_id = p_event_id and s.endpoint_id is not distinct from p_endpoint_id;
  if v_answer is null then
    -- The event's day has been dropped: its dead letter is what is left.
    select pg_catalog.jsonb_build_object(
      'eventType', x.original_topic,
      'status', case
        when x.delivered_at is not null then 'delivered'
        when x.why in ('expired', 'filter_error') then x.why
        else 'dead_letter'
      end,
      'reason', x.error, 'attempt', x.attempt, 'tries', null, 'nextAttemptAt', null,
      'createdAt', outbox.iso_time(x.event_created_at),
      'finishedAt', outbox.iso_time(coalesce(x.delivered_at, x.failed_at)))
    into v_answer
    from outbox.dead_letter x
    where x.event_id = p_event_id and x.endpoint_id = p_endpoint_id;
  end if;
  return pg_catalog.jsonb_build_object('id', p_event_id::text || '.' || p_endpoint_id::text,
    'eventId', p_event_id, 'endpointId', p_endpoint_id) || v_answer;
end
$$;
comment on function outbox.delivery_json(uuid, uuid) is
  'A delivery as the API shows it, null when there is none: {"id": "<event>.<endpoint>", '
  '"eventId", "endpointId", "eventType", "status" (pending, processing, retrying, held, delivered, '
  'dead_letter, cancelled, expired, filter_error), "reason", "attempt", "tries", "nextAttemptAt", '
  '"createdAt", "finishedAt"}.';

create function outbox.check_delivery(
  p_org_id text, p_event_id uuid, p_endpoint_id uuid
) returns jsonb
language plpgsql stable set search_path = ''
as $$
declare
  v_delivery jsonb;
begin
  if exists (
    select from outbox.endpoint e where e.id = p_endpoint_id and e.org_id = p_org_id
  ) then
    v_delivery := outbox.delivery_json(p_event_id, p_endpoint_id);
  end if;
  if v_delivery is null then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('delivery %s.%s does not exist', p_event_id, p_endpoint_id),
      hint = 'The event shows its deliveries; finished ones are kept as long as their event';
  end if;
  return v_delivery;
end
$$;
comment on function outbox.check_delivery(text, uuid, uuid) is
  'The delivery of an organisation''s endpoint as delivery_json(), or OH002.';

create function outbox.get_delivery(
  p_org_id text, p_event_id uuid, p_endpoint_id uuid
) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
begin
  return outbox.check_delivery(p_org_id, p_event_id, p_endpoint_id);
end
$$;
comment on function outbox.get_delivery(text, uuid, uuid) is
  'One delivery: delivery_json(). OH002.';

create function outbox.act_on_delivery(
  p_org_id text, p_event_id uuid, p_endpoint_id uuid, p_action text, p_reason text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  perform outbox.check_delivery(p_org_id, p_event_id, p_endpoint_id);
  case p_action
    when 'retry' then
      if not exists (
        select from outbox.delivery d
        where d.event_id = p_event_id and d.endpoint_id = p_endpoint_id
      ) then
        perform outbox.raise_finished(p_event_id, p_endpoint_id, 'replay sends it again');
      end if;
      perform outbox.retry_now(p_event_id, p_endpoint_id);
    when 'replay' then
      perform outbox.replay(p_event_id, p_endpoint_id);
    when 'cancel' then
      if not exists (
        select from outbox.delivery d
        where d.event_id = p_event_id and d.endpoint_id = p_endpoint_id
      ) then
        perform outbox.raise_finished(p_event_id, p_endpoint_id, 'there is nothing to cancel');
      end if;
      perform outbox.cancel_delivery(p_event_id, p_endpoint_id, p_reason);
    else
      perform outbox.check_choice('action', p_action, array['retry', 'replay', 'cancel']);
  end case;
  return outbox.delivery_json(p_event_id, p_endpoint_id);
end
$$;
comment on function outbox.act_on_delivery(text, uuid, uuid, text, text) is
  'Does retry (now), replay or cancel to a delivery and returns what it is then: delivery_json(). '
  'OH001; OH002; OH004: it is being sent, or finished.';

create function outbox.raise_finished(
  p_event_id uuid, p_endpoint_id uuid, p_remedy text
) returns void
language plpgsql volatile set search_path = ''
as $$
begin
  raise exception using errcode = 'OH004',
    message = pg_catalog.format('delivery %s.%s is finished', p_event_id, p_endpoint_id),
    hint = 'Only an open delivery can be tried now or cancelled: ' || p_remedy;
end
$$;
comment on function outbox.raise_finished(uuid, uuid, text) is
  'Raises OH004 for a delivery that is no longer open.';

create function outbox.list_attempts(
  p_org_id text,
  p_event_id uuid,
  p_endpoint_id uuid,
  p_cursor text default null,
  p_limit integer default 50
) returns jsonb
language plpgsql stable security definer
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_from integer := coalesce(outbox.cursor_to_key(p_cursor, '^[0-9]{1,9}$')::integer, 0);
  v_data jsonb;
  v_all integer;
begin
  perform outbox.check_page(p_limit);
  perform outbox.check_delivery(p_org_id, p_event_id, p_endpoint_id);
  -- Receipts are only added, behind those that are there, and few: a place is a stable cursor.
  select
    coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
      'attempt', o.attempt, 'kind', o.kind, 'outcome', o.outcome, 'at', outbox.iso_time(o.at),
      'status', o.status, 'errorClass', o.error_class, 'error', o.error,
      'durationMs', o.duration_ms, 'response', o.response,
      'nextRetryAt', outbox.iso_time(o.next_retry_at)) order by o.place)
      filter (where o.place > v_from and o.place <= v_from + p_limit), '[]'),
    pg_catalog.count(*)
  into v_data, v_all
  from (
    select a.*, pg_catalog.row_number() over (order by a.at, a.attempt, a.kind desc) as place
    from outbox.attempt a
    where a.event_id = p_event_id and a.endpoint_id is not distinct from p_endpoint_id
  ) o;
  return pg_catalog.jsonb_build_object('data', v_data, 'nextCursor', case
    when v_all > v_from + p_limit then outbox.key_to_cursor((v_from + p_limit)::text)
  end);
end
$$;
comment on function outbox.list_attempts(text, uuid, uuid, text, integer) is
  'The receipts of a delivery in their order: {"data": [{"attempt", "kind" (try, close), '
  '"outcome", "at", "status", "errorClass", "error", "durationMs", "response", "nextRetryAt"}], '
  '"nextCursor"}. OH001, OH002.';

create type outbox.delivery_key as (
  event_id uuid,
  endpoint_id uuid
);
comment on type outbox.delivery_key is 'What names a delivery.';

create function outbox.open_delivery_list(
  p_org_id text, p_status text, p_from uuid, p_below outbox.delivery_key
) returns refcursor
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_list refcursor;
begin
  if p_status in ('pending', 'processing', 'retrying', 'held') then
    open v_list for
    select d.event_id, d.endpoint_id
    from outbox.delivery d
    where (d.event_id, d.endpoint_id) < (p_below.event_id, p_below.endpoint_id)
      and d.event_id >= p_from
    order by d.event_id desc, d.endpoint_id desc;
  elsif p_status = 'dead_letter' then
    open v_list for
    select x.event_id, x.endpoint_id
    from outbox.dead_letter x
    where (x.event_id, x.endpoint_id) < (p_below.event_id, p_below.endpoint_id)
      and x.event_id >= p_from
    order by x.event_id desc, x.endpoint_id desc;
  else
    -- delivery_ends() gives its rows in order, and a nested loop keeps it.
    open v_list for
    select e.id, p.endpoint_id
    from outbox.event e
    left join lateral (
      select o.endpoint_id from outbox.delivery_ends(e.id) o where e.org_id = p_org_id offset 0
    ) p on true
    where e.id <= p_below.event_id and e.id >= p_from
      and (e.id < p_below.event_id or p.endpoint_id < p_below.endpoint_id)
    order by e.id desc;
  end if;
  return v_list;
end
$$;
comment on function outbox.open_delivery_list(text, text, uuid, outbox.delivery_key) is
  'A cursor over the deliveries that may have a status (null: any), below a key and from an event '
  'on, newest first; an event without any may be there with a null. What they are must be asked of '
  'each.';

create function outbox.list_deliveries(
  p_org_id text,
  p_status text default null,
  p_endpoint_id uuid default null,
  p_event_type text default null,
  p_from timestamptz default null,
  p_to timestamptz default null,
  p_cursor text default null,
  p_limit integer default 50
) returns jsonb
language plpgsql stable security definer
set search_path = ''
set enable_seqscan = off
as $$
declare
  -- What a page may cost, in rows walked.
  v_budget integer := 20000;
  v_span uuid[] := outbox.time_span(p_from, p_to);
  v_key text := outbox.cursor_to_key(p_cursor,
    '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$');
  v_below outbox.delivery_key := row(v_span[2], '00000000-0000-0000-0000-000000000000'::uuid);
  v_list refcursor;
  v_at outbox.delivery_key;
  v_last outbox.delivery_key;
  v_delivery jsonb;
  v_data jsonb[] := array[]::jsonb[];
begin
  perform outbox.check_page(p_limit);
  if p_status is not null then
    perform outbox.check_choice('status', p_status, array['pending', 'processing', 'retrying',
      'held', 'delivered', 'dead_letter', 'cancelled', 'expired', 'filter_error']);
  end if;
  if pg_catalog.split_part(v_key, '.', 1)::uuid < v_span[2] then
    v_below := row(pg_catalog.split_part(v_key, '.', 1)::uuid,
      pg_catalog.split_part(v_key, '.', 2)::uuid);
  end if;
  v_list := outbox.open_delivery_list(p_org_id, p_status, v_span[1], v_below);
  while v_budget > 0 loop
    fetch v_list into v_at;
    if not found then
      return pg_catalog.jsonb_build_object('data', pg_catalog.to_jsonb(v_data), 'nextCursor', null);
    end if;
    exit when pg_catalog.cardinality(v_data) = p_limit;
    v_last := v_at;
    v_budget := v_budget - case when v_at.endpoint_id is null then 5 else 1 end;
    if v_at.endpoint_id = coalesce(p_endpoint_id, v_at.endpoint_id) and exists (
      select from outbox.endpoint e where e.id = v_at.endpoint_id and e.org_id = p_org_id)
    then
      v_budget := v_budget - 20;
      v_delivery := outbox.delivery_json(v_at.event_id, v_at.endpoint_id);
      if v_delivery ->> 'status' = coalesce(p_status, v_delivery ->> 'status')
        and v_delivery ->> 'eventType' = coalesce(p_event_type, v_delivery ->> 'eventType')
      then
        v_data := v_data || v_delivery;
      end if;
    end if;
  end loop;
  close v_list;
  return pg_catalog.jsonb_build_object('data', pg_catalog.to_jsonb(v_data), 'nextCursor',
    outbox.key_to_cursor(v_last.event_id::text || '.'
      || coalesce(v_last.endpoint_id, '00000000-0000-0000-0000-000000000000')::text));
end
$$;
comment on function outbox.list_deliveries(
  text, text, uuid, text, timestamptz, timestamptz, text, integer) is
  'The deliveries of an organisation''s endpoints, newest event first: {"data": [delivery_json()], '
  '"nextCursor"}. p_status is one of delivery_json()''s; p_from and p_to are the event''s time. '
  'Looks at 20,000 events at most, so a page may be short; a cursor of null is the end. OH001.';
