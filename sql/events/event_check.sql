-- Checks of an event. All checks run in the publisher's transaction, so a stored event is valid.

create function outbox.check_type(p_type text) returns void
language plpgsql immutable set search_path = ''
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
  -- In any case of letters: a receiver that compares without it must not be misled.
  if pg_catalog.lower(pg_catalog.left(p_type, 8)) = 'outhook.' then
    perform outbox.invalid('type', pg_catalog.format('is %s, which is the system''s own', p_type),
      'Choose a type that does not begin with outhook.: these types are for events about Outhook');
  end if;
end
$$;
comment on function outbox.check_type(text) is
  'Raises OH001 unless a user may publish events of this type: its form is valid, and it does not '
  'begin with outhook., which is for the events of Outhook itself.';

create function outbox.check_addressed(p_event outbox.event) returns void
language plpgsql stable set search_path = ''
as $$
declare
  v_ordering text;
begin
  select e.ordering into v_ordering from outbox.endpoint e
  where e.id = p_event.endpoint_id and e.org_id = p_event.org_id and e.status <> 'deleted';
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
  'Raises OH002 unless the organisation has the event''s endpoint; OH001 if that endpoint is '
  'ordered and the event has a deliver_at.';

create function outbox.check_unordered(p_event outbox.event) returns void
language plpgsql stable set search_path = ''
as $$
begin
  if exists (
    select
    from outbox.subscription s
    join outbox.endpoint e
      on e.id = s.endpoint_id and e.status <> 'deleted' and e.ordering <> 'none'
    where s.org_id = p_event.org_id and s.pattern = any (outbox.type_patterns(p_event.type)))
  then
    perform outbox.invalid('deliver_at',
      'is given for a type that an ordered endpoint is subscribed to',
      'A later delivery would hold up what follows it: leave it out, or name one endpoint '
      'without order');
  end if;
end
$$;
comment on function outbox.check_unordered(outbox.event) is
  'Raises OH001 if an ordered endpoint is subscribed to the type of an event with a deliver_at.';

create function outbox.check_event(
  p_event outbox.event, p_is_own boolean default false
) returns uuid
language plpgsql stable set search_path = ''
as $$
declare
  v_bytes integer := pg_catalog.octet_length(p_event.body);
  -- The setting is at least 1,024, so a small event need not read it.
  v_most integer := case
    when v_bytes > 1024 then outbox.setting_int('publish.max_body_bytes')
  end;
  v_days integer := case
    when p_event.deliver_at is not null then outbox.setting_int('event.retention_days')
  end;
begin
  if not p_is_own then
    -- The default organisation passes both checks, of 3 us each.
    if p_event.org_id is distinct from 'default' then
      perform outbox.check_user_org(p_event.org_id);
    end if;
    perform outbox.check_type(p_event.type);
  end if;
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
  if p_event.deliver_at = '-infinity' then
    perform outbox.invalid('deliver_at', 'is -infinity', 'Expected a time, or leave it out');
  end if;
  if p_event.deliver_at > p_event.created_at + pg_catalog.make_interval(days => v_days) then
    perform outbox.invalid('deliver_at', 'lies beyond the retention of events',
      pg_catalog.format('It reaches at most %s days ahead (setting event.retention_days)', v_days));
  end if;
  if p_event.endpoint_id is not null then
    perform outbox.check_addressed(p_event);
  elsif p_event.deliver_at is not null then
    perform outbox.check_unordered(p_event);
  end if;
  return p_event.id;
end
$$;
comment on function outbox.check_event(outbox.event, boolean) is
  'Returns the id of a new event if it is valid. p_is_own: Outhook itself publishes it, so its '
  'type may begin with outhook. and its organisation may be outhook. OH001: the first invalid '
  'field; OH002: the organisation has no such endpoint.';

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
