-- An outbox is bound to the project that delivers from it and to its database. A copy has the same
-- rows, the same endpoints and the same secrets as its original, so without this a worker of a
-- staging project would send production's events once more.
--
-- Each run names its project (the edge function by SUPABASE_URL, a worker by OUTHOOK_PROJECT). The
-- first run, or configure() before it, binds. Then, for each call of a run:
--
--   project        database      what happens
--   the same       the same      the run delivers
--   the same       another one   an upgrade, or a restore in place: the outbox is bound to the new
--                                database, and the run delivers
--   another one    any           a copy, or a run with a wrong name: the run gets nothing, until
--                                decide_copy() says what to do
--   none (older    the same      the run delivers
--   functions)     another one   the run gets nothing
--
-- A project may have several names: its ref, a custom domain, a text in OUTHOOK_PROJECT. Another
-- name belongs to the same project
--
--   in every database    if a person says so: decide_copy('same_project')
--   in this database     if runs of the other kind (edge, worker) deliver from this server at the
--                        same time by the name that is known: is_beside()
--
-- In a copy no run has the name of the original, so no run gets another name.
--
-- The migration does not bind: it may run in a template from which projects are created.

create table outbox.binding (
  only_row boolean primary key default true constraint binding_is_one_row check (only_row),
  project text not null,
  database text not null,
  names text[] not null default '{}',
  named_by text not null
    constraint binding_is_named_by_someone check (named_by in ('configure', 'run', 'person')),
  at timestamptz not null,
  stopped_project text,
  stopped_at timestamptz,
  also text[] not null default '{}',
  beside text[] not null default '{}'
);
comment on table outbox.binding is
  'One row, once a run or configure() has bound the outbox: the project that delivers '
  '(project_name()) and its database (database_id()). names: up to 10 texts by which runs named '
  'the project, so that their next calls need no project_name(). stopped_project: the project for '
  'which decide_copy() decided that this copy stays stopped; empty if no run has named one. also: '
  'further names of the project that a person has confirmed; beside: those that is_beside() has '
  'accepted, which are valid in this database only.';

create table outbox.binding_change (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  action text not null constraint binding_change_action_is_known check (
    action in ('bound', 'database_changed', 'named', 'stay_stopped', 'same_project',
      'cancel_pending', 'deliver_pending')),
  project text not null,
  database text not null,
  was_project text,
  was_database text,
  by text not null,
  result jsonb not null default '{}'
);
comment on table outbox.binding_change is
  'Each change of the binding, and each decision about a copy. by: run, configure, or the role '
  'that decided; result: the result of the decision, or {"name"}, another name of the project.';

create unlogged table outbox.binding_refusal (
  kind text not null
    constraint binding_refusal_kind_is_known check (kind in ('edge', 'worker')),
  reason text not null constraint binding_refusal_reason_is_known check (
    reason in ('another_project', 'no_project', 'foreign_kick')),
  project text,
  at timestamptz not null,
  primary key (kind, reason)
);
comment on table outbox.binding_refusal is
  'The last run of each kind that got nothing because of its project. foreign_kick: the function '
  'at the configured URL works on another database, so it refused a kick of this one.';

create function outbox.check_binding(
  p_run uuid, p_kind text, p_says jsonb, p_now timestamptz
) returns text
language plpgsql set search_path = ''
as $$
declare
  v_named text := p_says ->> 'project';
  v_binding outbox.binding;
begin
  perform outbox.check_not_restoring();
  -- The shared lock costs 1 us. A decision waits for the calls before it, and no call waits for it.
  if not pg_catalog.pg_try_advisory_xact_lock_shared('outbox.binding'::regclass::oid::bigint) then
    return 'deciding';
  end if;
  -- server_id() is not cheap, and only the first call of a run names a kick.
  if p_says ? 'kick' and p_says ->> 'kick' <> outbox.server_id() then
    return 'foreign_kick';
  end if;
  select * into v_binding from outbox.binding;
  -- Almost every call ends here. database_id() stores its result in the session.
  if v_named = any (v_binding.names)
    and v_binding.database = pg_catalog.current_setting('outbox.database_id', true)
  then
    return null;
  end if;
  return outbox.bind(p_run, p_kind, pg_catalog.left(v_named, 200), v_binding, p_now);
end
$$;
comment on function outbox.check_binding(uuid, text, jsonb, timestamptz) is
  'Whether a run may deliver from this database: null, or why it gets nothing: another_project, '
  'no_project, foreign_kick, deciding. p_says: {"project": its name or URL, "kick": the '
  'server_id() in the kick that started it}. 57P03 while the database is being restored. locks: an '
  'advisory lock, shared.';

create function outbox.is_beside(
  p_kind text, p_project text, p_binding outbox.binding, p_now timestamptz
) returns boolean
language plpgsql stable set search_path = ''
as $$
declare
  v_ref constant text := '^[a-z0-9]{20}$';
begin
  -- Two refs are two projects, and a worker "local" is one on the machine of a developer.
  return p_binding.database = outbox.database_id()
    and p_project is distinct from p_binding.stopped_project
    and not (p_project ~ v_ref and p_binding.project ~ v_ref)
    and not (p_project = 'local' and p_kind = 'worker')
    -- A physical copy starts its server after the copy, and begins with an empty table run, because
    -- it is unlogged.
    and exists (
      select from outbox.run r
      where r.kind <> p_kind and r.polled_at >= p_binding.at and r.polled_at <= p_now
        and r.polled_at > greatest(p_now - interval '5 minutes',
          pg_catalog.pg_postmaster_start_time()));
end
$$;
comment on function outbox.is_beside(text, text, outbox.binding, timestamptz) is
  'Whether a run of another name works for the same project, such as a worker that names the '
  'custom domain beside functions that name the ref: runs of the other kind have polled this '
  'server in the last five minutes, so this database is the one from which the project delivers.';

create function outbox.add_name(
  p_binding outbox.binding, p_project text, p_now timestamptz
) returns void
language plpgsql set search_path = ''
as $$
begin
  -- SKIP LOCKED: if another run is doing this, nothing is left to do.
  update outbox.binding b set beside = b.beside || p_project
  where p_project <> all (b.beside) and b.only_row = (
    select l.only_row from outbox.binding l for update skip locked);
  if found then
    perform outbox.note_binding('named', p_binding, 'run', p_now,
      pg_catalog.jsonb_build_object('name', p_project));
    delete from outbox.binding_refusal r where r.project = p_project;
  end if;
end
$$;
comment on function outbox.add_name(outbox.binding, text, timestamptz) is
  'Accepts a further name of the project in this database, and records it. locks: the binding with '
  'SKIP LOCKED.';

create function outbox.bind(
  p_run uuid, p_kind text, p_named text, p_binding outbox.binding, p_now timestamptz
) returns text
language plpgsql set search_path = ''
as $$
declare
  v_database text := outbox.database_id();
  v_project text := outbox.project_name(p_named);
begin
  -- pg_restore with several jobs adds the key of a small table before it has loaded a large one.
  perform outbox.refuse_restoring(outbox.unrestored_table());
  if v_project is null then
    return case
      when p_binding.database <> v_database
      then outbox.refuse_project(p_run, p_kind, 'no_project', null, p_now)
    end;
  end if;
  if p_binding.project is null then
    insert into outbox.binding (project, database, names, named_by, at)
    values (v_project, v_database, array[p_named], 'run', p_now)
    on conflict do nothing;
    if found then
      perform outbox.note_binding('bound', null, 'run', p_now);
      return null;
    end if;
    -- Another run was first.
    select * into p_binding from outbox.binding;
  end if;
  if p_binding.named_by = 'configure' and p_binding.database = v_database then
    -- The URL of the functions may have another name than the project, such as a custom domain.
    update outbox.binding b set
      project = v_project, names = array[p_named], named_by = 'run', at = p_now
    where b.named_by = 'configure';
    if found then
      perform outbox.note_binding('bound', p_binding, 'run', p_now);
      return null;
    end if;
    select * into p_binding from outbox.binding;
  end if;
  if p_binding.project <> v_project and v_project <> all (p_binding.also)
    and not (v_project = any (p_binding.beside) and p_binding.database = v_database)
  then
    if not outbox.is_beside(p_kind, v_project, p_binding, p_now) then
      return outbox.refuse_project(p_run, p_kind, 'another_project', v_project, p_now);
    end if;
    perform outbox.add_name(p_binding, v_project, p_now);
  end if;
  if p_binding.database <> v_database then
    perform outbox.follow_database(p_binding, v_database, p_now);
  end if;
  if pg_catalog.cardinality(p_binding.names) < 10 then
    update outbox.binding b set names = b.names || p_named
    where p_named <> all (b.names) and b.only_row = (
      select l.only_row from outbox.binding l
      where v_project = any (l.project || l.also || l.beside) for update skip locked);
  end if;
  return null;
end
$$;
comment on function outbox.bind(uuid, text, text, outbox.binding, timestamptz) is
  'check_binding() for a call that does not simply match: binds an outbox that is not bound, binds '
  'it again to the new database of the same project, accepts another name of the project, or '
  'refuses the run. p_named: the text that names the project, null for none; p_binding: the '
  'binding as read, nulls if there is none.';

create function outbox.follow_database(
  p_binding outbox.binding, p_database text, p_now timestamptz
) returns void
language plpgsql set search_path = ''
as $$
begin
  -- SKIP LOCKED: if another run is doing this, nothing is left to do.
  update outbox.binding b set database = p_database, named_by = 'run', at = p_now
  where b.only_row = (
    select l.only_row from outbox.binding l
    where l.database = p_binding.database for update skip locked);
  if found then
    perform outbox.note_binding('database_changed', p_binding, 'run', p_now);
    perform outbox.put_news('outhook.database.changed', array[
      pg_catalog.json_build_object('project', p_binding.project, 'database', p_database,
        'wasDatabase', p_binding.database)::text]);
  end if;
exception when query_canceled or assert_failure or others then
  if outbox.fails_call(sqlstate) then
    raise;
  end if;
  -- The project is the right one, so its deliveries go on.
  raise warning 'outbox: the new database % cannot be recorded: % %', p_database, sqlstate, sqlerrm;
end
$$;
comment on function outbox.follow_database(outbox.binding, text, timestamptz) is
  'Binds the outbox to the new database of the same project, records it and publishes '
  'outhook.database.changed. locks: the binding with SKIP LOCKED.';

create function outbox.note_binding(
  p_action text, p_was outbox.binding, p_by text, p_now timestamptz, p_result jsonb default '{}'
) returns void
language plpgsql set search_path = ''
as $$
begin
  insert into outbox.binding_change (at, action, project, database, was_project, was_database, by,
    result)
  select p_now, p_action, b.project, b.database, p_was.project, p_was.database, p_by, p_result
  from outbox.binding b;
end
$$;
comment on function outbox.note_binding(text, outbox.binding, text, timestamptz, jsonb) is
  'Records a change of the binding. p_was: the binding before it.';

create function outbox.refuse_project(
  p_run uuid, p_kind text, p_reason text, p_project text, p_now timestamptz
) returns text
language plpgsql set search_path = ''
as $$
begin
  -- A row from the last second is new enough. Not updating it avoids waiting for its lock.
  if not exists (
    select from outbox.binding_refusal r
    where r.kind = p_kind and r.reason = p_reason and r.project is not distinct from p_project
      and r.at between p_now - interval '1 s' and p_now
  ) then
    insert into outbox.binding_refusal (kind, reason, project, at)
    values (p_kind, p_reason, p_project, p_now)
    on conflict (kind, reason) do update set project = excluded.project, at = excluded.at;
  end if;
  perform outbox.count_up('runs', array[p_kind, p_reason]);
  -- The binding may change during a run. Free the run's slot.
  update outbox.run r set ended_at = p_now
  where r.id = (
    select l.id from outbox.run l
    where l.id = p_run and l.ended_at is null for update skip locked);
  return p_reason;
end
$$;
comment on function outbox.refuse_project(uuid, text, text, text, timestamptz) is
  'Records that a run gets nothing because of its project, and ends the run. Returns the reason. '
  'locks: the run with SKIP LOCKED.';

create function outbox.stop_problem(p_stop text, p_says jsonb) returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_binding outbox.binding;
begin
  select * into v_binding from outbox.binding;
  return case p_stop
    when 'another_project' then pg_catalog.format(
      'this database belongs to the project %s, and this run names the project %s: the database is '
      'a copy, or the name is wrong. Nothing is delivered until somebody calls '
      'decide_copy() (runbook: A copy)',
      v_binding.project, outbox.project_name(p_says ->> 'project'))
    when 'no_project' then pg_catalog.format(
      'this database belongs to the project %s, but is another one than before, and this run names '
      'no project: set OUTHOOK_PROJECT, or update the functions (runbook: A copy)',
      v_binding.project)
    when 'foreign_kick' then
      'the kick comes from another database, a copy of the one that this function works on'
    when 'deciding' then 'decide_copy() is deciding about this database'
  end;
end
$$;
comment on function outbox.stop_problem(text, jsonb) is
  'The text for the log of a run that check_binding() refuses for the reason p_stop. p_says: the '
  'introduction of the run (p_contract). Null for other reasons to stop.';

create function outbox.binding_problem(p_now timestamptz) returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_binding outbox.binding;
  v_problems text;
begin
  select * into v_binding from outbox.binding;
  v_problems := (
    select pg_catalog.string_agg(
      case r.reason
        when 'foreign_kick' then
          'this database is a copy: the function at the configured URL works on another database '
          'and refuses the kicks of this one. Call outbox.configure() with the URL of the '
          'functions of this project'
        when 'no_project' then pg_catalog.format(
          'a run of kind %s names no project: set OUTHOOK_PROJECT, or update the functions', r.kind)
        else pg_catalog.format(
          'a run of kind %s names the project %s, but this database belongs to the project %s: it '
          'is a copy, or the name is wrong. Call decide_copy()',
          r.kind, r.project, v_binding.project)
      end || ' (runbook: A copy)', '; ' order by r.kind, r.reason)
    from outbox.binding_refusal r
    where r.at > p_now - interval '5 minutes'
      and (r.project is null
        or r.project <> all (v_binding.project || v_binding.also || v_binding.beside))
      and coalesce(r.project, '') is distinct from v_binding.stopped_project);
  if v_problems is not null then
    return v_problems;
  end if;
  if v_binding.stopped_project is not null
    and not exists (select from outbox.run r where r.polled_at > v_binding.stopped_at)
  then
    return pg_catalog.format(
      'this database is a copy of the project %s and stays stopped, as decided at %s '
      '(runbook: A copy)', v_binding.project, outbox.iso_time(v_binding.stopped_at));
  end if;
  if v_binding.database <> outbox.database_id() then
    return pg_catalog.format(
      'this database is another one than that of the last run: it was upgraded or restored, or it '
      'is a copy. A run of the project %s delivers from it, a run of another project does not '
      '(runbook: A copy)', v_binding.project);
  end if;
  return null;
end
$$;
comment on function outbox.binding_problem(timestamptz) is
  'Why runs get nothing from this database because it belongs to another project, with the remedy; '
  'null if there is no such problem. A refused run counts for 5 minutes.';

create function outbox.kicks_paused(p_now timestamptz) returns boolean
language plpgsql stable set search_path = ''
as $$
begin
  -- One kick each 30 s finds out whether the function works again. A copy that stays stopped needs
  -- one an hour.
  return exists (
      select from outbox.binding_refusal r
      left join outbox.binding b on b.stopped_project = coalesce(r.project, '')
      where r.kind = 'edge' and r.at <= p_now + interval '10 s'
        and r.at > p_now
          - case when b.only_row then interval '1 hour' else interval '30 s' end)
    -- After a migration that supports the function's contract, the next kick is sent at once.
    or exists (
      select from outbox.contract_refusal r
      where r.kind = 'edge' and r.at <= p_now + interval '10 s'
        and r.at > p_now - interval '30 s'
        and outbox.agreed_contract(nullif(r.speaks, '{}')) is null);
end
$$;
comment on function outbox.kicks_paused(timestamptz) is
  'Whether a kick would only be refused: an edge run was refused for its project or its contract '
  'in the last 30 s, or for its project in the last hour if this copy stays stopped.';

create function outbox.bind_configured(p_functions_url text, p_now timestamptz) returns text
language plpgsql set search_path = ''
as $$
declare
  v_project text := outbox.project_name(p_functions_url);
  v_was outbox.binding;
  v_binding outbox.binding;
begin
  select * into v_was from outbox.binding;
  insert into outbox.binding as b (project, database, named_by, at)
  values (v_project, outbox.database_id(), 'configure', p_now)
  on conflict (only_row) do update set project = excluded.project, at = excluded.at
    where b.named_by = 'configure' and b.database = excluded.database
      and b.project <> excluded.project;
  if found then
    perform outbox.note_binding('bound', v_was, 'configure', p_now);
  end if;
  -- The new URL may be the remedy, so the next kick is sent at once.
  delete from outbox.binding_refusal r where r.kind = 'edge';
  select * into v_binding from outbox.binding;
  -- Only a ref names a project for certain: any other URL may be a second name of it.
  if v_binding.project <> v_project and v_project <> all (v_binding.also)
    and v_binding.project ~ '^[a-z0-9]{20}$'
    and v_project ~ '^[a-z0-9]{20}$'
  then
    return pg_catalog.format(
      'this database belongs to the project %s, and the functions are those of the project %s: the '
      'database is a copy, and nothing is delivered from it. Call decide_copy() (runbook: A '
      'copy)', v_binding.project, v_project);
  end if;
  return outbox.binding_problem(p_now);
end
$$;
comment on function outbox.bind_configured(text, timestamptz) is
  'Binds an outbox that no run has bound yet to the project of the URL, until the first run names '
  'the project itself. Returns the problem if the URL belongs to another project, or null.';
