-- Modules: brokers
-- A failure whose rule says wait: the breaker opens at once, no try is spent, nothing dies of it.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(31);

create function broker(p_ordering text default 'none', p_open_ms integer default 5000) returns uuid language plpgsql as $$
declare
  v_id uuid := outbox.create_broker_endpoint('kafka', '{"brokers": ["kafka.example.com:9093"]}', p_ordering => p_ordering) ->> 'id';
begin
  update outbox.endpoint e set retry = plain_retry(1), breaker_open_ms = p_open_ms where e.id = v_id;
  return v_id;
end
$$;

create temporary table ours as select broker() as id;
create temporary table sent as select unnest(events(20)) as event;
create temporary table answer as select step(10) as a;
select is(claimed(a), 10, 'ten are under way') from answer;
select step(0, results_of(a, id, 'failed', '{"error_class": "connect"}')) from answer, ours;
select is(breaker_of(id), 'open', 'one unreachable broker opens the breaker') from ours;
select is((select max(d.failed_attempts) from outbox.delivery d), 0, 'no try is spent');
select is((select max(d.attempt) from outbox.delivery d), 1, 'the attempt is counted');
select is((select count(*) from outbox.attempt a where a.outcome = 'failed' and a.error_class = 'connect'), 10::bigint, 'and has its attempt');
select is(send(), 0, 'nothing is sent while it is open');

-- Far beyond the six attempts of the schedule.
create function probe_in_vain() returns integer language plpgsql as $$
begin
  perform helper.time_passes('6 seconds');
  return helper.send('failed', '{"error_class": "timeout"}');
end
$$;
select is(probe_in_vain(), 1, 'a probe ' || n) from generate_series(1, 12) n;
select is((select max(d.failed_attempts) from outbox.delivery d), 0, 'twelve probes later no try is spent');
select is((select count(*) from outbox.dead_letter), 0::bigint, 'and nothing is dead');
select is((select count(*) from news('outhook.breaker.opened')), 1::bigint, 'it was announced once');
select time_passes('6 seconds');
select is(send(), 1, 'one probe');
select is(breaker_of(id), 'closed', 'that is answered closes it') from ours;
select time_passes('11 seconds');
select is(send(), 19, 'and the rest goes');

-- An answer behind the failure in the same report: the broker is there.
select events(2);
create temporary table two as select step() as a;
select step(0, jsonb_build_array(results_of(a, id, 'failed', '{"error_class": "reset"}') -> 0, results_of(a, id, 'delivered') -> 1)) from two, ours;
select is(breaker_of(id), 'closed', 'what was answered after the failure keeps it closed') from ours;
select time_passes('2 seconds');
select is(send('failed', '{"error_class": "broker", "code": "MESSAGE_TOO_LARGE", "error": "too large"}'), 1, 'what broke is tried again');
select is(breaker_of(id), 'closed', 'a refusal for good is an answer') from ours;
select is((select x.why || ' ' || x.retry_count from outbox.dead_letter x), 'not_retryable 1', 'and a dead letter at once');

select is(outbox.is_retryable('kafka', null, 'broker', c.code), c.retryable, format('%s: %s', c.code, c.retryable))
from (values ('NOT_ENOUGH_REPLICAS', true), ('TOPIC_AUTHORIZATION_FAILED', false)) c (code, retryable);
select is_empty('select * from miscounts()', 'the counters are right');
select * from finish();
rollback;
