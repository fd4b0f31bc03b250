-- Publishing inserts two rows in the caller's transaction, event and unrouted. It takes no lock
-- that another publisher waits for: no gate, no endpoint, no counter. A run routes the event
-- later.

create function outbox.put_event(
  p_event outbox.event, p_is_own boolean default false
) returns uuid
language plpgsql set search_path = ''
as $$
declare
  v_id uuid;
  v_held uuid;
begin
  -- Before the checks, so that a repeat has the id of the first event although a limit has changed
  -- since or its endpoint was deleted. An error below gives the key back.
  if p_event.idempotency_key ~ '^[\x21-\x7e]{1,255}$' and p_event.org_id is not null then
    v_held := outbox.claim_idempotency_key(p_event);
    if v_held is not null then
      return v_held;
    end if;
  end if;
  -- Assigned, because PERFORM starts the executor and takes twice as long.
  v_id := outbox.check_event(p_event, p_is_own);
  with event as (
    insert into outbox.event select p_event.*
    where p_is_own or not exists (
      select from outbox.event_bytes b
      where b.org_id = p_event.org_id and b.spent_until > p_event.created_at)
    returning id, org_id
  )
  insert into outbox.unrouted (event_id, org_id) select e.id, e.org_id from event e;
  if not found then
    perform outbox.check_event_bytes(p_event.org_id, p_event.created_at);
    insert into outbox.event select p_event.*;
    insert into outbox.unrouted (event_id, org_id) values (v_id, p_event.org_id);
  end if;
  return v_id;
end
$$;
comment on function outbox.put_event(outbox.event, boolean) is
  'Checks an event, stores it as unrouted and returns its id, or the id of the earlier event with '
  'the same idempotency key. p_is_own: see check_event().';

create function outbox.current_traceparent() returns text
language plpgsql stable set search_path = ''
as $$
begin
  return coalesce(
    pg_catalog.substring(
      pg_catalog.current_setting('outhook.traceparent', true),
      '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$'),
    -- Not parsed as JSON, because an invalid setting of that name must not fail a publisher.
    pg_catalog.substring(
      pg_catalog.current_setting('request.headers', true),
      '"traceparent" *: *"([0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2})"'));
end
$$;
comment on function outbox.current_traceparent() is
  'The W3C trace context of the caller: the setting outhook.traceparent, else the header '
  'traceparent of the HTTP request (PostgREST''s request.headers); null if there is none or it is '
  'malformed.';

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
      -- Only if there may be one, because a call costs 4 us.
      when pg_catalog.current_setting('outhook.traceparent', true) <> ''
        or pg_catalog.current_setting('request.headers', true) <> ''
      then outbox.current_traceparent()
    end,
    p_endpoint_id, p_deliver_at, p_at)::outbox.event;
end
$$;
comment on function outbox.new_event(
  timestamptz, text, text, text, text, text, text, uuid, timestamptz, text) is
  'An event of that time with a new id, not yet checked or stored.';

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
  v_id := outbox.put_event(outbox.new_event(outbox.event_time(), p_type, p_body, p_org_id,
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
  'Publishes an event with exactly this body, which must be JSON, in the caller''s transaction; '
  'returns its id. OH001: an argument is invalid; OH002: the endpoint is not found; OH003: the '
  'idempotency key has other content; OH011: see limit.event_mib_per_day.';

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
  v_id := outbox.put_event(outbox.new_event(outbox.event_time(), p_type, p_payload::text, p_org_id,
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
  'subscribed endpoint after the transaction commits; after a rollback no event exists. The body '
  'sent is the text of the jsonb; publish_raw() keeps the bytes of the caller. OH001: an argument '
  'is invalid; OH002: the endpoint is not found; OH003: the idempotency key has other content; '
  'OH011: see limit.event_mib_per_day.';
