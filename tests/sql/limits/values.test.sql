-- Each limit of a length, a count or a number, tested with its function: the bound is accepted, one more (or one
-- less) is refused with an error that names the field.
begin;
\ir ../_helpers.sql
\ir ../_messages.sql
set local search_path = helper, extensions;

create function letters(p_count integer) returns text language sql as $$ select repeat('a', p_count) $$;
create function json_of(p_bytes integer) returns text language sql as $$ select '"' || repeat('a', p_bytes - 2) || '"' $$;
create function headers(p_count integer) returns jsonb language sql as $$
  select jsonb_object_agg('x-' || n, 'v') from generate_series(1, p_count) n
$$;
create function steps(p_count integer) returns jsonb language sql as $$
  select coalesce(jsonb_agg(jsonb_build_object('function', 'helper.step_of', 'event_type', 'step.done')), '[]') from generate_series(1, p_count)
$$;
create function step_of(p_context jsonb) returns jsonb language sql as $$ select p_context $$;
create function seconds(p_count integer) returns jsonb language sql as $$
  select coalesce(jsonb_agg(1), '[]') from generate_series(1, p_count)
$$;
create function brokers(p_count integer) returns jsonb language sql as $$
  select jsonb_build_object('brokers', coalesce(jsonb_agg('k' || n || '.example.com:9093'), '[]')) from generate_series(1, p_count) n
$$;

select outbox.put_template('default', 'reminder', 'appointment_reminder', 'fr', 'UTILITY');
create temporary table own as select helper.endpoint() as endpoint, helper.channel() as channel, (helper.events(1))[1] as event;
select helper.step(0);

-- What a limit is of, the call with %s where the value stands, the last value that is taken, the first that
-- is not, and how the refusal begins.
create temporary table bound (what text, call text, taken text, refused text, words text);
insert into bound values
  ('a type''s length', $$outbox.publish(%s, '{}')$$, 'letters(128)', 'letters(129)', 'OH001 type is '),
  ('an organisation''s length', $$outbox.publish('thing.done', '{}', %s)$$, 'letters(64)', 'letters(65)', 'OH001 org_id is '),
  ('a partition key''s length', $$outbox.publish('thing.done', '{}', p_partition_key => %s)$$, 'letters(256)', 'letters(257)', 'OH001 partition_key is longer'),
  ('a correlation id''s length', $$outbox.publish('thing.done', '{}', p_correlation_id => %s)$$, 'letters(128)', 'letters(129)', 'OH001 correlation_id is not 1 to 128'),
  ('a correlation id''s least', $$outbox.publish('thing.done', '{}', p_correlation_id => %s)$$, 'letters(1)', 'letters(0)', 'OH001 correlation_id is not 1 to 128'),
  ('an event''s idempotency key', $$outbox.publish('thing.done', '{}', p_idempotency_key => %s)$$, 'letters(255)', 'letters(256)', 'OH001 idempotency_key is not 1 to 255'),
  ('an event''s least idempotency key', $$outbox.publish('thing.done', '{}', p_idempotency_key => %s)$$, 'letters(1)', 'letters(0)', 'OH001 idempotency_key is not 1 to 255'),
  ('a body''s bytes', $$outbox.publish_raw('thing.done', %s)$$, 'json_of(262144)', 'json_of(262145)', 'OH001 payload has 262145 bytes, more than 262144'),
  ('a body''s bytes in a batch', $$outbox.publish_many(jsonb_build_array(jsonb_build_object('type', 'thing.done', 'payload', %s::jsonb)))$$, 'json_of(262144)', 'json_of(262145)', 'OH001 events[0]: payload has 262145 bytes'),
  ('a type''s length in a batch', $$outbox.publish_many(jsonb_build_array(jsonb_build_object('type', %s, 'payload', 1)))$$, 'letters(128)', 'letters(129)', 'OH001 events[0]: type is '),
  ('a partition key''s length in a batch', $$outbox.publish_many(jsonb_build_array(jsonb_build_object('type', 'thing.done', 'payload', 1, 'partition_key', %s)))$$, 'letters(256)', 'letters(257)', 'OH001 events[0]: partition_key is longer'),
  ('deliver_at', $$outbox.publish('thing.done', '{}', p_deliver_at => outbox.clock() + %s)$$, $$interval '30 days'$$, $$interval '30 days 1 microsecond'$$, 'OH001 deliver_at lies beyond'),
  ('a pattern''s length', $$outbox.subscribe((select endpoint from own), array[%s])$$, 'letters(128)', 'letters(129)', 'OH001 event_types contains '),
  ('a URL''s length', $$outbox.create_endpoint('https://example.com/' || %s)$$, 'letters(2028)', 'letters(2029)', 'OH001 url is longer than 2048'),
  ('a time limit', $$outbox.create_endpoint('https://example.com', p_timeout_ms => %s)$$, '60000', '60001', 'OH001 timeout_ms is 60001'),
  ('a least time limit', $$outbox.create_endpoint('https://example.com', p_timeout_ms => %s)$$, '500', '499', 'OH001 timeout_ms is 499'),
  ('requests at a time', $$outbox.create_endpoint('https://example.com', p_max_in_flight => %s)$$, '1000', '1001', 'OH001 max_in_flight is 1001'),
  ('least requests at a time', $$outbox.create_endpoint('https://example.com', p_max_in_flight => %s)$$, '1', '0', 'OH001 max_in_flight is 0'),
  ('a quantum', $$outbox.create_endpoint('https://example.com', p_quantum => %s)$$, '1000', '1001', 'OH001 quantum is 1001'),
  ('a least quantum', $$outbox.create_endpoint('https://example.com', p_quantum => %s)$$, '1', '0', 'OH001 quantum is 0'),
  ('a rate', $$outbox.create_endpoint('https://example.com', p_rate_per_second => %s)$$, '100000', '100000.01', 'OH001 rate_per_second is 100000.01'),
  ('a least rate', $$outbox.create_endpoint('https://example.com', p_rate_per_second => %s)$$, '0.001', '0.0009', 'OH001 rate_per_second is 0.0009'),
  ('a secret''s bytes', $$outbox.create_endpoint('https://example.com', p_secret => 'whsec_' || replace(encode(convert_to(%s, 'UTF8'), 'base64'), chr(10), ''))$$, 'letters(64)', 'letters(65)', 'OH001 secret '),
  ('a secret''s least bytes', $$outbox.create_endpoint('https://example.com', p_secret => 'whsec_' || replace(encode(convert_to(%s, 'UTF8'), 'base64'), chr(10), ''))$$, 'letters(24)', 'letters(23)', 'OH001 secret '),
  ('an overlap', $$outbox.rotate_secret((select endpoint from own), p_overlap => %s)$$, $$interval '30 days'$$, $$interval '30 days 1 microsecond'$$, 'OH001 overlap '),
  ('a least overlap', $$outbox.rotate_secret((select endpoint from own), p_overlap => %s)$$, $$interval '0'$$, $$interval '-1 microsecond'$$, 'OH001 overlap '),
  ('the overlap of an app''s secret', $$outbox.put_whatsapp_app('900000000000001', 'secret', p_overlap => %s)$$, $$interval '30 days'$$, $$interval '30 days 1 microsecond'$$, 'OH001 overlap '),
  ('the least overlap of an app''s secret', $$outbox.put_whatsapp_app('900000000000001', 'secret', p_overlap => %s)$$, $$interval '0'$$, $$interval '-1 microsecond'$$, 'OH001 overlap '),
  ('an app''s id', $$outbox.put_whatsapp_app(%s, 'secret')$$, $$repeat('1', 32)$$, $$repeat('1', 33)$$, 'OH001 app_id '),
  ('an app''s secret', $$outbox.put_whatsapp_app('900000000000001', %s)$$, 'letters(2048)', 'letters(2049)', 'OH001 secret is empty, longer than 2048 characters'),
  ('a channel''s token', $$outbox.set_channel_token('default', (select channel from own), %s)$$, 'letters(2048)', 'letters(2049)', 'OH001 accessToken is empty, longer than 2048 characters'),
  ('the name of a header', $$outbox.set_headers((select endpoint from own), jsonb_build_object(%s, 'v'))$$, 'letters(100)', 'letters(101)', 'OH001 headers.'),
  ('the bytes of all headers', $$outbox.check_headers(jsonb_build_object('x-a', %s))$$, 'letters(8192 - 11)', 'letters(8193 - 11)', 'OH001 headers has more than 8192 bytes'),
  ('the number of headers', $$outbox.check_headers(%s)$$, 'headers(20)', 'headers(21)', 'OH001 headers has more than 20 names'),
  ('a source of consent', $$outbox.grant_consent('default', 'dossier', '{UTILITY}', %s)$$, 'letters(200)', 'letters(201)', 'OH001 source is not 1 to 200'),
  ('a least source of consent', $$outbox.grant_consent('default', 'dossier', '{UTILITY}', %s)$$, 'letters(1)', 'letters(0)', 'OH001 source is not 1 to 200'),
  ('the evidence of consent', $$outbox.grant_consent('default', 'dossier', '{UTILITY}', 'form', %s)$$, 'letters(2000)', 'letters(2001)', 'OH001 evidence is longer than 2000'),
  ('a source of an opt-out', $$outbox.change_opt_out('default', '+12025550111', 'ALL', true, %s)$$, 'letters(200)', 'letters(201)', 'OH001 source is not 1 to 200'),
  ('a least source of an opt-out', $$outbox.change_opt_out('default', '+12025550111', 'ALL', true, %s)$$, 'letters(1)', 'letters(0)', 'OH001 source is not 1 to 200'),
  ('the evidence of an opt-out', $$outbox.change_opt_out('default', '+12025550111', 'ALL', true, 'phone', %s)$$, 'letters(2000)', 'letters(2001)', 'OH001 evidence is longer than 2000'),
  ('a message''s payload', $$outbox.create_message('default', '+12025550111', jsonb_build_object('a', %s), 'reminder')$$, 'letters(65536 - 9)', 'letters(65537 - 9)', 'OH001 payloadJson has more than 65536 bytes'),
  ('a message''s idempotency key', $$outbox.create_message('default', '+12025550111', '{"parameters": []}', 'reminder', p_idempotency_key => %s)$$, 'letters(255)', 'letters(256)', 'OH001 Idempotency-Key is not 1 to 255'),
  ('a template''s name', $$outbox.put_template('default', 'other', %s, 'fr', 'UTILITY')$$, 'letters(512)', 'letters(513)', 'OH001 name '),
  ('a template''s code', $$outbox.put_template('default', %s, 'name', 'fr', 'UTILITY')$$, 'letters(128)', 'letters(129)', 'OH001 code is not 1 to 128'),
  ('the steps of a saga', $$outbox.define_saga('many', %s)$$, 'steps(100)', 'steps(101)', 'OH001 steps is not an array of 1 to 100'),
  ('the least steps of a saga', $$outbox.define_saga('few', %s)$$, 'steps(1)', 'steps(0)', 'OH001 steps is not an array of 1 to 100'),
  ('a saga''s name', $$outbox.define_saga(%s, steps(1))$$, 'letters(64)', 'letters(65)', 'OH001 name is '),
  ('a consumer''s name', $$outbox.accept_once(%s, 'id')$$, 'letters(64)', 'letters(65)', 'OH001 consumer is '),
  ('an id in an inbox', $$outbox.accept_once('billing', %s)$$, 'letters(255)', 'letters(256)', 'OH001 event_id is not 1 to 255'),
  ('the least id in an inbox', $$outbox.accept_once('billing', %s)$$, 'letters(1)', 'letters(0)', 'OH001 event_id is not 1 to 255'),
  ('the number of delays', $$outbox.check_retry(jsonb_build_object('strategy', 'schedule', 'delays', %s))$$, 'seconds(50)', 'seconds(51)', 'OH001 retry.delays '),
  ('the least number of delays', $$outbox.check_retry(jsonb_build_object('strategy', 'schedule', 'delays', %s))$$, 'seconds(1)', 'seconds(0)', 'OH001 retry.delays '),
  ('a delay of a schedule', $$outbox.check_retry(jsonb_build_object('strategy', 'schedule', 'delays', jsonb_build_array(%s)))$$, '604800', '604800.001', 'OH001 retry.delays '),
  ('a least delay of a schedule', $$outbox.check_retry(jsonb_build_object('strategy', 'schedule', 'delays', jsonb_build_array(%s)))$$, '0.001', '0.0009', 'OH001 retry.delays '),
  ('no delay of a schedule', $$outbox.check_retry(jsonb_build_object('strategy', 'schedule', 'delays', jsonb_build_array(%s)))$$, '0', '-0.001', 'OH001 retry.delays '),
  ('a base delay', $$outbox.check_retry(jsonb_build_object('strategy', 'fixed', 'base_delay', %s))$$, '604800', '604800.001', 'OH001 retry.base_delay '),
  ('a least base delay', $$outbox.check_retry(jsonb_build_object('strategy', 'fixed', 'base_delay', %s))$$, '0.001', '0.0009', 'OH001 retry.base_delay '),
  ('a longest delay', $$outbox.check_retry(jsonb_build_object('strategy', 'fixed', 'base_delay', 1, 'max_delay', %s))$$, '604800', '604800.001', 'OH001 retry.max_delay '),
  ('a least longest delay', $$outbox.check_retry(jsonb_build_object('strategy', 'fixed', 'base_delay', 0, 'max_delay', %s))$$, '0.001', '0.0009', 'OH001 retry.max_delay '),
  ('a factor', $$outbox.check_retry(jsonb_build_object('strategy', 'exponential', 'base_delay', 1, 'factor', %s))$$, '100', '100.001', 'OH001 retry.factor '),
  ('a least factor', $$outbox.check_retry(jsonb_build_object('strategy', 'exponential', 'base_delay', 1, 'factor', %s))$$, '1', '0.999', 'OH001 retry.factor '),
  ('the number of retries', $$outbox.check_retry(jsonb_build_object('strategy', 'fixed', 'base_delay', 1, 'max_retries', %s))$$, '50', '51', 'OH001 retry.max_retries '),
  ('the least number of retries', $$outbox.check_retry(jsonb_build_object('strategy', 'fixed', 'base_delay', 1, 'max_retries', %s))$$, '0', '-1', 'OH001 retry.max_retries '),
  ('the brokers of an endpoint', $$outbox.check_kafka(%s)$$, 'brokers(20)', 'brokers(21)', 'OH001 broker.brokers is not a list of 1 to 20'),
  ('the least brokers of an endpoint', $$outbox.check_kafka(%s)$$, 'brokers(1)', 'brokers(0)', 'OH001 broker.brokers is not a list of 1 to 20'),
  ('a broker''s topic', $$outbox.check_kafka(brokers(1) || jsonb_build_object('topic', %s))$$, 'letters(200)', 'letters(201)', 'OH001 broker.topic is not 1 to 200 allowed characters'),
  ('a broker''s user name', $$outbox.check_credentials('rabbitmq', '{}', jsonb_build_object('username', %s, 'password', 'p'))$$, 'letters(2048)', 'letters(2049)', 'OH001 credentials.username is not a text of 1 to 2048'),
  ('a broker''s least user name', $$outbox.check_credentials('rabbitmq', '{}', jsonb_build_object('username', %s, 'password', 'p'))$$, 'letters(1)', 'letters(0)', 'OH001 credentials.username is not a text of 1 to 2048'),
  ('a broker''s password', $$outbox.check_credentials('rabbitmq', '{}', jsonb_build_object('username', 'u', 'password', %s))$$, 'letters(2048)', 'letters(2049)', 'OH001 credentials.password is not a text of 1 to 2048'),
  ('a certificate', $$outbox.check_ca(to_jsonb('-----BEGIN CERTIFICATE-----' || %s))$$, 'letters(65536 - 27)', 'letters(65537 - 27)', 'OH001 broker.ca is not a certificate'),
  ('the delay of a retry', $$outbox.schedule_retry((select event from own), (select endpoint from own), %s)$$, $$interval '7 days'$$, $$interval '7 days 1 microsecond'$$, 'OH001 delay is '),
  ('the rate of a replay', $$outbox.replay_many(p_rate_per_second => %s)$$, '1000', '1001', 'OH001 rate_per_second is 1001'),
  ('the least rate of a replay', $$outbox.replay_many(p_rate_per_second => %s)$$, '1', '0', 'OH001 rate_per_second is 0'),
  ('the worker''s secret', $$outbox.configure('https://example.com/functions/v1', %s)$$, 'letters(32)', 'letters(31)', 'OH001 worker_secret has fewer than 32'),
  ('a request''s idempotency key', $$outbox.begin_request('default', 'POST /x', %s, '{}')$$, 'letters(128)', 'letters(129)', 'OH001 Idempotency-Key is not 1 to 128'),
  ('the least request''s idempotency key', $$outbox.begin_request('default', 'POST /x', %s, '{}')$$, 'letters(1)', 'letters(0)', 'OH001 Idempotency-Key is not 1 to 128'),
  ('the requests of one call', $$outbox.take_requests('default', %s)$$, '1000', '1001', 'OH001 count is 1001'),
  ('the least requests of one call', $$outbox.take_requests('default', %s)$$, '1', '0', 'OH001 count is 0'),
  ('a page', $$outbox.check_page(%s)$$, '100', '101', 'OH001 limit is 101'),
  ('a least page', $$outbox.check_page(%s)$$, '1', '0', 'OH001 limit is 0'),
  ('recent deliveries', $$outbox.recent_deliveries(p_limit => %s)$$, '1000', '1001', 'OH001 limit is 1001'),
  ('the least recent deliveries', $$outbox.recent_deliveries(p_limit => %s)$$, '1', '0', 'OH001 limit is 0'),
  ('the hours of statistics', $$outbox.get_org_stats('default', (select endpoint from own), %s)$$, '168', '169', 'OH001 hours is 169'),
  ('the least hours of statistics', $$outbox.get_org_stats('default', (select endpoint from own), %s)$$, '1', '0', 'OH001 hours is 0'),
  ('the minutes of an overview', $$outbox.get_org_overview('default', %s)$$, '10080', '10081', 'OH001 minutes is 10081'),
  ('the least minutes of an overview', $$outbox.get_org_overview('default', %s)$$, '1', '0', 'OH001 minutes is 0'),
  ('a channel''s messages a second', $$outbox.update_channel('default', (select channel from own), jsonb_build_object('messagesPerSecond', %s))$$, '1000', '1000.1', 'OH001 messagesPerSecond is 1000.1'),
  ('a channel''s least messages a second', $$outbox.update_channel('default', (select channel from own), jsonb_build_object('messagesPerSecond', %s))$$, '1', '0.9', 'OH001 messagesPerSecond is 0.9'),
  ('a recipient''s pause', $$outbox.update_channel('default', (select channel from own), jsonb_build_object('pairSeconds', %s))$$, '3600', '3600.1', 'OH001 pairSeconds is 3600.1'),
  ('a recipient''s least pause', $$outbox.update_channel('default', (select channel from own), jsonb_build_object('pairSeconds', %s))$$, '0', '-0.1', 'OH001 pairSeconds is -0.1');

select plan(2 * (select count(*) from bound)::integer);
select is(refusal(format('select ' || call, taken)), 'accepted', format('%s: %s is taken', what, taken)) from bound;
-- In the words that name the field, and with a remedy.
select matches(refusal(format('select ' || call, refused)), '^' || regexp_replace(words, '([\[\].])', '\\\1', 'g') || '(?!.*without a hint)', format('%s: %s is refused', what, refused)) from bound;

select * from finish();
rollback;
