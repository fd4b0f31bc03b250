-- A job replays what matches, at its rate, one step a tick, and shows how far it is.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(24);

create temporary table made as select endpoint(p_breaker => true) as id;
create temporary table event as select events(8) as ids;
select send('failed', '{"status": 404}');
select is((select count(*) from outbox.dead_letter), 8::bigint, 'eight dead letters');
select time_passes('1 h');
create temporary table job as select outbox.replay_many(p_rate_per_second => 3) ->> 'id' as id;
create function progress() returns text language sql stable as $$
  select format('%s %s replayed, %s skipped, %s waiting', j.status, j.replayed, j.skipped, (select count(*) from outbox.dead_letter where replayed_at is null))
  from outbox.replay_job j join job on job.id = j.id::text
$$;
select is(progress(), 'running 0 replayed, 0 skipped, 8 waiting', 'a job begins with the next tick');
select outbox.tick();
select is(progress(), 'running 3 replayed, 0 skipped, 5 waiting', 'a tick replays what the rate allows in a second');
select set_eq('select event_id from outbox.delivery', 'select event_id from outbox.dead_letter order by failed_at, id limit 3', 'the oldest first');
select is((select count(*) from outbox.lane where not ordered and key_hash > 0), 1::bigint, 'in a lane of the job''s own');
create temporary table answer as select step() as a;
select is(claimed(a), 3, 'they are claimed') from answer;
select is((select array_agg(d ->> 'attempt') from answer, jsonb_array_elements(a -> 'deliveries') d), '{2,2,2}', 'their attempts go on');
-- One of them dies again: the job does not come back to it.
select time_passes('100 ms');
select step(0, (results(a, 'delivered', '{"status": 200}') - 2) || (results(a, 'failed', '{"status": 404}') - 0 - 0)) from answer;
select time_passes('1 s');
select outbox.tick();
select is(progress(), 'running 6 replayed, 0 skipped, 3 waiting', 'the next the next three');
select is(send(), 3, 'which are delivered');
select time_passes('1 s');
select outbox.tick();
select is(progress(), 'running 8 replayed, 0 skipped, 1 waiting', 'then the rest');
select is(send(), 2, 'which is delivered');
select outbox.tick();
select is(progress(), 'done 8 replayed, 0 skipped, 1 waiting', 'and the job is done; what failed while it ran is not its own');
select is((select finished_at from outbox.replay_job), (select at from outbox.test_clock), 'it says when');
select is((select array_agg(distinct r.n) from (select count(*) as n from outbox.attempt a join event on a.event_id = any (ids) where a.kind = 'attempt' group by a.event_id) r), '{2}',
  'each was sent once more, none twice');
select outbox.tick();
select is(claimed(step()), 0, 'nothing more comes of it');
select is(progress(), 'done 8 replayed, 0 skipped, 1 waiting', 'nor of another tick');

-- The rate holds per tick, however often one looks.
select outbox.replay_many();
select is((select rate_per_second from outbox.replay_job order by id desc limit 1), 50, 'fifty a second by default');
select is(refusal(format('select outbox.replay_many(p_rate_per_second => %s)', r)), 'OH001 rate_per_second is ' || r, 'a rate of ' || r || ' is refused')
from (values ('0'), ('-1'), ('1001'), ('null')) x (r);
select outbox.tick(), outbox.tick();
select is((select status || ' ' || replayed from outbox.replay_job order by id desc limit 1), 'done 1', 'a second job takes what is left');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'everything open will be looked at again');

select * from finish();
rollback;
