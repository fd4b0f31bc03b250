-- The jobs in pg_cron. An application may have jobs with names such as outhook-report, so ours are
-- named exactly. time/cron schedules them.

create function outbox.job_names() returns text[]
language plpgsql immutable set search_path = ''
as $$
begin
  return array[
    'outhook-cleanup', 'outhook-drop-partitions', 'outhook-partitions', 'outhook-tick',
    'outhook-vacuum'
  ];
end
$$;
comment on function outbox.job_names() is 'The names of the jobs of Outhook in pg_cron.';
