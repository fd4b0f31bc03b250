-- The time in which pg_cron stops its jobs.
select pg_catalog.pg_sleep(2);
-- Rather than making the application wait.
set local lock_timeout = '10s';

-- Also of jobs of an earlier installation.
delete from cron.job_run_details d
where d.jobid in (
    select j.jobid from cron.job j
    where j.jobname in ('outhook-tick', 'outhook-vacuum', 'outhook-cleanup',
      'outhook-drop-partitions', 'outhook-partitions'))
  or (d.command like '%outbox.%' and d.jobid not in (select j.jobid from cron.job j));
select cron.unschedule(j.jobid) from cron.job j
where j.jobname in ('outhook-tick', 'outhook-vacuum', 'outhook-cleanup',
  'outhook-drop-partitions', 'outhook-partitions');
delete from vault.secrets s where s.name like 'outhook\_%';
do $$
begin
  -- The module messages is installed.
  if pg_catalog.to_regclass('outbox.whatsapp_channel') is not null then
    delete from vault.secrets s
    where s.id in (select c.token_vault_id from outbox.whatsapp_channel c)
      or s.id in (
        select pg_catalog.unnest(array[a.secret_vault_id, a.old_secret_vault_id])
        from outbox.whatsapp_app a);
  end if;
end
$$;
-- With the triggers that watch_table() has created. The extensions stay.
drop schema outbox cascade;
