-- A commit that published wakes a run: once a transaction, when none is awake, and when it may.
begin;
\ir ../../_helpers.sql
select plan(27);

-- How many kicks a piece of work makes, as if it were a transaction of its own, and each earlier kick had
-- started a run: after three that start none, commits do not kick (time/tick/kicks.test.sql).
create function forget_kicks() returns void language sql security definer as $$ select setval('outbox.kicks_without_run', 0, false) $$;
create function kicks(p_work text) returns integer language plpgsql as $$
declare
  v_before bigint := (select count(*) from net.http_request_queue);
begin
  perform set_config('outbox.kicked', '', true), forget_kicks();
  execute p_work;
  return (select count(*) from net.http_request_queue) - v_before;
end
$$;
create function once() returns text language sql as $$ select 'select outbox.publish(''a'', ''{}'')' $$;

select is(kicks(once()), 0, 'without configure() nothing is kicked');
select outbox.configure('https://project.supabase.co/functions/v1/', repeat('s', 40));
select is(kicks(once()), 1, 'publish() kicks');
select is((select url from net.http_request_queue order by id desc limit 1), 'https://project.supabase.co/functions/v1/deliver/run', 'the deliver function');
select is((select method::text || ' ' || convert_from(body, 'UTF8') || ' ' || timeout_milliseconds from net.http_request_queue order by id desc limit 1),
  'POST {"why": "commit"} 2000', 'with the reason, and does not wait long');

-- The header: a MAC of the time, and the secret nowhere.
create temporary table header as
select (regexp_match(headers ->> 'x-outhook-kick', '^t=([0-9]+),v1=([0-9a-f]{64})$'))[1:2] as parts, headers, convert_from(body, 'UTF8') as body
from net.http_request_queue order by id desc limit 1;
select is(parts[2], encode(extensions.hmac(parts[1], repeat('s', 40), 'sha256'), 'hex'), 'the header is the HMAC-SHA256 of the time') from header;
select ok(abs(parts[1]::bigint - extract(epoch from now())) < 300, 'of the real time, since the function goes by its own clock') from header;
select set_eq('select jsonb_object_keys(headers) from header', array['Content-Type', 'x-outhook-kick', 'x-outhook-database'], 'there is no other header');
select ok(position(repeat('s', 40) in headers::text || body) = 0, 'and no secret in the request') from header;

-- Quiet times.
select is(kicks(once()), 0, 'right after a kick there is no other');
select time_passes('500 ms');
select is(kicks(once()), 0, 'within the quiet time');
select time_passes('1 ms');
select is(kicks(once()), 1, 'behind it there is');
select time_passes('1 s');
do $$ begin perform step(0); end $$;
select is(kicks(once()), 0, 'while a run polls there is none');
select time_passes('500 ms');
select is(kicks(once()), 1, 'when it has been silent for the quiet time there is');
select time_passes('1 s');
do $$ begin perform outbox.dispatch('00000000-0000-7000-8000-000000000001', nextval('helper.seq'), '[]', 0, 'edge', true); end $$;
select is(kicks(once()), 1, 'a run that has ended keeps nobody quiet');
do $$ begin perform outbox.set_setting('kick.quiet_ms', '5000'), time_passes('4 s'); end $$;
select is(kicks(once()), 0, 'the setting kick.quiet_ms says how long');
select time_passes('2 s');

-- Once a transaction.
select is(kicks('select outbox.publish(''a'', ''{}''), time_passes(''1 min''), outbox.publish(''a'', ''{}'')'), 1, 'one transaction kicks once, however long it takes');
select time_passes('1 min');
select is(kicks('select outbox.publish_raw(''a'', ''{}'')'), 1, 'publish_raw() kicks');
select time_passes('1 min');
select is(kicks('select outbox.publish_many(''[{"type": "a", "payload": 1}, {"type": "b", "payload": 2}]'')'), 1, 'publish_many() kicks once');
select time_passes('1 min');
select is(kicks('insert into outbox.webhook_outbox (event_type, payload) values (''a'', ''{}''), (''b'', ''{}'')'), 1, 'an insert of two rows kicks once');
select time_passes('1 min');
select is(kicks('select outbox.publish(''a b'', ''{}'') where false'), 0, 'nothing published, nothing kicked');

-- Off.
do $$ begin perform outbox.set_setting('kick.on_commit', 'false'); end $$;
select is(kicks(once()), 0, 'the setting kick.on_commit switches it off');
do $$ begin perform outbox.set_setting('kick.on_commit', 'true'), outbox.set_setting('worker.enabled', 'false'); end $$;
select is(kicks(once()), 0, 'and so does worker.enabled');
do $$ begin perform outbox.set_setting('worker.enabled', 'true'); end $$;
select is(kicks(once()), 1, 'on again, it kicks');

-- A rolled back transaction takes its request along; the time of the kick stays, which costs half a second at most.
select time_passes('1 min');
create temporary table before as select count(*) as n from net.http_request_queue;
savepoint lost;
do $$ begin perform set_config('outbox.kicked', '', true), outbox.publish('a', '{}'); end $$;
rollback to lost;
select is((select count(*) from net.http_request_queue), (select n from before), 'a rollback takes the request along');
select time_passes('6 s');
select is(kicks(once()), 1, 'and the next commit kicks again');

-- Who publishes has no right on what the kick needs.
set local role service_role;
select lives_ok('select outbox.publish(''a'', ''{}'')', 'service_role publishes');
reset role;
select time_passes('1 min');
grant usage on schema helper, extensions to service_role;
grant execute on all functions in schema helper to service_role;
grant select, insert, update on outbox.test_clock to service_role;
set local role service_role;
select is(kicks(once()), 1, 'and kicks');
reset role;

select * from finish();
rollback;
