-- Creating partitions: one per day for event and attempt, a week ahead. If a day has no partition,
-- its rows are stored in the default partition, so that no publisher fails, and are moved when the
-- partition is created. DDL waits at most 100 ms for a lock. It is repeated each hour.
--
-- A bound is never written or read as text in the format of the session. In earlier versions it
-- was: with DateStyle 'SQL, DMY' and TimeZone 'Asia/Shanghai', a partition began 14 hours late. A
-- day of which such a partition covers only a part gets a second partition for the rest.

create function outbox.free_span(p_table text, p_day date) returns tstzrange
language plpgsql stable set search_path = ''
as $$
declare
  v_from timestamptz := p_day::timestamp at time zone 'UTC';
  v_until timestamptz := (p_day + 1)::timestamp at time zone 'UTC';
  v_part record;
begin
  for v_part in
    select p.since, p.until from outbox.partitions(p_table) p
    where p.since < v_until and p.until > v_from
    order by p.since
  loop
    if v_part.since > v_from then
      v_until := v_part.since;
      exit;
    end if;
    v_from := v_part.until;
  end loop;
  return case when v_from < v_until then pg_catalog.tstzrange(v_from, v_until) end;
end
$$;
comment on function outbox.free_span(text, date) is
  'The first part of a day (UTC) that no partition of event or attempt covers; null if there is '
  'none.';

create function outbox.rows_in_default(
  p_table text, p_span tstzrange, p_most integer
) returns bigint
language plpgsql stable set search_path = ''
as $$
begin
  return case
    when p_table = 'event' then (
      select pg_catalog.count(*) from (
        select from outbox.event_default v
        where v.id >= outbox.uuid_v7_floor(pg_catalog.lower(p_span))
          and v.id < outbox.uuid_v7_floor(pg_catalog.upper(p_span))
        limit p_most
      ) v)
    else (
      select pg_catalog.count(*) from (
        select from outbox.attempt_default a
        where a.at >= pg_catalog.lower(p_span) and a.at < pg_catalog.upper(p_span)
        limit p_most
      ) a)
  end;
end
$$;
comment on function outbox.rows_in_default(text, tstzrange, integer) is
  'How many rows of a time span the default partition of event or attempt has, at most p_most.';

create function outbox.take_from_default(p_table text, p_span tstzrange) returns void
language plpgsql set search_path = ''
as $$
begin
  -- A temporary table, because a publication for all tables would publish the rows of a table that
  -- is no partition yet.
  execute pg_catalog.format('create temporary table outhook_moved (like outbox.%I)', p_table);
  if p_table = 'event' then
    execute pg_catalog.format($move$
      with moved as (
        delete from outbox.%I v where v.id >= $1 and v.id < $2 returning v.*
      )
      insert into pg_temp.outhook_moved select m.* from moved m
    $move$, p_table || '_default')
    using outbox.uuid_v7_floor(pg_catalog.lower(p_span)),
      outbox.uuid_v7_floor(pg_catalog.upper(p_span));
  else
    execute pg_catalog.format($move$
      with moved as (
        delete from outbox.%I a where a.at >= $1 and a.at < $2 returning a.*
      )
      insert into pg_temp.outhook_moved select m.* from moved m
    $move$, p_table || '_default')
    using pg_catalog.lower(p_span), pg_catalog.upper(p_span);
  end if;
end
$$;
comment on function outbox.take_from_default(text, tstzrange) is
  'Moves the rows of a time span from the default partition of event or attempt to the new '
  'temporary table outhook_moved.';

create function outbox.partition_bound(p_table text, p_at timestamptz) returns text
language sql immutable set search_path = ''
as $$
  select case
    when p_table = 'event' then pg_catalog.quote_literal(outbox.uuid_v7_floor(p_at))
    else 'pg_catalog.to_timestamp(' || extract(epoch from p_at) || ')'
  end
$$;
comment on function outbox.partition_bound(text, timestamptz) is
  'A time as the SQL expression of a bound of event or attempt, the same under all settings.';

create function outbox.add_partition(p_table text, p_day date) returns boolean
language plpgsql
set search_path = ''
set lock_timeout = '100ms'
as $$
declare
  v_name text := outbox.partition_name(p_table, p_day);
  v_span tstzrange := outbox.free_span(p_table, p_day);
  -- Publishers wait during the move, which takes 0.3 s on an idle machine.
  v_most constant integer := 10000;
  v_moves boolean;
begin
  if v_span is null then
    return false;
  end if;
  -- A writer that has already chosen DEFAULT and then waits for its lock would be refused, because
  -- the row now has a partition. So for a day that may have new rows, lock the parent: writers then
  -- wait before they choose.
  if p_day <= (outbox.clock() at time zone 'UTC')::date + 1 then
    execute pg_catalog.format('lock table only outbox.%I in share row exclusive mode', p_table);
  end if;
  execute pg_catalog.format('lock table outbox.%I in share row exclusive mode',
    p_table || '_default');
  -- Another call may have created it while this one waited.
  v_span := outbox.free_span(p_table, p_day);
  if v_span is null then
    return false;
  end if;
  -- Only now, because a lock of a reader, kept while this waits for the lock above, would be a
  -- deadlock with a call that has it and attaches its partition.
  if outbox.rows_in_default(p_table, v_span, v_most + 1) > v_most then
    raise warning 'outbox: the default partition of % has too many rows of % to move them: they '
      'stay there, and cleanup deletes them when they are old enough', p_table, p_day;
    return false;
  end if;
  -- A partition with other bounds may have the name.
  while pg_catalog.to_regclass('outbox.' || v_name) is not null loop
    v_name := v_name || 'x';
  end loop;
  execute pg_catalog.format('create table outbox.%I (like outbox.%I including all)', v_name,
    p_table);
  execute pg_catalog.format('alter table outbox.%I enable row level security', v_name);
  if p_table = 'attempt' then
    -- LIKE does not copy it: see the table.
    execute pg_catalog.format('alter table outbox.%I replica identity full', v_name);
  end if;
  -- Move the rows of the day out of DEFAULT before the partition is attached, or that fails.
  v_moves := outbox.rows_in_default(p_table, v_span, 1) > 0;
  if v_moves then
    perform outbox.take_from_default(p_table, v_span);
  end if;
  execute pg_catalog.format(
    'alter table outbox.%I attach partition outbox.%I for values from (%s) to (%s)', p_table,
    v_name, outbox.partition_bound(p_table, pg_catalog.lower(v_span)),
    outbox.partition_bound(p_table, pg_catalog.upper(v_span)));
  if v_moves then
    execute pg_catalog.format('insert into outbox.%I select * from pg_temp.outhook_moved', v_name);
    drop table pg_temp.outhook_moved;
  end if;
  return true;
end
$$;
comment on function outbox.add_partition(text, date) is
  'Creates a partition of event or attempt for the first part of a day (UTC) that has none, and '
  'moves its rows out of DEFAULT; true if it created one. If these are more than 10,000 rows, it '
  'creates none and raises a warning. Waits at most 100 ms for a lock.';

create function outbox.add_partitions() returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_today date := (outbox.clock() at time zone 'UTC')::date;
  v_deadline timestamptz := outbox.job_deadline();
  v_made integer := 0;
  v_late text[] := array[]::text[];
  v_failed text[] := array[]::text[];
  v_table text;
  v_day date;
begin
  -- A restore creates the partitions of the backup.
  perform outbox.check_not_restoring();
  for v_table, v_day in
    select t.name, v_today + d.n
    from (values ('event'), ('attempt')) t (name), pg_catalog.generate_series(0, 7) as d (n)
    order by 2, 1
  loop
    -- Skip the other days of this table: the same lock would delay them too, while runs wait for
    -- the locks of this call.
    continue when v_table = any (v_late);
    if pg_catalog.clock_timestamp() >= v_deadline then
      v_late := v_late || v_table;
      continue;
    end if;
    begin
      while outbox.add_partition(v_table, v_day) loop
        v_made := v_made + 1;
      end loop;
      perform outbox.admit_upkeep('outbox.add_partitions', v_table || ' of ' || v_day);
    exception
      when lock_not_available then
        v_late := v_late || v_table;
      -- Such as an event trigger, or a lack of disk space. The other days may have a partition.
      when query_canceled or assert_failure or others then
        v_failed := v_failed || (v_table || ' of ' || v_day);
        perform outbox.refuse_upkeep('outbox.add_partitions', v_table || ' of ' || v_day,
          sqlstate, sqlerrm, '65 minutes');
    end;
  end loop;
  return pg_catalog.jsonb_build_object('made', v_made, 'late', v_late)
    || case when v_failed = '{}' then '{}' else pg_catalog.jsonb_build_object('failed', v_failed)
    end;
end
$$;
comment on function outbox.add_partitions() is
  'Creates the missing partitions of today and the next seven days: {"made", "late": the tables '
  'that a lock or the end of the time (job_deadline()) delayed until the next call, "failed": the '
  'partitions that could not be created, if any, such as "event of 2026-03-01"; upkeep_refusal has '
  'the errors}.';

select outbox.add_partitions();
