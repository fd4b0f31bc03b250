-- Brokers: an endpoint of kind rabbitmq or kafka publishes events to an exchange or a topic. What
-- may be shown of it lies in endpoint.broker, its user and password in Vault. Whoever can name a
-- broker makes runs speak another protocol to it, so such endpoints are made by SQL or with a
-- secret key alone. A broker that cannot be reached is no fault of a delivery: the rules at the end
-- make it wait behind the breaker, and no try is spent.

create function outbox.check_members(
  p_field text, p_value jsonb, p_members text[], p_kind text
) returns void
language plpgsql immutable set search_path = ''
as $$
declare
  v_stray text;
begin
  if pg_catalog.jsonb_typeof(p_value) is distinct from 'object' then
    perform outbox.invalid(p_field, 'is not an object',
      'Expected members such as ' || pg_catalog.array_to_string(p_members, ', '));
  end if;
  select k into v_stray from pg_catalog.jsonb_object_keys(p_value) k
  where k <> all (p_members) order by k limit 1;
  if found then
    perform outbox.invalid(p_field || '.' || pg_catalog.left(v_stray, 60),
      'is no setting of kind ' || p_kind,
      'Expected ' || pg_catalog.array_to_string(p_members, ', '));
  end if;
end
$$;
comment on function outbox.check_members(text, jsonb, text[], text) is
  'Raises OH001 for the first member of an object that its kind does not know.';

create function outbox.check_broker_address(p_field text, p_address text) returns void
language plpgsql stable set search_path = ''
as $$
declare
  v_problem text := case
    when p_address is null or p_address !~ '^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):[0-9]{1,5}$'
    then 'is not host:port'
    else outbox.authority_problem('https://' || p_address)
  end;
begin
  if v_problem is not null then
    perform outbox.invalid(p_field, v_problem, case v_problem
      when 'has a host that is not allowed' then
        'Use a host on the public Internet. A network of one''s own is allowed by the setting '
        'egress.allow_cidrs'
      when 'has a port that is not allowed' then
        'The settings egress.allow_ports and egress.deny_ports say which ports are'
      else 'Expected something like broker.example.com:9092'
    end);
  end if;
end
$$;
comment on function outbox.check_broker_address(text, text) is
  'Raises OH001 unless a broker may be reached at this host:port. The addresses behind a name are '
  'vetted at each connection.';

create function outbox.check_template(
  p_field text, p_template jsonb, p_names text[], p_characters text
) returns void
language plpgsql immutable set search_path = ''
as $$
declare
  v_text text := p_template #>> '{}';
begin
  if pg_catalog.jsonb_typeof(p_template) is distinct from 'string' or v_text = ''
    or pg_catalog.length(v_text) > 200
    or pg_catalog.regexp_replace(v_text,
      '\{(' || pg_catalog.array_to_string(p_names, '|') || ')\}', '', 'g') !~ p_characters
  then
    perform outbox.invalid(p_field, 'is not a text of 1 to 200 such characters',
      pg_catalog.format('Expected letters, digits, . _ - and {%s}, such as shop.{type}',
        pg_catalog.array_to_string(p_names, '}, {')));
  end if;
end
$$;
comment on function outbox.check_template(text, jsonb, text[], text) is
  'Raises OH001 unless a template has only the placeholders {…} of p_names and, beside them, what '
  'the pattern p_characters allows.';

create function outbox.check_ca(p_ca jsonb) returns void
language plpgsql immutable set search_path = ''
as $$
begin
  if p_ca <> 'null' and (
    p_ca #>> '{}' !~ '^\s*-----BEGIN CERTIFICATE-----' or pg_catalog.length(p_ca #>> '{}') > 65536)
  then
    perform outbox.invalid('broker.ca', 'is not a certificate in PEM',
      'Expected -----BEGIN CERTIFICATE----- and so on: of the authority, not of the broker');
  end if;
end
$$;
comment on function outbox.check_ca(jsonb) is
  'Raises OH001 unless the certificates to trust instead of the public ones are null or PEM.';

create function outbox.check_rabbitmq(p_broker jsonb) returns jsonb
language plpgsql stable set search_path = ''
as $$
declare
  v_broker jsonb := '{"exchange": "amq.topic", "routing_key": "{type}", "mandatory": true,
    "ca": null, "dlq_exchange": "", "dlq_routing_key": null}'::jsonb || p_broker;
  v_url text := v_broker ->> 'url';
  v_parts text[];
  v_field text;
begin
  perform outbox.check_members('broker', p_broker, array[
    'url', 'exchange', 'routing_key', 'mandatory', 'ca', 'dlq_exchange', 'dlq_routing_key'],
    'rabbitmq');
  if v_url ~ '^amqps?://[^/]*@' then
    perform outbox.invalid('broker.url', 'carries credentials',
      'Give them in credentials, which nobody can read: {"username", "password"}');
  end if;
  v_parts := pg_catalog.regexp_match(v_url,
    '^(amqps?)://([^/?#:]+|\[[^\]]*\])(:[0-9]{1,5})?(/[A-Za-z0-9._~%!$&''()*+,;=:@-]*)?$');
  if v_parts is null then
    perform outbox.invalid('broker.url', 'is not an amqps URL',
      'Expected amqps://host:5671/vhost; write a / in the vhost as %2F');
  elsif v_parts[1] = 'amqp' and not outbox.setting_on('egress.allow_http') then
    perform outbox.invalid('broker.url', 'is not amqps', 'Use amqps. For local development: '
      'select outbox.set_setting(''egress.allow_http'', ''true'')');
  end if;
  v_parts[3] := coalesce(v_parts[3], case v_parts[1] when 'amqps' then ':5671' else ':5672' end);
  perform outbox.check_broker_address('broker.url', v_parts[2] || v_parts[3]);
  foreach v_field in array array['exchange', 'dlq_exchange'] loop
    if pg_catalog.jsonb_typeof(v_broker -> v_field) <> 'string'
      or v_broker ->> v_field !~ '^[A-Za-z0-9._:-]{0,127}$'
    then
      perform outbox.invalid('broker.' || v_field, 'is not the name of an exchange',
        'Expected up to 127 letters, digits and . _ : -; an empty text is the default exchange');
    end if;
  end loop;
  perform outbox.check_template('broker.routing_key', v_broker -> 'routing_key',
    array['type', 'org', 'key'], '^[A-Za-z0-9._:#-]*$');
  if v_broker -> 'dlq_routing_key' <> 'null' then
    perform outbox.check_template('broker.dlq_routing_key', v_broker -> 'dlq_routing_key',
      array['type', 'org', 'routing_key'], '^[A-Za-z0-9._:#-]*$');
  end if;
  if pg_catalog.jsonb_typeof(v_broker -> 'mandatory') <> 'boolean' then
    perform outbox.invalid('broker.mandatory', 'is not true or false',
      'true: a message that no queue takes is a failure');
  end if;
  perform outbox.check_ca(v_broker -> 'ca');
  return v_broker || pg_catalog.jsonb_build_object(
    'url', v_parts[1] || '://' || v_parts[2] || v_parts[3] || coalesce(v_parts[4], ''));
end
$$;
comment on function outbox.check_rabbitmq(jsonb) is
  'The settings of a RabbitMQ endpoint, complete: {"url": "amqps://host:port/vhost", "exchange", '
  '"routing_key", "mandatory", "ca", "dlq_exchange", "dlq_routing_key"}. OH001.';

create function outbox.check_kafka(p_broker jsonb) returns jsonb
language plpgsql stable set search_path = ''
as $$
declare
  v_broker jsonb := '{"topic": "{type}", "tls": true, "ca": null, "sasl": null,
    "dlq_topic": "{topic}.dlq"}'::jsonb || p_broker;
  v_address text;
begin
  perform outbox.check_members('broker', p_broker, array[
    'brokers', 'topic', 'tls', 'ca', 'sasl', 'dlq_topic'], 'kafka');
  if pg_catalog.jsonb_typeof(v_broker -> 'brokers') is distinct from 'array'
    or pg_catalog.jsonb_array_length(v_broker -> 'brokers') not between 1 and 20
  then
    perform outbox.invalid('broker.brokers', 'is not a list of 1 to 20 addresses',
      'Expected something like ["kafka-1.example.com:9093"]; the others are learnt from these');
  end if;
  for v_address in select a from pg_catalog.jsonb_array_elements_text(v_broker -> 'brokers') a loop
    if v_address like '[%' then
      perform outbox.invalid('broker.brokers', 'has an IPv6 address, which kafkajs cannot read',
        'Use a name such as kafka-1.example.com:9093');
    end if;
    perform outbox.check_broker_address('broker.brokers', v_address);
  end loop;
  perform outbox.check_template('broker.topic', v_broker -> 'topic', array['type', 'org'],
    '^[A-Za-z0-9._-]*$');
  if v_broker -> 'dlq_topic' <> 'null' then
    perform outbox.check_template('broker.dlq_topic', v_broker -> 'dlq_topic',
      array['type', 'org', 'topic'], '^[A-Za-z0-9._-]*$');
    if v_broker -> 'dlq_topic' in (v_broker -> 'topic', '"{topic}"') then
      perform outbox.invalid('broker.dlq_topic', 'is the topic itself',
        'Expected another one, such as {topic}.dlq, or null for none');
    end if;
  end if;
  if pg_catalog.jsonb_typeof(v_broker -> 'tls') <> 'boolean' then
    perform outbox.invalid('broker.tls', 'is not true or false', 'Expected true');
  elsif v_broker -> 'tls' = 'false' and not outbox.setting_on('egress.allow_http') then
    perform outbox.invalid('broker.tls', 'is false', 'Use TLS. For local development: '
      'select outbox.set_setting(''egress.allow_http'', ''true'')');
  end if;
  if v_broker -> 'sasl' <> 'null' then
    perform outbox.check_choice('broker.sasl', v_broker ->> 'sasl',
      array['plain', 'scram-sha-256', 'scram-sha-512']);
  end if;
  perform outbox.check_ca(v_broker -> 'ca');
  return v_broker;
end
$$;
comment on function outbox.check_kafka(jsonb) is
  'The settings of a Kafka endpoint, complete: {"brokers": ["host:port"], "topic", "tls", "ca", '
  '"sasl", "dlq_topic"}. OH001.';

create function outbox.check_credentials(
  p_kind text, p_broker jsonb, p_credentials jsonb
) returns void
language plpgsql immutable set search_path = ''
as $$
declare
  v_wanted boolean := p_kind = 'rabbitmq' or p_broker -> 'sasl' <> 'null';
  v_field text;
begin
  if p_credentials is null and not v_wanted then
    return;
  elsif p_credentials is null then
    perform outbox.invalid('credentials', 'is missing', 'Expected {"username", "password"}');
  elsif not v_wanted then
    perform outbox.invalid('credentials', 'is given without broker.sasl',
      'Name the mechanism in broker.sasl: plain, scram-sha-256 or scram-sha-512');
  end if;
  perform outbox.check_members('credentials', p_credentials, array['username', 'password'],
    p_kind);
  foreach v_field in array array['username', 'password'] loop
    if pg_catalog.jsonb_typeof(p_credentials -> v_field) is distinct from 'string'
      or pg_catalog.length(p_credentials ->> v_field) not between 1 and 2048
    then
      perform outbox.invalid('credentials.' || v_field, 'is not a text of 1 to 2048 characters',
        'Any characters go, as they are: nothing is to be escaped');
    end if;
  end loop;
end
$$;
comment on function outbox.check_credentials(text, jsonb, jsonb) is
  'Raises OH001 unless these are what a broker is logged in to with; never shows them.';

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
    broker = v_broker,
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
  -- A partition of a topic keeps the order in which records come, so they come in order.
  v_ordering text := coalesce(p_ordering,
    case p_kind when 'kafka' then 'partition' else 'none' end);
  v_id uuid;
begin
  perform outbox.check_org(p_org_id);
  perform outbox.check_choice('kind', p_kind, array['rabbitmq', 'kafka']);
  perform outbox.check_choice('ordering', v_ordering, array['none', 'partition', 'endpoint']);
  perform outbox.check_choice('payload', p_payload, array['envelope', 'data']);
  perform outbox.check_headers(p_headers);
  -- A probe costs a broker nothing, so it is made soon.
  insert into outbox.endpoint (org_id, kind, url, description, payload, ordering, max_in_flight,
    quantum, breaker_open_ms, created_at, updated_at)
  values (p_org_id, p_kind, '', coalesce(p_description, ''), p_payload, v_ordering, 200, 100, 5000,
    v_now, v_now)
  returning id into v_id;
  perform outbox.put_broker(v_id, p_broker, p_credentials);
  perform outbox.put_headers(v_id, p_headers);
  perform outbox.add_gate(v_id, v_ordering);
  perform outbox.subscribe(v_id, p_event_types, p_filter);
  return pg_catalog.jsonb_build_object('id', v_id);
end
$$;
comment on function outbox.create_broker_endpoint(
  text, jsonb, jsonb, text[], text, text, text, text, jsonb, text) is
  'Makes an endpoint that publishes to a broker: {"id"}. p_kind rabbitmq: p_broker {"url": '
  '"amqps://host:port/vhost", "exchange", "routing_key", "mandatory", "ca", "dlq_exchange", '
  '"dlq_routing_key"}; kafka: {"brokers": ["host:port"], "topic", "tls", "ca", "sasl", '
  '"dlq_topic"}; p_credentials: {"username", "password"}. OH001 names the field that is wrong.';

create function outbox.set_broker(
  p_endpoint_id uuid, p_broker jsonb default '{}', p_credentials jsonb default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_endpoint outbox.endpoint;
begin
  if (outbox.check_endpoint(p_endpoint_id)).broker is null then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('endpoint %s is not of kind rabbitmq or kafka', p_endpoint_id),
      hint = 'create_broker_endpoint() makes one';
  end if;
  -- The row's lock first: of two calls at a time the second starts from what the first left.
  update outbox.endpoint e
  set version = e.version + 1, updated_at = outbox.clock()
  where e.id = p_endpoint_id
  returning e.* into v_endpoint;
  perform outbox.put_broker(p_endpoint_id, v_endpoint.broker || coalesce(p_broker, '{}'),
    coalesce(p_credentials, outbox.stored_credentials(v_endpoint.credentials_vault_id)));
  return (
    select pg_catalog.jsonb_build_object('id', e.id, 'url', e.url, 'broker', e.broker)
    from outbox.endpoint e where e.id = p_endpoint_id);
end
$$;
comment on function outbox.set_broker(uuid, jsonb, jsonb) is
  'Changes the settings of a broker endpoint that p_broker names, and its credentials where they '
  'are given, from the next claim on: {"id", "url", "broker"}. OH001, OH002, OH004.';

-- Titles are the protocols' own. Kafka: https://kafka.apache.org/protocol#protocol_error_codes,
-- what is not retriable there; AMQP: reply codes of 0-9-1. What no row names is retried.
insert into outbox.failure_rule (kind, code, action, title, note)
select k.kind, r.code, 'wait', r.title, 'Nothing of the delivery is at fault'
from (values ('rabbitmq'), ('kafka')) k (kind)
cross join (values
  ('dns', 'The broker''s name cannot be resolved'),
  ('blocked', 'The broker''s address is not allowed'),
  ('connect', 'The broker cannot be reached'),
  ('tls', 'The broker''s TLS is not right'),
  ('timeout', 'The broker did not answer in time'),
  ('reset', 'The connection broke before the broker confirmed'),
  ('login_refused', 'The broker refuses the credentials'),
  ('no_proxy', 'The broker cannot be reached through the egress proxy')
) r (code, title);
insert into outbox.failure_rule (kind, code, action, title, note) values
  ('rabbitmq', 'NO_ROUTE', 'retry', 'No queue takes the message (returned as mandatory)', ''),
  ('rabbitmq', 'NACK', 'retry', 'RabbitMQ could not take the message (basic.nack)',
    'A full queue with overflow reject-publish says so'),
  ('rabbitmq', 'ACCESS_REFUSED', 'retry', 'The user may not write to the exchange', ''),
  ('rabbitmq', 'NOT_FOUND', 'retry', 'The exchange is not there', ''),
  ('rabbitmq', 'CONNECTION_FORCED', 'wait', 'RabbitMQ closes the connection, as it stops', ''),
  ('rabbitmq', 'NOT_ALLOWED', 'wait', 'The virtual host is not there or not open to the user', ''),
  ('rabbitmq', 'RESOURCE_ERROR', 'wait', 'RabbitMQ has no room', ''),
  ('rabbitmq', 'PRECONDITION_FAILED', 'fail', 'RabbitMQ does not take such a message',
    'Larger than max_message_size, for one'),
  ('rabbitmq', 'CONTENT_TOO_LARGE', 'fail', 'The message is too large', ''),
  ('kafka', 'MESSAGE_TOO_LARGE', 'fail', 'The record is larger than the topic allows', ''),
  ('kafka', 'RECORD_LIST_TOO_LARGE', 'fail', 'The batch is larger than a segment', ''),
  ('kafka', 'INVALID_TOPIC_EXCEPTION', 'fail', 'The topic''s name is not valid', ''),
  ('kafka', 'INVALID_RECORD', 'fail', 'The broker does not take such a record', ''),
  ('kafka', 'INVALID_TIMESTAMP', 'fail', 'The record''s time is out of range', ''),
  ('kafka', 'TOPIC_AUTHORIZATION_FAILED', 'fail', 'The user may not write to the topic', ''),
  ('kafka', 'CLUSTER_AUTHORIZATION_FAILED', 'fail', 'The user may not write to the cluster', ''),
  ('kafka', 'POLICY_VIOLATION', 'fail', 'A policy of the cluster forbids it', ''),
  ('kafka', 'UNSUPPORTED_FOR_MESSAGE_FORMAT', 'fail', 'The topic''s format is too old', ''),
  ('kafka', 'UNSUPPORTED_VERSION', 'fail', 'The broker is too old', '');
