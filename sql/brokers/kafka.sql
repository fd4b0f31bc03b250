-- The settings of Kafka, and rules for the error codes that Kafka does not retry, with Kafka's
-- titles (https://kafka.apache.org/protocol#protocol_error_codes). A code without a rule is
-- retried.

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
      'Expected something like ["kafka-1.example.com:9093"]; Kafka returns the other addresses');
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
        'Expected another topic, such as {topic}.dlq, or null');
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
  'The settings of a Kafka endpoint with their defaults: {"brokers": ["host:port"], "topic", '
  '"tls", "ca", "sasl", "dlq_topic"}. OH001.';

insert into outbox.failure_rule (kind, code, action, title, note) values
  ('kafka', 'MESSAGE_TOO_LARGE', 'fail', 'The record is larger than the topic allows', ''),
  ('kafka', 'RECORD_LIST_TOO_LARGE', 'fail', 'The batch is larger than a segment', ''),
  ('kafka', 'INVALID_TOPIC_EXCEPTION', 'fail', 'The topic name is invalid', ''),
  ('kafka', 'INVALID_RECORD', 'fail', 'The broker rejected the record as invalid', ''),
  ('kafka', 'INVALID_TIMESTAMP', 'fail', 'The record''s time is out of range', ''),
  ('kafka', 'TOPIC_AUTHORIZATION_FAILED', 'fail', 'The user may not write to the topic', ''),
  ('kafka', 'CLUSTER_AUTHORIZATION_FAILED', 'fail', 'The user may not write to the cluster', ''),
  ('kafka', 'POLICY_VIOLATION', 'fail', 'A policy of the cluster forbids the record', ''),
  ('kafka', 'UNSUPPORTED_FOR_MESSAGE_FORMAT', 'fail', 'The topic''s format is too old', ''),
  ('kafka', 'UNSUPPORTED_VERSION', 'fail', 'The broker is too old', '');
