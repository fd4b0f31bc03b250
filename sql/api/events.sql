-- Events over the HTTP API. The organisation is always that of the caller, not a member of an
-- event.

create function outbox.publish_events(
  p_org_id text, p_events jsonb, p_catalogue text default null, p_key text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_route constant text := 'POST /events/batch';
  v_version bigint;
  v_before jsonb;
  v_result jsonb;
begin
  select c.version into v_version
  from outbox.event_catalogue c where c.org_id = p_org_id and c.strict;
  if found and v_version::text is distinct from p_catalogue then
    -- The keys come before the catalogue: a repeat succeeds whatever the catalogue is now.
    v_result := outbox.find_response(p_org_id, v_route, p_key, p_events, outbox.clock());
    if v_result is not null then
      return v_result;
    end if;
    v_before := outbox.published_before(p_org_id, p_events);
    if pg_catalog.jsonb_array_length(v_before) < pg_catalog.jsonb_array_length(p_events) then
      return pg_catalog.jsonb_build_object('catalogue', outbox.read_catalogue(p_org_id),
        'duplicates', v_before);
    end if;
  end if;
  v_result := outbox.begin_request(p_org_id, v_route, p_key, p_events);
  if v_result is null then
    v_result := pg_catalog.to_jsonb(outbox.publish_array(p_events, p_org_id));
    perform outbox.end_request(p_org_id, p_key, v_result);
  end if;
  return v_result;
end
$$;
comment on function outbox.publish_events(text, jsonb, text, text) is
  'publish_many() for one organisation, all or none: {"ids": [...], "duplicates": [places of '
  'events whose idempotency key an earlier event has]}. If its catalogue is strict '
  'and p_catalogue is not its version, nothing is published and the result is {"catalogue": as '
  'read_catalogue(), "duplicates"}, for a new check of the other events. If all events, or the '
  'request, were published before, the catalogue does not matter. p_key is the Idempotency-Key of '
  'the request. OH001, OH002, OH003.';

create function outbox.published_before(p_org_id text, p_events jsonb) returns jsonb
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_after timestamptz := outbox.clock() - outbox.key_window();
begin
  return (
    select coalesce(pg_catalog.jsonb_agg(o.ordinality - 1 order by o.ordinality), '[]')
    from pg_catalog.jsonb_array_elements(p_events) with ordinality o
    where exists (
      select from outbox.idempotency_key k
      where k.org_id = p_org_id and k.key = o.value ->> 'idempotency_key'
        and k.created_at > v_after));
end
$$;
comment on function outbox.published_before(text, jsonb) is
  'The places of events whose idempotency key an earlier event has, from 0: publishing decides '
  'about them by the key alone.';

create function outbox.event_json(p_event outbox.event) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return pg_catalog.jsonb_build_object(
    'id', p_event.id, 'type', p_event.type, 'partitionKey', p_event.partition_key,
    'correlationId', p_event.correlation_id, 'idempotencyKey', p_event.idempotency_key,
    'traceparent', p_event.traceparent, 'endpointId', p_event.endpoint_id,
    'deliverAt', outbox.iso_time(p_event.deliver_at),
    'createdAt', outbox.iso_time(p_event.created_at));
end
$$;
comment on function outbox.event_json(outbox.event) is
  'An event in the form of the API, without its payload: {"id", "type", "partitionKey", '
  '"correlationId", "idempotencyKey", "traceparent", "endpointId", "deliverAt", "createdAt"}.';

create function outbox.routing_status(p_event_id uuid) returns text
language plpgsql stable set search_path = ''
as $$
begin
  return case
    when exists (select from outbox.unrouted u where u.event_id = p_event_id) then 'waiting'
    when exists (select from outbox.unroutable u where u.event_id = p_event_id) then 'set_aside'
    else 'done'
  end;
end
$$;
comment on function outbox.routing_status(uuid) is
  'The routing status of an event: waiting, done, or set_aside after three failures.';

create function outbox.get_event(p_org_id text, p_event_id uuid) returns jsonb
language plpgsql stable security definer
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_event outbox.event;
begin
  select * into v_event from outbox.event e where e.id = p_event_id and e.org_id = p_org_id;
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('event %s does not exist', coalesce(p_event_id::text, 'NULL')),
      hint = 'Events are stored for at most event.retention_days; the list of events has their ids';
  end if;
  return outbox.event_json(v_event) || pg_catalog.jsonb_build_object(
    -- Text, because jsonb would change the bytes.
    'body', v_event.body,
    'routing', outbox.routing_status(p_event_id),
    'deliveries', coalesce(
      (
        select pg_catalog.jsonb_agg(outbox.delivery_json(p_event_id, p.endpoint_id)
          order by p.endpoint_id)
        from (select * from outbox.delivery_endpoints(p_event_id) limit 1000) p
      ), '[]'));
end
$$;
comment on function outbox.get_event(text, uuid) is
  'One event: event_json() with "body" (text, as published), "routing" (waiting, done, set_aside) '
  'and "deliveries" (delivery_json(), the first 1,000). OH002.';

create function outbox.time_span(p_from timestamptz, p_to timestamptz) returns uuid[]
language plpgsql stable set search_path = ''
as $$
begin
  if p_from >= p_to then
    perform outbox.invalid('from', 'is not before to', 'Expected a span of time');
  end if;
  return array[
    outbox.uuid_v7_floor(coalesce(greatest(p_from, '1970-01-01 00:00:00+00'),
      '1970-01-01 00:00:00+00')),
    outbox.uuid_v7_floor(coalesce(least(p_to, '9999-12-31 00:00:00+00'),
      '9999-12-31 00:00:00+00'))];
end
$$;
comment on function outbox.time_span(timestamptz, timestamptz) is
  'The lowest event id of a time span, and the lowest one after it. OH001.';

create function outbox.partition_floor(p_id uuid) returns uuid
language plpgsql stable set search_path = ''
as $$
begin
  return outbox.uuid_v7_floor(pg_catalog.date_trunc('day', outbox.uuid_v7_time(p_id), 'UTC'));
end
$$;
comment on function outbox.partition_floor(uuid) is
  'The lowest event id of the day of an id. As a bound it selects the partitions, and leaves out '
  'no row of them: a scan that has to skip rows below its end would go on to the end of the '
  'partition.';

create function outbox.open_event_list(
  p_org_id text, p_event_type text, p_partition_key text, p_from uuid, p_below uuid,
  p_most_rows integer
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
  v_day uuid := outbox.partition_floor(p_from);
  v_list refcursor;
begin
  open v_list for
  select r.*
  from (
    select e.id, e.org_id, e.type, e.partition_key, e.correlation_id, e.idempotency_key,
      e.traceparent, e.endpoint_id, e.deliver_at, e.created_at,
      pg_catalog.row_number() over newest as n,
      pg_catalog.lead(e.id) over newest as next_id
    from outbox.event e
    where e.org_id > '' and (e.org_id, e.id) < (p_org_id, p_below) and e.org_id >= p_org_id
      and e.id >= v_day and e.id < p_below
    window newest as (order by e.org_id desc, e.id desc)
    order by e.org_id desc, e.id desc
    limit p_most_rows + 1
  ) r
  where r.type = coalesce(p_event_type, r.type)
    and (p_partition_key is null or r.partition_key = p_partition_key)
    or r.n >= p_most_rows or r.next_id is null or r.next_id < p_from;
  return v_list;
end
$$;
comment on function outbox.open_event_list(text, text, text, uuid, uuid, integer) is
  'A cursor over the newest events of an organisation below an id: those of a type and a partition '
  'key (null: any), and always the last one from p_from on and those where p_most_rows are read. '
  'n: how many are read with it; next_id: the id of the event after it.';

create function outbox.list_events(
  p_org_id text,
  p_event_type text default null,
  p_from timestamptz default null,
  p_to timestamptz default null,
  p_cursor text default null,
  p_limit integer default 50,
  p_partition_key text default null
) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
declare
  v_most_rows constant integer := 20000;
  v_span uuid[] := outbox.time_span(p_from, p_to);
  v_below uuid := least(v_span[2],
    outbox.cursor_to_key(p_cursor, '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$')::uuid);
  v_list refcursor;
  v_event outbox.event;
  v_n bigint;
  v_next uuid;
  v_rows integer := 0;
  v_last uuid;
  v_data jsonb[] := array[]::jsonb[];
begin
  perform outbox.check_page(p_limit);
  v_list := outbox.open_event_list(p_org_id, p_event_type, p_partition_key, v_span[1], v_below,
    v_most_rows);
  loop
    fetch v_list into v_event.id, v_event.org_id, v_event.type, v_event.partition_key,
      v_event.correlation_id, v_event.idempotency_key, v_event.traceparent, v_event.endpoint_id,
      v_event.deliver_at, v_event.created_at, v_n, v_next;
    exit when not found or v_event.id < v_span[1];
    if v_n > v_most_rows then
      close v_list;
      return pg_catalog.jsonb_build_object('data', pg_catalog.to_jsonb(v_data),
        'nextCursor', outbox.key_to_cursor(v_last::text), 'rows', v_n);
    end if;
    v_rows := v_n;
    v_last := v_event.id;
    if v_event.type = coalesce(p_event_type, v_event.type)
      and (p_partition_key is null or v_event.partition_key = p_partition_key)
    then
      v_data := v_data || outbox.event_json(v_event);
    end if;
    exit when v_next is null or v_next < v_span[1];
    if pg_catalog.cardinality(v_data) = p_limit then
      close v_list;
      return pg_catalog.jsonb_build_object('data', pg_catalog.to_jsonb(v_data),
        'nextCursor', outbox.key_to_cursor(v_last::text), 'rows', v_rows);
    end if;
  end loop;
  close v_list;
  return pg_catalog.jsonb_build_object('data', pg_catalog.to_jsonb(v_data), 'nextCursor', null,
    'rows', v_rows);
end
$$;
comment on function outbox.list_events(
  text, text, timestamptz, timestamptz, text, integer, text) is
  'The events of an organisation, newest first: {"data": [event_json()], "nextCursor", "rows": '
  'how many were read}. Reads at most 20,000 of its events, so a page of a rare type or partition '
  'key may be short; the list ends when nextCursor is null. OH001.';
