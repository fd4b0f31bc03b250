-- A setting is in force with the next call, and worker.enabled off means: no kick and no claim, while
-- results are still taken and publishing goes on.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(26);

create temporary table made as select endpoint() as id;
select events(30);
create temporary table answer as select step(5) as a;
select is(claimed(a), 5, 'a run is at work') from answer;

select outbox.set_setting('worker.enabled', 'false');
create temporary table off as select step(10, results(a, 'delivered')) as a from answer;
select is(a ->> 'stop', 'disabled', 'off: a run is told to stop') from off;
select is(claimed(a), 0, 'and gets nothing') from off;
select is(a -> 'applied', '5', 'its results are taken') from off;
select is(a -> 'routed', '0', 'nothing is routed') from off;
select isnt(events(1), '{}', 'publishing goes on');
select is((select last_value from outbox.last_kick), 0::bigint, 'without a kick');
select time_passes('1 h');
select is(outbox.tick(), '{"kicked": false}', 'and the tick kicks nobody');
select is(outbox.dispatch('00000000-0000-7000-8000-00000000000f', 1, p_limit => 10, p_kind => 'worker') ->> 'stop', 'disabled', 'a worker is told as well');
select is((select value from outbox.setting where name = 'worker.enabled'), 'false', 'the setting says so');
select outbox.set_setting('worker.enabled', 'true');
select is(step(0) ->> 'stop', null, 'on again, a run goes on');

-- How much one call claims, whatever room the run has.
select outbox.set_setting('worker.batch_size', '3');
update answer set a = step(100) where true;
select is(claimed(a), 3, 'worker.batch_size bounds a batch') from answer;
select outbox.set_setting('worker.batch_size', '10');
select is(claimed(step(100)), 10, 'from the next call on');
select is(claimed(step(2)), 2, 'a run''s own room bounds it too');

-- How many edge runs; workers are not counted.
select outbox.set_setting('worker.max_runs', '1');
select time_passes('1 s');
select is(step(1) ->> 'stop', null, 'the oldest run goes on');
select is(other_step(1) ->> 'stop', 'too_many_runs', 'another is one too many');
select is(outbox.dispatch('00000000-0000-7000-8000-00000000000e', 1, p_limit => 1, p_kind => 'worker') ->> 'stop', null, 'a worker is not');
select outbox.set_setting('worker.max_runs', '2');
select is(other_step(1) ->> 'stop', null, 'in force with the next call');

-- What a run is told.
select outbox.set_setting(c.name, c.value::jsonb)
from (values ('egress.allow_http', 'true'), ('egress.allow_cidrs', '["10.0.0.0/8"]'), ('response.success_bytes', '0'), ('response.failure_bytes', '16384'),
  ('worker.poll_interval_ms', '5000'), ('worker.max_wall_ms', '1000'), ('worker.batch_size', '7'), ('worker.max_deliveries', '7'), ('worker.notify', 'false')) c (name, value);
select ok(step(0) -> 'settings' @> '{"allow_http": true, "allow_cidrs": ["10.0.0.0/8"], "success_bytes": 0, "failure_bytes": 16384, "poll_ms": 5000, "max_wall_ms": 1000, "max_deliveries": 7, "batch_size": 7, "notify": false}',
  'a run is told what concerns it');

-- Publishing.
select outbox.set_setting('publish.max_body_bytes', '1024');
select is(refusal(format('select outbox.publish_raw(''a'', %L)', '"' || repeat('x', 1023) || '"')), 'OH001 payload has 1025 bytes, more than 1024', 'a body of one byte too many is refused');
select is(refusal(format('select outbox.publish_raw(''a'', %L)', '"' || repeat('x', 1022) || '"')), 'accepted', 'one that fits is not');
select is(refusal(format('select outbox.publish_raw(''a'', %L)', '"' || repeat('ü', 511) || '"')), 'accepted', 'bytes are counted, not characters');
select is(refusal(format('select outbox.publish_raw(''a'', %L)', '"' || repeat('ü', 512) || '"')), 'OH001 payload has 1026 bytes, more than 1024', 'to the byte');
select outbox.set_setting('event.retention_days', '1');
select is(refusal('select outbox.publish(''a'', ''{}'', p_deliver_at => outbox.clock() + interval ''25 hours'')'), 'OH001 deliver_at lies beyond the retention of events', 'deliver_at reaches no further than events are kept');
-- No setting makes a lease shorter than the longest possible send: it follows from the endpoint's timeout.
create temporary table slow as select endpoint('{slow.event}', p_timeout_ms => 60000) as id;
select outbox.set_setting('worker.max_deliveries', '400'), outbox.set_setting('worker.batch_size', '400');
select events(1, 'slow.event', p_endpoint_id => id) from slow;
select is((select (d ->> 'lease_ms')::integer from jsonb_array_elements(step(100) -> 'deliveries') d join slow on id::text = d ->> 'endpoint'), 65000, 'a lease is five seconds longer than the longest send');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
