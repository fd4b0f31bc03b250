-- Changes of an endpoint over the HTTP API. A change locks the row first, so that of two changes
-- with the same version the second is rejected (OH008). No run waits for this row.

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
      message = pg_catalog.format(
        'endpoint %s has version %s, not %s: it was changed in the meantime',
        p_endpoint_id, v_endpoint.version, p_version),
      hint = 'Read it again and repeat the change with its new ETag';
  end if;
  perform outbox.refuse_arrival(v_endpoint);
  return v_endpoint;
end
$$;
comment on function outbox.lock_org_endpoint(text, uuid, integer) is
  'Locks and returns an endpoint of an organisation. OH002; OH008 if p_version is given and is '
  'not its version; OH004: see refuse_arrival().';

create function outbox.refuse_managed(p_endpoint outbox.endpoint) returns void
language plpgsql stable set search_path = ''
as $$
declare
  v_kind outbox.endpoint_kind;
begin
  select * into v_kind from outbox.endpoint_kind k where k.kind = p_endpoint.kind;
  if v_kind.managed_at is not null then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('endpoint %s is %s', p_endpoint.id, v_kind.managed_as),
      hint = 'Change or delete it under ' || v_kind.managed_at;
  end if;
end
$$;
comment on function outbox.refuse_managed(outbox.endpoint) is
  'Raises OH004 for an endpoint that has its own path in the API, such as a channel. The members '
  'of an endpoint could break the rate and the number of a channel.';

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
  'Raises OH001 for the first member that is invalid for every kind of endpoint.';

create function outbox.change_endpoint(p_endpoint_id uuid, p_change jsonb) returns void
language plpgsql set search_path = ''
as $$
declare
  v_breaker jsonb := coalesce(p_change -> 'breaker', '{}');
  v_change jsonb := p_change;
  v_function text;
begin
  perform outbox.check_endpoint_change(p_change);
  select k.change_function into v_function
  from outbox.endpoint e
  join outbox.endpoint_kind k on k.kind = e.kind
  where e.id = p_endpoint_id;
  if v_function is not null then
    execute pg_catalog.format('select %s($1, $2)', v_function)
      into v_change using p_endpoint_id, p_change;
  end if;
  if v_change ?| array['broker', 'config', 'credentials'] then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('endpoint %s has no %s', p_endpoint_id, (
        select pg_catalog.string_agg(m, ' and no ')
        from pg_catalog.unnest(array['broker', 'config', 'credentials']) m where v_change ? m)),
      hint = 'Omit these members: its kind does not have them';
  end if;
  update outbox.endpoint e set
    url = case
      when v_change ? 'url' then outbox.check_url(v_change ->> 'url')
      else e.url
    end,
    description = coalesce(v_change ->> 'description', e.description),
    payload = coalesce(v_change ->> 'payload', e.payload),
    timeout_ms = coalesce((v_change ->> 'timeoutMs')::integer, e.timeout_ms),
    max_in_flight = coalesce((v_change ->> 'maxInFlight')::integer, e.max_in_flight),
    quantum = coalesce((v_change ->> 'quantum')::integer, e.quantum),
    rate_per_second = case
      when v_change ? 'ratePerSecond' then (v_change ->> 'ratePerSecond')::float8
      else e.rate_per_second
    end,
    rate_burst = coalesce((v_change ->> 'rateBurst')::integer, e.rate_burst),
    retry_4xx = coalesce((v_change ->> 'retry4xx')::boolean, e.retry_4xx),
    on_dead_letter = coalesce(v_change ->> 'onDeadLetter', e.on_dead_letter),
    breaker_enabled = coalesce((v_breaker ->> 'enabled')::boolean, e.breaker_enabled),
    breaker_threshold = coalesce((v_breaker ->> 'threshold')::integer, e.breaker_threshold),
    breaker_open_ms = coalesce((v_breaker ->> 'openMs')::integer, e.breaker_open_ms)
  where e.id = p_endpoint_id;
end
$$;
comment on function outbox.change_endpoint(uuid, jsonb) is
  'Writes the members that a change names: first those of the kind, by its change_function, then '
  'those of all kinds. OH001; OH004: the kind has no such member.';

create function outbox.change_event_types(p_endpoint_id uuid, p_change jsonb) returns void
language plpgsql set search_path = ''
as $$
declare
  v_at timestamptz := outbox.subscription_time(p_endpoint_id);
  v_types text[];
  v_filter text;
begin
  if not p_change ? 'eventTypes' and not p_change ? 'filter' then
    return;
  end if;
  select pg_catalog.array_agg(s.pattern), pg_catalog.min(s.filter_text)
  into v_types, v_filter
  from outbox.subscription s where s.endpoint_id = p_endpoint_id;
  if p_change ? 'eventTypes' then
    v_types := array(
      select t from pg_catalog.jsonb_array_elements_text(p_change -> 'eventTypes') t);
  end if;
  if p_change ? 'filter' then
    v_filter := p_change ->> 'filter';
  end if;
  perform outbox.end_subscriptions(p_endpoint_id, array(
    select s.pattern from outbox.subscription s
    where s.endpoint_id = p_endpoint_id and s.pattern <> all (v_types)), v_at);
  perform outbox.put_subscriptions(outbox.check_endpoint(p_endpoint_id), v_types, v_filter, v_at);
end
$$;
comment on function outbox.change_event_types(uuid, jsonb) is
  'Sets the event types and the filter that a change names, all at the same time. A type that the '
  'endpoint already has with the same filter is not changed. OH001, OH004.';

create function outbox.update_org_endpoint(
  p_org_id text, p_endpoint_id uuid, p_change jsonb, p_version integer default null,
  p_by_token boolean default false
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_before outbox.endpoint;
begin
  if p_change ? 'eventTypes' then
    perform outbox.take_endpoint_turn(p_org_id);
  end if;
  v_before := outbox.lock_org_endpoint(p_org_id, p_endpoint_id, p_version);
  perform outbox.refuse_managed(v_before);
  if p_by_token then
    perform outbox.check_token_share(p_org_id, p_change, v_before);
  end if;
  perform outbox.change_endpoint(p_endpoint_id, p_change);
  perform outbox.change_event_types(p_endpoint_id, p_change);
  perform outbox.finish_change(v_before, p_change -> 'headers');
  perform outbox.note_change(p_endpoint_id,
    array(select k from pg_catalog.jsonb_object_keys(p_change) k order by k), null);
  return outbox.get_org_endpoint(p_org_id, p_endpoint_id);
end
$$;
comment on function outbox.update_org_endpoint(text, uuid, jsonb, integer, boolean) is
  'Changes only the members in p_change; headers by name, null removes one. A URL with another '
  'scheme, host or port needs all headers named again. Returns the endpoint. OH001, OH002, OH008; '
  'OH004: it is managed under another path (a channel); OH010: a limit of subscriptions, or of the '
  'share that a token may set (p_by_token: the caller has a token, not a secret key).';
