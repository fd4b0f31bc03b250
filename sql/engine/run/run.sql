-- Live runs: the calls of the function `deliver`, and the workers. Both tables are unlogged: after
-- a crash of the server they are empty. That is safe, because no lease depends on them.

create unlogged table outbox.run (
  id uuid primary key,
  kind text not null constraint run_kind_is_known check (kind in ('edge', 'worker')),
  started_at timestamptz not null,
  polled_at timestamptz not null,
  ended_at timestamptz,
  kinds text[],
  worker jsonb
);
comment on table outbox.run is
  'Live runs, and when each last called dispatch(). kinds: the kinds of endpoints that it can '
  'send; null if it has named none. worker: what a worker said last (worker_facts()), for '
  'list_workers().';

create unlogged table outbox.run_batch (
  run_id uuid not null,
  seq bigint not null,
  at timestamptz not null,
  events uuid[] not null default '{}',
  endpoints uuid[] not null default '{}',
  attempts integer[] not null default '{}',
  primary key (run_id, seq)
);
comment on table outbox.run_batch is
  'The last batches of each run. If a response was lost, a repeat of the same call returns the '
  'same batch.';

create function outbox.live_runs(
  p_now timestamptz, p_before outbox.run default null
) returns integer
language plpgsql stable set search_path = ''
as $$
begin
  return (
    select pg_catalog.count(*) from outbox.run r
    where r.kind = 'edge' and r.ended_at is null and r.polled_at > p_now - interval '10 s'
      and r.polled_at <= p_now + interval '10 s'
      and (p_before.id is null or (r.started_at, r.id) < (p_before.started_at, p_before.id)));
end
$$;
comment on function outbox.live_runs(timestamptz, outbox.run) is
  'How many edge runs are alive (older than p_before, if it is given). A run that has not polled '
  'for 10 s counts as dead. Both is_crowded() and kicks use this number, so that no kick starts a '
  'run that has to stop at once.';

create function outbox.is_crowded(p_run outbox.run, p_now timestamptz) returns boolean
language plpgsql stable set search_path = ''
as $$
begin
  return p_run.kind = 'edge'
    and outbox.live_runs(p_now, p_run) >= outbox.setting_int('worker.max_runs');
end
$$;
comment on function outbox.is_crowded(outbox.run, timestamptz) is
  'Whether worker.max_runs edge runs are alive (live_runs()) and older than this one.';

create function outbox.forget_runs(p_now timestamptz) returns void
language plpgsql set search_path = ''
as $$
declare
  v_task constant text := 'outbox.forget_runs';
begin
  -- A row that the database refuses to delete must not stop new runs.
  perform outbox.change_rows(v_task, 'outbox.run',
    'delete from outbox.run r where r.ctid = any ($1)',
    array(select r.ctid from outbox.run r where r.polled_at < p_now - interval '1 hour'),
    p_now, '1 hour');
  perform outbox.change_rows(v_task, 'outbox.run_batch',
    'delete from outbox.run_batch b where b.ctid = any ($1)',
    array(select b.ctid from outbox.run_batch b where b.at < p_now - interval '1 hour'),
    p_now, '1 hour');
  perform outbox.change_rows(v_task, 'outbox.isolation',
    'delete from outbox.isolation i where i.ctid = any ($1)',
    array(
      select i.ctid from outbox.isolation i
      where coalesce(i.claimed_at, i.drains_from, '-infinity') < p_now - interval '1 hour'),
    p_now, '1 hour');
end
$$;
comment on function outbox.forget_runs(timestamptz) is
  'Deletes the rows of runs that have not polled for an hour.';

create function outbox.touch_run(
  p_run uuid, p_kind text, p_now timestamptz, p_ended boolean, p_kinds text[] default null,
  p_says jsonb default null
) returns text
language plpgsql set search_path = ''
as $$
declare
  v_run outbox.run;
  v_stop text;
  v_is_new boolean;
begin
  select * into v_run from outbox.run r where r.id = p_run;
  v_is_new := not found;
  if v_is_new then
    v_run := row(p_run, p_kind, p_now, p_now, null, p_kinds,
      outbox.worker_facts(p_says))::outbox.run;
  end if;
  v_stop := case
    when not outbox.setting_on('worker.enabled') then 'disabled'
    when outbox.is_crowded(v_run, p_now) then 'too_many_runs'
  end;
  if v_is_new then
    -- A refused run gets no row: the tick may start one each second, and their rows would count as
    -- live runs.
    if v_stop is null then
      insert into outbox.run select v_run.* on conflict do nothing;
    end if;
    perform pg_catalog.setval('outbox.kicks_without_run', 0, false);
    perform outbox.count_up('runs', array[p_kind, coalesce(v_stop, 'started')]);
    perform outbox.forget_runs(p_now);
  elsif p_ended or v_stop is not null or v_run.ended_at is not null
    or v_run.polled_at not between p_now - interval '100 ms' and p_now
  then
    -- SKIP LOCKED: two calls of one run may overlap, and neither waits for the other.
    update outbox.run r set
      polled_at = p_now,
      kinds = p_kinds,
      worker = outbox.worker_facts(p_says),
      ended_at = case when p_ended or v_stop is not null then p_now end
    where r.id = (select l.id from outbox.run l where l.id = p_run for update skip locked);
  end if;
  return v_stop;
end
$$;
comment on function outbox.touch_run(uuid, text, timestamptz, boolean, text[], jsonb) is
  'Records that a run polls, the kinds that it can send, and what a worker says about itself '
  '(p_says: p_contract of dispatch()); returns why it must stop (too_many_runs, disabled) or '
  'null. If there are too many runs, the youngest stops; a run that must stop no longer counts.';
