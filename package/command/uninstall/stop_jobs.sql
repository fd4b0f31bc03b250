-- A migration of its own: pg_cron misses the changes of a transaction as large as the next one.
select cron.alter_job(j.jobid, active => false) from cron.job j
where j.jobname in ('outhook-tick', 'outhook-vacuum', 'outhook-cleanup',
  'outhook-drop-partitions', 'outhook-partitions');
