-- Brokers: an endpoint of kind rabbitmq or kafka publishes events to an exchange or a topic. Its
-- runs speak another protocol than HTTP to any address, so only SQL or a secret key can create one.
-- An unreachable broker is not the fault of a delivery: the rules at the end make the delivery wait
-- for the breaker without a failed attempt.

insert into outbox.endpoint_kind (kind, retry, response_class, credentials_remedy, rewrite_command,
  create_function, change_function)
select k, '{"strategy": "exponential", "base_delay": 1, "factor": 2, "max_delay": 30,
    "max_retries": 5, "jitter": true}',
  'broker', 'set_broker() with p_credentials sets it again',
  $$outbox.set_broker(%2$L, p_credentials => '<the credentials>')$$,
  'outbox.create_broker_of_wire', 'outbox.change_broker_of_wire'
from pg_catalog.unnest(array['rabbitmq', 'kafka']) k;

insert into outbox.error_hint (error_class, hint) values
  ('broker', 'The broker rejected the record: see its error');

create function outbox.put_broker(
  p_endpoint_id uuid, p_broker jsonb, p_credentials jsonb
) returns void
language plpgsql set search_path = ''
as $$
declare
  v_kind text := (select e.kind from outbox.endpoint e where e.id = p_endpoint_id);
  v_broker jsonb := case v_kind
    when 'rabbitmq' then outbox.check_rabbitmq(p_broker)
    else outbox.check_kafka(p_broker)
  end;
begin
  perform outbox.check_credentials(v_kind, v_broker, p_credentials);
  update outbox.endpoint e set
    config = v_broker,
    url = coalesce(v_broker ->> 'url', 'kafka://' || (
      select pg_catalog.string_agg(a, ',')
      from pg_catalog.jsonb_array_elements_text(v_broker -> 'brokers') a))
  where e.id = p_endpoint_id;
  perform outbox.put_credentials(p_endpoint_id, p_credentials);
end
$$;
comment on function outbox.put_broker(uuid, jsonb, jsonb) is
  'Stores the settings of a broker endpoint, and its credentials in Vault. OH001.';

create function outbox.create_broker_endpoint(
  p_kind text,
  p_broker jsonb,
  p_credentials jsonb default null,
  p_event_types text[] default '{*}',
  p_org_id text default 'default',
  p_description text default '',
  p_ordering text default null,
  p_payload text default 'envelope',
  p_headers jsonb default '{}',
  p_filter text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  -- A Kafka partition keeps records in the order of arrival, so send them in order.
  v_ordering text := coalesce(p_ordering,
    case p_kind when 'kafka' then 'partition' else 'none' end);
  v_id uuid;
begin
  perform outbox.check_org(p_org_id);
  perform outbox.check_choice('kind', p_kind, array['rabbitmq', 'kafka']);
  perform outbox.check_choice('ordering', v_ordering, array['none', 'partition', 'endpoint']);
  perform outbox.check_choice('payload', p_payload, array['envelope', 'data']);
  perform outbox.check_headers(p_headers);
  perform outbox.check_endpoint_limit(p_org_id);
  -- 5 s: a probe costs a broker little.
  insert into outbox.endpoint (org_id, kind, url, description, payload, ordering, max_in_flight,
    quantum, breaker_open_ms, created_at, updated_at)
  values (p_org_id, p_kind, '', coalesce(p_description, ''), p_payload, v_ordering, 200, 100, 5000,
    v_now, v_now)
  returning id into v_id;
  perform outbox.put_broker(v_id, p_broker, p_credentials);
  perform outbox.put_headers(v_id, p_headers);
  perform outbox.add_gate(v_id, v_ordering);
  perform outbox.add_subscriptions(v_id, p_event_types, p_filter);
  perform outbox.note_endpoint(v_id, 'CREATED', 'Endpoint created');
  return pg_catalog.jsonb_build_object('id', v_id);
end
$$;
comment on function outbox.create_broker_endpoint(
  text, jsonb, jsonb, text[], text, text, text, text, jsonb, text) is
  'Creates an endpoint that publishes to a broker: {"id"}. p_kind rabbitmq: p_broker {"url": '
  '"amqps://host:port/vhost", "exchange", "routing_key", "mandatory", "ca", "dlq_exchange", '
  '"dlq_routing_key"}; kafka: {"brokers": ["host:port"], "topic", "tls", "ca", "sasl", '
  '"dlq_topic"}; p_credentials: {"username", "password"}. OH001 names the invalid field; '
  'OH010: a limit of the organisation.';

create function outbox.has_new_address(p_old jsonb, p_new jsonb) returns boolean
language plpgsql immutable set search_path = ''
as $$
begin
  return coalesce(outbox.url_origin(p_new ->> 'url') <> outbox.url_origin(p_old ->> 'url'), false)
    or coalesce((p_old ->> 'tls')::boolean and not (p_new ->> 'tls')::boolean, false)
    or exists (
      select from pg_catalog.jsonb_array_elements_text(p_new -> 'brokers') a
      where not p_old -> 'brokers' ? a);
end
$$;
comment on function outbox.has_new_address(jsonb, jsonb) is
  'Whether new settings of a broker lead to an address that the old ones do not have, or to the '
  'same one without TLS.';

create function outbox.change_broker(
  p_before outbox.endpoint, p_broker jsonb, p_credentials jsonb
) returns void
language plpgsql set search_path = ''
as $$
declare
  v_stored jsonb;
begin
  if p_credentials is null and p_before.credentials_vault_id is not null then
    v_stored := outbox.stored_credentials(p_before.credentials_vault_id);
  end if;
  perform outbox.put_broker(p_before.id, p_before.config || coalesce(p_broker, '{}'),
    coalesce(p_credentials, v_stored));
  if v_stored is not null and outbox.has_new_address(p_before.config, (
    select e.config from outbox.endpoint e where e.id = p_before.id))
  then
    perform outbox.invalid('credentials', 'is missing, although the broker has another address',
      'Give the username and the password for the new broker in the same call');
  end if;
end
$$;
comment on function outbox.change_broker(outbox.endpoint, jsonb, jsonb) is
  'Changes the settings of a broker endpoint that p_broker contains, and its credentials if '
  'p_credentials is not null, which a new address needs. OH001.';

create function outbox.set_broker(
  p_endpoint_id uuid,
  p_broker jsonb default '{}',
  p_credentials jsonb default null,
  p_headers jsonb default '{}'
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  -- A concurrent call waits here, then merges into the stored settings.
  v_before outbox.endpoint := outbox.lock_endpoint(p_endpoint_id);
begin
  if v_before.kind not in ('rabbitmq', 'kafka') then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('endpoint %s is not of kind rabbitmq or kafka', p_endpoint_id),
      hint = 'Create one with create_broker_endpoint()';
  end if;
  perform outbox.change_broker(v_before, p_broker, p_credentials);
  perform outbox.finish_change(v_before, p_headers);
  perform outbox.note_change(p_endpoint_id,
    array['broker'] || case when p_credentials is not null then array['credentials'] end,
    p_headers);
  return (
    select pg_catalog.jsonb_build_object('id', e.id, 'url', e.url, 'broker', e.config)
    from outbox.endpoint e where e.id = p_endpoint_id);
end
$$;
comment on function outbox.set_broker(uuid, jsonb, jsonb, jsonb) is
  'Changes the settings of a broker endpoint that p_broker contains, and its credentials if '
  'p_credentials is not null, from the next claim on: {"id", "url", "broker"}. A new address needs '
  'credentials, and p_headers with all custom headers, as in set_headers(). OH001, OH002, OH004.';

-- These codes are not from a broker: it was not reached, or it refused the login.
insert into outbox.failure_rule (kind, code, action, title, note)
select k.kind, r.code, 'wait', r.title, 'The delivery is not the cause'
from (values ('rabbitmq'), ('kafka')) k (kind)
cross join (values
  ('dns', 'The broker''s name cannot be resolved'),
  ('blocked', 'The broker''s address is not allowed'),
  ('connect', 'The broker cannot be reached'),
  ('tls', 'The TLS connection to the broker failed'),
  ('timeout', 'The broker did not respond in time'),
  ('reset', 'The connection broke before the broker confirmed'),
  ('login_refused', 'The broker rejected the credentials'),
  ('no_proxy', 'The broker cannot be reached through the egress proxy')
) r (code, title);
