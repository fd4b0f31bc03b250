-- Creation of an endpoint over the HTTP API. The kind names the function that creates it. The
-- members that all kinds have are then written as by a change.

create function outbox.create_by_kind(
  p_org_id text, p_endpoint jsonb, p_event_types text[]
) returns jsonb
language plpgsql set search_path = ''
as $$
declare
  v_kind text := coalesce(p_endpoint ->> 'kind', 'webhook');
  v_function text;
  v_new jsonb;
begin
  if v_kind <> 'webhook' then
    perform outbox.check_choice('kind', v_kind, array(
      select k.kind from outbox.endpoint_kind k
      where k.create_function is not null or k.kind = 'webhook' order by k.kind));
    select k.create_function into v_function from outbox.endpoint_kind k where k.kind = v_kind;
    execute pg_catalog.format('select %s($1, $2, $3)', v_function)
      into v_new using p_org_id, p_endpoint, p_event_types;
    return v_new;
  end if;
  perform outbox.refuse_members(p_endpoint, 'webhook', array['broker', 'config', 'credentials'],
    'Omit it');
  return outbox.create_endpoint(p_endpoint ->> 'url', p_event_types, p_org_id,
    p_secret => p_endpoint ->> 'secret',
    p_headers => coalesce(p_endpoint -> 'headers', '{}'),
    p_ordering => coalesce(p_endpoint ->> 'ordering', 'none'),
    p_retry => outbox.retry_of_wire(nullif(p_endpoint -> 'retry', 'null')),
    p_filter => p_endpoint ->> 'filter');
end
$$;
comment on function outbox.create_by_kind(text, jsonb, text[]) is
  'Creates an endpoint of the requested kind, by the create_function of the kind: {"id", "secret" '
  'if it has one}. OH001, also for a kind whose module is not installed.';

-- Without the right to read secrets, a caller gets only the secret of its own first request.
create function outbox.was_rotated(p_endpoint_id uuid) returns boolean
language plpgsql stable set search_path = ''
as $$
begin
  return exists (
    select from outbox.endpoint_secret s
    join outbox.endpoint e on e.id = s.endpoint_id
    where s.endpoint_id = p_endpoint_id and s.scheme = 'v1'
      and (s.created_at > e.created_at or s.expires_at is not null));
end
$$;
comment on function outbox.was_rotated(uuid) is
  'Whether the signing secret with which an endpoint was created has been replaced.';

create function outbox.create_org_endpoint(
  p_org_id text, p_endpoint jsonb, p_key text default null, p_by_token boolean default false,
  p_caller text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_new jsonb;
  v_result jsonb := outbox.begin_request(p_org_id, 'POST /endpoints', p_key, p_endpoint);
  v_id uuid := (v_result ->> 'id')::uuid;
begin
  if v_id is not null then
    -- Deleted since: the first response, whose secret is deleted, too.
    if not exists (
      select from outbox.endpoint e where e.id = v_id and e.status <> 'deleted')
    then
      return v_result - 'createdBy';
    end if;
    return outbox.get_org_endpoint(p_org_id, v_id) || case
      when (select e.kind from outbox.endpoint e where e.id = v_id) = 'webhook'
        and not outbox.was_rotated(v_id)
        and (p_caller is null or v_result ->> 'createdBy' = p_caller)
      then pg_catalog.jsonb_build_object('secret', outbox.read_secret(v_id) -> 'secret')
      else '{}'
    end;
  end if;
  if p_by_token then
    perform outbox.check_token_share(p_org_id, p_endpoint, null);
  end if;
  v_new := outbox.create_by_kind(p_org_id, p_endpoint,
    case
      when p_endpoint ? 'eventTypes' then
        array(select t from pg_catalog.jsonb_array_elements_text(p_endpoint -> 'eventTypes') t)
      else array['*']
    end);
  v_id := (v_new ->> 'id')::uuid;
  perform outbox.change_endpoint(v_id,
    p_endpoint - array['url', 'broker', 'config', 'credentials']);
  v_result := outbox.get_org_endpoint(p_org_id, v_id);
  perform outbox.end_request(p_org_id, p_key,
    v_result || pg_catalog.jsonb_build_object('createdBy', p_caller));
  return v_result || (v_new - 'id');
end
$$;
comment on function outbox.create_org_endpoint(text, jsonb, text, boolean, text) is
  'Creates an endpoint from the members of the request, and returns it with its secret. A repeat '
  'with the same p_key returns the current endpoint, without its secret if that was rotated; after '
  'the endpoint was deleted, the first response without the secret. p_by_token: the caller has a '
  'token, not a secret key; p_caller: who it is, if it may not read secrets: then a repeat has the '
  'secret only if the first request was its own. OH001, OH003, OH010.';
