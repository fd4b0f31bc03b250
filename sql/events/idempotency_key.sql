-- Idempotency keys: a publisher that publishes the same key again within idempotency.window_hours
-- gets the id of the first event.

create function outbox.event_content(p_event outbox.event) returns bytea
language plpgsql stable set search_path = ''
as $$
begin
  return pg_catalog.sha256(pg_catalog.convert_to(
    pg_catalog.jsonb_build_array(p_event.type, p_event.body, p_event.partition_key,
      p_event.endpoint_id, extract(epoch from p_event.deliver_at))::text,
    'UTF8'));
end
$$;
comment on function outbox.event_content(outbox.event) is
  'SHA-256 of the fields that must be equal in two events with the same idempotency key.';

create function outbox.claim_idempotency_key(p_event outbox.event) returns uuid
language plpgsql set search_path = ''
as $$
declare
  v_content bytea := outbox.event_content(p_event);
  v_held outbox.idempotency_key;
begin
  -- Until a publisher commits, the next one with the same key waits, and no other.
  insert into outbox.idempotency_key as k (org_id, key, event_id, content, created_at)
  values (p_event.org_id, p_event.idempotency_key, p_event.id, v_content, p_event.created_at)
  on conflict (org_id, key) do update
    set event_id = excluded.event_id, content = excluded.content, created_at = excluded.created_at
    where k.created_at <= excluded.created_at - outbox.key_window();
  if found then
    return null;
  end if;
  select *
  into v_held
  from outbox.idempotency_key k
  where k.org_id = p_event.org_id and k.key = p_event.idempotency_key;
  if v_held.content <> v_content then
    raise exception using errcode = 'OH003',
      message = pg_catalog.format(
        'idempotency_key was used within %s hours for an event with other content',
        outbox.setting_int('idempotency.window_hours')),
      detail = pg_catalog.format('It belongs to event %s', v_held.event_id),
      hint =
        'Use a new key for a new event, or publish the same type, payload, partition key, '
        'endpoint and deliver_at';
  end if;
  return v_held.event_id;
end
$$;
comment on function outbox.claim_idempotency_key(outbox.event) is
  'Takes the event''s idempotency key for idempotency.window_hours and returns null, or '
  'returns the id of the event that has it. OH003: that event has other content.';
