-- pg_cron with the platform's rights: postgres may schedule, list its jobs and delete their history, but not
-- write cron.job.
create extension pg_cron with schema pg_catalog;

grant usage on schema cron to postgres with grant option;
grant all on all tables in schema cron to postgres with grant option;
grant all on all functions in schema cron to postgres with grant option;
grant all on all sequences in schema cron to postgres with grant option;

revoke all on table cron.job from postgres;
grant select on table cron.job to postgres with grant option;
revoke trigger on table cron.job_run_details from postgres;
