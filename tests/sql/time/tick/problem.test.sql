-- Modules: api
-- Where pg_cron does not run the tick, every check says so, why, and what helps.
begin;
\ir ../../_helpers.sql
select plan(16);
-- The runner of the tests has stopped the jobs (tests/_run/pg_tap.ts). pg_cron does not see this before a commit.
do $$ begin perform cron.alter_job(jobid, active => true) from cron.job where jobname like 'outhook-%'; end $$;
-- pg_cron ticks each second, and this would not be told: it waits for the settings until the rollback.
lock table outbox.setting;

create function ticked(p_ago interval, p_ran boolean default true) returns void language sql as $$
  select setval('outbox.last_tick', (extract(epoch from clock_timestamp() - p_ago) * 1000)::bigint, p_ran)
$$;
create function problem() returns text language sql as $$
  select regexp_replace(outbox.tick_problem(), '\d{4}-\S+Z', '<time>')
$$;

select ticked('89 s');
select is(problem(), null, 'a tick of 89 s ago is no problem');
select ticked('0', false);
select is(problem(), null, 'nor is none, just after the installation');
select is(outbox.last_tick_at(), null, 'which is not taken for a tick');
select ticked('91 s', false);
select is(problem(), 'the tick does not run: it has not run since Outhook was installed, pg_cron may not have loaded its job yet: run select outbox.reload_jobs() (runbook: No tick)', 'it is one after 90 s');
select ticked('91 s');
select is(problem(), 'the tick does not run: it last ran at <time>, run select outbox.reload_jobs(), and if that does not help restart the database (runbook: No tick)', 'and so is a tick that stopped');
select is((select problems[1] from outbox.queue_health), outbox.tick_problem(), 'queue_health tells it');
select is(outbox.misses_pg_cron(), false, 'the process of pg_cron is there');
select is(outbox.get_health() -> 'problems' ->> 0, outbox.tick_problem(), 'the health of the API does');
select is(outbox.configure('https://project.supabase.co/functions/v1', repeat('s', 40)) -> 'problems' ->> 0, outbox.tick_problem(), 'configure() does');
select is(outbox.dispatch('00000000-0000-7000-8000-000000000009', 1, '[]', 10, 'worker') ->> 'problem', outbox.tick_problem(), 'and each run is told');
select is(outbox.reload_jobs(), '{"jobs": 5}', 'reload_jobs() says how many jobs there are');
do $$ begin perform cron.alter_job(jobid, active => false) from cron.job where jobname like 'outhook-%'; end $$;
do $$ begin perform outbox.reload_jobs(); end $$;
select is_empty($$select from cron.job where jobname like 'outhook-%' and active$$, 'and switches none on');
select alike(problem(), '%the cron job outhook-tick is switched off%', 'a job that is switched off is named');
do $$ begin perform cron.unschedule(jobid) from cron.job where jobname = 'outhook-tick'; end $$;
select alike(problem(), '%there is no cron job outhook-tick%', 'a job that is gone too');
do $$ begin perform outbox.tick(); end $$;
select is(problem(), null, 'a tick ends it');
select cmp_ok(outbox.last_tick_at(), '>', clock_timestamp() - interval '10 s', 'and is noted');

select * from finish();
rollback;
