-- A result that no call can store in time: the run reports only that, in a call of its own.
begin;
\ir ../../_helpers.sql
select plan(9);

create temporary table made as select endpoint() as id;
create temporary table event as select events(3) as ids;
create temporary table answer as select step() as a;
create function told(p_results jsonb) returns jsonb language sql as $$
  select outbox.dispatch(gen_random_uuid(), 1, p_results,
    p_contract => '{"oldest": 1, "newest": 9, "refused_with": "57014 too slow"}')::jsonb
$$;
create temporary table said as select told(results(a, 'delivered')) as s from answer;

select is(s ->> 'applied', '0', 'none of the results is stored') from said;
select is(s ->> 'stale', '0', 'none is stale') from said;
select is(s -> 'error', '{"results": "57014 too slow"}', 'the response has the error') from said;
select is((select count(*) from outbox.attempt where kind = 'attempt'), 0::bigint, 'no attempt is stored');
select results_eq('select step, failures, sqlstate, error, again_at from outbox.refusal',
  $$select 'result', 1, '57014', 'too slow', outbox.clock() + interval '1 s' from generate_series(1, 3)$$, 'each is a refusal');
select is((select count(*) from outbox.delivery where leased_until is null), 3::bigint, 'and each delivery is released');

do $$ begin perform told(results(a, 'delivered')) from answer; end $$;
select is((select max(failures) from outbox.refusal), 1, 'a repeat without a lease does not count');

-- An error of another form is none: the results are stored.
do $$ begin perform time_passes('1 s'); end $$;
update answer set a = step() where true;
select is(outbox.dispatch(gen_random_uuid(), 1, results(a, 'delivered'), p_contract => '{"oldest": 1, "newest": 9, "refused_with": true}')::jsonb
  ->> 'applied', '3', 'only a text is an error') from answer;
select is_empty('select * from miscounts()', 'the counters are right');
select * from finish();
rollback;
