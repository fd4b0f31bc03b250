-- Consecutive means: no answer between. What is neither an answer nor such a failure leaves the streak.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(27);

-- One result a letter, in that order in one batch: f 500, s success, n 404, r 301, h 429 with a hint,
-- g given back, t timeout.
create temporary table made (letters text, streak integer, breaker text, id uuid default endpoint(p_breaker => true, p_retry => plain_retry(50)));
insert into made (letters, streak, breaker) values
  ('ffff', 4, 'closed'), ('fffff', 5, 'open'), ('ffffs', 0, 'closed'), ('ffffn', 0, 'closed'),
  ('ffffsffff', 4, 'closed'), ('ffffnffff', 4, 'closed'), ('ffffsfffff', 5, 'open'), ('fffffs', 0, 'closed'),
  ('fffrff', 5, 'open'), ('ffffr', 4, 'closed'), ('fffhff', 5, 'open'), ('ffffh', 4, 'closed'), ('fffgff', 5, 'open'), ('ffffg', 4, 'closed'),
  ('tfftf', 5, 'open'), ('fffsrf', 1, 'closed');
select count(events(length(letters), p_endpoint_id => id)) from made;
create temporary table answer as select step(400) as a;
create function told(p_letters text, p_results jsonb) returns jsonb language sql as $$
  select jsonb_agg((p_results -> n - 1) || case substr(p_letters, n, 1)
    when 'f' then '{"outcome": "failed", "status": 500}' when 's' then '{"outcome": "delivered", "status": 200}'
    when 'n' then '{"outcome": "failed", "status": 404}' when 'r' then '{"outcome": "failed", "status": 301}'
    when 'h' then '{"outcome": "failed", "status": 429, "retry_after": "1"}' when 'g' then '{"outcome": "released"}'
    else '{"outcome": "failed", "error_class": "timeout"}' end::jsonb order by n)
  from generate_series(1, length(p_letters)) n
$$;
select step(0, told(letters, results_of(a, id, 'failed'))) from answer, made;
select is((gate_of(id)).streak || ' ' || breaker_of(id), streak || ' ' || breaker, format('in one batch %s makes a streak of %s, %s', letters, streak, breaker)) from made;

-- The same, one result a call.
create temporary table one (letters text, streak integer, breaker text, id uuid default endpoint(p_breaker => true, p_retry => plain_retry(50)));
insert into one (letters, streak, breaker) values ('ffffsffff', 4, 'closed'), ('ffffnffff', 4, 'closed'), ('fffrhgff', 5, 'open'), ('sfsffff', 4, 'closed');
select count(events(length(letters), p_endpoint_id => id)) from one;
update answer set a = step(400) where true;
select step(0, jsonb_build_array(r)) from answer, one, jsonb_array_elements(told(letters, results_of(a, id, 'failed'))) with ordinality x (r, n)
order by id, n;
select is((gate_of(id)).streak || ' ' || breaker_of(id), streak || ' ' || breaker, format('one by one %s makes a streak of %s, %s', letters, streak, breaker)) from one;

-- A lost lease is nobody's failure: it counts neither way.
create temporary table lost as select endpoint(p_breaker => true, p_retry => plain_retry(50)) as id;
select events(4, p_endpoint_id => id) from lost;
update answer set a = step(400) where true;
select step(0, results_of(a, id, 'failed', '{"status": 500}') - 3) from answer, lost;
select is((gate_of(id)).streak, 3, 'three failures') from lost;
select time_passes('20 s');
select step(400);
select is((gate_of(id)).streak, 3, 'a lost lease leaves the streak') from lost;
select is((select count(*) from outbox.attempt join lost on id = endpoint_id where error_class = 'lease_expired'), 1::bigint, 'though it is recorded');
select is((gate_of(id)).first_failure_at, '2026-03-01 12:00:00+00'::timestamptz, 'the first failure of the streak is kept') from lost;

-- Six lost leases of one endpoint open nothing.
create temporary table dying as select endpoint(p_breaker => true, p_retry => plain_retry(50)) as id;
select events(6, p_endpoint_id => id) from dying;
select is(claimed(step(400), id), 6, 'six are under way') from dying;
select time_passes('20 s');
select step(400);
select is((gate_of(id)).streak || ' ' || breaker_of(id), '0 closed', 'six lost leases at once open nothing') from dying;
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
