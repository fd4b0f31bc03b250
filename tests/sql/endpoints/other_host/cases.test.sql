-- Modules: api, brokers
-- What was given for one host is not sent to another: a change of scheme, host or port names headers and credentials anew.
begin;
\ir ../../_helpers.sql
select plan(50);

select is(outbox.url_origin(u), o, u || ' leads to ' || o) from (values
  ('https://example.com/a?b#c', 'https://example.com:443'),
  ('HTTPS://Example.COM', 'https://example.com:443'),
  ('https://example.com:443/x', 'https://example.com:443'),
  ('https://example.com:/x', 'https://example.com:443'),
  ('https://example.com?x', 'https://example.com:443'),
  ('https://example.com:8443/', 'https://example.com:8443'),
  ('http://example.com', 'http://example.com:80'),
  ('https://[2606:4700::1111]/', 'https://[2606:4700::1111]:443'),
  ('https://[2606:4700::1111]:8443/', 'https://[2606:4700::1111]:8443'),
  ('amqps://mq.example.com:5671/v', 'amqps://mq.example.com:5671'),
  ('kafka://a.example:9093,b.example:9093', 'kafka://a.example:9093,b.example:9093')) c (u, o);

create temporary table hook as
select (outbox.create_org_endpoint('org-1', '{"url": "https://example.com/a", "headers": {"X-Key": "one", "authorization": "two"}}') ->> 'id')::uuid as id;
create function pg_temp.patch(p_change text) returns text language sql as $$
  select refusal(format('select outbox.update_org_endpoint(%L, %L, %L)', 'org-1', (select id from hook), p_change))
$$;
create function pg_temp.headers() returns text language sql as $$
  select outbox.stored_headers(e.headers_vault_id)::text || ' ' || e.url from outbox.endpoint e join hook using (id)
$$;

select is(pg_temp.patch(format('{"url": "%s"}', u)), 'accepted', 'the same host keeps the headers: ' || u) from unnest(array[
  'https://example.com/b', 'https://EXAMPLE.com:443/b?c', 'https://example.com']) u;
select is(pg_temp.headers(), '{"X-Key": "one", "authorization": "two"} https://example.com', 'they are still there');
select is(pg_temp.patch(format('{"url": "%s"}', u)),
  'OH001 headers lacks X-Key, authorization, although the URL leads to another scheme, host or port', 'refused: ' || u)
from unnest(array['https://evil.example/a', 'https://example.com:8443/', 'https://sub.example.com/', 'https://example.com.evil.example/',
  'https://example.comm', 'https://example.co']) u;
select outbox.set_setting('egress.allow_http', 'true');
select is(pg_temp.patch('{"url": "http://example.com"}') ~ '^OH001 headers lacks X-Key', true, 'refused: another scheme');
select is(pg_temp.patch('{"url": "https://evil.example/a", "headers": {}}') ~ '^OH001 headers lacks X-Key, authorization,', true, 'refused: names none');
select is(pg_temp.patch('{"url": "https://evil.example/a", "headers": {"x-key": "new"}}'),
  'OH001 headers lacks authorization, although the URL leads to another scheme, host or port', 'refused: names one of two, in any letters');
select is(pg_temp.patch('{"url": "https://evil.example/a", "headers": null}') ~ '^OH001 headers', true, 'refused: null');
select is(pg_temp.headers(), '{"X-Key": "one", "authorization": "two"} https://example.com', 'a refused change changes nothing');
select is(pg_temp.patch('{"url": "https://new.example/", "headers": {"x-key": "three", "AUTHORIZATION": null}}'), 'accepted', 'all are named anew');
select is(pg_temp.headers(), '{"x-key": "three"} https://new.example/', 'the new host gets only what the call names');
select is(pg_temp.patch('{"headers": {"x-key": null}}'), 'accepted', 'no headers are left');
select is(pg_temp.patch('{"url": "https://third.example/"}'), 'accepted', 'an endpoint without headers may go anywhere');

-- In SQL the functions of each kind say the same.
create temporary table slack as
select (outbox.create_slack_endpoint('https://hooks.slack.com/services/T0/B0/a', p_headers => '{"x-key": "one"}') ->> 'id')::uuid as id;
select is(refusal(format('select outbox.set_slack_url(%L, %L)', id, 'https://hooks.slack.com/services/T0/B0/b')), 'accepted', 'the same host of Slack') from slack;
select is(refusal(format('select outbox.set_slack_url(%L, %L)', id, 'https://chat.example/hooks/b')),
  'OH001 headers lacks x-key, although the URL leads to another scheme, host or port', 'another host instead of Slack') from slack;
select is(refusal(format('select outbox.set_slack_url(%L, %L, %L)', id, 'https://chat.example/hooks/b', '{"X-Key": "new"}')), 'accepted', 'with its header') from slack;
select is(outbox.stored_headers(e.headers_vault_id), '{"X-Key": "new"}', 'which is stored') from outbox.endpoint e join slack using (id);
select is(e.version, 3, 'each change is one version') from outbox.endpoint e join slack using (id);
select is(refusal(format('select outbox.update_org_endpoint(%L, %L, %L)', 'default', id, '{"url": "https://other.example/hooks/b"}')) ~ '^OH001 headers lacks X-Key', true,
  'another host over HTTP') from slack;
select is(refusal(format('select outbox.update_org_endpoint(%L, %L, %L)', 'default', id, '{"url": "https://other.example/hooks/b", "headers": {"x-key": null}}')), 'accepted',
  'over HTTP without the header') from slack;

create temporary table rabbit as
select (outbox.create_broker_endpoint('rabbitmq', '{"url": "amqps://mq.example.com/v"}', '{"username": "ada", "password": "secret"}', p_headers => '{"x-key": "one"}') ->> 'id')::uuid as id;
create function pg_temp.set_broker(p_id uuid, p_rest text) returns text language sql as $$
  select refusal(format('select outbox.set_broker(%L, %s)', p_id, p_rest))
$$;
select is(pg_temp.set_broker(id, $$'{"url": "amqps://mq.example.com:5671/w", "exchange": "e"}'$$), 'accepted', 'another virtual host') from rabbit;
select is(pg_temp.set_broker(id, $$'{"url": "amqps://evil.example/v"}'$$),
  'OH001 credentials is missing, although the broker has another address', 'another broker') from rabbit;
select is(pg_temp.set_broker(id, $$'{"url": "amqp://mq.example.com/v"}'$$) ~ '^OH001 credentials is missing', true, 'the same broker without TLS') from rabbit;
select is(pg_temp.set_broker(id, $$'{"url": "amqps://new.example/v"}', '{"username": "b", "password": "c"}'$$) ~ '^OH001 headers lacks x-key', true,
  'another broker with credentials, but without headers') from rabbit;
select is(pg_temp.set_broker(id, $$'{"url": "amqps://new.example/v"}', '{"username": "b", "password": "c"}', '{"x-key": null}'$$), 'accepted', 'with both') from rabbit;
select is(outbox.stored_credentials(e.credentials_vault_id)::text || e.url, '{"password": "c", "username": "b"}amqps://new.example:5671/v', 'both are stored')
from outbox.endpoint e join rabbit using (id);
select is(refusal(format('select outbox.update_org_endpoint(%L, %L, %L)', 'default', id, '{"broker": {"url": "amqps://evil.example/v"}}')) ~ '^OH001 credentials is missing', true,
  'another broker over HTTP') from rabbit;
select is(refusal(format('select outbox.update_org_endpoint(%L, %L, %L)', 'default', id,
  '{"broker": {"url": "amqps://third.example/v"}, "credentials": {"username": "b", "password": "c"}, "headers": {"x-new": "1"}}')), 'accepted',
  'another broker over HTTP with its credentials') from rabbit;

create temporary table kafka as
select (outbox.create_broker_endpoint('kafka', '{"brokers": ["a.example:9093", "b.example:9093"], "sasl": "plain"}', '{"username": "ada", "password": "secret"}') ->> 'id')::uuid as id;
select is(pg_temp.set_broker(id, $$'{"brokers": ["b.example:9093"]}'$$), 'accepted', 'one broker fewer') from kafka;
select is(pg_temp.set_broker(id, $$'{"brokers": ["b.example:9093", "evil.example:9093"]}'$$) ~ '^OH001 credentials is missing', true, 'one broker more') from kafka;
select is(pg_temp.set_broker(id, $$'{"tls": false}'$$) ~ '^OH001 credentials is missing', true, 'no TLS any more') from kafka;
select is(pg_temp.set_broker(id, $$'{"brokers": ["c.example:9093"]}', '{"username": "b", "password": "c"}'$$), 'accepted', 'other brokers with their credentials') from kafka;
select is(pg_temp.set_broker(id, $$'{"topic": "x"}'$$), 'accepted', 'another topic') from kafka;

select * from finish();
rollback;
