-- A job can be paused, go on and be cancelled; a step whose transaction is rolled back is made again, and no row twice.
-- tests/concurrency/replay_jobs.test.ts kills the session of a step.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(20);

select endpoint();
select events(10);
select send('failed', '{"status": 404}');
create temporary table job as select outbox.replay_many(p_rate_per_second => 2) ->> 'id' as id;
create function state() returns text language sql stable as $$
  select format('%s %s, %s open', j.status, j.replayed, (select count(*) from outbox.delivery)) from outbox.replay_job j join job on job.id = j.id::text
$$;
select outbox.tick();
select is(state(), 'running 2, 2 open', 'a step');

-- A step that is rolled back is lost whole.
savepoint before_step;
select outbox.tick();
select is(state(), 'running 4, 4 open', 'another, which is rolled back');
rollback to before_step;
select is(state(), 'running 2, 2 open', 'leaves nothing');
select outbox.tick();
select is(state(), 'running 4, 4 open', 'and is made again');
select is((select count(distinct event_id) from outbox.delivery), 4::bigint, 'each row once');

select is(outbox.set_replay_job(id, 'paused'), jsonb_build_object('id', id, 'status', 'paused', 'replayed', 4, 'skipped', 0), 'a job is paused') from job;
select outbox.tick(), outbox.tick();
select is(state(), 'paused 4, 4 open', 'and waits');
select is(send(), 4, 'what it has put back is sent');
select is(outbox.set_replay_job(id, 'running') ->> 'status', 'running', 'it goes on') from job;
select outbox.tick();
select is(state(), 'running 6, 2 open', 'where it stood');
select is(outbox.set_replay_job(id, 'cancelled') ->> 'status', 'cancelled', 'it is cancelled') from job;
select outbox.tick();
select is(state(), 'cancelled 6, 2 open', 'what it has put back stays, and no more comes');
select is((select finished_at from outbox.replay_job), (select at from outbox.test_clock), 'it says when it ended');
select is((select count(*) from outbox.dead_letter where replayed_at is null), 4::bigint, 'the rest are dead letters as before');
select is(refusal(format('select outbox.set_replay_job(%L, ''running'')', id)), format($$OH002 replay job '%s' is not running or paused$$, id), 'a job that has ended does not begin again') from job;
select is(refusal(format('select outbox.set_replay_job(%s, %s)', c.id, c.state)), c.refusal, format('set_replay_job(%s, %s) is refused', c.id, c.state))
from (values
  ('''999999''', '''paused''', $$OH002 replay job '999999' is not running or paused$$), ('''x''', '''paused''', $$OH002 replay job 'x' is not running or paused$$),
  ('null', '''paused''', 'OH002 replay job NULL is not running or paused'), ('''1''', '''done''', $$OH001 status is 'done'$$), ('''1''', 'null', 'OH001 status is NULL')
) c (id, state, refusal);

select * from finish();
rollback;
