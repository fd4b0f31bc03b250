-- What a run has given back it holds no more: it renews nothing by that name.
begin;
\ir ../../_helpers.sql
select plan(3);

create temporary table ours as select endpoint('{}', p_ordering => 'partition', p_timeout_ms => 3000) as id;
create temporary table a_key as select events(3, p_key => 'a', p_endpoint_id => id) as ids from ours;
create temporary table answer as select step() as a;
do $$ begin perform step(0, jsonb_build_array(results(a, 'released') -> 2)) from answer; end $$;
select time_passes('4 s');
select is(step(0, jsonb_build_array(results(a, 'renew') -> 2)) -> 'renewed', 'null', 'what was given back is not renewed') from answer;
select is((select l.leased_until - outbox.clock() from outbox.lane l where l.ordered), interval '4 s', 'and its lane neither');
select is(jsonb_array_length(step(0, jsonb_build_array(results(a, 'renew') -> 0)) -> 'renewed'), 1, 'what is still held is') from answer;

select * from finish();
rollback;
