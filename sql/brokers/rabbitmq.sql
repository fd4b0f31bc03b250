-- The settings of RabbitMQ, and rules for its errors. The codes are reply codes of AMQP 0-9-1 with
-- their titles, and two of Outhook: NO_ROUTE for a returned message, NACK for basic.nack. A code
-- without a rule is retried.

create function outbox.check_amqp_url(p_url text) returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_parts text[];
begin
  if p_url ~ '^amqps?://[^/]*@' then
    perform outbox.invalid('broker.url', 'contains credentials',
      'Give them in credentials, which are never shown: {"username", "password"}');
  end if;
  v_parts := pg_catalog.regexp_match(p_url,
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
  return v_parts[1] || '://' || v_parts[2] || v_parts[3] || coalesce(v_parts[4], '');
end
$$;
comment on function outbox.check_amqp_url(text) is
  'The URL of a RabbitMQ broker with its port, such as amqps://host:5671/vhost. OH001: it is '
  'invalid, contains credentials, or its host or port is not allowed.';

create function outbox.check_rabbitmq(p_broker jsonb) returns jsonb
language plpgsql stable set search_path = ''
as $$
declare
  v_broker jsonb := '{"exchange": "amq.topic", "routing_key": "{type}", "mandatory": true,
    "ca": null, "dlq_exchange": "", "dlq_routing_key": null}'::jsonb || p_broker;
  v_url text;
  v_field text;
begin
  perform outbox.check_members('broker', p_broker, array[
    'url', 'exchange', 'routing_key', 'mandatory', 'ca', 'dlq_exchange', 'dlq_routing_key'],
    'rabbitmq');
  v_url := outbox.check_amqp_url(v_broker ->> 'url');
  foreach v_field in array array['exchange', 'dlq_exchange'] loop
    if pg_catalog.jsonb_typeof(v_broker -> v_field) <> 'string'
      or v_broker ->> v_field !~ '^[A-Za-z0-9._:-]{0,127}$'
    then
      perform outbox.invalid('broker.' || v_field, 'is not the name of an exchange',
        'Expected at most 127 letters, digits and . _ : -; empty is the default exchange');
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
      'Expected true (an unroutable message is a failure) or false');
  end if;
  perform outbox.check_ca(v_broker -> 'ca');
  return v_broker || pg_catalog.jsonb_build_object('url', v_url);
end
$$;
comment on function outbox.check_rabbitmq(jsonb) is
  'The settings of a RabbitMQ endpoint with their defaults: {"url": "amqps://host:port/vhost", '
  '"exchange", "routing_key", "mandatory", "ca", "dlq_exchange", "dlq_routing_key"}. OH001.';

insert into outbox.failure_rule (kind, code, action, title, note) values
  ('rabbitmq', 'NO_ROUTE', 'retry', 'No queue for the message (returned as mandatory)', ''),
  ('rabbitmq', 'NACK', 'retry', 'RabbitMQ could not accept the message (basic.nack)',
    'Example: a full queue with overflow reject-publish'),
  ('rabbitmq', 'ACCESS_REFUSED', 'retry', 'The user may not write to the exchange', ''),
  ('rabbitmq', 'NOT_FOUND', 'retry', 'The exchange does not exist', ''),
  ('rabbitmq', 'CONNECTION_FORCED', 'wait', 'RabbitMQ closed the connection because it stops', ''),
  ('rabbitmq', 'NOT_ALLOWED', 'wait',
    'The virtual host does not exist or the user may not use it', ''),
  ('rabbitmq', 'RESOURCE_ERROR', 'wait', 'RabbitMQ has no free memory or disk', ''),
  ('rabbitmq', 'PRECONDITION_FAILED', 'fail', 'RabbitMQ rejected the message',
    'Example: larger than max_message_size'),
  ('rabbitmq', 'CONTENT_TOO_LARGE', 'fail', 'The message is too large', '');
