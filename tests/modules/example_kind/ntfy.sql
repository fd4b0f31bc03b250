-- Module ntfy, needs core and works with api. It adds the kind `ntfy`: an event becomes a push
-- notification in a topic of an ntfy server (https://docs.ntfy.sh/publish/#publish-as-json).
-- endpoint.url is the server, endpoint.config has the topic and the priority, and the access token
-- is in Vault.

-- 1. The kind, with its retry schedule. The API creates such an endpoint, because the row names
-- create_function and change_function.
insert into outbox.endpoint_kind (kind, retry, credentials_remedy, rewrite_command, create_function,
  change_function)
values ('ntfy', '{"strategy": "schedule", "delays": [2, 10, 60, 300], "max_retries": 4,
    "jitter": true}',
  'set_ntfy_token() sets it again', $$outbox.set_ntfy_token(%2$L, '<the token>')$$,
  'outbox.create_ntfy_of_wire', 'outbox.change_ntfy_of_wire');

-- 2. A setting of its own. set_setting() changes it and checks its bounds.
insert into outbox.setting (name, value, type, lowest, highest, description) values
  ('ntfy.resume_after_s', '3600', 'integer', 1, 604800,
    'How long after a refused token or topic an ntfy endpoint is served again');

-- 3. What failures mean. A code that has no row means what its HTTP status means.
insert into outbox.failure_rule (kind, code, action, min_delay_s, title, note) values
  ('ntfy', '40101', 'hold', 0, 'The access token is not valid', ''),
  ('ntfy', '40301', 'hold', 0, 'The token may not write to the topic', ''),
  ('ntfy', '42904', 'hold', 0, 'The server takes no more topics', 'Its admin raises the limit'),
  ('ntfy', '42908', 'throttle', 3600, 'The messages of this day are used up', '');

-- The sender reports this class if a proxy or a web page responds in place of ntfy.
insert into outbox.error_hint (error_class, hint) values
  ('ntfy.response', 'The response is not one of ntfy: check that the URL is that of its server');

-- 4. Creating an endpoint.
create function outbox.check_ntfy(p_config jsonb) returns jsonb
language plpgsql stable set search_path = ''
as $$
declare
  v_config jsonb := '{"priority": 3}'::jsonb || p_config;
  v_stray text;
begin
  select k into v_stray from pg_catalog.jsonb_object_keys(p_config) k
  where k not in ('topic', 'priority') order by k limit 1;
  if found then
    perform outbox.invalid('config.' || pg_catalog.left(v_stray, 60),
      'is no setting of kind ntfy', 'Expected topic, priority');
  end if;
  if coalesce(v_config ->> 'topic', '') !~ '^[-_A-Za-z0-9]{1,64}$' then
    perform outbox.invalid('config.topic', 'is not the name of a topic',
      'Expected 1 to 64 letters, digits, - and _');
  end if;
  perform outbox.check_choice('config.priority', v_config ->> 'priority',
    array['1', '2', '3', '4', '5']);
  return v_config || pg_catalog.jsonb_build_object('priority', (v_config ->> 'priority')::integer);
end
$$;
comment on function outbox.check_ntfy(jsonb) is
  'The settings of an ntfy endpoint, complete: {"topic", "priority": 1 to 5}. OH001.';

create function outbox.put_ntfy_token(p_endpoint_id uuid, p_token text) returns void
language plpgsql set search_path = ''
as $$
begin
  -- The sender writes it into a header.
  if coalesce(p_token, '') !~ '^[\x21-\x7e]{1,200}$' then
    perform outbox.invalid('credentials.token', 'is not an access token',
      'Expected 1 to 200 visible ASCII characters, such as tk_ with 29 letters and digits');
  end if;
  perform outbox.put_credentials(p_endpoint_id,
    pg_catalog.jsonb_build_object('token', p_token));
end
$$;
comment on function outbox.put_ntfy_token(uuid, text) is
  'Stores the access token of an ntfy endpoint in Vault. OH001.';

create function outbox.create_ntfy_endpoint(
  p_url text,
  p_topic text,
  p_token text,
  p_priority integer default 3,
  p_event_types text[] default '{*}',
  p_org_id text default 'default',
  p_description text default '',
  p_filter text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_id uuid;
begin
  perform outbox.check_org(p_org_id);
  -- The public server takes a message each 5 s, and up to 60 at once after a pause.
  insert into outbox.endpoint (org_id, kind, url, description, max_in_flight, rate_per_second,
    rate_burst, config, created_at, updated_at)
  values (p_org_id, 'ntfy', outbox.check_url(p_url), coalesce(p_description, ''), 5, 0.2, 60,
    outbox.check_ntfy(
      pg_catalog.jsonb_build_object('topic', p_topic, 'priority', p_priority)),
    v_now, v_now)
  returning id into v_id;
  perform outbox.put_ntfy_token(v_id, p_token);
  perform outbox.add_gate(v_id, 'none');
  perform outbox.subscribe(v_id, p_event_types, p_filter);
  return pg_catalog.jsonb_build_object('id', v_id);
end
$$;
comment on function outbox.create_ntfy_endpoint(
  text, text, text, integer, text[], text, text, text) is
  'Creates an endpoint that publishes to a topic of an ntfy server: {"id"}. OH001.';

create function outbox.set_ntfy_token(p_endpoint_id uuid, p_token text) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  if (outbox.lock_endpoint(p_endpoint_id)).kind <> 'ntfy' then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('endpoint %s is not of kind ntfy', p_endpoint_id),
      hint = 'create_ntfy_endpoint() creates one';
  end if;
  perform outbox.put_ntfy_token(p_endpoint_id, p_token);
  update outbox.endpoint e
  set version = e.version + 1, updated_at = outbox.clock()
  where e.id = p_endpoint_id;
  return pg_catalog.jsonb_build_object('id', p_endpoint_id);
end
$$;
comment on function outbox.set_ntfy_token(uuid, text) is
  'Gives an ntfy endpoint another access token, from the next claim on: {"id"}. OH001, OH002, '
  'OH004.';

-- 5. The same over HTTP. The API calls these two functions by their names in endpoint_kind.
create function outbox.create_ntfy_of_wire(
  p_org_id text, p_endpoint jsonb, p_event_types text[]
) returns jsonb
language plpgsql set search_path = ''
as $$
declare
  v_retry jsonb := outbox.retry_of_wire(nullif(p_endpoint -> 'retry', 'null'));
  v_config jsonb := outbox.check_ntfy(coalesce(p_endpoint -> 'config', '{}'));
  v_new jsonb;
begin
  perform outbox.refuse_members(p_endpoint, 'ntfy',
    array['broker', 'headers', 'ordering', 'payload', 'secret'], 'Leave it out');
  perform outbox.check_retry(v_retry);
  v_new := outbox.create_ntfy_endpoint(p_endpoint ->> 'url', v_config ->> 'topic',
    p_endpoint -> 'credentials' ->> 'token', (v_config ->> 'priority')::integer, p_event_types,
    p_org_id, p_filter => p_endpoint ->> 'filter');
  update outbox.endpoint e set retry = v_retry where e.id = (v_new ->> 'id')::uuid;
  return v_new;
end
$$;
comment on function outbox.create_ntfy_of_wire(text, jsonb, text[]) is
  'Creates an ntfy endpoint from the members that the API took: {"id"}. OH001.';

create function outbox.change_ntfy_of_wire(p_endpoint_id uuid, p_change jsonb) returns jsonb
language plpgsql set search_path = ''
as $$
begin
  -- Without this rule, an admin of the organisation could send the stored token to another server.
  if p_change ? 'url' and not p_change ? 'credentials' then
    perform outbox.invalid('url', 'would send the stored token to another server',
      'Set credentials.token in the same change');
  end if;
  if p_change ? 'credentials' then
    perform outbox.put_ntfy_token(p_endpoint_id, p_change -> 'credentials' ->> 'token');
  end if;
  if p_change ? 'config' then
    update outbox.endpoint e
    set config = outbox.check_ntfy(e.config || (p_change -> 'config'))
    where e.id = p_endpoint_id;
  end if;
  return p_change - array['config', 'credentials'];
end
$$;
comment on function outbox.change_ntfy_of_wire(uuid, jsonb) is
  'Changes the token and the settings of an ntfy endpoint that a change names; returns the other '
  'members. OH001.';

-- 6. A step of the tick. Access is granted on the ntfy server, which reports no such change.
create function outbox.resume_held_ntfy(p_now timestamptz, p_most integer) returns void
language plpgsql set search_path = ''
as $$
declare
  v_id uuid;
begin
  for v_id in
    select e.id
    from outbox.endpoint e
    where e.kind = 'ntfy' and e.status = 'disabled' and e.status_reason = 'failure_rule'
      and e.updated_at <= p_now
        - pg_catalog.make_interval(secs => outbox.setting_int('ntfy.resume_after_s'))
    limit p_most
    for no key update skip locked
  loop
    perform outbox.resume_endpoint(v_id);
  end loop;
end
$$;
comment on function outbox.resume_held_ntfy(timestamptz, integer) is
  'Serves up to p_most ntfy endpoints again that were held for ntfy.resume_after_s. locks: the '
  'endpoints with SKIP LOCKED.';

insert into outbox.tick_step (name, calls, most) values
  ('ntfy', 'outbox.resume_held_ntfy', 20);

-- 7. The rights. Nobody may call the other functions.
select outbox.close_new();

grant execute on function
  outbox.create_ntfy_endpoint(text, text, text, integer, text[], text, text, text),
  outbox.set_ntfy_token(uuid, text)
to service_role;
