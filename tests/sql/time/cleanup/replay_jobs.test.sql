-- A replay job that has ended is deleted after its retention, and its lane also without it.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(10);

select time_is('2020-03-01 12:00:00+00');
create temporary table made as select endpoint() as id;
select events(2);
select send('failed', '{"status": 404}'), time_passes('1 min');
create function jobs() returns text language sql as $$
  select string_agg(j.status, ', ' order by j.id) from outbox.replay_job j
$$;

-- The deliveries of this job are not sent for a while.
create temporary table job as select (outbox.replay_many('default') ->> 'id')::bigint as id;
select outbox.tick(), time_passes('1 s'), outbox.tick();
select is(jobs(), 'done', 'a job has ended');
update outbox.endpoint set status = 'paused' where true;
select outbox.set_setting('replay_job.retention_days', '1');
select time_passes('24 h'), time_passes('1 ms');
select is(outbox.cleanup() -> 'replay_jobs', '1', 'it is deleted after its retention');
select is((select count(*) from outbox.lane l join job on l.key_hash = job.id), 1::bigint, 'its lane stays while it has deliveries');
update outbox.endpoint set status = 'enabled', updated_at = outbox.clock() where true;
select step(0), outbox.tick();
select is(send(), 2, 'they are sent after a resume');
select outbox.cleanup();
select is((select count(*) from outbox.lane l join job on l.key_hash = job.id), 0::bigint, 'then the lane is deleted, although the job is gone');

-- The default is 90 days.
select outbox.set_setting('replay_job.retention_days', '90');
select outbox.replay_many('default') from generate_series(1, 4);
select outbox.set_replay_job(j.id::text, case j.n when 4 then 'paused' else 'cancelled' end)
from (select j.id, row_number() over (order by j.id) as n from outbox.replay_job j) j where j.n <> 3;
select time_passes('2160 h');
select is(outbox.cleanup() -> 'replay_jobs', '0', 'ninety days after their end jobs are there');
select time_passes('1 ms');
select is(outbox.cleanup(1) -> 'replay_jobs', '1', 'a millisecond later each call deletes as many as it may');
select is(outbox.cleanup() -> 'replay_jobs', '1', 'until none is left');
select is(jobs(), 'running, paused', 'an open job is never deleted');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
