-- Publishing. Two rows in the caller's transaction, event and unrouted, and nothing that another
-- publisher could wait for: no gate, no endpoint, no counter. Routing happens later, by a run.

create function outbox.put_event(p_event outbox.event) returns uuid
language plpgsql set search_path = ''
as $$
declare
  -- An assignment: to call it by perform takes an executor, and twice the time.
  v_id uuid := outbox.check_event(p_event);
  v_held uuid;
begin
  if p_event.idempotency_key is not null then
    v_held := outbox.take_key(p_event);
    if v_held is not null then
      return v_held;
    end if;
  end if;
  with event as (
    insert into outbox.event select p_event.* returning id
  )
  insert into outbox.unrouted (event_id) select e.id from event e;
  return v_id;
end
$$;
comment on function outbox.put_event(outbox.event) is
  'Checks an event, stores it as unrouted and returns its id, or the id of the event that has '
  'its idempotency key.';

create function outbox.current_traceparent() returns text
language plpgsql stable set search_path = ''
as $$
begin
  return coalesce(
    pg_catalog.substring(
      pg_catalog.current_setting('outhook.traceparent', true),
      '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$'),
    -- Not parsed as JSON: a setting of that name that is none must not fail a publisher.
    pg_catalog.substring(
      pg_catalog.current_setting('request.headers', true),
      '"traceparent" *: *"([0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2})"'));
end
$$;
comment on function outbox.current_traceparent() is
  'The W3C trace context that the caller works in: the setting outhook.traceparent, else the '
  'header traceparent of the HTTP request (PostgREST''s request.headers); null when there is none '
  'or it is malformed.';

create function outbox.new_event(
  p_at timestamptz,
  p_type text,
  p_body text,
  p_org_id text,
  p_partition_key text,
  p_correlation_id text,
  p_idempotency_key text,
  p_endpoint_id uuid,
  p_deliver_at timestamptz,
  p_traceparent text
) returns outbox.event
language plpgsql volatile set search_path = ''
as $$
begin
  return row(outbox.uuid_v7(p_at), p_org_id, p_type, p_body, p_partition_key, p_correlation_id,
    p_idempotency_key,
    case
      when p_traceparent is not null then p_traceparent
      -- Asked for only where there may be one: a call costs 4 us.
      when pg_catalog.current_setting('outhook.traceparent', true) <> ''
        or pg_catalog.current_setting('request.headers', true) <> ''
      then outbox.current_traceparent()
    end,
    p_endpoint_id, p_deliver_at, p_at)::outbox.event;
end
$$;
comment on function outbox.new_event(
  timestamptz, text, text, text, text, text, text, uuid, timestamptz, text) is
  'An event of that time with a new id, neither checked nor stored yet.';

create function outbox.publish_raw(
  p_type text,
  p_body text,
  p_org_id text default 'default',
  p_partition_key text default null,
  p_correlation_id text default null,
  p_idempotency_key text default null,
  p_endpoint_id uuid default null,
  p_deliver_at timestamptz default null,
  p_traceparent text default null
) returns uuid
language plpgsql security definer set search_path = ''
as $$
declare
  v_id uuid;
begin
  perform outbox.check_json(p_body);
  v_id := outbox.put_event(outbox.new_event(outbox.clock(), p_type, p_body, p_org_id,
    p_partition_key, p_correlation_id, p_idempotency_key, p_endpoint_id, p_deliver_at,
    p_traceparent));
  -- Asked here too: the call takes 3 us of each event in a transaction of many.
  if pg_catalog.current_setting('outbox.kicked', true)
    is distinct from pg_catalog.pg_current_xact_id()::text
  then
    perform outbox.kick_on_commit();
  end if;
  return v_id;
end
$$;
comment on function
  outbox.publish_raw(text, text, text, text, text, text, uuid, timestamptz, text) is
  'Publishes an event whose body is these very bytes, which must be JSON, in the caller''s '
  'transaction; returns its id. OH001 names the argument that is not valid, OH002 an unknown '
  'endpoint, OH003 a key with other content.';

create function outbox.publish(
  p_type text,
  p_payload jsonb,
  p_org_id text default 'default',
  p_partition_key text default null,
  p_correlation_id text default null,
  p_idempotency_key text default null,
  p_endpoint_id uuid default null,
  p_deliver_at timestamptz default null,
  p_traceparent text default null
) returns uuid
language plpgsql security definer set search_path = ''
as $$
declare
  v_id uuid;
begin
  v_id := outbox.put_event(outbox.new_event(outbox.clock(), p_type, p_payload::text, p_org_id,
    p_partition_key, p_correlation_id, p_idempotency_key, p_endpoint_id, p_deliver_at,
    p_traceparent));
  -- Asked here too: the call takes 3 us of each event in a transaction of many.
  if pg_catalog.current_setting('outbox.kicked', true)
    is distinct from pg_catalog.pg_current_xact_id()::text
  then
    perform outbox.kick_on_commit();
  end if;
  return v_id;
end
$$;
comment on function outbox.publish(text, jsonb, text, text, text, text, uuid, timestamptz, text) is
  'Publishes an event in the caller''s transaction and returns its id: it is delivered to every '
  'subscribed endpoint once the transaction commits, and never if it rolls back. The body sent '
  'is the jsonb''s text; publish_raw() keeps the caller''s bytes. OH001 names the argument that '
  'is not valid, OH002 an unknown endpoint, OH003 a key with other content.';
