-- What the job outhook-tick consists of: its begin, one tick, and the wait for the next. time/cron
-- has the job.

create function outbox.begin_ticks() returns timestamptz
language plpgsql security definer set search_path = ''
as $$
declare
  v_start constant timestamptz := pg_catalog.statement_timestamp();
  v_until timestamptz := outbox.job_deadline();
  v_job bigint;
begin
  select j.jobid into v_job from cron.job j
  where j.jobname = 'outhook-tick' and j.schedule = '* * * * *';
  if not found then
    return v_until;
  end if;
  -- Before version 1.5, pg_cron starts the job once a minute. If statement_timeout would cancel the
  -- loop earlier, each tick has to be a statement with its own timeout. That costs more, because
  -- pg_cron stores the result of each statement. A list of statements is one transaction, unless
  -- they are between BEGIN and COMMIT. Background workers of pg_cron do not accept BEGIN.
  if v_until < v_start + interval '59 s' and not exists (
    select from pg_catalog.pg_settings s
    where s.name = 'cron.use_background_workers' and s.setting = 'on')
  then
    perform cron.alter_job(v_job, command => pg_catalog.repeat(
      'begin; select outbox.try_tick(); commit; begin; select outbox.try_backfill(); commit; '
      'select outbox.await_tick(true); ', 59)
      || 'select outbox.try_tick()');
  end if;
  return least(v_until, pg_catalog.date_trunc('minute', v_start) + interval '1 minute');
end
$$;
comment on function outbox.begin_ticks() is
  'Called at each start of the job outhook-tick. Returns when its loop ends: at job_deadline(), '
  'and with pg_cron before 1.5 at the end of the minute at the latest. If statement_timeout is too '
  'short for that minute, it also changes the command of the job: from the next start on, each '
  'tick is a statement with its own timeout.';

create function outbox.try_tick(p_until timestamptz default null) returns void
language plpgsql security definer set search_path = ''
as $$
declare
  -- Where each tick is a statement of its own: three quarters of its timeout.
  v_until timestamptz := coalesce(p_until, pg_catalog.clock_timestamp()
    + (outbox.job_deadline() - pg_catalog.statement_timestamp()));
begin
  -- So whoever disables the job does not have to wait until this start of it ends.
  if not exists (select from cron.job j where j.jobname = 'outhook-tick' and j.active) then
    return;
  end if;
  -- Before version 1.5, pg_cron starts the job every minute, and the next start ticks on.
  if p_until is null and pg_catalog.clock_timestamp()
    >= pg_catalog.date_trunc('minute', pg_catalog.statement_timestamp()) + interval '1 minute'
  then
    return;
  end if;
  perform outbox.tick(v_until);
exception when query_canceled or assert_failure or others then
  raise warning 'outbox.tick(): % %', sqlstate, sqlerrm;
end
$$;
comment on function outbox.try_tick(timestamptz) is
  'Calls tick(p_until) unless the job outhook-tick is disabled; an error becomes a warning, so '
  'that the job continues with the next tick. '
  'Without p_until: for three quarters of statement_timeout, and not after the minute in which the '
  'job started.';

create function outbox.try_backfill(p_until timestamptz default 'infinity') returns boolean
language plpgsql security definer set search_path = ''
as $$
begin
  if pg_catalog.clock_timestamp() >= p_until or outbox.is_restoring()
    or not exists (select from cron.job j where j.jobname = 'outhook-tick' and j.active)
  then
    return false;
  end if;
  set constraints all immediate;
  return outbox.work_delivered_marks(outbox.clock()) or outbox.work_backfills(outbox.clock());
exception when query_canceled or assert_failure or others then
  raise warning 'outbox.try_backfill(): % %', sqlstate, sqlerrm;
  return false;
end
$$;
comment on function outbox.try_backfill(timestamptz) is
  'Executes one step of a job of mark_delivered() or, if there is none, of one backfill '
  '(work_delivered_marks(), work_backfills()), unless it is after p_until or the job '
  'outhook-tick is disabled; false if there is no step. An error becomes a warning, so that the '
  'job continues.';

create function outbox.await_tick(p_this_minute boolean default false) returns void
language plpgsql set search_path = ''
as $$
declare
  v_start constant timestamptz := pg_catalog.statement_timestamp();
  v_now constant timestamptz := pg_catalog.clock_timestamp();
  v_passed constant double precision := extract(epoch from v_now - v_start);
begin
  if p_this_minute and v_now >= pg_catalog.date_trunc('minute', v_start) + interval '1 minute' then
    return;
  end if;
  perform pg_catalog.pg_sleep(pg_catalog.floor(v_passed) + 1 - v_passed);
end
$$;
comment on function outbox.await_tick(boolean) is
  'Sleeps until the next full second after the start of the job, so that each second has a tick. '
  'p_this_minute: not after the minute in which the job started, so that a late start does not '
  'delay the next one.';
