-- A probe that is answered closes the breaker: by a success, and by another 4xx, which is an answer too.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(18);

create temporary table made (result jsonb, outcome text, id uuid default endpoint(p_breaker => true));
insert into made (result, outcome) values ('{"status": 204}', 'delivered'), ('{"status": 404}', 'failed');
select count(events(5, p_endpoint_id => id)) from made;
select fail(500);
select time_passes('30 s');
create temporary table answer as select step() as a;
select step(0, results_of(a, id, outcome, result)) from answer, made;
select is(breaker_of(id), 'closed', format('%s closes it', result)) from made;
select is((gate_of(id)).streak, 0, format('%s ends the streak', result)) from made;
select is((gate_of(id)).probe_event, null, format('%s ends the probe', result)) from made;
select is((gate_of(id)).first_failure_at, case when outcome = 'delivered' then null else '2026-03-01 12:00:00+00'::timestamptz end,
  format('the days of failure end with a success only: %s', result)) from made;
select set_eq($$select n ->> 'endpointId' from news('outhook.breaker.closed') n$$, 'select id::text from made', 'both are announced');
select is((select why from outbox.dead_letter), 'not_retryable', 'the 404 is a dead letter like any other');

-- It takes up speed within ten seconds.
select events(300);
create function in_flight(p_id uuid) returns integer language sql as $$ select (gate_of(p_id)).in_flight $$;
select step(400);
select is(in_flight(id), 1, 'at first one at a time') from made where outcome = 'delivered';
select time_passes('1 s');
select step(400);
select is(in_flight(id), 5, 'after a second a tenth of what the endpoint may have') from made where outcome = 'delivered';
select time_passes('4 s');
select step(400);
select is(in_flight(id), 25, 'after five the half') from made where outcome = 'delivered';
select time_passes('5 s');
select step(400);
select is(in_flight(id), 50, 'after ten all') from made where outcome = 'delivered';
select ok((select bool_and(status in ('pending', 'processing', 'retrying')) from outbox.delivery_status where finished_at is null), 'nothing is held any more');
select results_eq('select status, probe_at from outbox.endpoint_status', $$values ('enabled', null::timestamptz), ('enabled', null)$$, 'endpoint_status says enabled');
select is((select breakers_open from outbox.queue_health), 0::bigint, 'queue_health counts no open breaker');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
