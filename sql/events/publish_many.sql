-- Publishing in bulk: an array of events, all or none. publish_plain() stores the array in a few
-- statements. If an event is invalid, names an endpoint, has a deliver_at or a used idempotency
-- key, publish_array() stores the events one by one, so that its error can name the invalid one.

create function outbox.event_of_json(
  p_event jsonb, p_at timestamptz, p_org_id text
) returns outbox.event
language plpgsql volatile set search_path = ''
as $$
declare
  v_unknown text;
  v_endpoint_id uuid;
  v_deliver_at timestamptz;
begin
  if pg_catalog.jsonb_typeof(p_event) is distinct from 'object' then
    perform outbox.invalid('event', 'is not a JSON object',
      'Expected {"type": "order.paid", "payload": {"id": 1}}');
  end if;
  select k into v_unknown from pg_catalog.jsonb_object_keys(p_event) k
  where k not in (
    'type', 'payload', 'body', 'org_id', 'partition_key', 'correlation_id', 'idempotency_key',
    'endpoint_id', 'deliver_at', 'traceparent'
  )
  limit 1;
  if found then
    perform outbox.invalid(v_unknown, 'is not a field of an event',
      'The comment on outbox.publish_many lists the fields');
  end if;
  if (p_event ? 'payload') = (p_event ? 'body') then
    perform outbox.invalid('payload', 'and body are both given or both missing',
      'Give payload (JSON) or body (text), one of them');
  end if;
  if p_event ? 'body' then
    perform outbox.check_json(p_event ->> 'body');
  end if;
  v_endpoint_id := (p_event ->> 'endpoint_id')::uuid;
  v_deliver_at := (p_event ->> 'deliver_at')::timestamptz;
  return outbox.new_event(p_at, p_event ->> 'type',
    case when p_event ? 'body' then p_event ->> 'body' else (p_event -> 'payload')::text end,
    coalesce(p_org_id, p_event ->> 'org_id', 'default'),
    p_event ->> 'partition_key', p_event ->> 'correlation_id', p_event ->> 'idempotency_key',
    v_endpoint_id, v_deliver_at, p_event ->> 'traceparent');
exception
  when invalid_text_representation then
    raise exception using errcode = 'OH001', message = 'endpoint_id is not a uuid',
      detail = 'endpoint_id',
      hint = 'Expected the id that create_endpoint() returned, or leave it out';
  when invalid_datetime_format or datetime_field_overflow or invalid_time_zone_displacement_value
    or invalid_parameter_value then
    raise exception using errcode = 'OH001', message = 'deliver_at is not a time',
      detail = 'deliver_at',
      hint = 'Expected a time with zone, such as 2026-01-31T12:00:00Z, or leave it out';
end
$$;
comment on function outbox.event_of_json(jsonb, timestamptz, text) is
  'One element of publish_many() as an event of that time, of that organisation unless it is null. '
  'OH001: a field is invalid.';

create function outbox.publish_plain(
  p_events jsonb, p_org_id text, p_now timestamptz
) returns uuid[]
language plpgsql set search_path = ''
as $$
declare
  v_most integer := outbox.setting_int('publish.max_body_bytes');
  v_plain boolean;
  v_events outbox.event[];
  v_keyed integer;
  v_taken integer;
  v_traceparent text := outbox.current_traceparent();
begin
  select
    coalesce(pg_catalog.bool_and(coalesce(
      o.value - array['type', 'payload', 'body', 'org_id', 'partition_key', 'correlation_id',
        'idempotency_key', 'endpoint_id', 'deliver_at', 'traceparent'] = '{}'
      and o.value ->> 'endpoint_id' is null and o.value ->> 'deliver_at' is null
      and o.value ? 'payload' <> o.value ? 'body'
      and coalesce(o.value ->> 'type', '') ~ '^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$'
      and pg_catalog.length(o.value ->> 'type') <= 128
      and pg_catalog.lower(pg_catalog.left(o.value ->> 'type', 8)) <> 'outhook.'
      and e.org_id ~ '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$' and e.org_id <> 'outhook'
      and (o.value ? 'payload' or e.body::json is not null)
      and pg_catalog.octet_length(e.body) <= v_most
      and coalesce(pg_catalog.length(o.value ->> 'partition_key') <= 256, true)
      and coalesce(o.value ->> 'correlation_id' ~ '^[\x21-\x7e]{1,128}$', true)
      and coalesce(o.value ->> 'idempotency_key' ~ '^[\x21-\x7e]{1,255}$', true)
      and coalesce(
        o.value ->> 'traceparent' ~ '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$', true),
      false)), true),
    pg_catalog.array_agg(
      row(outbox.uuid_v7(e.at), e.org_id, o.value ->> 'type', e.body, o.value ->> 'partition_key',
        o.value ->> 'correlation_id', o.value ->> 'idempotency_key',
        coalesce(o.value ->> 'traceparent', v_traceparent), null, null, e.at)::outbox.event
      order by o.ordinality),
    pg_catalog.count(o.value ->> 'idempotency_key')
  into v_plain, v_events, v_keyed
  from pg_catalog.jsonb_array_elements(p_events) with ordinality o
  cross join lateral (
    select coalesce(p_org_id, o.value ->> 'org_id', 'default') as org_id,
      coalesce(o.value ->> 'body', (o.value -> 'payload')::text) as body,
      p_now + (o.ordinality - 1) * interval '1 microsecond' as at
  ) e;
  -- An organisation has used up its bytes of the day: an error must name its event.
  if not v_plain
    or exists (select from outbox.event_bytes) and exists (
      select from outbox.event_bytes b
      where b.org_id in (select e.org_id from pg_catalog.unnest(v_events) e)
        and b.spent_until > p_now)
  then
    return null;
  end if;
  if v_keyed > 0 then
    insert into outbox.idempotency_key (org_id, key, event_id, content, created_at)
    select e.org_id, e.idempotency_key, e.id, outbox.event_content(e), e.created_at
    from pg_catalog.unnest(v_events) e
    where e.idempotency_key is not null
    order by e.org_id, e.idempotency_key
    on conflict (org_id, key) do nothing;
    get diagnostics v_taken = row_count;
    if v_taken < v_keyed then
      raise no_data_found;
    end if;
  end if;
  insert into outbox.event select e.* from pg_catalog.unnest(v_events) e;
  insert into outbox.unrouted (event_id, org_id)
  select e.id, e.org_id from pg_catalog.unnest(v_events) e;
  return array(
    select e.id from pg_catalog.unnest(v_events) with ordinality e order by e.ordinality);
exception
  when no_data_found or invalid_text_representation or untranslatable_character
    or program_limit_exceeded or statement_too_complex or invalid_parameter_value then
    return null;
end
$$;
comment on function outbox.publish_plain(jsonb, text, timestamptz) is
  'Publishes an array of events in a few statements, in a quarter of the time of one by one, and '
  'returns their ids. Publishes nothing and returns null if an event is invalid, names an '
  'endpoint, has a deliver_at or a used idempotency key.';

create function outbox.publish_array(
  p_events jsonb, p_org_id text, out ids jsonb, out duplicates jsonb
)
language plpgsql set search_path = ''
as $$
declare
  v_now timestamptz;
  v_events outbox.event[] := array[]::outbox.event[];
  v_ids uuid[] := array[]::uuid[];
  v_at integer := 0;
  v_detail text;
  v_hint text;
begin
  if pg_catalog.jsonb_typeof(p_events) is distinct from 'array' then
    perform outbox.invalid('events', 'is not a JSON array',
      'Expected [{"type": "order.paid", "payload": {"id": 1}}, …]');
  end if;
  duplicates := '[]';
  v_now := outbox.event_time(pg_catalog.jsonb_array_length(p_events));
  v_ids := outbox.publish_plain(p_events, p_org_id, v_now);
  if v_ids is not null then
    perform outbox.kick_on_commit();
    ids := pg_catalog.to_jsonb(v_ids);
    return;
  end if;
  while v_at < pg_catalog.jsonb_array_length(p_events) loop
    v_at := v_at + 1;
    v_events[v_at] := outbox.event_of_json(p_events -> (v_at - 1),
      v_now + (v_at - 1) * interval '1 microsecond', p_org_id);
  end loop;
  -- Keys in the same order in every session, or two batches could deadlock.
  for v_at in
    select e.ordinality
    from pg_catalog.unnest(v_events) with ordinality e
    order by e.org_id, e.idempotency_key nulls first, e.ordinality
  loop
    v_ids[v_at] := outbox.put_event(v_events[v_at]);
  end loop;
  perform outbox.kick_on_commit();
  ids := pg_catalog.to_jsonb(v_ids);
  select coalesce(pg_catalog.jsonb_agg(e.ordinality - 1 order by e.ordinality), '[]')
  into duplicates
  from pg_catalog.unnest(v_events) with ordinality e
  where e.id <> v_ids[e.ordinality];
exception when sqlstate 'OH001' or sqlstate 'OH002' or sqlstate 'OH003' or sqlstate 'OH011'
    or sqlstate 'OH012' then
  get stacked diagnostics v_detail = pg_exception_detail, v_hint = pg_exception_hint;
  raise exception using errcode = sqlstate, hint = v_hint,
    detail = case
      when sqlstate = 'OH001' and v_at > 0 then
        pg_catalog.concat_ws('.', 'events', v_at - 1, nullif(v_detail, ''))
      else v_detail
    end,
    message = case
      when v_at = 0 then sqlerrm
      else pg_catalog.format('events[%s]: %s', v_at - 1, sqlerrm)
    end;
end
$$;
comment on function outbox.publish_array(jsonb, text) is
  'publish_many() for one organisation, whatever org_id the events have; null: for their org_id. '
  'ids: as publish_many(); duplicates: the places, from 0, of events that were not published '
  'because an earlier event has their idempotency key.';

create function outbox.publish_many(p_events jsonb) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  return (outbox.publish_array(p_events, null)).ids;
end
$$;
comment on function outbox.publish_many(jsonb) is
  'Publishes an array of {"type", "payload" or "body" (text, kept as it is), "org_id", '
  '"partition_key", "correlation_id", "idempotency_key", "endpoint_id", "deliver_at", '
  '"traceparent"}, all or none, and returns the array of ids in the same order. Errors as '
  'publish(), with the place in the array.';

create function outbox.publish_once(p_event jsonb) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_event outbox.event := outbox.event_of_json(p_event, outbox.event_time(), null);
  v_id uuid := outbox.put_event(v_event);
begin
  perform outbox.kick_on_commit();
  return pg_catalog.jsonb_build_object('id', v_id, 'duplicate', v_id <> v_event.id);
end
$$;
comment on function outbox.publish_once(jsonb) is
  'Publishes one event, in the form of an element of publish_many(), and returns {"id", '
  '"duplicate"}. duplicate is true if an earlier event has the same idempotency key and content: '
  'then id is the id of that event, and nothing is published. Errors as publish().';
