-- Makes pg_cron read the jobs that the migrations before this one scheduled. It misses what a commit as large
-- as theirs changes in cron.job: the commit overflows the queue of invalidations, whose readers are then told
-- to forget everything, and pg_cron up to 1.6.7 takes that for news of other tables. A small commit gets
-- through, once pg_cron has emptied its queue, which it does at least once a second: hence the pause. A later
-- migration that schedules, changes or removes a job needs such a one behind it.
select pg_catalog.pg_sleep(1.5);
select outbox.reload_jobs();
