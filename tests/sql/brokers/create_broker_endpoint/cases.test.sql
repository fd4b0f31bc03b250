-- Modules: api
-- Broker endpoints: what is stored where, what is refused, and what the claim hands to the sender.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(48);

create temporary table rabbit as
select (outbox.create_broker_endpoint('rabbitmq', '{"url": "amqps://mq.example.com/eu%2Fwest"}',
  '{"username": "ada", "password": "p@ss:/?#"}', '{order.*}', 'org-1', 'MQ') ->> 'id')::uuid as id;
create temporary table kafka as
select (outbox.create_broker_endpoint('kafka', '{"brokers": ["k1.example.com:9093", "k2.example.com:9093"],
  "topic": "shop.{org}.{type}", "sasl": "scram-sha-512"}',
  '{"username": "ada", "password": "secret"}', '{order.*}', 'org-1') ->> 'id')::uuid as id;

select ok((select to_jsonb(e) @> '{"org_id": "org-1", "kind": "rabbitmq", "url": "amqps://mq.example.com:5671/eu%2Fwest",
  "description": "MQ", "ordering": "none", "breaker_open_ms": 5000, "config": {"url": "amqps://mq.example.com:5671/eu%2Fwest",
  "exchange": "amq.topic", "routing_key": "{type}", "mandatory": true, "ca": null, "dlq_exchange": "", "dlq_routing_key": null}}'::jsonb
  from outbox.endpoint e join rabbit using (id)), 'RabbitMQ: the defaults are filled in');
select ok((select to_jsonb(e) @> '{"kind": "kafka", "url": "kafka://k1.example.com:9093,k2.example.com:9093", "ordering": "partition",
  "config": {"topic": "shop.{org}.{type}", "tls": true, "sasl": "scram-sha-512", "dlq_topic": "{topic}.dlq"}}'::jsonb
  from outbox.endpoint e join kafka using (id)), 'Kafka: the defaults are filled in, and keys keep their order');
select is(outbox.retry_preset('kafka'), '{"strategy": "exponential", "base_delay": 1, "factor": 2, "max_delay": 30, "max_retries": 5,
  "jitter": true}'::jsonb, 'brokers retry as a relay does');
select unalike((select string_agg(to_jsonb(e)::text || outbox.get_org_endpoint('org-1', id)::text, '') from outbox.endpoint e
  where e.kind in ('rabbitmq', 'kafka')), '%secret%', 'neither the row nor the API has a password');
select is((select count(*) from outbox.endpoint_secret s where s.endpoint_id in (select id from rabbit union select id from kafka)),
  0::bigint, 'they have no signing secret');

select outbox.publish('order.paid', '{"n": 1}', 'org-1', p_partition_key => 'k7');
create temporary table answer as select step() as a;
select is(a -> 'endpoints' -> rabbit.id::text -> 'credentials', '{"username": "ada", "password": "p@ss:/?#"}'::jsonb,
  'the claim hands the credentials to the sender, as they are') from answer, rabbit;
select is(a -> 'endpoints' -> kafka.id::text -> 'config' ->> 'topic', 'shop.{org}.{type}', 'with the settings') from answer, kafka;
select is((select e.value ->> 'partition_key' from answer, jsonb_each(a -> 'events') e), 'k7', 'and the key of the event');

select is(refusal(format('select outbox.create_broker_endpoint(%L, %L, %L)', c.kind, c.broker, coalesce(c.credentials, case c.kind
  when 'rabbitmq' then '{"username": "u", "password": "p"}' end))), 'OH001 ' || c.problem, c.problem)
from (values
  ('nats', '{}', null, 'kind is ''nats'''),
  ('rabbitmq', '[]', null, 'broker is not an object'),
  ('rabbitmq', '{"url": "amqps://a.example/", "topic": "x"}', null, 'broker.topic is not a setting of kind rabbitmq'),
  ('rabbitmq', '{}', null, 'broker.url is not an amqps URL'),
  ('rabbitmq', '{"url": "https://a.example"}', null, 'broker.url is not an amqps URL'),
  ('rabbitmq', '{"url": "amqps://a.example/a/b"}', null, 'broker.url is not an amqps URL'),
  ('rabbitmq', '{"url": "amqp://a.example"}', null, 'broker.url is not amqps'),
  ('rabbitmq', '{"url": "amqps://u:p@a.example"}', null, 'broker.url contains credentials'),
  ('rabbitmq', '{"url": "amqps://10.0.0.1"}', null, 'broker.url has a host that is not allowed'),
  ('rabbitmq', '{"url": "amqps://0x7f.1"}', null, 'broker.url has a host that is not allowed'),
  ('rabbitmq', '{"url": "amqps://a.example:5432"}', null, 'broker.url has a port that is not allowed'),
  ('rabbitmq', '{"url": "amqps://a.example", "exchange": "a b"}', null, 'broker.exchange is not the name of an exchange'),
  ('rabbitmq', '{"url": "amqps://a.example", "exchange": null}', null, 'broker.exchange is not the name of an exchange'),
  ('rabbitmq', '{"url": "amqps://a.example", "routing_key": "{typ}"}', null, 'broker.routing_key is not 1 to 200 allowed characters'),
  ('rabbitmq', '{"url": "amqps://a.example", "mandatory": "yes"}', null, 'broker.mandatory is not true or false'),
  ('rabbitmq', '{"url": "amqps://a.example", "ca": "x"}', null, 'broker.ca is not a certificate in PEM'),
  ('rabbitmq', '{"url": "amqps://a.example"}', '{"username": "u"}', 'credentials.password is not a text of 1 to 2048 characters'),
  ('rabbitmq', '{"url": "amqps://a.example"}', '{"username": "u", "password": "p", "x": 1}', 'credentials.x is not a setting of kind rabbitmq'),
  ('kafka', '{}', null, 'broker.brokers is not a list of 1 to 20 addresses'),
  ('kafka', '{"brokers": []}', null, 'broker.brokers is not a list of 1 to 20 addresses'),
  ('kafka', '{"brokers": ["a.example"]}', null, 'broker.brokers is not host:port'),
  ('kafka', '{"brokers": ["a.example:9092", "10.0.0.1:9092"]}', null, 'broker.brokers has a host that is not allowed'),
  ('kafka', '{"brokers": ["[2606:4700::1111]:9092"]}', null, 'broker.brokers has an IPv6 address, which kafkajs cannot read'),
  ('kafka', '{"brokers": ["a.example:9092"], "topic": "a/b"}', null, 'broker.topic is not 1 to 200 allowed characters'),
  ('kafka', '{"brokers": ["a.example:9092"], "topic": "{key}"}', null, 'broker.topic is not 1 to 200 allowed characters'),
  ('kafka', '{"brokers": ["a.example:9092"], "dlq_topic": "{topic}"}', null, 'broker.dlq_topic is the topic itself'),
  ('kafka', '{"brokers": ["a.example:9092"], "tls": false}', null, 'broker.tls is false'),
  ('kafka', '{"brokers": ["a.example:9092"], "sasl": "gssapi"}', null, 'broker.sasl is ''gssapi'''),
  ('kafka', '{"brokers": ["a.example:9092"], "sasl": "plain"}', null, 'credentials is missing'),
  ('kafka', '{"brokers": ["a.example:9092"]}', '{"username": "u", "password": "p"}', 'credentials needs broker.sasl')
) c (kind, broker, credentials, problem);
select is((select count(*) from outbox.endpoint e where e.kind in ('rabbitmq', 'kafka')), 2::bigint, 'what is refused leaves nothing');

select is(outbox.set_broker(id, '{"exchange": "shop", "mandatory": false}') -> 'broker' ->> 'exchange', 'shop', 'set_broker() changes what it names')
from rabbit;
select is((select e.config ->> 'routing_key' || ' ' || e.version from outbox.endpoint e join rabbit using (id)), '{type} 2', 'and nothing else');
select is(outbox.stored_credentials(e.credentials_vault_id), '{"username": "ada", "password": "p@ss:/?#"}'::jsonb, 'the credentials stay')
from outbox.endpoint e join rabbit using (id);
select outbox.set_broker(id, p_credentials => '{"username": "ada", "password": "new"}') from rabbit;
select is((select array_agg(v.decrypted_secret::jsonb ->> 'password' order by v.decrypted_secret::jsonb ->> 'password') from vault.decrypted_secrets v
  where v.name like 'outhook_endpoint_credentials_%'), array['new', 'secret'], 'until new ones take their place');
select is(refusal(format('select outbox.set_broker(%L, %L)', rabbit.id, '{"brokers": []}')), 'OH001 broker.brokers is not a setting of kind rabbitmq',
  'a change is checked as a whole') from rabbit;
select is(refusal(format('select outbox.set_broker(%L)', endpoint())) ~ '^OH004 endpoint .* is not of kind rabbitmq or kafka$', true,
  'of brokers alone');
select is(refusal(format('select outbox.update_org_endpoint(%L, %L, %L)', 'org-1', kafka.id, '{"url": "https://a.example"}')),
  'OH001 url cannot be set for a broker', 'the API cannot lead one elsewhere') from kafka;

select is(refusal($$select outbox.publish('outhook.dead_letter', '{}')$$), 'OH001 type is outhook.dead_letter, which is the system''s own',
  'nobody publishes into a dead-letter topic');
select is(refusal($$select outbox.publish_many('[{"type": "outhook.dead_letter", "payload": {}}]')$$),
  'OH001 events[0]: type is outhook.dead_letter, which is the system''s own', 'nor many at once');

select * from finish();
rollback;
