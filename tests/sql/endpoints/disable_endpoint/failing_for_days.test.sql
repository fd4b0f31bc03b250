-- After 5 days of unbroken failure an endpoint is disabled, which is announced; one success begins the count
-- anew, and so does a resume.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(22);

create temporary table made as select endpoint(p_retry => '{"strategy": "fixed", "base_delay": 60, "max_retries": 50}', p_breaker => true) as id;
select events(1);
select fail(500);
select time_passes('5 d');
select is(fail(500), 1, 'a failure five days after the first');
select is((select status from outbox.endpoint), 'enabled', 'at five days to the second it is still enabled');
select is((select failing_since from outbox.endpoint_status), '2026-03-01 12:00:00+00'::timestamptz, 'endpoint_status says since when it fails');
select time_passes('60 s');
select is(fail(500), 1, 'a failure later');
select is((select status || ': ' || status_reason from outbox.endpoint), 'disabled: failing_for_days', 'beyond five days it is disabled');
select results_eq($$select n ->> 'endpointId', n ->> 'reason' from news('outhook.endpoint.disabled') n$$,
  $$select id::text, 'failing_for_days' from made$$, 'which is announced');
select is((select status from outbox.delivery_status where org_id = 'default'), 'held', 'the delivery stays');
select is((select count(*) from outbox.dead_letter), 0::bigint, 'and is no dead letter');
select time_passes('1 h');
select is(claimed(step()), 0, 'nothing is sent any more');

-- Resumed, it has another five days, or a first failure would disable it at once.
select outbox.resume_endpoint(id) from made;
select outbox.tick();
select is(fail(500), 1, 'resumed, it fails again');
select is((select status from outbox.endpoint), 'enabled', 'which does not disable it at once');
select time_passes('5 d');
select is(fail(500), 1, 'nor does a failure five days after the resume');
select is((select status from outbox.endpoint), 'enabled', 'to the second');
select time_passes('60 s');
select is(fail(500), 1, 'a minute later');
select is((select status from outbox.endpoint), 'disabled', 'it does');

-- One success between.
create temporary table other as select endpoint(p_retry => '{"strategy": "fixed", "base_delay": 60, "max_retries": 50}') as id;
select events(1, p_endpoint_id => id) from other;
select fail(500);
select time_passes('4 d');
create temporary table between_event as select events(1, p_endpoint_id => id) from other;
create temporary table answer as select step() as a;
select is(claimed(a, id), 2, 'four days later one of two') from answer, other;
select step(0, (results_of(a, id, 'failed', '{"status": 500}') - 1) || (results_of(a, id, 'delivered', '{"status": 200}') - 0)) from answer, other;
select is((gate_of(id)).first_failure_at, null, 'succeeds, which begins the count anew') from other;
select time_passes('2 d');
select is(fail(500), 1, 'a failure on day six');
select is((select status from outbox.endpoint join other using (id)), 'enabled', 'disables nothing');
select is((gate_of(id)).first_failure_at, (select at from outbox.test_clock), 'and is the first of a new count') from other;

-- How many days is a setting.
select outbox.set_setting('endpoint.disable_after_days', '1');
select time_passes('1 d'), time_passes('1 s');
select fail(503);
select is((select status from outbox.endpoint join other using (id)), 'disabled', 'the setting endpoint.disable_after_days says how many days');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
