-- Which failures open a breaker: five in a row of those that say that nobody answers properly.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(62);

create temporary table made (result jsonb, opens boolean, id uuid default endpoint(p_breaker => true, p_retry => plain_retry(50)));
insert into made (result, opens) values
  ('{"error_class": "dns"}', true), ('{"error_class": "connect"}', true), ('{"error_class": "tls"}', true), ('{"error_class": "timeout"}', true),
  ('{}', true),
  ('{"status": 408}', true), ('{"status": 429}', true), ('{"status": 429, "retry_after": "soon"}', true),
  ('{"status": 500}', true), ('{"status": 502}', true), ('{"status": 503}', true), ('{"status": 503, "retry_after": "0"}', true), ('{"status": 599}', true),
  ('{"status": 400}', false), ('{"status": 401}', false), ('{"status": 403}', false), ('{"status": 404}', false), ('{"status": 409}', false),
  ('{"status": 410}', false), ('{"status": 413}', false), ('{"status": 422}', false), ('{"status": 425}', false),
  ('{"status": 301}', false), ('{"status": 302}', false), ('{"status": 304}', false), ('{"status": 101}', false),
  ('{"status": 429, "retry_after": "5"}', false), ('{"status": 503, "retry_after": "5"}', false),
  ('{"error_class": "blocked"}', false);
select count(events(5, p_endpoint_id => id)) from made;
create temporary table answer as select step(400) as a;
select is(claimed(a), 5 * 29, 'each endpoint has five deliveries under way') from answer;

select step(0, results_of(a, id, 'failed', result) - 4) from answer, made;
select is(breaker_of(id), 'closed', format('four failures %s leave the breaker closed', result)) from made;
select step(0, jsonb_build_array(results_of(a, id, 'failed', result) -> 4)) from answer, made;
select is(breaker_of(id), case when opens then 'open' else 'closed' end,
  format('five failures %s %s', result, case when opens then 'open it' else 'leave it closed too' end)) from made;

select is((select count(*) from news('outhook.breaker.opened')), (select count(*) from made where opens), 'each that opened is announced once');
select is((select count(*) from outbox.dead_letter x join made m on m.id = x.endpoint_id where m.opens), 0::bigint, 'opening dead-letters nothing');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
