-- Jobs that replay many dead letters; the tick executes them. A job puts its deliveries into its
-- own lane of each gate. So they share the limits of the endpoint, take turns with live deliveries,
-- and at most rate_per_second are added per second. A tick replays at most 1,000 dead letters: each
-- organisation with running jobs has an equal share, and so has each of its jobs. Jobs with another
-- source are backfills: see operations/backfill_job.
--
-- Somebody may hold a gate or a row for long, such as a person with an open transaction. A job that
-- needs it stops before this dead letter and continues after the release. All other jobs go on.
-- Each wait ends after 100 ms and counts as no failure.

insert into outbox.setting (name, value, type, lowest, highest, by_org, description) values
  ('limit.replay_jobs', '10', 'integer', 1, 1000, true,
    'How many replay jobs of an organisation may be running or paused'),
  ('replay_job.retention_days', '90', 'integer', 1, 3650, false,
    'How long replay jobs that have ended are stored');

create table outbox.replay_job (
  id bigint generated always as identity primary key,
  org_id text,
  endpoint_id uuid,
  event_type text,
  failed_from timestamptz,
  failed_to timestamptz not null,
  rate_per_second integer not null
    constraint replay_job_rate_is_sensible check (rate_per_second between 1 and 1000),
  status text not null default 'running'
    constraint replay_job_status_is_known
    check (status in ('running', 'paused', 'done', 'cancelled')),
  at_failed timestamptz not null default '-infinity',
  at_id uuid not null default '00000000-0000-0000-0000-000000000000',
  replayed bigint not null default 0,
  skipped bigint not null default 0,
  created_at timestamptz not null,
  finished_at timestamptz,
  except_type text,
  source text not null default 'dead_letters'
    constraint replay_job_source_is_known check (source in ('dead_letters', 'events', 'rows')),
  types text[],
  by_subscription boolean not null default true,
  filter text,
  after_xid xid8,
  looked bigint not null default 0,
  total bigint,
  until_at timestamptz,
  begun_at timestamptz,
  worked_at timestamptz,
  waits_for text,
  by_api boolean not null default false,
  error text,
  include_delivered boolean not null default false
);
comment on table outbox.replay_job is
  'Replays of many dead letters, and backfills: what they select, the position (at_failed, '
  'at_id), and how many deliveries they created (replayed) or skipped. except_type: a type of '
  'events that the job leaves out. error: only dead letters whose error has these first 200 '
  'characters. source: dead letters, kept events, or rows of a table. waits_for: why the last step '
  'could send nothing (null: it could). Only of a backfill: types, '
  'the patterns of the event types (null: all); by_subscription, whether the subscriptions of '
  'the endpoint apply; include_delivered, whether it also sends again what was delivered; filter; '
  'failed_from, failed_to, the time span of the events; after_xid: it begins, at begun_at, when '
  'every older transaction has ended; until_at, the end of the span '
  'that the caller named; worked_at, the last step; by_api, started over the HTTP API; looked, '
  'how many events or rows it has '
  'read, of about total (null: unknown). A job is deleted replay_job.retention_days after its '
  'end.';
-- The tick looks for a running job each second.
create index replay_job_open on outbox.replay_job (id) where status in ('running', 'paused');
-- A new job counts those of its organisation, of which many may have ended.
create index replay_job_open_org on outbox.replay_job (org_id)
where status in ('running', 'paused');
create index replay_job_org on outbox.replay_job (org_id, id);

create function outbox.check_new_job(p_org_id text, p_rate_per_second integer) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  if coalesce(p_rate_per_second, 0) not between 1 and 1000 then
    perform outbox.invalid('rate_per_second',
      pg_catalog.format('is %s', coalesce(p_rate_per_second::text, 'null')),
      'Expected 1 to 1000 deliveries per second');
  end if;
  if p_org_id is not null then
    perform outbox.refuse_change(p_org_id);
    perform outbox.take_limit_turn(p_org_id, 'limit.replay_jobs');
    perform outbox.check_limit(p_org_id, 'limit.replay_jobs',
      (
        select pg_catalog.count(*) + 1 from outbox.replay_job j
        where j.org_id = p_org_id and j.status in ('running', 'paused')
          and (j.source = 'dead_letters' or j.by_api)
      ),
      'organisation ' || p_org_id, 'open replay jobs',
      'Wait until a job has ended, or cancel one');
  end if;
end
$$;
comment on function outbox.check_new_job(text, integer) is
  'Raises OH001 for a rate that a job cannot have, and OH010 if the organisation has too many open '
  'jobs (limit.replay_jobs), OH012 if it moves. Backfills that were started in SQL do not count.';

create function outbox.replay_many(
  p_org_id text default null,
  p_endpoint_id uuid default null,
  p_event_type text default null,
  p_failed_from timestamptz default null,
  p_failed_to timestamptz default null,
  p_rate_per_second integer default 50
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  -- Only dead letters from before the job, or it could replay the same ones forever.
  v_to timestamptz := least(p_failed_to, v_now);
  v_id bigint;
begin
  if p_failed_from > v_to then
    perform outbox.invalid('failed_from', 'is after failed_to', 'Expected a span in the past');
  end if;
  perform outbox.check_new_job(p_org_id, p_rate_per_second);
  insert into outbox.replay_job (org_id, endpoint_id, event_type, failed_from, failed_to,
    rate_per_second, created_at)
  values (p_org_id, p_endpoint_id, p_event_type, p_failed_from, v_to, p_rate_per_second, v_now)
  returning id into v_id;
  perform outbox.note_action(p_org_id, 'REPLAY_JOB', v_id::text, 'CREATED', 'Replay job created',
    pg_catalog.jsonb_build_object('source', 'dead_letters', 'endpointId', p_endpoint_id,
      'eventType', p_event_type, 'failedFrom', outbox.iso_time(p_failed_from),
      'failedTo', outbox.iso_time(v_to)));
  return pg_catalog.jsonb_build_object('id', v_id::text);
end
$$;
comment on function outbox.replay_many(text, uuid, text, timestamptz, timestamptz, integer) is
  'Starts a job that replays all matching dead letters (null: any) that failed before the job '
  'started and were not discarded or replayed: {"id"}. outbox.replay_job has its progress. OH001; '
  'OH010: too many jobs of the organisation are open (limit.replay_jobs).';

create function outbox.set_replay_job(p_id text, p_status text) returns jsonb
language plpgsql security definer
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_job outbox.replay_job;
begin
  if p_status is null or p_status not in ('running', 'paused', 'cancelled') then
    perform outbox.invalid('status',
      pg_catalog.format('is %s', pg_catalog.quote_nullable(p_status)),
      'Expected running, paused or cancelled');
  end if;
  update outbox.replay_job j
  set status = p_status, finished_at = case when p_status = 'cancelled' then outbox.clock() end
  where j.id = case when p_id ~ '^[0-9]{1,18}$' then p_id::bigint end
    and j.status in ('running', 'paused')
  returning j.* into v_job;
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format(
        'replay job %s is not running or paused', pg_catalog.quote_nullable(p_id)),
      hint = 'Find it with: select * from outbox.replay_job';
  end if;
  perform outbox.note_action(v_job.org_id, 'REPLAY_JOB', v_job.id::text,
    case p_status when 'running' then 'RESUMED' else pg_catalog.upper(p_status) end,
    pg_catalog.format('Replay job %s',
      case p_status when 'running' then 'resumed' else p_status end),
    pg_catalog.jsonb_build_object('replayed', v_job.replayed));
  return pg_catalog.jsonb_build_object('id', v_job.id::text, 'status', v_job.status,
    'replayed', v_job.replayed, 'skipped', v_job.skipped);
end
$$;
comment on function outbox.set_replay_job(text, text) is
  'Pauses, resumes or cancels a replay job. Deliveries that it has replayed stay open: {"id", '
  '"status", "replayed", "skipped"}. OH001, OH002.';

create type outbox.replay_step as (
  job_id bigint,
  event_id uuid,
  endpoint_id uuid,
  failed_at timestamptz,
  letter_id uuid
);
comment on type outbox.replay_step is
  'One dead letter that a replay job handles next. event_id and endpoint_id are null if the job '
  'does not replay it and only continues behind it.';

-- A job reads a bounded number of dead letters in each step, because those that do not match cost
-- time too. A job of an organisation reads only its own.
create function outbox.next_letters(
  p_job outbox.replay_job, p_most integer default 1000, p_rows integer default 5000
) returns outbox.replay_step[]
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_most integer := least(p_job.rate_per_second, p_most);
  v_from timestamptz := greatest(p_job.at_failed, p_job.failed_from);
  v_from_id uuid := case
    when v_from > p_job.at_failed then '00000000-0000-0000-0000-000000000000'
    else p_job.at_id
  end;
  v_list refcursor;
  v_letter outbox.dead_letter;
  v_steps outbox.replay_step[] := array[]::outbox.replay_step[];
begin
  if p_job.org_id is null then
    open v_list for
    select x.* from outbox.dead_letter x
    where (x.failed_at, x.id) > (v_from, v_from_id) and x.failed_at <= p_job.failed_to
    order by x.failed_at, x.id;
  else
    -- With "org_id =" the index of all organisations would give the order too, and a plan that was
    -- made for few dead letters reads those of all others.
    open v_list for
    select x.* from outbox.dead_letter x
    where (x.org_id, x.failed_at, x.id) > (p_job.org_id, v_from, v_from_id)
      and x.org_id <= p_job.org_id
    order by x.org_id, x.failed_at, x.id;
  end if;
  for v_n in 1 .. p_rows loop
    fetch v_list into v_letter;
    exit when not found or pg_catalog.cardinality(v_steps) = v_most
      -- Not in the scan: it would go on to the end of the organisation.
      or v_letter.failed_at > p_job.failed_to;
    if v_letter.endpoint_id = coalesce(p_job.endpoint_id, v_letter.endpoint_id)
      and v_letter.original_topic = coalesce(p_job.event_type, v_letter.original_topic)
      and v_letter.original_topic is distinct from p_job.except_type
      and pg_catalog.left(v_letter.error, 200)
        = coalesce(p_job.error, pg_catalog.left(v_letter.error, 200))
      and v_letter.discarded_at is null and v_letter.replayed_at is null
    then
      v_steps := v_steps || row(p_job.id, v_letter.event_id, v_letter.endpoint_id,
        v_letter.failed_at, v_letter.id)::outbox.replay_step;
    elsif v_n = p_rows then
      v_steps := v_steps
        || row(p_job.id, null, null, v_letter.failed_at, v_letter.id)::outbox.replay_step;
    end if;
  end loop;
  close v_list;
  return v_steps;
end
$$;
comment on function outbox.next_letters(outbox.replay_job, integer, integer) is
  'The next dead letters of a job, as many as its rate allows per second and at most p_most, among '
  'the next p_rows. If the last of these does not match, it is a step without an event.';

create function outbox.job_shares(
  p_is_backfill boolean, p_now timestamptz, p_job_id bigint default null
) returns table (job_id bigint, parts bigint)
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return query
  with running as (
    select j.id, coalesce(j.org_id, '') as org_id from outbox.replay_job j
    where j.status = 'running' and (j.source <> 'dead_letters') = p_is_backfill
      and (not p_is_backfill or j.waits_for is null or j.id = p_job_id)
      and not outbox.rests(
        case when p_is_backfill then 'outbox.work_backfills' else 'outbox.work_replay_jobs' end,
        'replay job ' || j.id, p_now)
  )
  select r.id,
    pg_catalog.count(*) over (partition by r.org_id)
      * (select pg_catalog.count(distinct o.org_id) from running o)
  from running r;
end
$$;
comment on function outbox.job_shares(boolean, timestamptz, bigint) is
  'The running jobs, backfills or all others, each with the number of equal parts of which it has '
  'one. Organisations share equally, the jobs for all organisations as one of them. A job that '
  'failed in the last 10 s is left out, and a backfill whose last step waited for something, '
  'unless it is p_job_id.';

create function outbox.next_replays(p_now timestamptz) returns outbox.replay_step[]
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  -- Of all jobs together.
  v_most constant integer := 1000;
  v_rows constant integer := 20000;
begin
  return array(
    with found as (
      select coalesce(j.org_id, '') as org_id, x.*
      from outbox.job_shares(false, p_now) s
      join outbox.replay_job j on j.id = s.job_id
      -- One that waits takes no part of the others.
      cross join lateral unnest(outbox.next_letters(j,
        case when j.waits_for is null then v_most else 1 end,
        least(5000, greatest(1, v_rows / s.parts))::integer)) with ordinality
        as x (job_id, event_id, endpoint_id, failed_at, letter_id, place)
    ), turns as (
      select f.*,
        pg_catalog.row_number() over (partition by f.org_id order by f.place, f.job_id) as turn
      from found f
    ), ordered as (
      select t.*, pg_catalog.row_number() over (order by t.turn, t.org_id) as at from turns t
    )
    select row(o.job_id, o.event_id, o.endpoint_id, o.failed_at, o.letter_id)::outbox.replay_step
    from ordered o
    -- The first one of each job, so that each goes on.
    where o.at <= v_most or o.place = 1
    order by o.job_id, o.place);
end
$$;
comment on function outbox.next_replays(timestamptz) is
  'The next dead letters of the running jobs, see next_letters(). Organisations share 1,000 of '
  'them equally, see job_shares(). What one leaves is for the others. A job that waits for a gate '
  'gets one.';

create function outbox.rest_job(p_job_id bigint, p_error text) returns void
language plpgsql set search_path = ''
as $$
begin
  perform outbox.refuse_upkeep(
    (
      select case j.source when 'dead_letters' then 'outbox.work_replay_jobs'
          else 'outbox.work_backfills' end
      from outbox.replay_job j where j.id = p_job_id
    ),
    'replay job ' || p_job_id, '55P03', p_error, '5 minutes');
end
$$;
comment on function outbox.rest_job(bigint, text) is
  'Leaves a job out for 10 s, because somebody holds a row that it needs; queue_health shows it.';

create function outbox.replay_one(p_step outbox.replay_step, p_now timestamptz) returns integer
language plpgsql set search_path = ''
as $$
declare
  v_task text;
  v_member text;
begin
  return outbox.reopen_delivery(
    p_step.event_id, p_step.endpoint_id, p_step.job_id, p_now)::integer;
exception when query_canceled or assert_failure or others then
  if outbox.fails_upkeep(sqlstate) or outbox.is_timeout(sqlstate) then
    raise;
  end if;
  v_member := pg_catalog.format('event %s for endpoint %s', p_step.event_id, p_step.endpoint_id);
  if sqlstate = '55P03' then
    perform outbox.rest_job(p_step.job_id, pg_catalog.format('%s: %s', v_member, sqlerrm));
    return null;
  end if;
  v_task := (
    select case j.source when 'dead_letters' then 'outbox.replay_many' else 'outbox.backfill_events'
      end
    from outbox.replay_job j where j.id = p_step.job_id);
  -- A temporary error may be of another transaction, so the job tries again before it skips the
  -- dead letter.
  return case
    when outbox.refuse_upkeep(v_task, v_member, sqlstate, sqlerrm, '1 hour') < 5
      and outbox.may_stay(sqlstate)
    then null else 0
  end;
end
$$;
comment on function outbox.replay_one(outbox.replay_step, timestamptz) is
  'Replays one dead letter for a job, or opens a delivery of a backfill again: 1, or 0 if the job '
  'skips it because it cannot be replayed. Null: the job has to try again, after an error that is '
  'usually temporary, at most 4 times, or after a wait for a lock.';

create function outbox.work_replay_job(
  p_steps outbox.replay_step[], p_locked uuid[], p_now timestamptz
) returns integer
language plpgsql set search_path = ''
as $$
declare
  v_step outbox.replay_step;
  v_last outbox.replay_step;
  v_put integer;
  v_waits_for text;
  v_all integer := 0;
  v_skipped integer := 0;
begin
  foreach v_step in array p_steps loop
    if v_step.event_id is null then
      v_last := v_step;
      continue;
    end if;
    if v_step.endpoint_id <> all (p_locked) then
      v_waits_for := 'the gate of endpoint ' || v_step.endpoint_id;
      exit;
    end if;
    v_put := outbox.replay_one(v_step, p_now);
    exit when v_put is null;
    v_last := v_step;
    v_all := v_all + v_put;
    v_skipped := v_skipped + 1 - v_put;
  end loop;
  if v_last.job_id is null then
    perform outbox.wait_for(p_steps[1].job_id, v_waits_for);
    return 0;
  end if;
  update outbox.replay_job j set
    at_failed = v_last.failed_at, at_id = v_last.letter_id, replayed = j.replayed + v_all,
    skipped = j.skipped + v_skipped, waits_for = null
  where j.id = v_last.job_id;
  return v_all;
exception when query_canceled or assert_failure or others then
  if outbox.fails_upkeep(sqlstate) then
    raise;
  end if;
  perform outbox.refuse_upkeep('outbox.work_replay_jobs', 'replay job ' || p_steps[1].job_id,
    sqlstate, sqlerrm, '5 minutes');
  return 0;
end
$$;
comment on function outbox.work_replay_job(outbox.replay_step[], uuid[], timestamptz) is
  'Executes one step of one replay job and returns how many dead letters it replayed. It stops '
  'before the first one whose endpoint is not of p_locked. If the '
  'database refuses to store its position, it replays none and tries again after 10 s. locks: the '
  'caller holds the gates of p_locked.';

create function outbox.end_replay_jobs(
  p_jobs bigint[], p_now timestamptz, p_until timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_job bigint;
begin
  foreach v_job in array p_jobs loop
    exit when pg_catalog.clock_timestamp() >= p_until;
    begin
      update outbox.replay_job j set status = 'done', finished_at = p_now
      where j.id = v_job and j.status = 'running';
    exception when query_canceled or assert_failure or others then
      if outbox.fails_upkeep(sqlstate) then
        raise;
      end if;
      perform outbox.refuse_upkeep('outbox.work_replay_jobs', 'replay job ' || v_job, sqlstate,
        sqlerrm, '5 minutes');
    end;
  end loop;
end
$$;
comment on function outbox.end_replay_jobs(bigint[], timestamptz, timestamptz) is
  'Ends jobs that have no dead letter left, unless they were paused or cancelled meanwhile; if one '
  'cannot be changed, all others are. From p_until on it ends none.';

create function outbox.work_replay_jobs(p_now timestamptz) returns integer
language plpgsql
set search_path = ''
set enable_seqscan = off
set lock_timeout = '100ms'
as $$
declare
  -- Each job may wait for a lock, and the other work of the tick with it.
  v_deadline timestamptz := least(outbox.job_deadline(),
    pg_catalog.clock_timestamp() + interval '2 s');
  v_steps outbox.replay_step[];
  v_locked uuid[];
  v_ready bigint[];
  v_job bigint;
  v_all integer := 0;
begin
  if not exists (
    select from outbox.replay_job j where j.status = 'running' and j.source = 'dead_letters')
  then
    return 0;
  end if;
  -- Only one tick at a time works on jobs, or two would replay the same dead letters.
  if not pg_catalog.pg_try_advisory_xact_lock('outbox.replay_job'::regclass::oid::bigint) then
    return 0;
  end if;
  -- One statement, so that a job that begins after it is not taken for one without a dead letter.
  select array(
      select j.id from outbox.replay_job j
      where j.status = 'running' and j.source = 'dead_letters'
        and not outbox.rests('outbox.work_replay_jobs', 'replay job ' || j.id, p_now)
      order by j.id),
    outbox.next_replays(p_now)
  into v_ready, v_steps;
  v_locked := outbox.lock_free_gates(
    array(
      select distinct s.endpoint_id from pg_catalog.unnest(v_steps) s
      where s.event_id is not null),
    array(
      select s.endpoint_id from pg_catalog.unnest(v_steps) s
      join outbox.replay_job j on j.id = s.job_id and j.waits_for is not null
      where s.event_id is not null));
  -- The job with the least progress first, so that none is always the last one at the deadline.
  for v_job in
    select j.id from outbox.replay_job j
    where j.id in (select s.job_id from pg_catalog.unnest(v_steps) s)
    order by j.replayed + j.skipped, j.id
  loop
    -- After a timeout, nothing ends the statement any more.
    exit when pg_catalog.clock_timestamp() >= v_deadline;
    v_all := v_all + outbox.work_replay_job(
      array(select s from pg_catalog.unnest(v_steps) s where s.job_id = v_job), v_locked, p_now);
  end loop;
  begin
    perform outbox.restart_open_checks(array(
      select s.event_id from pg_catalog.unnest(v_steps) s where s.event_id is not null));
  exception when query_canceled or assert_failure or others then
    if outbox.fails_upkeep(sqlstate) then
      raise;
    end if;
    -- drop_partition() checks again that nothing is open.
    perform outbox.refuse_upkeep('outbox.work_replay_jobs', 'checks of partitions', sqlstate,
      sqlerrm, '5 minutes');
  end;
  perform outbox.set_refusing(true);
  perform outbox.park_apart(v_locked, p_now);
  perform outbox.set_refusing(false);
  perform outbox.end_replay_jobs(array(
    select j from pg_catalog.unnest(v_ready) j
    where j not in (select s.job_id from pg_catalog.unnest(v_steps) s)
    order by j), p_now, v_deadline);
  return v_all;
end
$$;
comment on function outbox.work_replay_jobs(timestamptz) is
  'Executes one step of all replay jobs of dead letters: creates as many deliveries as the rate '
  'and the share of the job (job_shares()) allow per second, and records the position, in one '
  'transaction, so that a crash neither repeats nor loses one. If the database refuses to change a '
  'job, or somebody holds what it needs, all others continue. After 2 s it begins with no other '
  'job. Returns how many it replayed. locks: gates by id, then dead letters or events, then '
  'partition_check; each wait ends after 100 ms.';
