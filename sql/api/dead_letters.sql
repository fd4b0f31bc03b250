create function outbox.dead_letter_json(p_letter outbox.dead_letter) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return pg_catalog.jsonb_build_object(
    'id', p_letter.id, 'eventId', p_letter.event_id, 'endpointId', p_letter.endpoint_id,
    'eventType', p_letter.original_topic, 'partitionKey', p_letter.partition_key,
    'correlationId', p_letter.correlation_id, 'idempotencyKey', p_letter.idempotency_key,
    'eventCreatedAt', outbox.iso_time(p_letter.event_created_at),
    'why', p_letter.why, 'error', p_letter.error, 'retryCount', p_letter.retry_count,
    'attempt', p_letter.attempt, 'failedAt', outbox.iso_time(p_letter.failed_at),
    'status', case
      when p_letter.delivered_at is not null then 'delivered'
      when p_letter.replayed_at is not null and not p_letter.at_broker then 'replayed'
      when p_letter.discarded_at is not null then 'discarded'
      else 'open'
    end,
    'replayedAt', outbox.iso_time(p_letter.replayed_at),
    'deliveredAt', outbox.iso_time(p_letter.delivered_at),
    'discardedAt', outbox.iso_time(p_letter.discarded_at), 'note', p_letter.note);
end
$$;
comment on function outbox.dead_letter_json(outbox.dead_letter) is
  'A dead letter in the form of the API, without its body.';

create function outbox.org_dead_letter(p_org_id text, p_id uuid) returns outbox.dead_letter
language plpgsql stable set search_path = ''
as $$
declare
  v_letter outbox.dead_letter;
begin
  select * into v_letter from outbox.dead_letter x where x.id = p_id and x.org_id = p_org_id;
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('dead letter %s does not exist',
        pg_catalog.quote_nullable(p_id::text)),
      hint = 'Use an id from the list of dead letters';
  end if;
  return v_letter;
end
$$;
comment on function outbox.org_dead_letter(text, uuid) is
  'A dead letter of an organisation. OH002 if it does not exist there.';

create function outbox.get_dead_letter(p_org_id text, p_id uuid) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
declare
  v_letter outbox.dead_letter := outbox.org_dead_letter(p_org_id, p_id);
begin
  return outbox.dead_letter_json(v_letter)
    || pg_catalog.jsonb_build_object('body', v_letter.original_message);
end
$$;
comment on function outbox.get_dead_letter(text, uuid) is
  'One dead letter: dead_letter_json() with "body": the JSON of the event as text, byte for byte. '
  'OH002.';

-- An index by organisation and one by endpoint give the order. Status and type are filtered row by
-- row.
create function outbox.open_letter_list(
  p_org_id text, p_endpoint_id uuid, p_from timestamptz, p_at timestamptz, p_id uuid
) returns refcursor
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_list refcursor;
begin
  if p_endpoint_id is null then
    open v_list for
    select x.*
    from outbox.dead_letter x
    where x.org_id = p_org_id and (x.failed_at, x.id) < (p_at, p_id) and x.failed_at >= p_from
    order by x.failed_at desc, x.id desc;
  else
    open v_list for
    select x.*
    from outbox.dead_letter x
    where x.endpoint_id = p_endpoint_id and x.failed_at > '-infinity' and x.org_id = p_org_id
      -- First, or else a page reads all dead letters of an endpoint of another organisation.
      and exists (
        select from outbox.endpoint e where e.id = p_endpoint_id and e.org_id = p_org_id)
      and x.failed_at <= p_at and (x.failed_at, x.id) < (p_at, p_id) and x.failed_at >= p_from
    order by x.failed_at desc, x.id desc;
  end if;
  return v_list;
end
$$;
comment on function outbox.open_letter_list(text, uuid, timestamptz, timestamptz, uuid) is
  'A cursor over the dead letters of an organisation, or of one of its endpoints, before (time, '
  'id) and since p_from, newest first.';

create function outbox.list_dead_letters(
  p_org_id text,
  p_endpoint_id uuid default null,
  p_event_type text default null,
  p_status text default null,
  p_from timestamptz default null,
  p_to timestamptz default null,
  p_cursor text default null,
  p_limit integer default 50,
  p_error text default null
) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
declare
  -- The most rows that a page reads.
  v_most constant integer := 20000;
  v_budget integer := v_most;
  v_at timestamptz;
  v_id uuid;
  v_list refcursor;
  v_letter outbox.dead_letter;
  v_last outbox.dead_letter;
  v_one jsonb;
  v_data jsonb[] := array[]::jsonb[];
begin
  perform outbox.check_page(p_limit);
  if p_status is not null then
    perform outbox.check_choice('status', p_status,
      array['open', 'replayed', 'delivered', 'discarded']);
  end if;
  if p_from >= p_to then
    perform outbox.invalid('from', 'is not before to', 'Expected a span of time');
  end if;
  select c.p_at, c.p_id::uuid into v_at, v_id from outbox.read_cursor(p_cursor) c;
  if p_to <= v_at then
    v_at := p_to;
    v_id := '00000000-0000-0000-0000-000000000000';
  end if;
  v_list := outbox.open_letter_list(p_org_id, p_endpoint_id, coalesce(p_from, '-infinity'), v_at,
    v_id);
  while v_budget > 0 loop
    fetch v_list into v_letter;
    if not found then
      close v_list;
      return pg_catalog.jsonb_build_object('data', pg_catalog.to_jsonb(v_data), 'nextCursor', null,
        'rows', v_most - v_budget);
    end if;
    exit when pg_catalog.cardinality(v_data) = p_limit;
    v_last := v_letter;
    v_budget := v_budget - 1;
    if v_letter.original_topic = coalesce(p_event_type, v_letter.original_topic)
      and pg_catalog.left(v_letter.error, 200)
        = coalesce(pg_catalog.left(p_error, 200), pg_catalog.left(v_letter.error, 200))
    then
      v_one := outbox.dead_letter_json(v_letter);
      if v_one ->> 'status' = coalesce(p_status, v_one ->> 'status') then
        v_data := v_data || v_one;
      end if;
    end if;
  end loop;
  close v_list;
  return pg_catalog.jsonb_build_object('data', pg_catalog.to_jsonb(v_data),
    'nextCursor', outbox.to_cursor(v_last.failed_at, v_last.id::text),
    'rows', v_most - v_budget);
end
$$;
comment on function outbox.list_dead_letters(
  text, uuid, text, text, timestamptz, timestamptz, text, integer, text) is
  'The dead letters of an organisation, newest first, by endpoint, event type, status, error (its '
  'first 200 characters) and time of failure (at or after p_from, before p_to): {"data": '
  '[dead_letter_json()], "nextCursor", "rows": how many were read}. Reads at most 20,000 rows, '
  'so a page may be short; the list ends '
  'when nextCursor is null. OH001.';

create function outbox.replay_dead_letter(p_org_id text, p_id uuid) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_letter outbox.dead_letter := outbox.org_dead_letter(p_org_id, p_id);
begin
  perform outbox.replay(v_letter.event_id, v_letter.endpoint_id);
  return outbox.dead_letter_json(outbox.org_dead_letter(p_org_id, p_id));
end
$$;
comment on function outbox.replay_dead_letter(text, uuid) is
  'Replays a dead letter as replay() does, and returns its new dead_letter_json(). OH002, OH004.';

create function outbox.discard_org_dead_letter(
  p_org_id text, p_id uuid, p_reason text
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_letter outbox.dead_letter := outbox.org_dead_letter(p_org_id, p_id);
begin
  perform outbox.discard_dead_letter(v_letter.event_id, v_letter.endpoint_id, p_reason);
  return outbox.dead_letter_json(outbox.org_dead_letter(p_org_id, p_id));
end
$$;
comment on function outbox.discard_org_dead_letter(text, uuid, text) is
  'Marks a dead letter as reviewed and not to be sent, and returns its new dead_letter_json(). '
  'OH001, OH002.';
