-- The move of an organisation to another project. This file has its status, which publishing and
-- the endpoints respect; the folder moves has its steps.
--
-- Two databases take part, and each has one row for the organisation:
--
--   source      copying    its endpoints are paused; events are accepted and wait
--               closed     publishing is refused; what was open is compared for the last time
--               moved      the target delivers: no way back. The source ends its own copies
--               finished   nothing of the organisation is left here; publishing stays refused
--   target      receiving  publishing is refused, and no endpoint can be enabled
--               live       the organisation is here
--               undone     it was taken back; publishing stays refused, because a publisher may
--                          have got the name of the target while the source was closed
--
-- The source changes to moved before the target becomes live. So nothing is sent by both, whenever
-- the command ends, and what is between the two is continued by the next run.

create table outbox.org_move (
  org_id text primary key,
  move_id uuid not null,
  role text not null constraint org_move_role_is_known check (role in ('source', 'target')),
  status text not null,
  other text not null,
  other_database text,
  run_id uuid,
  endpoints jsonb not null default '{}',
  settled_at xid8,
  started_at timestamptz not null,
  changed_at timestamptz not null,
  constraint org_move_status_is_known check (
    status in ('copying', 'closed', 'moved', 'finished') and role = 'source'
    or status in ('receiving', 'live', 'undone') and role = 'target'
  )
);
comment on table outbox.org_move is
  'The last move of an organisation to or from another project. other: the name of that project; '
  'other_database: its database_id(); run_id: the run of the command that may take the next step; '
  'endpoints: {id: {"status", "reason"}} of endpoints that the move has paused; settled_at: the '
  'transactions below it were open after the last change of status, and must end before the next '
  'step.';

create function outbox.refuse_moved(p_org_id text) returns void
language plpgsql stable set search_path = ''
as $$
declare
  v_move outbox.org_move;
begin
  select * into v_move from outbox.org_move m where m.org_id = p_org_id;
  if v_move.status in ('moved', 'finished') then
    raise exception using errcode = 'OH012', detail = v_move.other,
      message = pg_catalog.format('organisation %s has moved to %s', p_org_id, v_move.other),
      hint = pg_catalog.format('Publish its events in %s', v_move.other);
  elsif v_move.status = 'closed' then
    raise exception using errcode = 'OH012', detail = v_move.other,
      message = pg_catalog.format('organisation %s is moving to %s', p_org_id, v_move.other),
      hint = pg_catalog.format('Try again in a second, here or in %s', v_move.other);
  elsif v_move.status in ('receiving', 'undone') then
    raise exception using errcode = 'OH012', detail = v_move.other,
      message = pg_catalog.format('organisation %s is still in %s', p_org_id, v_move.other),
      hint = pg_catalog.format('Publish its events in %s until it has moved', v_move.other);
  end if;
end
$$;
comment on function outbox.refuse_moved(text) is
  'Raises OH012 if events of this organisation are published in another project. detail: the name '
  'of that project.';

create function outbox.move_sentence(p_move outbox.org_move) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  return pg_catalog.format('organisation %s %s %s', p_move.org_id, case
    when p_move.role = 'target' then 'is still in'
    when p_move.status in ('moved', 'finished') then 'has moved to'
    else 'is moving to'
  end, p_move.other);
end
$$;
comment on function outbox.move_sentence(outbox.org_move) is
  'Where an organisation is, as the begin of a sentence.';

create function outbox.refuse_change(p_org_id text) returns void
language plpgsql stable set search_path = ''
as $$
declare
  v_move outbox.org_move;
begin
  if pg_catalog.current_setting('outbox.moving', true) = p_org_id then
    return;
  end if;
  select * into v_move from outbox.org_move m
  where m.org_id = p_org_id and m.status in ('closed', 'moved', 'finished', 'receiving', 'undone');
  if found then
    raise exception using errcode = 'OH012', detail = v_move.other,
      message = outbox.move_sentence(v_move) || ', so nothing of it can be changed here',
      hint = pg_catalog.format('Make the change in %s, or wait until the move is done',
        v_move.other);
  end if;
end
$$;
comment on function outbox.refuse_change(text) is
  'Raises OH012 where a change of an organisation would be lost: in the source from the last '
  'comparison on, and in the target until it is live. check_move() lets the steps of the move '
  'itself pass.';

create function outbox.keep_moved() returns trigger
language plpgsql set search_path = ''
as $$
begin
  if tg_op = 'DELETE' then
    perform outbox.refuse_change(old.org_id);
    return old;
  end if;
  perform outbox.refuse_change(new.org_id);
  return new;
end
$$;
comment on function outbox.keep_moved() is
  'Trigger of a table with org_id: OH012 for a change that refuse_change() refuses.';

create trigger org_setting_was_moved
  before insert or update or delete on outbox.org_setting
  for each row execute function outbox.keep_moved();

create function outbox.keep_moving() returns trigger
language plpgsql set search_path = ''
as $$
declare
  v_move outbox.org_move;
begin
  select * into v_move from outbox.org_move m where m.org_id = new.org_id and m.status <> 'live';
  if found then
    raise exception using errcode = 'OH012', detail = v_move.other,
      message = outbox.move_sentence(v_move) || ', so none of its endpoints can be enabled here',
      hint = pg_catalog.format('Enable it in %s, or wait until the move is done', v_move.other);
  end if;
  return new;
end
$$;
comment on function outbox.keep_moving() is
  'Trigger: OH012 for an endpoint that is created, resumed or enabled in the project that does not '
  'deliver for its organisation.';
