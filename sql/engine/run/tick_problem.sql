-- Whether pg_cron runs the tick. The tick itself stores the time when it ended, so this does not
-- depend on cron.job_run_details, which may be disabled or pruned.

create function outbox.last_tick_at() returns timestamptz
language plpgsql stable security definer set search_path = ''
as $$
begin
  return (
    select pg_catalog.to_timestamp(s.last_value / 1000.0)
    from outbox.last_tick s where s.is_called);
end
$$;
comment on function outbox.last_tick_at() is
  'When the last tick ended, by the clock of the server; null if there was none yet.';

create function outbox.tick_problem() returns text
language plpgsql stable security definer set search_path = ''
as $$
declare
  v_at timestamptz;
  v_ran boolean;
  v_active boolean;
  v_why text;
begin
  select pg_catalog.to_timestamp(s.last_value / 1000.0), s.is_called
  into v_at, v_ran
  from outbox.last_tick s;
  -- pg_cron 1.4 starts a new job at the next full minute.
  if v_at > pg_catalog.clock_timestamp() - interval '90 s' then
    return null;
  end if;
  if pg_catalog.to_regclass('cron.job') is null then
    v_why := 'pg_cron is not installed in this database';
  else
    select j.active into v_active from cron.job j where j.jobname = 'outhook-tick';
    v_why := case
      when v_active is null then 'there is no cron job outhook-tick'
      when not v_active then 'the cron job outhook-tick is switched off'
      when outbox.misses_pg_cron() then 'the process of pg_cron does not run: restart the database'
      when v_ran then 'run select outbox.reload_jobs(), and if that does not help restart the '
        'database'
      else 'pg_cron may not have loaded its job yet: run select outbox.reload_jobs()'
    end;
  end if;
  return pg_catalog.format('the tick does not run: %s, %s (runbook: No tick)',
    case
      when v_ran then 'it last ran at ' || outbox.iso_time(v_at)
      else 'it has not run since Outhook was installed'
    end, v_why);
end
$$;
comment on function outbox.tick_problem() is
  'Why the tick has not run for 90 s, with the remedy; null if it has run. Without the tick, '
  'replay jobs stop, deliveries do not expire, and only commits send kicks.';

create function outbox.misses_pg_cron() returns boolean
language plpgsql stable set search_path = ''
as $$
begin
  -- Without this right the type of other roles' backends is hidden.
  return pg_catalog.pg_has_role(current_user, 'pg_read_all_stats', 'usage')
    and not exists (
      select from pg_catalog.pg_stat_activity a where a.backend_type = 'pg_cron launcher');
end
$$;
comment on function outbox.misses_pg_cron() is
  'Whether the process of pg_cron is certainly missing; false if this cannot be determined.';

create function outbox.reload_jobs() returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_job bigint;
begin
  select j.jobid into v_job from cron.job j
  where j.jobname = any (outbox.job_names()) order by j.jobname desc limit 1;
  if found then
    perform cron.alter_job(j.jobid, active => j.active) from cron.job j where j.jobid = v_job;
  end if;
  return pg_catalog.jsonb_build_object('jobs', (
    select pg_catalog.count(*) from cron.job j where j.jobname = any (outbox.job_names())));
end
$$;
comment on function outbox.reload_jobs() is
  'Makes pg_cron read its jobs again after this commits. pg_cron up to 1.6.7 misses the changes of '
  'a transaction as large as the migration: such a commit overflows the queue of invalidations, '
  'and pg_cron ignores the message for all tables that follows. Returns {"jobs": the number of '
  'jobs of Outhook}.';
