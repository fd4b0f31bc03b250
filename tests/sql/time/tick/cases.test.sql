-- What pg_cron does every second: kick when work is due and too few runs are alive.
begin;
\ir ../../_helpers.sql
select plan(26);
-- The runner of the tests has stopped the jobs (tests/_run/pg_tap.ts). pg_cron does not see this before a commit.
do $$ begin perform cron.alter_job(jobid, active => true) from cron.job where jobname like 'outhook-%'; end $$;

select outbox.configure('https://project.supabase.co/functions/v1/', repeat('s', 40));
create function kicks() returns integer language plpgsql as $$
declare
  v_before bigint := (select count(*) from net.http_request_queue);
begin
  perform outbox.tick();
  v_before := (select count(*) from net.http_request_queue) - v_before;
  -- pg_net has sent them.
  delete from net.http_request_queue where true;
  return v_before;
end
$$;
do $$ begin perform outbox.set_setting('kick.on_commit', 'false'); end $$;

select is(kicks(), 0, 'with nothing to do there is no kick');
select is(outbox.tick(), '{"kicked": false}'::jsonb, 'tick() says so');
select endpoint();
select events(1);
select is(outbox.tick(), '{"runs": 0, "kicked": true}'::jsonb, 'an unrouted event is kicked for, kicks on commit or not');
select is((select convert_from(body, 'UTF8') from net.http_request_queue order by id desc limit 1), '{"why": "tick"}', 'the request says why');
select is(kicks(), 0, 'not twice within the quiet time');
select time_passes('1 s');
select is(kicks(), 1, 'but in the next second');

-- A run comes and routes; a gate is due.
create temporary table answer as select step(0) as a;
select is(kicks(), 0, 'while a run is awake there is none');
select time_passes('1 s');
select is(kicks(), 1, 'a gate that is due is kicked for');
update answer set a = step() where true;
select time_passes('1 s');
select is(kicks(), 0, 'what is leased is not due');
select time_passes('20 s');
select is(kicks(), 1, 'until its lease has ended');

-- Work that waits for a second although runs are alive wants one more, up to the setting.
update answer set a = step() where true;
select time_passes('2 s');
do $$ begin perform events(50), step(0); end $$;
select time_passes('1.1 s');
do $$ begin perform step(0); end $$;
select is(kicks(), 1, 'work that is a second late gets one more run, though one is awake');
do $$ begin perform outbox.set_setting('worker.max_runs', '1'), time_passes('1 s'), step(0); end $$;
select is(kicks(), 0, 'but no more than there may be');
do $$ begin perform outbox.set_setting('worker.max_runs', '4'); end $$;

-- Off.
select time_passes('1 min');
do $$ begin perform outbox.set_setting('worker.enabled', 'false'); end $$;
select is(kicks(), 0, 'off means no kick');
do $$ begin perform outbox.set_setting('worker.enabled', 'true'); end $$;
select is(kicks(), 1, 'on again there is one');

-- An empty outbox, and one where all is for later.
do $$ begin perform outbox.delete_endpoint(id) from outbox.endpoint; perform outbox.purge_deleted(1000), time_passes('1 min'), outbox.purge_deleted(1000); end $$;
select is((select count(*)::integer from outbox.delivery), 0, 'when nothing is open');
select is(kicks(), 0, 'nothing is due');
select endpoint();
do $$ begin perform outbox.publish('a', '{}', p_deliver_at => outbox.clock() + interval '1 h'), step(0), time_passes('10 s'); end $$;
select is(kicks(), 0, 'nor when all is for later');
select time_passes('1 h');
select is(kicks(), 1, 'until its time has come');

-- The job.
select is((select count(*)::integer from cron.job where jobname = 'outhook-tick' and command like '%outbox.try_tick(%commit%outbox.try_backfill(%commit%' and active), 1, 'pg_cron has the job');
select is((select schedule from cron.job where jobname = 'outhook-tick'),
  case when (select regexp_match(extversion, '^([0-9]+)[.]([0-9]+)')::integer[] >= '{1,5}' from pg_extension where extname = 'pg_cron') then '1 seconds' else '* * * * *' end,
  'every second, or every minute where pg_cron knows no seconds');
select is((select array_agg(jobname::text || ' of ' || username order by jobname) from cron.job where jobname like 'outhook-%'), '{outhook-cleanup of postgres,outhook-drop-partitions of postgres,outhook-partitions of postgres,outhook-tick of postgres,outhook-vacuum of postgres}', 'the jobs run as the owner of the schema');
select lives_ok('select outbox.tick()', 'tick() may be called by hand');
create function ticked(p_until timestamptz default null) returns boolean language plpgsql as $$
begin
  perform setval('outbox.last_tick', 1), outbox.try_tick(p_until);
  return (select last_value > 1 from outbox.last_tick);
end
$$;
select is(ticked(), true, 'the job ticks');
create temporary table waited as select clock_timestamp() as at;
select outbox.await_tick();
select ok(clock_timestamp() - at between interval '0.1 s' and interval '10 s', 'and waits for the next second') from waited;
alter function outbox.tick(timestamptz) rename to other_tick;
create function outbox.tick(p_until timestamptz) returns jsonb language plpgsql as $$ begin raise exception 'broken at %', p_until; end $$;
select lives_ok('select outbox.try_tick()', 'an error of a tick does not end it');
drop function outbox.tick(timestamptz);
alter function outbox.other_tick(timestamptz) rename to tick;
do $$ begin perform cron.alter_job(jobid, active => false) from cron.job where jobname = 'outhook-tick'; end $$;
select is(ticked(), false, 'when it is disabled it stops at once');

select * from finish();
rollback;
