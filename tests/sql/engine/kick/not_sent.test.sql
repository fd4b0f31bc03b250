-- kick_problem(): pg_net accepts kicks and does not send them.
begin;
\ir ../../_helpers.sql
select plan(14);

select outbox.configure('https://project.supabase.co/functions/v1', repeat('s', 40));
create function problem() returns text language sql as $$ select outbox.kick_problem(outbox.clock()) $$;
create function kicks_of_ticks(p_n integer) returns void language plpgsql as $$
begin
  for n in 1 .. p_n loop
    perform helper.time_passes('1 s'), outbox.tick();
  end loop;
end
$$;

select is(problem(), null, 'no kick was sent yet');
select is(outbox.kicks_waiting(), 0, 'and none waits');
do $$ begin perform endpoint(); perform outbox.set_setting('kick.on_commit', 'false'); perform outbox.publish('a', '{}'), kicks_of_ticks(3); end $$;
select is(outbox.kicks_waiting(), 3, 'three ticks kick three times');
select is(problem(), null, 'pg_net has some time to send them');
create temporary table kicked as select to_timestamp(last_value / 1000.0) as at from outbox.last_kick;
do $$ begin perform kicks_of_ticks(20); end $$;
select is(problem(), format('pg_net does not send: 3 kicks wait in its queue, the last since %s, run select net.worker_restart() (runbook: Kicks wait)', outbox.iso_time(at)), 'after 20 s they should be sent')
from kicked;
select ok(problem() = any (h.problems), 'the health of the queue says so') from outbox.queue_health h;
select is(outbox.get_metrics() -> 'engine' ->> 'kicks_waiting', '3', 'and the metrics count them');

-- Requests of others are no kicks.
delete from net.http_request_queue where true;
insert into net.http_request_queue (method, url, headers, body, timeout_milliseconds) values
  ('POST', 'https://project.supabase.co/functions/v1/deliver/run', null, '', 1000),
  ('POST', 'https://example.com/a', '{"x-outhook-database": "1"}', '', 1000);
select is(outbox.kicks_waiting(), 0, 'what others have queued is not counted');
select is(problem(), null, 'kicks that were sent and started no run have other causes');

-- A queue of more than 8 MB is not read.
insert into net.http_request_queue (method, url, headers, body, timeout_milliseconds)
select 'POST', 'https://example.com/' || n, '{}', convert_to(repeat(md5(n::text), 30), 'UTF8'), 1000 from generate_series(1, 9000) n;
select is(outbox.kicks_waiting(), null, 'a large queue is not counted');
select is(outbox.get_metrics() -> 'engine' ->> 'kicks_waiting', null, 'the metric has no value then');
select alike(problem(), 'no run has begun since the kick of %, and the queue of pg\_net has % MB of requests (runbook: Kicks wait)', 'its size is a problem while work is due and no run begins');
do $$ begin perform outbox.set_setting('worker.enabled', 'false'); end $$;
select is(problem(), null, 'not if delivery is switched off');
do $$ begin perform outbox.set_setting('worker.enabled', 'true'), step(); end $$;
select is(problem(), null, 'nor after a run has begun');

select * from finish();
rollback;
