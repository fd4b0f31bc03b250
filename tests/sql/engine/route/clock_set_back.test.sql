-- A clock that is set back by less than a minute between two events does not change their order.
begin;
\ir ../../_helpers.sql
select plan(10);

create temporary table ours as select endpoint(p_ordering => 'partition') as by_key, endpoint(p_ordering => 'endpoint') as whole, endpoint('{test.event}') as ended;

select time_is('2026-03-01 12:00:20+00');
create temporary table given as select events(2, p_key => 'k') as ahead;
alter table given add column behind uuid[], add column right_again uuid[];
select time_is('2026-03-01 12:00:00+00');
update given set behind = array[outbox.publish('test.event', '{}', p_partition_key => 'k')] || events(3, p_key => 'k') where true;
select outbox.subscribe(ended, '{test.event}', '$.n == 1') from ours;
create temporary table late as select endpoint() as id;
create temporary table after_it as select outbox.publish('test.event', '{}', p_partition_key => 'k') as id;
select time_is('2026-03-01 12:00:21+00');
update given set right_again = events(2, p_key => 'k') where true;
create temporary table expected as select g.ahead || g.behind || a.id || g.right_again as ids from given g, after_it a;

select is((select array_agg(i order by i) from expected, unnest(ids) i), (select ids from expected), 'the ids are in the order of publishing');
select is_empty($$ select id from outbox.event where outbox.uuid_v7_time(id) <> date_trunc('milliseconds', created_at) $$, 'each has the time of its event');

select time_is('2026-03-01 12:00:05+00');
select is(step(0) -> 'routed', '27', 'all are routed, although some are ahead of the clock');
create temporary table answer as select step() as a;
select is(claimed_events(a, by_key), ids, 'a key is claimed in this order') from answer, ours, expected;
select is(claimed_events(a, whole), ids, 'an endpoint is, too') from answer, ours, expected;
select is(claimed_events(a, late.id), after_it.id || right_again, 'an endpoint that was created while the clock was behind gets what comes after it')
from answer, late, after_it, given;

select is(claimed_events(a, ended), ahead || behind, 'one that got a filter then has what came before without it') from answer, ours, given;

-- What is published after the read, with the clock behind again.
select step(0, results(a, 'delivered')) from answer;
create temporary table more as select events(2, p_key => 'k') as ids;
create temporary table last_answer as select step() as a;
select is(claimed_events(a, whole), ids, 'what comes after a read follows') from last_answer, more, ours;
select ok((select r.watermark = m.ids[2] from outbox.router r, more m), 'and is above its watermark');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
