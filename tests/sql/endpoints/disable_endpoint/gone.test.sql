-- 410: the receiver wants nothing more. The endpoint is disabled; the delivery stays with the rest.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(16);

-- Without a single retry, so that a budget that ends would show.
create temporary table made as select endpoint(p_retry => plain_retry(0), p_breaker => true) as id;
create temporary table event as select events(3) as ids;
create temporary table answer as select step() as a;
select step(0, jsonb_build_array(results(a, 'failed', '{"status": 410}') -> 0)) from answer;
select is((select status || ': ' || status_reason from outbox.endpoint), 'disabled: gone', 'the endpoint is disabled');
select is(status_of(ids[1], id), 'held', 'the delivery is held') from event, made;
select is((select held_because from outbox.delivery_status where event_id = ids[1]), 'endpoint disabled: gone', 'and says why') from event;
select is((select count(*) from outbox.dead_letter), 0::bigint, 'though its budget is spent it is no dead letter');
select is(attempts(ids[1], id), '1 failed', 'its attempt is there') from event, made;
select is((select count(*) from news('outhook.endpoint.disabled')), 1::bigint, 'it is announced');
select is((select n ->> 'reason' from news('outhook.endpoint.disabled') n), 'gone', 'with the reason');
-- Another 410 that was under way announces nothing again.
select step(0, results(a, 'failed', '{"status": 410}') - 0 - 1) from answer;
select step(0, jsonb_build_array(results(a, 'failed', '{"status": 410}') -> 2)) from answer;
select is((select count(*) from news('outhook.endpoint.disabled')), 1::bigint, 'a second 410 announces nothing');
select is(breaker_of(id) || ' ' || (gate_of(id)).streak, 'closed 0', '410 is an answer: the breaker is not touched') from made;
select time_passes('1 d');
select is(claimed(step()), 0, 'nothing is sent any more');
select is((select open from outbox.endpoint_status), 3::bigint, 'all three are open');

select outbox.resume_endpoint(id) from made;
select outbox.tick();
update answer set a = step() where true;
select is(claimed(a), 1, 'a resume sends them again') from answer;
select step(0, results(a, 'delivered', '{"status": 200}')) from answer;
select is(attempts((claimed_events(a))[1], id), '1 failed, 2 delivered', 'and one is delivered at last') from answer, made;
-- A 410 over hours neither moves the delivery out nor disables by itself twice.
select is((select status from outbox.endpoint), 'enabled', 'it stays enabled');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'everything open will be looked at again');

select * from finish();
rollback;
