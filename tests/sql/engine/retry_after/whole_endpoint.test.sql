-- A hint slows the whole endpoint: nothing of it is sent before, not what is due, not what is new; no other
-- endpoint notices.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(13);

create temporary table made as select endpoint() as slow, endpoint() as other;
create temporary table event as select (events(1, p_endpoint_id => slow))[1] as id from made;
select fail(429, '{"retry_after": "30"}');
select is((gate_of(slow)).not_before, '2026-03-01 12:00:30+00'::timestamptz, 'the gate is left alone until then') from made;
select events(3);
select is(send(), 3, 'another endpoint is served meanwhile');
select time_passes('29.999 s');
select is(claimed(step()), 0, 'nothing of the endpoint is sent before its time');
select is((select not_before from outbox.endpoint_status s where s.id = slow), '2026-03-01 12:00:30+00'::timestamptz,
  'endpoint_status says until when') from made;
select time_passes('1 ms');
create temporary table answer as select step() as a;
select is(claimed(a, slow), 4, 'at its time all of it is sent') from made, answer;
select is(array_position(claimed_events(a, slow), id), 4, 'in the order of what was due when') from made, answer, event;
select is(failed_attempts_of(id, slow), 1, 'the refused one has spent a try') from made, event;

-- Of several hints the longest holds.
select step(0, (
  select jsonb_agg(r || jsonb_build_object('status', 429, 'retry_after', case place when 2 then '50' else '20' end) order by place)
  from made, answer, jsonb_array_elements(results_of(a, slow, 'failed')) with ordinality x (r, place)));
select is((gate_of(slow)).not_before, '2026-03-01 12:01:20+00'::timestamptz, 'of several hints in one batch the longest holds') from made;

-- A try that was under way when the hint came may bring a shorter one.
select time_passes('50 s');
update answer set a = step() where true;
select is(claimed(a, slow), 4, 'all is sent again after the longest hint') from made, answer;
select step(0, results_of(a, slow, 'failed', '{"status": 503, "retry_after": "40"}') - 0 - 0) from made, answer;
select step(0, results_of(a, slow, 'failed', '{"status": 503, "retry_after": "1"}') - 3 - 2) from made, answer;
select is((gate_of(slow)).not_before, '2026-03-01 12:02:00+00'::timestamptz, 'a shorter hint shortens no longer one') from made;

-- A success does not lift it: the receiver said when.
select time_passes('40 s');
update answer set a = step(2) where true;
select step(0, jsonb_build_array(
    (results_of(a, slow, 'failed') -> 0) || '{"status": 429, "retry_after": "10"}',
    (results_of(a, slow, 'delivered') -> 1) || '{"status": 200}')) from made, answer;
select is((gate_of(slow)).not_before, '2026-03-01 12:02:10+00'::timestamptz, 'a success beside it does not lift a hint') from made;
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'everything open will be looked at again');

select * from finish();
rollback;
