-- Cleanup: deletes rows that are older than their retention. A step deletes the rows of one kind.
-- Each night (UTC) the job outhook-cleanup runs every step until nothing is left, in pieces of up
-- to 2,000 rows, each in its own transaction. cleanup_progress stores how far it is, so that the
-- next start of the job continues. A step that fails prevents no other. A row that the database
-- refuses to delete prevents no other row (foundation/change_rows). If the statement timeout ends a
-- piece, the next ones are smaller. If one row alone takes too long, it is left out for a day. Each
-- step may run at any time, repeatedly and concurrently.

-- Unlogged: after a crash of the server the cleanup of the day begins again.
create unlogged table outbox.cleanup_progress (
  name text primary key,
  done_on date,
  piece_rows integer,
  swept_to uuid,
  failed_at timestamptz,
  error text
);
comment on table outbox.cleanup_progress is
  'The progress of each step of the cleanup. done_on: the last day (UTC) on which it deleted all '
  'that it had to; piece_rows: the rows of one piece, if the usual number took too long; '
  'swept_to: only of sweep_events() and expire_deliveries(), the last event that they looked at; '
  'failed_at, error: its last failure since then.';

create function outbox.forget_idempotency_keys(p_now timestamptz, p_limit integer) returns integer
language plpgsql set search_path = ''
as $$
begin
  return outbox.change_rows('outbox.forget_idempotency_keys', 'outbox.idempotency_key',
    'delete from outbox.idempotency_key k where k.ctid = any ($1) '
      'and k.created_at < $2 - outbox.key_window()',
    array(
      select o.ctid from outbox.idempotency_key o
      where o.created_at < p_now - outbox.key_window() order by o.created_at limit p_limit),
    p_now);
end
$$;
comment on function outbox.forget_idempotency_keys(timestamptz, integer) is
  'Deletes up to p_limit idempotency keys older than idempotency.window_hours; returns how many.';

create function outbox.forget_dead_letters(p_now timestamptz, p_limit integer) returns integer
language plpgsql set search_path = ''
as $$
begin
  return outbox.change_rows('outbox.forget_dead_letters', 'outbox.dead_letter',
    'delete from outbox.dead_letter x where x.ctid = any ($1)',
    array(
      select o.ctid from outbox.dead_letter o
      where greatest(o.discarded_at, o.delivered_at) < p_now
          - pg_catalog.make_interval(days => outbox.setting_int('dead_letter.retention_days'))
        and not exists (
          select from outbox.delivery d
          where d.event_id = o.event_id and d.endpoint_id = o.endpoint_id)
      limit p_limit for update skip locked),
    p_now);
end
$$;
comment on function outbox.forget_dead_letters(timestamptz, integer) is
  'Deletes up to p_limit dead letters that were discarded or delivered '
  'dead_letter.retention_days ago; returns how many.';

create function outbox.forget_job_runs(p_now timestamptz, p_limit integer) returns integer
language plpgsql set search_path = ''
as $$
begin
  -- pg_cron stores the times of the server, not those of clock().
  return outbox.change_rows('outbox.forget_job_runs', 'cron.job_run_details',
    'delete from cron.job_run_details r where r.ctid = any ($1)',
    array(
      select o.ctid from cron.job_run_details o
      where o.end_time < pg_catalog.clock_timestamp()
          - case when o.status = 'succeeded' then interval '1 day' else interval '7 days' end
        and o.jobid in (
          select j.jobid from cron.job j where j.jobname = any (outbox.job_names()))
      limit p_limit),
    p_now);
end
$$;
comment on function outbox.forget_job_runs(timestamptz, integer) is
  'Deletes up to p_limit rows of cron.job_run_details of Outhook''s jobs: a day after a success, '
  'and 7 days after a failure. Returns how many.';

create function outbox.forget_lanes(p_now timestamptz, p_limit integer) returns integer
language plpgsql set search_path = ''
as $$
begin
  -- An empty ordered lane stays until its lane_spacing_ms has passed, and the lane of a replay job
  -- until a day after its end.
  return outbox.change_rows('outbox.forget_lanes', 'outbox.lane', $delete$
      delete from outbox.lane l
      where l.ctid = any ($1)
        and l.depth = 0 and l.leased = 0 and not l.halted and l.not_before <= $2
    $delete$,
    array(
      select o.ctid from outbox.lane o
      where o.depth = 0 and o.leased = 0 and not o.halted and o.not_before <= p_now
        -- forget_replay_jobs() may have deleted the job before.
        and (o.ordered or o.key_hash > 0 and not exists (
          select from outbox.replay_job j
          where j.id = o.key_hash and (j.status in ('running', 'paused')
            or j.finished_at >= p_now - interval '1 day')))
        and exists (
          select from outbox.gate g where g.id = o.gate_id for no key update skip locked)
      limit p_limit),
    p_now);
end
$$;
comment on function outbox.forget_lanes(timestamptz, integer) is
  'Deletes up to p_limit empty lanes of partition keys and of ended replay jobs; returns how many. '
  'locks: gates with SKIP LOCKED.';

create function outbox.forget_lane_refusals(p_now timestamptz, p_limit integer) returns integer
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  return outbox.change_rows('outbox.forget_lane_refusals', 'outbox.lane_refusal',
    'delete from outbox.lane_refusal r where r.ctid = any ($1)',
    array(
      select o.ctid from outbox.lane_refusal o
      where o.again_at <= p_now and not exists (
        select from outbox.lane l where l.id = o.lane_id and (l.depth > 0 or l.leased > 0))
      limit p_limit),
    p_now);
end
$$;
comment on function outbox.forget_lane_refusals(timestamptz, integer) is
  'Deletes up to p_limit refusals of lanes that are gone or empty: no claim finds out whether the '
  'database still refuses them. Returns how many.';

create function outbox.forget_default_rows(p_now timestamptz, p_limit integer) returns integer
language plpgsql
set search_path = ''
as $$
declare
  v_task constant text := 'outbox.forget_default_rows';
  v_today timestamptz := (p_now at time zone 'UTC')::date::timestamp at time zone 'UTC';
  v_since timestamptz := outbox.stored_since();
begin
  -- The rows of a day whose partition was not created in time.
  return greatest(
    outbox.change_rows(v_task, 'outbox.event_default',
      pg_catalog.format('delete from outbox.event_default v where v.ctid = any ($1) '
        'and not outbox.is_event_needed(v.id, %L)', v_since),
      array(
        select o.ctid from outbox.event_default o
        where o.id < outbox.uuid_v7_floor(v_today
            - pg_catalog.make_interval(days => outbox.setting_int('event.retention_days') + 8))
          and not outbox.is_event_needed(o.id, v_since)
        -- Looked at again when it is deleted: see time/sweep_events.
        limit p_limit for update skip locked),
      p_now),
    outbox.change_rows(v_task, 'outbox.attempt_default',
      'delete from outbox.attempt_default a where a.ctid = any ($1)',
      array(
        select o.ctid from outbox.attempt_default o
        where o.at < v_today
          - pg_catalog.make_interval(days => outbox.setting_int('attempt.retention_days'))
        limit p_limit),
      p_now));
end
$$;
comment on function outbox.forget_default_rows(timestamptz, integer) is
  'Deletes up to p_limit events and attempts of the default partitions that are as old as '
  'partitions that are dropped, and not needed (is_event_needed()). Returns the larger of the two '
  'numbers. locks: events with SKIP LOCKED.';

create function outbox.forget_replay_jobs(p_now timestamptz, p_limit integer) returns integer
language plpgsql set search_path = ''
as $$
begin
  return outbox.change_rows('outbox.forget_replay_jobs', 'outbox.replay_job',
    'delete from outbox.replay_job j where j.ctid = any ($1)',
    array(
      select o.ctid from outbox.replay_job o
      where o.status in ('done', 'cancelled') and o.finished_at < p_now
        - pg_catalog.make_interval(days => outbox.setting_int('replay_job.retention_days'))
      limit p_limit),
    p_now);
end
$$;
comment on function outbox.forget_replay_jobs(timestamptz, integer) is
  'Deletes up to p_limit replay jobs that ended replay_job.retention_days ago; returns how many.';

create function outbox.forget_upkeep_refusals(p_now timestamptz, p_limit integer) returns integer
language plpgsql set search_path = ''
as $$
declare
  v_n integer;
begin
  delete from outbox.upkeep_refusal r where r.ctid = any (array(
    select o.ctid from outbox.upkeep_refusal o
    where o.shown_until < p_now - interval '1 day' limit p_limit));
  get diagnostics v_n = row_count;
  return v_n;
end
$$;
comment on function outbox.forget_upkeep_refusals(timestamptz, integer) is
  'Deletes up to p_limit refusals of the periodic work a day after they were last shown; returns '
  'how many.';

insert into outbox.cleanup_step (name, calls) values
  ('actions', 'outbox.forget_actions'),
  ('dead_letters', 'outbox.forget_dead_letters'),
  ('default_rows', 'outbox.forget_default_rows'),
  ('idempotency_keys', 'outbox.forget_idempotency_keys'),
  ('job_runs', 'outbox.forget_job_runs'),
  ('lane_refusals', 'outbox.forget_lane_refusals'),
  ('lanes', 'outbox.forget_lanes'),
  ('replay_jobs', 'outbox.forget_replay_jobs'),
  ('secrets', 'outbox.drop_expired_secrets'),
  ('upkeep_refusals', 'outbox.forget_upkeep_refusals');

create function outbox.clean(p_name text, p_most integer, p_now timestamptz) returns integer
language plpgsql
set search_path = ''
-- A row that another transaction has locked is deleted by the next call.
set lock_timeout = '500ms'
as $$
declare
  v_calls text;
  v_slow integer;
  v_n integer;
  v_row text;
begin
  select s.calls into v_calls from outbox.cleanup_step s where s.name = p_name;
  v_slow := (
    select pg_catalog.count(*) from outbox.upkeep_refusal r
    where r.task = v_calls and r.sqlstate = '57014' and r.at > p_now - interval '1 day');
  -- The step reads the rows that it leaves out too.
  execute pg_catalog.format('select %s($1, $2)', v_calls) into v_n using p_now, p_most + v_slow;
  v_n := greatest(v_n - v_slow, 0);
  if v_n < p_most then
    -- The step has tried all other rows, so what it refused before was changed, or is gone.
    delete from outbox.upkeep_refusal r
    where r.task = v_calls and r.at < p_now
      -- The sweep has not tried the rows of its earlier pieces again.
      and not ((r.sqlstate = '57014' or p_name = 'swept_events')
        and r.at > p_now - interval '1 day');
  end if;
  return v_n;
exception when query_canceled or assert_failure or others then
  get stacked diagnostics v_row = pg_exception_detail;
  if outbox.refuse_slow(v_calls, sqlstate, sqlerrm, v_row, '25 hours') then
    -- The next pieces leave the row out, so they have their usual size.
    p_most := null;
  end if;
  raise warning 'outbox: the cleanup step % failed: % %', p_name, sqlstate, sqlerrm;
  insert into outbox.cleanup_progress as p (name, piece_rows, failed_at, error)
  values (p_name,
    case when sqlstate = '57014' and p_most is not null then greatest(1, p_most / 4) end,
    pg_catalog.clock_timestamp(), sqlstate || ' ' || sqlerrm)
  on conflict (name) do update set
    piece_rows = case
      when p_most is null then null else coalesce(excluded.piece_rows, p.piece_rows)
    end,
    failed_at = excluded.failed_at, error = excluded.error;
  return null;
end
$$;
comment on function outbox.clean(text, integer, timestamptz) is
  'Runs a step of the cleanup once, for up to p_most rows; returns how many it deleted. Null if it '
  'failed: cleanup_progress has the error, and if it was cancelled, its next pieces are smaller. A '
  'row that takes too long alone is left out for a day.';

create function outbox.cleanup_next() returns boolean
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_today date := (v_now at time zone 'UTC')::date;
  v_name text;
  v_most integer;
  v_n integer;
begin
  -- A constraint that is checked at the commit would fail the whole piece, and each start again.
  set constraints all immediate;
  perform outbox.check_not_restoring();
  select s.name, least(coalesce(p.piece_rows, 2000), s.most)
  into v_name, v_most
  from outbox.cleanup_step s
  left join outbox.cleanup_progress p on p.name = s.name
  where p.done_on is distinct from v_today
    -- A start of the job tries a step that fails once.
    and coalesce(p.failed_at, '-infinity') < pg_catalog.statement_timestamp()
  -- A step that fails at the timeout ends the start of the job, so all others come before it.
  order by p.failed_at nulls first, s.is_last, s.name
  limit 1;
  if v_name is null then
    return false;
  end if;
  v_n := outbox.clean(v_name, v_most, v_now);
  if v_n < v_most then
    insert into outbox.cleanup_progress (name, done_on) values (v_name, v_today)
    on conflict (name) do update set
      done_on = excluded.done_on, piece_rows = null, failed_at = null, error = null;
  end if;
  return true;
end
$$;
comment on function outbox.cleanup_next() is
  'Deletes the next piece of today''s cleanup; false if nothing is left, or only steps that failed '
  'since the start of the statement. The job outhook-cleanup calls it until job_deadline().';

create function outbox.cleanup(p_most integer default 10000) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_deadline timestamptz := outbox.job_deadline();
  v_step outbox.cleanup_step;
  v_most integer;
  v_n integer;
  v_more boolean := false;
  v_failed text[] := array[]::text[];
  v_steps jsonb := '{}'::jsonb;
begin
  set constraints all immediate;
  perform outbox.check_not_restoring();
  for v_step in select s.* from outbox.cleanup_step s order by s.is_last, s.name loop
    if pg_catalog.clock_timestamp() >= v_deadline then
      v_more := true;
      exit;
    end if;
    v_most := least(p_most, v_step.most);
    v_n := outbox.clean(v_step.name, v_most, v_now);
    if v_n is null then
      v_failed := v_failed || v_step.name;
    end if;
    v_more := v_more or coalesce(v_n >= v_most, false);
    v_steps := v_steps || pg_catalog.jsonb_build_object(v_step.name, v_n);
  end loop;
  return v_steps || pg_catalog.jsonb_build_object('more', v_more)
    || case when v_failed = '{}' then '{}' else pg_catalog.jsonb_build_object('errors', (
      select pg_catalog.jsonb_object_agg(p.name, p.error) from outbox.cleanup_progress p
      where p.name = any (v_failed))) end;
end
$$;
comment on function outbox.cleanup(integer) is
  'Deletes rows that are older than their retention now, up to p_most of each step, until '
  'job_deadline(). Returns {for each row of cleanup_step its name: how many were deleted, null if '
  'it failed; "more": whether to call it again, because more may be left; "errors": {name: text} '
  'of those that failed}. drop_partitions() deletes events and attempts.';
