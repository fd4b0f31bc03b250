-- A clock that was ahead and is set right: what is published then does not wait for the wrong time.
begin;
\ir ../../_helpers.sql
select plan(5);

create temporary table made as select endpoint() as id;
do $$ begin perform time_passes('3 h'), events(1), step(0); end $$;
create temporary table answer as select step() as a;
do $$ begin perform step(0, results(a, 'delivered')) from answer; end $$;
select ok((select head_at > '2026-03-01 14:59:00+00' from outbox.lane), 'the clock was ahead when the lane was served');

select time_is('2026-03-01 12:00:30+00');
create temporary table later as select events(2) as ids;
update answer set a = step() where true;
select is(claimed_events(a), ids, 'what is published after that is sent at once') from answer, later;
select is(step(100, results(a, 'failed', '{"status": 500}')) -> 'applied', '2', 'and fails') from answer;
select time_passes('1 s');
select is(claimed(step()), 2, 'and is tried again when its retry is due');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
