-- The responses to callbacks are counted by status, whatever a caller reports.
begin;
\ir ../../_helpers.sql
select plan(4);

create function counted() returns text language sql as $$
  select string_agg(format('%s %s', c -> 1 ->> 0, c -> 2), ', ' order by c -> 1 ->> 0)
  from jsonb_array_elements(outbox.get_metrics() -> 'counters') c where c ->> 0 = 'callback_responses'
$$;
select is(outbox.count_callbacks('[{"status": 200, "n": 3}, {"status": 401, "n": 2}]'), '{"noted": true}', 'counts are noted');
select outbox.count_callbacks('[{"status": 401, "n": 5}, {"status": 413, "n": 1}]');
select is(counted(), '200 3, 401 7, 413 1', 'and added up by status');
select outbox.count_callbacks('[{"status": 401, "n": 0}, {"status": 401, "n": -9}, {"status": 99, "n": 1}, {"status": 600, "n": 1}, {"n": 1}, {"status": 200}]');
select outbox.count_callbacks('[]');
select is(counted(), '200 3, 401 7, 413 1', 'what is no count changes nothing');
select is(has_function_privilege('service_role', 'outbox.count_callbacks(jsonb)', 'execute'), true, 'the functions may call it');

select * from finish();
rollback;
