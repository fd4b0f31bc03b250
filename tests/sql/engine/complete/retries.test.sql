-- A webhook that always fails: five retries on the second, then a dead letter that holds all of it.
begin;
\ir ../../_helpers.sql
select plan(21);

create temporary table ours as select endpoint('{order.*}', p_org_id => 'org-123') as id;
create temporary table given as
select outbox.publish_raw('order.paid', '{ "total": 1.10 }', 'org-123', 'customer-7', 'req-9', 'key-1',
  p_traceparent => '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01') as id;

-- Failure n, at the moment the delivery is due; returns the delay until the next.
create function fail(p_status integer default 500) returns interval language plpgsql as $$
declare
  v_answer jsonb := step();
begin
  if claimed(v_answer) <> 1 then raise exception 'not due at %', outbox.clock(); end if;
  perform step(0, results(v_answer, 'failed', jsonb_build_object('status', p_status, 'error_class', 'status', 'error', 'The receiver answered ' || p_status)));
  return (select d.due_at - outbox.clock() from outbox.delivery d);
end
$$;
select is(fail(), interval '1 s', 'after the first failure it is due in 1 s');
select time_passes('1 s');
select is(fail(), interval '5 s', 'after the second in 5 s');
select time_passes('5 s');
select is(fail(), interval '15 s', 'after the third in 15 s');
select time_passes('15 s');
select is(fail(), interval '60 s', 'after the fourth in 60 s');
select time_passes('60 s');
select is(fail(), interval '300 s', 'after the fifth in 300 s');
select is_empty('select from outbox.dead_letter', 'so far it is alive');
select is_empty('select * from miscounts()', 'the counters are right');
select time_passes('300 s');
select is(fail(503), null, 'after the sixth it is not due again');
select is_empty('select from outbox.delivery', 'it is no longer open');

select is((select to_jsonb(d) - 'id' - 'event_id' - 'endpoint_id' from outbox.dead_letter d) @>
  '{"org_id": "org-123", "original_topic": "order.paid", "original_message": "{ \"total\": 1.10 }", "error": "The receiver answered 503",
    "retry_count": 6, "failed_at": "2026-03-01T12:06:21+00:00", "correlation_id": "req-9", "attempt": 6, "partition_key": "customer-7",
    "idempotency_key": "key-1", "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "event_created_at": "2026-03-01T12:00:00+00:00", "why": "retries_exhausted"}'::jsonb, true,
  'spec 4: the dead letter holds the message, the error, the count and the time');
select results_eq('select event_id, endpoint_id from outbox.dead_letter', 'select given.id, ours.id from given, ours', 'and whose it is');
select is((select array_agg(a.attempt || ' ' || a.kind || ' ' || a.outcome order by a.attempt, a.kind) from outbox.attempt a),
  '{1 attempt failed,2 attempt failed,3 attempt failed,4 attempt failed,5 attempt failed,6 attempt failed,6 close dead_letter}', 'there are six attempts and a closing row');
select is((select array_agg(a.next_retry_at - a.at order by a.attempt) from outbox.attempt a where a.kind = 'attempt'),
  '{1 s,5 s,15 s,60 s,300 s,NULL}'::interval[], 'each attempt says when the next try was due');
select results_eq('select status, finished_at from outbox.delivery_status', $$values ('dead_letter', '2026-03-01 12:06:21+00'::timestamptz)$$, 'delivery_status shows it');
select results_eq('select status, retry_count, last_error from outbox.webhook_outbox w join given on given.id = w.id', $$values ('DEAD_LETTER', 6, 'The receiver answered 503')$$, 'webhook_outbox shows it');
select results_eq('select depth, in_flight, next_at from outbox.gate', $$values (0::bigint, 0, 'infinity'::timestamptz)$$, 'nothing is left to do');
select is_empty('select * from miscounts()', 'the counters are right');

-- A policy of the endpoint's own, and one without retries.
create temporary table own as
select endpoint('{}', p_retry => '{"strategy": "linear", "base_delay": 10, "max_retries": 1}') as linear, endpoint('{}', p_retry => plain_retry(0)) as never;
delete from outbox.subscription where true;
do $$ begin perform outbox.publish('a', '{}', p_endpoint_id => linear) from own; end $$;
select is(fail(), interval '10 s', 'an endpoint''s own policy holds');
select time_passes('10 s');
select is(fail(), null, 'and its number of retries');
do $$ begin perform outbox.publish('a', '{}', p_endpoint_id => never) from own; end $$;
select is(fail(), null, 'without retries the first failure is the last');
select is((select array_agg(d.retry_count order by d.retry_count) from outbox.dead_letter d), '{1,2,6}', 'retry_count counts the failed attempts');

select * from finish();
rollback;
