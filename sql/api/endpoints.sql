create function outbox.endpoint_json(p_endpoint outbox.endpoint) returns jsonb
language plpgsql stable set search_path = ''
as $$
declare
  v_types jsonb;
  v_filter text;
  v_breaker text;
begin
  select coalesce(pg_catalog.jsonb_agg(s.pattern order by s.pattern), '[]'),
    pg_catalog.min(s.filter_text)
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
    'retry', outbox.retry_to_wire(coalesce(p_endpoint.retry, outbox.retry_preset(p_endpoint.kind))),
    'retryPreset', p_endpoint.retry is null,
    'retry4xx', p_endpoint.retry_4xx, 'onDeadLetter', p_endpoint.on_dead_letter,
    'breaker', pg_catalog.jsonb_build_object(
      'enabled', p_endpoint.breaker_enabled, 'threshold', p_endpoint.breaker_threshold,
      'openMs', p_endpoint.breaker_open_ms,
      'status', case when p_endpoint.breaker_enabled then coalesce(v_breaker, 'closed') end),
    'broker', null, 'config', p_endpoint.config,
    'status', p_endpoint.status, 'statusReason', p_endpoint.status_reason,
    'version', p_endpoint.version,
    'createdAt', outbox.iso_time(p_endpoint.created_at),
    'updatedAt', outbox.iso_time(p_endpoint.updated_at))
    || outbox.endpoint_members(p_endpoint);
end
$$;
comment on function outbox.endpoint_json(outbox.endpoint) is
  'An endpoint in the form of the API. filter is that of all its event types; if SQL set several, '
  'one of them.';

create function outbox.get_org_endpoint(p_org_id text, p_endpoint_id uuid) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
begin
  return outbox.endpoint_json(outbox.org_endpoint(p_org_id, p_endpoint_id));
end
$$;
comment on function outbox.get_org_endpoint(text, uuid) is
  'One endpoint of an organisation: endpoint_json(). OH002.';

create function outbox.has_health(p_endpoint outbox.endpoint, p_health text) returns boolean
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_gate outbox.gate;
begin
  if p_health is null or p_health = 'held' then
    return p_health is null or p_endpoint.status in ('paused', 'disabled');
  end if;
  select * into v_gate from outbox.gate g
  where g.endpoint_id = p_endpoint.id order by g.changed_at desc limit 1;
  return case
    when p_health = 'failing' then v_gate.first_failure_at is not null
    else p_endpoint.breaker_enabled and coalesce(v_gate.breaker, 'closed') <> 'closed'
  end;
end
$$;
comment on function outbox.has_health(outbox.endpoint, text) is
  'Whether an endpoint is failing (its last attempt failed), breaker_open (open or half-open) or '
  'held (paused or disabled), as get_org_overview() counts them. Null: any.';

create function outbox.list_org_endpoints(
  p_org_id text, p_cursor text default null, p_limit integer default 50,
  p_status text default null, p_search text default null, p_health text default null
) returns jsonb
language plpgsql stable security definer
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
as $$
declare
  v_at timestamptz;
  v_id uuid;
  v_endpoint outbox.endpoint;
  v_last outbox.endpoint;
  v_seen integer := 0;
  v_data jsonb[] := array[]::jsonb[];
  v_next text;
begin
  perform outbox.check_page(p_limit);
  if p_health is not null then
    perform outbox.check_choice('health', p_health, array['failing', 'breaker_open', 'held']);
  end if;
  select c.p_at, c.p_id::uuid into v_at, v_id from outbox.read_cursor(p_cursor) c;
  for v_endpoint in
    select e.*
    from outbox.endpoint e
    where e.org_id = p_org_id and e.status <> 'deleted' and (e.created_at, e.id) < (v_at, v_id)
    order by e.created_at desc, e.id desc
  loop
    v_seen := v_seen + 1;
    continue when v_endpoint.status <> coalesce(p_status, v_endpoint.status)
      or pg_catalog.strpos(pg_catalog.lower(v_endpoint.url || ' ' || v_endpoint.description),
        pg_catalog.lower(coalesce(p_search, ''))) = 0
      or not outbox.has_health(v_endpoint, p_health);
    if pg_catalog.cardinality(v_data) = p_limit then
      v_next := outbox.to_cursor(v_last.created_at, v_last.id::text);
      exit;
    end if;
    v_data := v_data || outbox.endpoint_json(v_endpoint);
    v_last := v_endpoint;
  end loop;
  return pg_catalog.jsonb_build_object(
    'data', pg_catalog.to_jsonb(v_data), 'nextCursor', v_next, 'rows', v_seen);
end
$$;
comment on function outbox.list_org_endpoints(text, text, integer, text, text, text) is
  'The endpoints of an organisation, newest first: {"data", "nextCursor", "rows": how many were '
  'read}. p_search: a part of the URL or the description, in small letters or capitals; p_health: '
  'see has_health(). OH001.';
