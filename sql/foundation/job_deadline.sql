-- When a job has to end. pg_cron runs a job as one statement (or several), and statement_timeout of
-- its role cancels that statement; a statement cannot change its own timeout. So jobs work in
-- bounded pieces, commit each of them, and end before the timeout. pg_cron then starts them again.

create function outbox.job_deadline() returns timestamptz
language plpgsql stable set search_path = ''
as $$
begin
  -- A quarter of the timeout is left for the last piece.
  return pg_catalog.statement_timestamp() + least(interval '1 minute',
    nullif(pg_catalog.current_setting('statement_timeout')::interval, '0') * 0.75);
end
$$;
comment on function outbox.job_deadline() is
  'When the current statement should start no further piece of work: after three quarters of '
  'statement_timeout, and after a minute at the latest.';
