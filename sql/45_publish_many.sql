-- Publishing in bulk: an array of events, all or none.

create function outbox.event_of_json(p_event jsonb, p_at timestamptz) returns outbox.event
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
    coalesce(p_event ->> 'org_id', 'default'),
    p_event ->> 'partition_key', p_event ->> 'correlation_id', p_event ->> 'idempotency_key',
    v_endpoint_id, v_deliver_at, p_event ->> 'traceparent');
exception
  when invalid_text_representation then
    raise exception using errcode = 'OH001', message = 'endpoint_id is not a uuid',
      hint = 'Expected the id that create_endpoint() returned, or leave it out';
  when invalid_datetime_format or datetime_field_overflow or invalid_time_zone_displacement_value
    or invalid_parameter_value then
    raise exception using errcode = 'OH001', message = 'deliver_at is not a time',
      hint = 'Expected a time with zone, such as 2026-01-31T12:00:00Z, or leave it out';
end
$$;
comment on function outbox.event_of_json(jsonb, timestamptz) is
  'One element of publish_many() as an event of that time. OH001 names the field that is not '
  'valid.';

create function outbox.publish_many(p_events jsonb) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
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
  while v_at < pg_catalog.jsonb_array_length(p_events) loop
    v_at := v_at + 1;
    v_events[v_at] := outbox.event_of_json(p_events -> (v_at - 1),
      v_now + (v_at - 1) * interval '1 microsecond');
  end loop;
  -- Keys in one order in every session, or two batches could wait for each other.
  for v_at in
    select e.ordinality
    from pg_catalog.unnest(v_events) with ordinality e
    order by e.org_id, e.idempotency_key nulls first, e.ordinality
  loop
    v_ids[v_at] := outbox.put_event(v_events[v_at]);
  end loop;
  perform outbox.kick_on_commit();
  return pg_catalog.to_jsonb(v_ids);
exception when sqlstate 'OH001' or sqlstate 'OH002' or sqlstate 'OH003' then
  get stacked diagnostics v_detail = pg_exception_detail, v_hint = pg_exception_hint;
  raise exception using errcode = sqlstate, detail = v_detail, hint = v_hint,
    message = case
      when v_at = 0 then sqlerrm
      else pg_catalog.format('events[%s]: %s', v_at - 1, sqlerrm)
    end;
end
$$;
comment on function outbox.publish_many(jsonb) is
  'Publishes an array of {"type", "payload" or "body" (text, kept as it is), "org_id", '
  '"partition_key", "correlation_id", "idempotency_key", "endpoint_id", "deliver_at", '
  '"traceparent"}, all or none, and returns the array of ids in the same order. Errors as '
  'publish(), with the place in the array.';
