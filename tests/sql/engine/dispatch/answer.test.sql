-- What a run gets: deliveries, and each event and endpoint once, with all that sending takes.
begin;
\ir ../../_helpers.sql
select plan(21);

create temporary table ours as
select (outbox.create_endpoint('https://example.com/a', '{}', p_headers => '{"x-key": "k"}', p_payload => 'data', p_timeout_ms => 3000,
    p_secret => 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw') ->> 'id')::uuid as one,
  endpoint('{}') as two;
do $$ begin perform outbox.subscribe(one, '{*}'), outbox.subscribe(two, '{*}') from ours; end $$;
select time_is('2026-03-01 12:00:00.123456+00');
create temporary table given as
select outbox.publish_raw('order.paid', E'{ "n":1.10,\n"z":"Zoë" }') as plain,
  outbox.publish('order.sent', '[1, 2]', p_correlation_id => 'req-"9"', p_idempotency_key => 'key-1',
    p_traceparent => '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01') as full_one;

create temporary table answer as select step() as a;
select set_eq('select jsonb_object_keys(a) from answer',
  array['applied', 'stale', 'routed', 'repeat', 'stop', 'more', 'deliveries', 'events', 'endpoints', 'settings', 'error', 'retries', 'renewed', 'contracts', 'problem', 'now_ms'], 'the answer has sixteen fields');
select is(jsonb_array_length(a -> 'deliveries'), 4, 'two events for two endpoints are four deliveries') from answer;
select set_eq('select distinct jsonb_object_keys(d) from answer, jsonb_array_elements(a -> ''deliveries'') d',
  array['event', 'endpoint', 'attempt', 'failed_attempts', 'lane', 'ordered', 'lease_ms'], 'a delivery has seven fields');
select set_eq('select jsonb_object_keys(a -> ''events'')::uuid from answer', 'select plain from given union select full_one from given', 'each event comes once');
select set_eq('select jsonb_object_keys(a -> ''endpoints'')::uuid from answer', 'select one from ours union select two from ours', 'each endpoint comes once');
select is(a -> 'routed', '4', 'routed counts the deliveries that were made') from answer;
select is(a - 'deliveries' - 'events' - 'endpoints' - 'settings' - 'routed' - 'now_ms', '{"contracts": {"oldest": 1, "newest": 1}, "problem": null, "applied": 0, "stale": 0, "repeat": false, "stop": null, "more": false, "error": null, "retries": null, "renewed": null}'::jsonb, 'the rest is zero, false or null') from answer;

-- Events.
select is(a -> 'events' -> plain::text, jsonb_build_object('type', 'order.paid', 'org_id', 'default', 'correlation_id', plain, 'idempotency_key', plain,
    'traceparent', null, 'partition_key', null, 'body', E'{ "n":1.10,\n"z":"Zoë" }'), 'an event without them has its id for correlation and idempotency') from answer, given;
select is(a -> 'events' -> full_one::text, jsonb_build_object('type', 'order.sent', 'org_id', 'default', 'correlation_id', 'req-"9"', 'idempotency_key', 'key-1',
    'traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'partition_key', null, 'body', '[1, 2]'), 'an event with them has its own') from answer, given;

set local timezone = 'Asia/Kathmandu';
set local datestyle = 'German';
select is(outbox.dispatch('00000000-0000-7000-8000-000000000001', currval('helper.seq'), '[]', 100)::jsonb -> 'events', a -> 'events', 'the events do not depend on the session') from answer;
reset timezone;
reset datestyle;

-- Endpoints.
select is((a -> 'endpoints' -> one::text) - 'revision', '{"version": 1, "kind": "webhook", "url": "https://example.com/a", "headers": {"x-key": "k"}, "timeout_ms": 3000, "payload": "data",
    "secrets": ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"], "credentials": null, "config": null}'::jsonb, 'an endpoint comes with its settings and secrets') from answer, ours;
select set_eq('select jsonb_object_keys(a -> ''settings'') from answer',
  array['allow_http', 'allow_cidrs', 'allow_ports', 'deny_ports', 'proxy_url', 'success_bytes', 'failure_bytes', 'poll_ms', 'max_wall_ms', 'max_deliveries', 'batch_size', 'notify'], 'settings has what a run must know');
select is((a -> 'settings') - 'deny_ports', '{"allow_http": false, "allow_cidrs": [], "allow_ports": ["80", "443", "1024-65535"], "proxy_url": "", "success_bytes": 256, "failure_bytes": 4096, "poll_ms": 1000, "max_wall_ms": 25000, "max_deliveries": 2000, "batch_size": 400, "notify": true}'::jsonb,
  'with the defaults') from answer;
do $$ begin perform outbox.set_setting('egress.allow_cidrs', '["10.0.0.0/8"]'), outbox.set_setting('worker.poll_interval_ms', '5000'); end $$;
select is((x.a -> 'settings' -> 'allow_cidrs')::text || (x.a -> 'settings' -> 'poll_ms'), '["10.0.0.0/8"]5000', 'a change is in the next answer') from (select step(0) as a) x;

-- The attempts after the first bring the same bytes.
select time_passes('1 s');
do $$ begin perform step(0, results(a, 'failed', '{"status": 500}')) from answer; perform time_passes('2 s'); end $$;
create temporary table second as select step() as a;
select is(claimed(a), 4, 'they come again') from second;
select is(x.a -> 'events', y.a -> 'events', 'with the same bytes') from answer x, second y;
select is((select array_agg(distinct (d ->> 'attempt') || '/' || (d ->> 'failed_attempts')) from second, jsonb_array_elements(a -> 'deliveries') d), '{2/1}', 'and say how many attempts are lost');

-- An endpoint that changed meanwhile comes as it is now.
update outbox.endpoint set url = 'https://example.org/b', version = 2 where id = (select one from ours);
do $$ begin perform step(0, results(a, 'released')) from second; end $$;
select is((x.a -> 'endpoints' -> one::text ->> 'url') || (x.a -> 'endpoints' -> one::text ->> 'version'), 'https://example.org/b2', 'a change of an endpoint is in force with the next claim')
from ours, (select step() as a) x;

-- Nothing to do.
select is((x.a - 'settings'- 'now_ms')::text, '{"more": false, "stop": null, "error": null, "stale": 0, "events": {}, "repeat": false, "routed": 0, "applied": 0, "problem": null, "renewed": null, "retries": null, "contracts": {"newest": 1, "oldest": 1}, "endpoints": {}, "deliveries": []}',
  'an answer without work has the same fields') from (select step() as a) x;
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'nothing is asleep for ever');

select * from finish();
rollback;
