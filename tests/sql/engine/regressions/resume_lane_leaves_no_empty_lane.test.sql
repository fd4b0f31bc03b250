begin;
\ir ../../_helpers.sql
select plan(2);

-- The dead letter that halted the key was its only delivery: with the halt goes the lane.
select endpoint('{*}', 'partition') as ordered \gset
update outbox.endpoint set on_dead_letter = 'halt' where id = :'ordered';
do $$ begin perform events(1, p_key => 'k'); end $$;
create temporary table given as select step() as answer;
do $$ begin perform step(0, results(answer, 'failed', '{"status": 404}')) from given; end $$;
select is((select array_agg(l.halted) from outbox.lane l), '{true}', 'the lane is halted, and kept though it is empty');
do $$ begin perform outbox.resume_lane(e.id, 'k') from outbox.endpoint e; end $$;
select is_empty('select from outbox.lane', 'resumed, it is gone');

select * from finish();
rollback;
