-- Modules: api, sagas, inbox, messages
-- How long a key is known, how long a receiver may make us wait and how long what was delivered stays
-- are in force with the next call.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(26);

select outbox.set_setting('idempotency.window_hours', '2');
create function publish(p_payload jsonb default '{}') returns uuid language sql as $$ select outbox.publish('a', p_payload, p_idempotency_key => 'k') $$;
create temporary table first as select publish() as id;
create function one(p_context jsonb) returns jsonb language sql as $$ select p_context $$;
select outbox.define_saga('one', '[{"function": "helper.one", "event_type": "one.done"}]');
create function executed(p_context jsonb default '{}') returns text language sql as $$ select outbox.execute_saga('one', p_context, p_idempotency_key => 'k') ->> 'repeated' $$;
select executed();
select outbox.begin_request('org-1', 'POST /x', 'k', '{}'), outbox.end_request('org-1', 'k', '{"id": 1}');
select time_passes('1:59:59.999');
select is(publish(), id, 'publish() knows a key until the window ends') from first;
select is(refusal($$select publish('{"b": 1}')$$), 'OH003 idempotency_key was used within 2 hours for an event with other content', 'and refuses it for another event, saying so');
select is(outbox.begin_request('org-1', 'POST /x', 'k', '{}'), '{"id": 1}', 'so does the API');
select is(refusal($$select outbox.begin_request('org-1', 'POST /y', 'k', '{}')$$), 'OH003 Idempotency-Key was used within 2 hours for another request', 'in its own words');
select is(executed(), 'true', 'so does a saga');
select is(refusal($$select executed('{"b": 1}')$$), 'OH003 idempotency_key was used within 2 hours for another saga or context', 'in its own words too');
select is(outbox.cleanup() @> '{"idempotency_keys": 0, "request_keys": 0}', true, 'cleanup() leaves what is in the window');
select outbox.set_setting('idempotency.window_hours', '1');
select isnt(publish('{"b": 1}'), id, 'a smaller window frees a key at once') from first;
select is(outbox.begin_request('org-1', 'POST /y', 'k', '{}'), null, 'of the API too');
select is(executed('{"b": 1}'), 'false', 'and of a saga');
select outbox.set_setting('idempotency.window_hours', '48');
create temporary table second as select publish('{"b": 1}') as id;
select time_passes('47:59:59.999');
select is(publish('{"b": 1}'), id, 'a larger one holds it for longer') from second;
select is(outbox.publish_many('[{"type": "a", "payload": {"b": 1}, "idempotency_key": "k"}, {"type": "c", "payload": {}}]') -> 0, to_jsonb(id), 'in a batch as well') from second;
select is(outbox.cleanup() @> '{"idempotency_keys": 0, "request_keys": 0}', true, 'and cleanup() leaves it');
select is((select count(*) from outbox.saga_key), 1::bigint, 'of a saga too');
select time_passes('2 ms');
select is(outbox.cleanup() @> '{"idempotency_keys": 1, "request_keys": 1}', true, 'until that is over');
select is((select count(*) from outbox.saga_key), 0::bigint, 'for a saga too');

-- The longest wait that a receiver can ask for.
select outbox.set_setting('retry_after.max_s', '90');
select is(outbox.retry_after(c.header, '2026-03-01 12:00:00+00'), c.wait::interval, format('a Retry-After of %s is %s', c.header, c.wait))
from (values ('90', '90 s'), ('91', '90 s'), ('999999999999', '90 s'), ('Sun, 01 Mar 2026 12:01:20 GMT', '80 s'), ('Sun, 01 Mar 2026 13:00:00 GMT', '90 s')) c (header, wait);
select outbox.cancel_delivery(d.event_id, d.endpoint_id) from outbox.delivery d;
create temporary table asked as select endpoint('{}', p_retry => '{"strategy": "fixed", "base_delay": 1, "jitter": false}') as id;
select events(1, p_endpoint_id => id) from asked;
select fail(429, '{"retry_after": "3600"}');
select is((select d.due_at - outbox.clock() from outbox.delivery d join asked on d.endpoint_id = id), interval '90 s', 'a delivery waits so long and no longer');
select outbox.set_setting('retry_after.max_s', '86400');
select time_passes('90 s');
select fail(503, '{"retry_after": "90000"}');
select is((select d.due_at - outbox.clock() from outbox.delivery d join asked on d.endpoint_id = id), interval '1 day', 'up to a day');

-- How long what was delivered is there.
select time_is('2020-02-10 12:00:00+00');
do $$ begin for n in 1 .. 100 loop exit when outbox.add_partitions() -> 'late' = '[]'; end loop; end $$;
select outbox.set_setting('attempt.retention_days', '10'), outbox.set_setting('event.delivered_days', '9');
update outbox.endpoint e set status = 'deleted' where true;
select events(1, 'nobody.wants'), step(0);
create function nights(p_n integer) returns boolean language plpgsql as $$
begin
  for n in 1 .. p_n loop
    perform time_passes('1 d'), outbox.drop_partitions();
  end loop;
  return to_regclass('outbox.event_p20200210') is not null;
end
$$;
select is(nights(9), true, 'after nine nights a day of which nothing is open is there');
select is(nights(1), false, 'after the tenth it is gone');
select is(to_regclass('outbox.attempt_p20200210') is not null, true, 'and its attempts are there');

select * from finish();
rollback;
