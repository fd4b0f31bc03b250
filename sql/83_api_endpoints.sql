-- Endpoints as the HTTP API shows and changes them. What changes one takes its row first, so that
-- of two editors that read the same version the second is refused (OH008). No run waits for this
-- row.

-- The API's names have capitals where SQL's have underscores.
create function outbox.broker_to_wire(p_broker jsonb) returns jsonb
language plpgsql immutable set search_path = ''
as $$
begin
  return (
    select pg_catalog.jsonb_object_agg(
      case b.key
        when 'routing_key' then 'routingKey' when 'dlq_exchange' then 'dlqExchange'
        when 'dlq_routing_key' then 'dlqRoutingKey' when 'dlq_topic' then 'dlqTopic' else b.key
      end, b.value)
    from pg_catalog.jsonb_each(p_broker) b);
end
$$;
comment on function outbox.broker_to_wire(jsonb) is
  'The settings of a broker as the API shows them; null for none.';

create function outbox.broker_of_wire(p_broker jsonb) returns jsonb
language plpgsql immutable set search_path = ''
as $$
begin
  if pg_catalog.jsonb_typeof(p_broker) is distinct from 'object' then
    return p_broker;
  end if;
  return coalesce((
    select pg_catalog.jsonb_object_agg(
      case b.key
        when 'routingKey' then 'routing_key' when 'dlqExchange' then 'dlq_exchange'
        when 'dlqRoutingKey' then 'dlq_routing_key' when 'dlqTopic' then 'dlq_topic' else b.key
      end, b.value)
    from pg_catalog.jsonb_each(p_broker) b), '{}');
end
$$;
comment on function outbox.broker_of_wire(jsonb) is
  'The settings of a broker as the API took them, in the names of SQL.';

create function outbox.endpoint_json(p_endpoint outbox.endpoint) returns jsonb
language plpgsql stable set search_path = ''
as $$
declare
  v_types jsonb;
  v_filter text;
  v_breaker text;
begin
  select coalesce(pg_catalog.jsonb_agg(s.pattern order by s.pattern), '[]'),
    pg_catalog.min(s.filter::text)
  into v_types, v_filter
  from outbox.subscription s where s.endpoint_id = p_endpoint.id;
  select g.breaker into v_breaker from outbox.gate g where g.endpoint_id = p_endpoint.id;
  return pg_catalog.jsonb_build_object(
    'id', p_endpoint.id, 'kind', p_endpoint.kind, 'url', p_endpoint.url,
    'description', p_endpoint.description, 'eventTypes', v_types, 'filter', v_filter,
    'headerNames', pg_catalog.to_jsonb(p_endpoint.header_names), 'payload', p_endpoint.payload,
    'timeoutMs', p_endpoint.timeout_ms, 'ordering', p_endpoint.ordering,
    'maxInFlight', p_endpoint.max_in_flight, 'quantum', p_endpoint.quantum,
    'ratePerSecond', p_endpoint.rate_per_second, 'rateBurst', p_endpoint.rate_burst,
    'retry4xx', p_endpoint.retry_4xx, 'onDeadLetter', p_endpoint.on_dead_letter,
    'breaker', pg_catalog.jsonb_build_object(
      'enabled', p_endpoint.breaker_enabled, 'threshold', p_endpoint.breaker_threshold,
      'openMs', p_endpoint.breaker_open_ms,
      'state', case when p_endpoint.breaker_enabled then coalesce(v_breaker, 'closed') end),
    'broker', outbox.broker_to_wire(p_endpoint.broker),
    'state', p_endpoint.state, 'stateReason', p_endpoint.state_reason,
    'version', p_endpoint.version,
    'createdAt', outbox.iso_time(p_endpoint.created_at),
    'updatedAt', outbox.iso_time(p_endpoint.updated_at));
end
$$;
comment on function outbox.endpoint_json(outbox.endpoint) is
  'An endpoint as the API shows it. filter is the one of all its event types; where SQL gave them '
  'several, the first.';

create function outbox.get_org_endpoint(p_org_id text, p_endpoint_id uuid) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
begin
  return outbox.endpoint_json(outbox.org_endpoint(p_org_id, p_endpoint_id));
end
$$;
comment on function outbox.get_org_endpoint(text, uuid) is
  'One endpoint of an org, as endpoint_json() shows it. OH002.';

create function outbox.list_org_endpoints(
  p_org_id text, p_cursor text default null, p_limit integer default 50, p_state text default null
) returns jsonb
language plpgsql stable security definer
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
declare
  v_at timestamptz;
  v_id uuid;
  v_answer jsonb;
begin
  perform outbox.check_page(p_limit);
  select c.p_at, c.p_id::uuid into v_at, v_id from outbox.read_cursor(p_cursor) c;
  select pg_catalog.jsonb_build_object(
    'data', coalesce(
      pg_catalog.jsonb_agg(outbox.endpoint_json(p.found) order by p.n)
        filter (where p.n <= p_limit),
      '[]'),
    'nextCursor', case when pg_catalog.count(*) > p_limit then
      pg_catalog.min(outbox.to_cursor((p.found).created_at, (p.found).id::text))
        filter (where p.n = p_limit) end)
  into v_answer
  from (
    select e as found,
      pg_catalog.row_number() over (order by e.created_at desc, e.id desc) as n
    from outbox.endpoint e
    where e.org_id = p_org_id and e.state <> 'deleted' and (e.created_at, e.id) < (v_at, v_id)
      and (p_state is null or e.state = p_state)
    order by e.created_at desc, e.id desc
    limit p_limit + 1
  ) p;
  return v_answer;
end
$$;
comment on function outbox.list_org_endpoints(text, text, integer, text) is
  'The endpoints of an org, newest first: {"data", "nextCursor"}. OH001.';

create function outbox.lock_org_endpoint(
  p_org_id text, p_endpoint_id uuid, p_version integer
) returns outbox.endpoint
language plpgsql set search_path = ''
as $$
declare
  v_endpoint outbox.endpoint;
begin
  perform from outbox.endpoint e
  where e.id = p_endpoint_id and e.org_id = p_org_id for no key update;
  v_endpoint := outbox.org_endpoint(p_org_id, p_endpoint_id);
  if v_endpoint.version <> p_version then
    raise exception using errcode = 'OH008',
      message = pg_catalog.format('endpoint %s was changed: it is at version %s, not %s',
        p_endpoint_id, v_endpoint.version, p_version),
      hint = 'Read it again, and send the change with its new ETag';
  end if;
  return v_endpoint;
end
$$;
comment on function outbox.lock_org_endpoint(text, uuid, integer) is
  'An endpoint of an org, its row locked. OH002; OH008 when it is not at that version, if one is '
  'given.';

create function outbox.refuse_channel(p_endpoint outbox.endpoint) returns void
language plpgsql stable set search_path = ''
as $$
begin
  if p_endpoint.kind = 'whatsapp' then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('endpoint %s is a channel', p_endpoint.id),
      hint = 'Change or delete it under /channels/{channelId}';
  end if;
end
$$;
comment on function outbox.refuse_channel(outbox.endpoint) is
  'Raises OH004 for a channel, whose pace and number the members of an endpoint would upset.';

create function outbox.check_endpoint_change(p_change jsonb) returns void
language plpgsql stable set search_path = ''
as $$
declare
  v_ranges constant jsonb := '{"timeoutMs": [500, 60000], "maxInFlight": [1, 1000],
    "quantum": [1, 1000], "ratePerSecond": [0.001, 100000], "rateBurst": [1, 100000]}'::jsonb;
  v_field text;
begin
  for v_field in select k from pg_catalog.jsonb_object_keys(v_ranges) k loop
    if p_change -> v_field <> 'null' then
      perform outbox.check_range(v_field, (p_change ->> v_field)::float8,
        (v_ranges -> v_field ->> 0)::float8, (v_ranges -> v_field ->> 1)::float8);
    end if;
  end loop;
  perform outbox.check_range('breaker.threshold',
    coalesce((p_change -> 'breaker' ->> 'threshold')::float8, 1), 1, 1000);
  perform outbox.check_range('breaker.openMs',
    coalesce((p_change -> 'breaker' ->> 'openMs')::float8, 1000), 1000, 3600000);
  perform outbox.check_choice('payload', coalesce(p_change ->> 'payload', 'data'),
    array['envelope', 'data']);
  perform outbox.check_choice('onDeadLetter', coalesce(p_change ->> 'onDeadLetter', 'halt'),
    array['continue', 'halt']);
end
$$;
comment on function outbox.check_endpoint_change(jsonb) is
  'Raises OH001 for the first member that no endpoint may have.';

create function outbox.change_endpoint(p_endpoint_id uuid, p_change jsonb) returns void
language plpgsql set search_path = ''
as $$
declare
  v_breaker jsonb := coalesce(p_change -> 'breaker', '{}');
  v_kind text := (select e.kind from outbox.endpoint e where e.id = p_endpoint_id);
begin
  perform outbox.check_endpoint_change(p_change);
  if p_change ? 'url' and v_kind in ('rabbitmq', 'kafka') then
    perform outbox.invalid('url', 'is made of the settings of a broker',
      'Change broker, with a secret key, or call outbox.set_broker()');
  end if;
  update outbox.endpoint e set
    url = case
      when p_change ? 'url' and e.kind <> 'slack' then outbox.check_url(p_change ->> 'url')
      else e.url
    end,
    description = coalesce(p_change ->> 'description', e.description),
    payload = coalesce(p_change ->> 'payload', e.payload),
    timeout_ms = coalesce((p_change ->> 'timeoutMs')::integer, e.timeout_ms),
    max_in_flight = coalesce((p_change ->> 'maxInFlight')::integer, e.max_in_flight),
    quantum = coalesce((p_change ->> 'quantum')::integer, e.quantum),
    rate_per_second = case
      when p_change ? 'ratePerSecond' then (p_change ->> 'ratePerSecond')::float8
      else e.rate_per_second
    end,
    rate_burst = coalesce((p_change ->> 'rateBurst')::integer, e.rate_burst),
    retry_4xx = coalesce((p_change ->> 'retry4xx')::boolean, e.retry_4xx),
    on_dead_letter = coalesce(p_change ->> 'onDeadLetter', e.on_dead_letter),
    breaker_enabled = coalesce((v_breaker ->> 'enabled')::boolean, e.breaker_enabled),
    breaker_threshold = coalesce((v_breaker ->> 'threshold')::integer, e.breaker_threshold),
    breaker_open_ms = coalesce((v_breaker ->> 'openMs')::integer, e.breaker_open_ms)
  where e.id = p_endpoint_id;
  if p_change ? 'url' and v_kind = 'slack' then
    perform outbox.put_slack_url(p_endpoint_id, p_change ->> 'url');
  end if;
  if p_change ? 'broker' or p_change ? 'credentials' then
    perform outbox.set_broker(p_endpoint_id,
      outbox.broker_of_wire(coalesce(p_change -> 'broker', '{}')),
      nullif(p_change -> 'credentials', 'null'));
  end if;
end
$$;
comment on function outbox.change_endpoint(uuid, jsonb) is
  'Writes the plain members of an endpoint that a change names. OH001.';

create function outbox.change_event_types(p_endpoint_id uuid, p_change jsonb) returns void
language plpgsql set search_path = ''
as $$
declare
  v_types text[];
  v_filter text;
begin
  if not p_change ? 'eventTypes' and not p_change ? 'filter' then
    return;
  end if;
  select pg_catalog.array_agg(s.pattern), pg_catalog.min(s.filter::text)
  into v_types, v_filter
  from outbox.subscription s where s.endpoint_id = p_endpoint_id;
  if p_change ? 'eventTypes' then
    v_types := array(
      select t from pg_catalog.jsonb_array_elements_text(p_change -> 'eventTypes') t);
  end if;
  if p_change ? 'filter' then
    v_filter := p_change ->> 'filter';
  end if;
  delete from outbox.subscription s
  where s.endpoint_id = p_endpoint_id and s.pattern <> all (v_types);
  perform outbox.subscribe(p_endpoint_id, v_types, v_filter);
end
$$;
comment on function outbox.change_event_types(uuid, jsonb) is
  'Gives an endpoint the event types and the filter that a change names; a type that it has '
  'already stays as old as it is. OH001.';

create function outbox.create_by_kind(
  p_org_id text, p_endpoint jsonb, p_event_types text[]
) returns jsonb
language plpgsql set search_path = ''
as $$
declare
  v_url text := p_endpoint ->> 'url';
  v_headers jsonb := coalesce(p_endpoint -> 'headers', '{}');
  v_filter text := p_endpoint ->> 'filter';
  v_stray text;
  v_new jsonb;
begin
  if p_endpoint ->> 'kind' = 'slack' then
    select k into v_stray from pg_catalog.jsonb_object_keys(p_endpoint) k
    where k in ('broker', 'credentials', 'ordering', 'payload', 'retry', 'secret')
    order by k limit 1;
    if found then
      perform outbox.invalid(v_stray, 'does not go with kind slack', 'Leave it away');
    end if;
    return outbox.create_slack_endpoint(v_url, p_event_types, p_org_id,
      p_headers => v_headers, p_filter => v_filter);
  end if;
  if p_endpoint ->> 'kind' in ('rabbitmq', 'kafka') then
    select k into v_stray from pg_catalog.jsonb_object_keys(p_endpoint) k
    where k in ('secret', 'url') order by k limit 1;
    if found then
      perform outbox.invalid(v_stray, 'does not go with kind ' || (p_endpoint ->> 'kind'),
        'Give broker, and credentials where the broker wants them');
    end if;
    perform outbox.check_retry(outbox.retry_of_wire(nullif(p_endpoint -> 'retry', 'null')));
    v_new := outbox.create_broker_endpoint(p_endpoint ->> 'kind',
      outbox.broker_of_wire(p_endpoint -> 'broker'), nullif(p_endpoint -> 'credentials', 'null'),
      p_event_types, p_org_id, p_ordering => p_endpoint ->> 'ordering',
      p_headers => v_headers, p_filter => v_filter);
    update outbox.endpoint e set retry = outbox.retry_of_wire(nullif(p_endpoint -> 'retry', 'null'))
    where e.id = (v_new ->> 'id')::uuid;
    return v_new;
  end if;
  select k into v_stray from pg_catalog.jsonb_object_keys(p_endpoint) k
  where k in ('broker', 'credentials') order by k limit 1;
  if found then
    perform outbox.invalid(v_stray, 'does not go with kind webhook', 'Leave it away');
  end if;
  return outbox.create_endpoint(v_url, p_event_types, p_org_id,
    p_secret => p_endpoint ->> 'secret',
    p_headers => v_headers,
    p_ordering => coalesce(p_endpoint ->> 'ordering', 'none'),
    p_retry => outbox.retry_of_wire(nullif(p_endpoint -> 'retry', 'null')),
    p_filter => v_filter);
end
$$;
comment on function outbox.create_by_kind(text, jsonb, text[]) is
  'Makes an endpoint of the kind that the API was asked for: {"id", "secret" where it has one}. '
  'OH001.';

create function outbox.create_org_endpoint(
  p_org_id text, p_endpoint jsonb, p_key text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_new jsonb;
  v_id uuid :=
    (outbox.begin_request(p_org_id, 'POST /endpoints', p_key, p_endpoint) ->> 'id')::uuid;
begin
  if v_id is not null then
    return outbox.get_org_endpoint(p_org_id, v_id) || case
      when (select e.kind from outbox.endpoint e where e.id = v_id) = 'webhook'
      then pg_catalog.jsonb_build_object('secret', outbox.read_secret(v_id) -> 'secret')
      else '{}'
    end;
  end if;
  v_new := outbox.create_by_kind(p_org_id, p_endpoint,
    case
      when p_endpoint ? 'eventTypes' then
        array(select t from pg_catalog.jsonb_array_elements_text(p_endpoint -> 'eventTypes') t)
      else array['*']
    end);
  v_id := (v_new ->> 'id')::uuid;
  perform outbox.change_endpoint(v_id, p_endpoint - 'url' - 'broker' - 'credentials');
  perform outbox.end_request(p_org_id, p_key, pg_catalog.jsonb_build_object('id', v_id));
  return outbox.get_org_endpoint(p_org_id, v_id) || (v_new - 'id');
end
$$;
comment on function outbox.create_org_endpoint(text, jsonb, text) is
  'Makes an endpoint of the members that the API takes, and returns it with its secret; a repeat '
  'with the same p_key returns it as it is then. OH001, OH003.';

create function outbox.update_org_endpoint(
  p_org_id text, p_endpoint_id uuid, p_change jsonb, p_version integer default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  perform outbox.refuse_channel(
    outbox.lock_org_endpoint(p_org_id, p_endpoint_id, p_version));
  perform outbox.change_endpoint(p_endpoint_id, p_change);
  perform outbox.change_event_types(p_endpoint_id, p_change);
  if p_change ? 'headers' then
    perform outbox.set_headers(p_endpoint_id, p_change -> 'headers');
  else
    update outbox.endpoint e
    set version = e.version + 1, updated_at = outbox.clock()
    where e.id = p_endpoint_id;
  end if;
  return outbox.get_org_endpoint(p_org_id, p_endpoint_id);
end
$$;
comment on function outbox.update_org_endpoint(text, uuid, jsonb, integer) is
  'Changes what p_change names and nothing else; headers by name, null removes one. Returns the '
  'endpoint. OH001, OH002, OH008; OH004: it is a channel.';

create function outbox.delete_org_endpoint(
  p_org_id text, p_endpoint_id uuid, p_version integer default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  perform outbox.refuse_channel(
    outbox.lock_org_endpoint(p_org_id, p_endpoint_id, p_version));
  return pg_catalog.jsonb_build_object('id', p_endpoint_id,
    'open', outbox.delete_endpoint(p_endpoint_id) -> 'open');
end
$$;
comment on function outbox.delete_org_endpoint(text, uuid, integer) is
  'Deletes an endpoint as delete_endpoint() does: {"id", "open"}. OH002, OH008.';

create function outbox.pause_org_endpoint(
  p_org_id text, p_endpoint_id uuid, p_reason text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  perform outbox.org_endpoint(p_org_id, p_endpoint_id);
  perform outbox.pause_endpoint(p_endpoint_id, p_reason);
  return outbox.get_org_endpoint(p_org_id, p_endpoint_id);
end
$$;
comment on function outbox.pause_org_endpoint(text, uuid, text) is
  'Holds an endpoint as pause_endpoint() does, and returns it. OH002.';

create function outbox.resume_org_endpoint(p_org_id text, p_endpoint_id uuid) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  perform outbox.org_endpoint(p_org_id, p_endpoint_id);
  perform outbox.resume_endpoint(p_endpoint_id);
  return outbox.get_org_endpoint(p_org_id, p_endpoint_id);
end
$$;
comment on function outbox.resume_org_endpoint(text, uuid) is
  'Serves an endpoint again as resume_endpoint() does, and returns it. OH002.';
