-- `outhook consume --into` passes events to this function that a broker has carried from another
-- database. They are published here, each once.

create function outbox.take_event(p_event jsonb, p_at timestamptz) returns void
language plpgsql set search_path = ''
as $$
begin
  perform outbox.put_carried_event(outbox.event_of_json(p_event - 'id', p_at, null));
end
$$;
comment on function outbox.take_event(jsonb, timestamptz) is
  'Publishes one element of take_events() at that time. OH001, OH011.';

create function outbox.take_new_events(
  p_events jsonb, p_new text[], p_now timestamptz
) returns jsonb
language plpgsql set search_path = ''
as $$
declare
  v_new text[] := p_new;
  v_outcomes jsonb[] := array[]::jsonb[];
  v_event jsonb;
  v_at bigint;
begin
  for v_event, v_at in
    select o.value, o.ordinality from pg_catalog.jsonb_array_elements(p_events) with ordinality o
    order by o.ordinality
  loop
    if v_event ->> 'id' = any (v_new) then
      -- A second one with this id in the same call is known.
      v_new := pg_catalog.array_remove(v_new, v_event ->> 'id');
      perform outbox.take_event(v_event, p_now + (v_at - 1) * interval '1 microsecond');
      v_outcomes[v_at] := '{"outcome": "taken"}';
    else
      v_outcomes[v_at] := '{"outcome": "known"}';
    end if;
  end loop;
  return pg_catalog.to_jsonb(v_outcomes);
end
$$;
comment on function outbox.take_new_events(jsonb, text[], timestamptz) is
  'Publishes the events whose ids are in p_new, all or none, and returns the outcomes in the same '
  'order. OH001, OH011.';

create function outbox.take_events(p_consumer text, p_events jsonb) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_most constant integer := 1000;
  v_now timestamptz;
  v_new text[] := array[]::text[];
  v_id text;
  v_event jsonb;
  v_at bigint;
  v_outcomes jsonb := '[]'::jsonb;
  v_detail text;
begin
  if pg_catalog.jsonb_typeof(p_events) is distinct from 'array'
    or pg_catalog.jsonb_array_length(p_events) > v_most
  then
    perform outbox.invalid('events',
      pg_catalog.format('is not a JSON array of at most %s events', v_most),
      'Expected [{"id": "…", "type": "order.paid", "org_id": "default", "body": "{}"}, …]');
  end if;
  v_now := outbox.event_time(pg_catalog.jsonb_array_length(p_events));
  -- In the same order in every session, or two calls could deadlock.
  for v_id in
    select distinct o.value ->> 'id' as id from pg_catalog.jsonb_array_elements(p_events) o
    order by id
  loop
    if outbox.accept_once(p_consumer, v_id) then
      v_new := v_new || v_id;
    end if;
  end loop;
  if pg_catalog.cardinality(v_new) > 0 then
    perform outbox.kick_on_commit();
  end if;
  begin
    return outbox.take_new_events(p_events, v_new, v_now);
  exception when sqlstate 'OH001' or sqlstate 'OH002' or sqlstate 'OH011' or sqlstate 'OH012' then
    -- One by one, so that only the invalid ones are refused.
    null;
  end;
  for v_event, v_at in
    select o.value, o.ordinality from pg_catalog.jsonb_array_elements(p_events) with ordinality o
    order by o.ordinality
  loop
    begin
      v_outcomes := v_outcomes || outbox.take_new_events(pg_catalog.jsonb_build_array(v_event),
        v_new, v_now + (v_at - 1) * interval '1 microsecond');
      v_new := pg_catalog.array_remove(v_new, v_event ->> 'id');
    exception
    when sqlstate 'OH001' or sqlstate 'OH002' or sqlstate 'OH011' or sqlstate 'OH012' then
      get stacked diagnostics v_detail = message_text;
      v_outcomes := v_outcomes
        || pg_catalog.jsonb_build_object('outcome', 'refused', 'error', v_detail);
    end;
  end loop;
  -- A refused event is not accepted: it may come again after its cause is corrected.
  delete from outbox.consumer_inbox i
  where i.consumer = p_consumer and i.event_id = any (v_new);
  return v_outcomes;
end
$$;
comment on function outbox.take_events(text, jsonb) is
  'Publishes events of another database, each once for a consumer: an array of at most 1000 '
  '{"id": the event''s id there, "type", "body" (text), "org_id", "partition_key", '
  '"correlation_id", "idempotency_key", "traceparent"}. Returns an array in the same order of '
  '{"outcome": "taken" | "known" | "refused", "error": why it is refused}. "known": taken before. '
  'Idempotency keys are passed to receivers, and not compared. OH001.';
