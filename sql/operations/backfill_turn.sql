-- One step of a backfill, and whose turn it is: see operations/backfill_job. The job of the tick
-- executes steps behind the tick (time/job), each in its own transaction.

create function outbox.wait_for(p_job_id bigint, p_what text) returns void
language plpgsql set search_path = ''
as $$
begin
  update outbox.replay_job j set waits_for = p_what
  where j.id = p_job_id and j.waits_for is distinct from p_what;
end
$$;
comment on function outbox.wait_for(bigint, text) is
  'Stores what a backfill waits for; null: it could send something in its last step.';

create function outbox.work_backfill(
  p_job outbox.replay_job, p_most integer, p_now timestamptz
) returns uuid[]
language plpgsql set search_path = ''
as $$
declare
  v_member constant text := 'replay job ' || p_job.id;
  v_job outbox.replay_job;
  v_room integer;
  v_held uuid[] := array[]::uuid[];
  v_events uuid[] := array[]::uuid[];
begin
  if exists (
    select from outbox.endpoint e where e.id = p_job.endpoint_id and e.status = 'deleted')
  then
    update outbox.replay_job j set status = 'cancelled', finished_at = p_now
    where j.id = p_job.id and j.status = 'running';
    return v_events;
  elsif not outbox.begin_backfill(p_job, p_now) then
    return v_events;
  elsif outbox.backfill_room(p_job, p_most) > 0 then
    if p_job.waits_for is not null then
      v_held := array[p_job.endpoint_id];
    end if;
    -- Only now, because runs wait for the gate.
    if outbox.lock_free_gates(array[p_job.endpoint_id], v_held) = '{}' then
      perform outbox.wait_for(p_job.id, 'the gate of its endpoint');
      return v_events;
    end if;
  end if;
  v_room := outbox.backfill_room(p_job, p_most);
  perform outbox.wait_for(p_job.id,
    case when v_room = 0 then 'its endpoint: 1000 deliveries wait' end);
  if v_room > 0 then
    select * into v_job from outbox.replay_job j where j.id = p_job.id;
    v_events := case v_job.source
      when 'events' then outbox.backfill_kept(v_job, v_room, p_now)
      else outbox.backfill_rows(v_job, v_room, p_now)
    end;
    perform outbox.restart_open_checks(v_events);
    perform outbox.park(array[p_job.endpoint_id], p_now);
  end if;
  if not outbox.rests('outbox.work_backfills', v_member, outbox.clock()) then
    perform outbox.admit_upkeep('outbox.work_backfills', v_member);
  end if;
  return v_events;
exception when query_canceled or assert_failure or others then
  -- A step that needs too much memory may be of its rows.
  if outbox.fails_upkeep(sqlstate) and sqlstate <> '53200' then
    raise;
  end if;
  perform outbox.refuse_upkeep('outbox.work_backfills', v_member, sqlstate, sqlerrm, '5 minutes');
  return array[]::uuid[];
end
$$;
comment on function outbox.work_backfill(outbox.replay_job, integer, timestamptz) is
  'Executes one step of one backfill and returns the events that it sent. An error undoes the step '
  'and is shown by queue_health; the job tries again after 10 s. A backfill to a deleted endpoint '
  'is cancelled. locks: the caller holds the job; the gate, then events or the rows of the '
  'application, then partition_check; the caller has a lock_timeout.';

create function outbox.next_backfill(p_now timestamptz) returns outbox.replay_job
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_id bigint;
  v_job outbox.replay_job;
begin
  -- The organisation whose last step is the oldest, so that none is always the last one when the
  -- time is short.
  for v_id in
    select r.id
    from (
      select j.id, j.worked_at, pg_catalog.max(j.worked_at) over (partition by j.org_id) as org_at
      from outbox.replay_job j
      where j.status = 'running' and j.source <> 'dead_letters'
    ) r
    where pg_catalog.date_trunc('second', r.worked_at) <> pg_catalog.date_trunc('second', p_now)
      and not outbox.rests('outbox.work_backfills', 'replay job ' || r.id, p_now)
    order by r.org_at, r.worked_at, r.id
  loop
    -- A person who changes a job and then a row must not wait for a step that waits for the job.
    select * into v_job from outbox.replay_job j
    where j.id = v_id and j.status = 'running' for no key update skip locked;
    exit when found;
  end loop;
  return v_job;
end
$$;
comment on function outbox.next_backfill(timestamptz) is
  'Locks the running backfill whose turn it is, of those that had no step in this second and did '
  'not fail in the last 10 s; null if there is none. locks: replay jobs with SKIP LOCKED.';

create function outbox.work_backfills(p_now timestamptz) returns boolean
language plpgsql
set search_path = ''
set enable_seqscan = off
set lock_timeout = '100ms'
as $$
declare
  v_most constant integer := 1000;
  v_job outbox.replay_job;
  v_parts bigint;
begin
  if not exists (
    select from outbox.replay_job j where j.status = 'running' and j.source <> 'dead_letters')
  then
    return false;
  end if;
  -- Only one session at a time, and none beside cancel_pending().
  if not pg_catalog.pg_try_advisory_xact_lock('outbox.replay_job'::regclass::oid::bigint) then
    return false;
  end if;
  v_job := outbox.next_backfill(p_now);
  if v_job.id is null then
    return false;
  end if;
  v_parts := (
    select s.parts from outbox.job_shares(true, p_now, v_job.id) s where s.job_id = v_job.id);
  update outbox.replay_job j set worked_at = p_now where j.id = v_job.id;
  perform outbox.work_backfill(v_job, greatest(1, v_most / v_parts)::integer, p_now);
  return true;
end
$$;
comment on function outbox.work_backfills(timestamptz) is
  'Executes one step of the backfill whose turn it is, in the caller''s transaction; false if '
  'there is none. So the caller commits after each step. locks: the advisory lock of '
  'work_replay_jobs(), the job with SKIP LOCKED, its gate, then events or '
  'the rows of the application, then partition_check; each wait ends after 100 ms.';
