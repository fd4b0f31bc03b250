-- The answer says what follows the failed attempts among the results of the call: when the next one is, or that it was the last.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(5);

create temporary table made as select endpoint(p_retry => plain_retry(1)) as id;
create temporary table given as select e as id from unnest(events(3)) e;
create temporary table answer as select step(10) as a;
update answer set a = step(0, (
  select jsonb_agg(r || case r ->> 'event' when (select min(id::text) from given) then '{"outcome": "failed", "status": 404}'
    when (select max(id::text) from given) then '{"outcome": "delivered", "status": 200}' else '{"outcome": "failed", "status": 503}' end::jsonb)
  from jsonb_array_elements(results(a, 'failed')) r)) where true;
select is((a -> 'applied')::text, '3', 'three results apply') from answer;
select results_eq($$
    select (r ->> 'event')::uuid, r ->> 'endpoint' = (select id::text from made), (r -> 'attempt')::text, r -> 'delay_ms'
    from answer, jsonb_array_elements(a -> 'retries') r order by 1$$,
  $$select id, true, '1', case row_number() over (order by id) when 1 then 'null' else '1000' end::jsonb from given order by id limit 2$$,
  'the answer names what follows each failure and nothing else');

select time_passes('1 s');
update answer set a = step(10) where true;
select is(a ->> 'retries', null, 'a call without failures names nothing') from answer;
update answer set a = step(0, results(a, 'failed', '{"status": 503}')) where true;
select is(a -> 'retries' -> 0 -> 'delay_ms', 'null', 'the last try has none to follow') from answer;
select is(a -> 'retries' -> 0 -> 'attempt', '2', 'and is named by its number') from answer;

select * from finish();
rollback;
