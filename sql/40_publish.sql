-- Publishing. Two rows in the caller's transaction, event and unrouted, and nothing that another
-- publisher could wait for: no gate, no endpoint, no counter. Routing happens later, by a run.

create function outbox.check_org(p_org_id text) returns void
language plpgsql immutable set search_path = ''
as $$
begin
  if p_org_id is null or p_org_id !~ '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$' then
    perform outbox.invalid('org_id',
      pg_catalog.format('is %s', pg_catalog.quote_nullable(pg_catalog.left(p_org_id, 80))),
      'Expected 1 to 64 letters, digits, _ . : -, such as org-123');
  end if;
end
$$;
comment on function outbox.check_org(text) is
  'Raises OH001 unless this may be an organisation''s id.';

create function outbox.check_type(p_type text) returns void
language plpgsql volatile set search_path = ''
as $$
begin
  if p_type is null or p_type !~ '^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$'
    or pg_catalog.length(p_type) > 128
  then
    perform outbox.invalid('type',
      pg_catalog.format('is %s', pg_catalog.quote_nullable(pg_catalog.left(p_type, 140))),
      'Expected words of letters, digits, _ and - with dots between them, such as order.paid, at '
      'most 128 characters');
  end if;
  if p_type = 'outhook.dead_letter' then
    perform outbox.invalid('type', 'is outhook.dead_letter, which is the system''s own',
      'Choose another type; what a broker did not take is published under this one');
  end if;
end
$$;
comment on function outbox.check_type(text) is 'Raises OH001 unless this may be an event''s type.';

create function outbox.check_addressed(p_event outbox.event) returns void
language plpgsql stable set search_path = ''
as $$
declare
  v_ordering text;
begin
  select e.ordering into v_ordering from outbox.endpoint e
  where e.id = p_event.endpoint_id and e.org_id = p_event.org_id and e.state <> 'deleted';
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('endpoint %s does not exist in organisation %s',
        p_event.endpoint_id, p_event.org_id),
      hint = 'create_endpoint() returns the id of an endpoint; org_id must be the endpoint''s';
  end if;
  if v_ordering <> 'none' and p_event.deliver_at is not null then
    perform outbox.invalid('deliver_at', 'is given for an ordered endpoint',
      'A later delivery would hold up what follows it: leave it out, or use an endpoint without '
      'order');
  end if;
end
$$;
comment on function outbox.check_addressed(outbox.event) is
  'Raises OH002 unless the event''s endpoint is the organisation''s, OH001 when that endpoint is '
  'ordered and the event is for later.';

create function outbox.check_event(p_event outbox.event) returns void
language plpgsql stable set search_path = ''
as $$
declare
  v_bytes integer := pg_catalog.octet_length(p_event.body);
  v_most integer := outbox.setting_int('publish.max_body_bytes');
  v_days integer := case
    when p_event.deliver_at is not null then outbox.setting_int('event.retention_days')
  end;
begin
  perform outbox.check_org(p_event.org_id);
  -- Endpoints of outhook receive operational events; send_test_event() is all that a person
  -- publishes to them.
  if p_event.org_id = 'outhook'
    and (p_event.type is distinct from 'outhook.test' or p_event.endpoint_id is null)
  then
    perform outbox.invalid('org_id', 'is outhook, which is the system''s own',
      'Choose another id; operational events are published under this one');
  end if;
  perform outbox.check_type(p_event.type);
  if p_event.body is null then
    perform outbox.invalid('payload', 'is null',
      'Expected a JSON value; for an event without data publish an empty object');
  end if;
  if v_bytes > v_most then
    perform outbox.invalid('payload',
      pg_catalog.format('has %s bytes, more than %s', v_bytes, v_most),
      'Send a reference to large data, or raise the setting publish.max_body_bytes (up to '
      '1048576)');
  end if;
  if pg_catalog.length(p_event.partition_key) > 256 then
    perform outbox.invalid('partition_key', 'is longer than 256 characters',
      'Use an id, such as the customer''s');
  end if;
  if p_event.correlation_id !~ '^[\x21-\x7e]{1,128}$' then
    perform outbox.invalid('correlation_id', 'is not 1 to 128 visible ASCII characters',
      'It travels in a header: use an id without spaces');
  end if;
  if p_event.idempotency_key !~ '^[\x21-\x7e]{1,255}$' then
    perform outbox.invalid('idempotency_key', 'is not 1 to 255 visible ASCII characters',
      'It travels in a header: use an id without spaces');
  end if;
  if p_event.traceparent !~ '^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$' then
    perform outbox.invalid('traceparent', 'is not a W3C trace context',
      'Expected 00-<32 hex digits>-<16 hex digits>-<2 hex digits>, or leave it out');
  end if;
  if p_event.deliver_at > p_event.created_at + pg_catalog.make_interval(days => v_days) then
    perform outbox.invalid('deliver_at', 'lies beyond the retention of events',
      pg_catalog.format('It reaches at most %s days ahead (setting event.retention_days)', v_days));
  end if;
  if p_event.endpoint_id is not null then
    perform outbox.check_addressed(p_event);
  elsif p_event.deliver_at is not null and exists (
    select
    from outbox.subscription s
    join outbox.endpoint e on e.id = s.endpoint_id and e.state <> 'deleted' and e.ordering <> 'none'
    where s.org_id = p_event.org_id and s.pattern = any (outbox.type_patterns(p_event.type)))
  then
    perform outbox.invalid('deliver_at',
      'is given for a type that an ordered endpoint is subscribed to',
      'A later delivery would hold up what follows it: leave it out, or name one endpoint '
      'without order');
  end if;
end
$$;
comment on function outbox.check_event(outbox.event) is
  'Raises OH001 for the first field of a new event that is not valid, OH002 for an endpoint that '
  'is not the organisation''s.';

create function outbox.check_json(p_body text) returns void
language plpgsql immutable set search_path = ''
as $$
begin
  perform p_body::json;
exception
  when invalid_text_representation or untranslatable_character or program_limit_exceeded
    or statement_too_complex then
    raise exception using errcode = 'OH001',
      message = pg_catalog.format('payload is not JSON: %s', sqlerrm), detail = 'payload',
      hint = 'Expected one JSON value, such as {"id": 1}';
end
$$;
comment on function outbox.check_json(text) is
  'Raises OH001 with the parser''s reason unless the text is one JSON value.';

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
  'SHA-256 of what makes two events with one idempotency key the same.';

create function outbox.take_key(p_event outbox.event) returns uuid
language plpgsql set search_path = ''
as $$
declare
  v_content bytea := outbox.event_content(p_event);
  v_held outbox.idempotency_key;
begin
  -- A publisher that has not committed makes the next one with its key wait, and no other.
  insert into outbox.idempotency_key as k (org_id, key, event_id, content, created_at)
  values (p_event.org_id, p_event.idempotency_key, p_event.id, v_content, p_event.created_at)
  on conflict (org_id, key) do update
    set event_id = excluded.event_id, content = excluded.content, created_at = excluded.created_at
    where k.created_at <= excluded.created_at - interval '24 hours';
  if found then
    return null;
  end if;
  select *
  into v_held
  from outbox.idempotency_key k
  where k.org_id = p_event.org_id and k.key = p_event.idempotency_key;
  if v_held.content <> v_content then
    raise exception using errcode = 'OH003',
      message = 'idempotency_key was used within 24 hours for an event with other content',
      detail = pg_catalog.format('It belongs to event %s', v_held.event_id),
      hint =
        'Use a new key for a new event, or publish the same type, payload, partition key, '
        'endpoint and deliver_at';
  end if;
  return v_held.event_id;
end
$$;
comment on function outbox.take_key(outbox.event) is
  'Takes the event''s idempotency key for 24 hours and returns null, or returns the id of the '
  'event that has it. OH003: that event has other content.';

create function outbox.put_event(p_event outbox.event) returns uuid
language plpgsql set search_path = ''
as $$
declare
  v_held uuid;
begin
  perform outbox.check_event(p_event);
  if p_event.idempotency_key is not null then
    v_held := outbox.take_key(p_event);
    if v_held is not null then
      return v_held;
    end if;
  end if;
  insert into outbox.event select p_event.*;
  insert into outbox.unrouted (event_id) values (p_event.id);
  return p_event.id;
end
$$;
comment on function outbox.put_event(outbox.event) is
  'Checks an event, stores it as unrouted and returns its id, or the id of the event that has '
  'its idempotency key.';

create function outbox.current_traceparent() returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_form constant text := '[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}';
begin
  return coalesce(
    pg_catalog.substring(
      pg_catalog.current_setting('outhook.traceparent', true), '^' || v_form || '$'),
    -- Not parsed as JSON: a setting of that name that is none must not fail a publisher.
    pg_catalog.substring(
      pg_catalog.current_setting('request.headers', true),
      '"traceparent" *: *"(' || v_form || ')"'));
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
    p_idempotency_key, coalesce(p_traceparent, outbox.current_traceparent()), p_endpoint_id,
    p_deliver_at, p_at)::outbox.event;
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
  perform outbox.kick_on_commit();
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
  perform outbox.kick_on_commit();
  return v_id;
end
$$;
comment on function outbox.publish(text, jsonb, text, text, text, text, uuid, timestamptz, text) is
  'Publishes an event in the caller''s transaction and returns its id: it is delivered to every '
  'subscribed endpoint once the transaction commits, and never if it rolls back. The body sent '
  'is the jsonb''s text; publish_raw() keeps the caller''s bytes. OH001 names the argument that '
  'is not valid, OH002 an unknown endpoint, OH003 a key with other content.';
