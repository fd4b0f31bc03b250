-- What the periodic work (upkeep: the tick, the cleanup, the partitions) cannot process. It works
-- on many objects at once, and the database may refuse to change one of them, because of a trigger
-- of the user, a constraint or a damaged row. Then all others are processed, and the refused one is
-- recorded here until its next try. Deliveries and endpoints have tables of their own: see
-- engine/queue/refusal.

-- Unlogged: after a crash of the server the next try records it again.
create unlogged table outbox.upkeep_refusal (
  task text not null,
  member text not null,
  failures integer not null,
  sqlstate text not null,
  error text not null,
  at timestamptz not null,
  shown_until timestamptz not null,
  primary key (task, member)
);
comment on table outbox.upkeep_refusal is
  'What the periodic work could not process. task: the function; member: the object, such as '
  '"replay job 4"; failures: how often in a row; at: the last try; shown_until: until when '
  'queue_health shows it, which is later than the next try.';

create function outbox.fails_upkeep(p_sqlstate text) returns boolean
language sql stable set search_path = ''
as $$
  select outbox.is_passing(p_sqlstate) and not outbox.may_stay(p_sqlstate)
$$;
comment on function outbox.fails_upkeep(text) is
  'Whether an error fails a whole step of the periodic work, because it comes from the server. All '
  'other errors may be of one object: only this object is left out, and the work is repeated '
  'soon anyway.';

create function outbox.refuse_upkeep(
  p_task text, p_member text, p_sqlstate text, p_error text, p_shown interval
) returns integer
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_now timestamptz := outbox.clock();
  v_failures integer;
begin
  raise warning '%(): % is left out: % %', p_task, p_member, p_sqlstate, p_error;
  insert into outbox.upkeep_refusal as r (
    task, member, failures, sqlstate, error, at, shown_until)
  values (p_task, p_member, 1, p_sqlstate, pg_catalog.left(p_error, 500), v_now, v_now + p_shown)
  on conflict (task, member) do update set
    failures = case when r.shown_until > v_now then r.failures + 1 else 1 end,
    sqlstate = excluded.sqlstate, error = excluded.error, at = excluded.at,
    shown_until = excluded.shown_until
  returning r.failures into v_failures;
  return v_failures;
exception when query_canceled or assert_failure or others then
  raise warning '%(): the refusal of % cannot be recorded: % %', p_task, p_member, sqlstate,
    sqlerrm;
  return null;
end
$$;
comment on function outbox.refuse_upkeep(text, text, text, text, interval) is
  'Records that a function could not process an object, and raises a warning that names both. '
  'p_shown: for how long queue_health shows it. Returns how often in a row it failed; null if that '
  'cannot be recorded.';

create function outbox.refuse_slow(
  p_task text, p_sqlstate text, p_error text, p_detail text, p_shown interval
) returns boolean
language plpgsql set search_path = ''
as $$
begin
  if p_sqlstate <> '57014' or p_detail not like 'the row (%' then
    return false;
  end if;
  perform outbox.refuse_upkeep(p_task, p_detail, p_sqlstate, p_error, p_shown);
  return true;
end
$$;
comment on function outbox.refuse_slow(text, text, text, text, interval) is
  'Records the row that took too long alone, if p_detail of a timeout names it (change_apart()); '
  'false if it names none.';

create function outbox.rests(p_task text, p_member text, p_now timestamptz) returns boolean
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return exists (
    select from outbox.upkeep_refusal r
    where r.task = p_task and r.member = p_member
      and r.at > p_now - interval '10 s' and r.at <= p_now);
end
$$;
comment on function outbox.rests(text, text, timestamptz) is
  'Whether an object that the tick could not process is left out, for 10 s after the refusal.';

create function outbox.admit_upkeep(p_task text, p_member text) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  delete from outbox.upkeep_refusal r where r.task = p_task and r.member = p_member;
exception when query_canceled or assert_failure or others then
  if outbox.fails_upkeep(sqlstate) then
    raise;
  end if;
end
$$;
comment on function outbox.admit_upkeep(text, text) is
  'Removes the refusal of an object that was processed.';

create function outbox.upkeep_problem(p_now timestamptz) returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_n bigint;
  v_tasks text;
begin
  -- Without the objects and the errors: this is also for those who see one organisation alone.
  select pg_catalog.count(*), pg_catalog.string_agg(distinct r.task || '()', ', ')
  into v_n, v_tasks
  from outbox.upkeep_refusal r
  where r.shown_until > p_now
    -- Whoever holds a row for a moment, such as an action of a person, is no problem: the next try
    -- finds the row free.
    and (r.failures > 1 or r.sqlstate <> '55P03');
  if v_n = 0 then
    return null;
  end if;
  return pg_catalog.format('the database refuses part of the periodic work (%s) in %s: '
    'select * from outbox.upkeep_refusal has the errors (runbook: Periodic work)', v_n, v_tasks);
end
$$;
comment on function outbox.upkeep_problem(timestamptz) is
  'The number of objects that the periodic work could not process lately, and the functions; null '
  'if there is none. An object that gave way to a lock (55P03) counts from the second time in a '
  'row.';
