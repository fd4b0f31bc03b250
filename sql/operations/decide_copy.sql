-- What happens with a copy of the database: one call, by the owner of the schema.

create function outbox.decide_copy(p_decision text, p_project text default null) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_was outbox.binding;
  v_project text;
  v_result jsonb := '{}'::jsonb;
  v_cancelled jsonb;
begin
  perform outbox.check_choice('decision', p_decision,
    '{same_project,stay_stopped,cancel_pending,deliver_pending}');
  -- Waits for the calls of runs, at most 5 s each; no new one gets deliveries until the commit.
  perform pg_catalog.pg_advisory_xact_lock('outbox.binding'::regclass::oid::bigint);
  select * into v_was from outbox.binding;
  v_project := outbox.project_to_decide(p_decision, p_project, v_was);
  if p_decision = 'cancel_pending' then
    v_cancelled := outbox.cancel_pending(
      pg_catalog.format('the database is a copy of the project %s', v_was.project), v_now,
      outbox.job_deadline());
    v_result := pg_catalog.jsonb_build_object(
      'cancelled', v_cancelled - 'more', 'more', v_cancelled -> 'more');
  end if;
  if p_decision = 'stay_stopped' then
    update outbox.binding b set stopped_project = v_project, stopped_at = v_now, names = '{}',
      also = pg_catalog.array_remove(b.also, v_project),
      beside = pg_catalog.array_remove(b.beside, v_project)
    where b.only_row;
  elsif p_decision = 'same_project' then
    update outbox.binding b set also = b.also || v_project,
      beside = pg_catalog.array_remove(b.beside, v_project), database = outbox.database_id(),
      named_by = 'person', stopped_project = null, stopped_at = null
    where b.only_row;
    delete from outbox.binding_refusal r where r.project = v_project;
  -- As long as more is to be cancelled, the copy still belongs to no run of the new project.
  elsif not coalesce((v_cancelled ->> 'more')::boolean, false) then
    update outbox.binding b set project = v_project, database = outbox.database_id(),
      names = '{}', named_by = 'person', at = v_now, stopped_project = null, stopped_at = null,
      also = '{}', beside = '{}'
    where b.only_row;
    delete from outbox.binding_refusal r where r.kind in ('edge', 'worker');
  end if;
  perform outbox.note_binding(p_decision, v_was, session_user::text, v_now, v_result);
  perform outbox.kick_on_commit();
  return pg_catalog.jsonb_build_object('decision', p_decision, 'project', v_project,
    'was_project', v_was.project) || v_result;
end
$$;
comment on function outbox.decide_copy(text, text) is
  'Decides what happens with a copy of the database. p_decision: same_project (it is no copy: '
  'p_project is another name of the project, and its runs deliver), stay_stopped (the copy '
  'delivers nothing, and sends one kick an hour), cancel_pending (the outbox belongs to p_project '
  'from now on; all open deliveries and replay jobs are cancelled) or deliver_pending (the same, '
  'and open deliveries are sent). p_project: the name or URL of the project that takes over, null '
  'for that of the last refused run. Returns {"decision", "project", "was_project", "cancelled": '
  '{"deliveries", "replay_jobs"}, "more"}, the last two only of cancel_pending. "more" is true if '
  'the time of one statement was too short (job_deadline()): what was cancelled stays cancelled, '
  'the copy still delivers nothing, and the same call continues. OH001; OH004: no run was refused, '
  'or the outbox is not bound yet. locks: the advisory lock of check_binding() alone, then as '
  'cancel_pending().';

create function outbox.project_to_decide(
  p_decision text, p_project text, p_binding outbox.binding
) returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_project text := outbox.project_name(p_project);
  v_refusal outbox.binding_refusal;
begin
  if p_binding.project is null then
    raise exception using errcode = 'OH004',
      message = 'the outbox belongs to no project yet',
      hint = 'There is nothing to decide: the first run binds it to its project';
  end if;
  if v_project is null then
    select * into v_refusal from outbox.binding_refusal r
    where r.reason <> 'no_project'
    order by r.reason = 'another_project' desc, r.at desc limit 1;
    v_project := case
      when v_refusal.reason = 'foreign_kick' and p_decision = 'stay_stopped' then ''
      else v_refusal.project
    end;
    if v_project is null then
      raise exception using errcode = 'OH004',
        message = 'no run of another project was refused',
        hint = 'If this database is a copy, name the project that it is for: p_project => '
          '''https://<ref>.supabase.co'', or the value of OUTHOOK_PROJECT';
    end if;
  end if;
  if v_project = p_binding.project
    or p_decision <> 'stay_stopped' and v_project = any (p_binding.also)
  then
    perform outbox.invalid('project', 'is the project to which this database belongs',
      'A run of this project delivers; there is nothing to decide');
  end if;
  return v_project;
end
$$;
comment on function outbox.project_to_decide(text, text, outbox.binding) is
  'The project of a decision: p_project, or that of the last refused run; empty if a copy stays '
  'stopped of which only a kick was refused. OH001, OH004.';
