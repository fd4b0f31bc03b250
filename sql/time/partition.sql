-- Partitions: one per day for event and attempt, created a week ahead. If a day has no partition,
-- its rows are stored in the default partition, so that no publisher fails, and are moved when the
-- partition is created. DDL waits at most 100 ms for a lock. Creating is repeated each hour, and
-- dropping each night.

create function outbox.add_partition(p_table text, p_day date) returns boolean
language plpgsql
set search_path = ''
set lock_timeout = '100ms'
as $$
declare
  v_name text := outbox.partition_name(p_table, p_day);
  v_from text := (p_day::timestamp at time zone 'UTC')::text;
  v_to text := ((p_day + 1)::timestamp at time zone 'UTC')::text;
  v_key text := 'at';
begin
  if pg_catalog.to_regclass('outbox.' || v_name) is not null then
    return false;
  end if;
  if p_table = 'event' then
    v_key := 'id';
    v_from := outbox.uuid_v7_floor(v_from::timestamptz)::text;
    v_to := outbox.uuid_v7_floor(v_to::timestamptz)::text;
  end if;
  -- A writer that has already chosen DEFAULT and then waits for its lock would be refused, because
  -- the row now has a partition. So for a day that may have new rows, lock the parent: writers then
  -- wait before they choose.
  if p_day <= (outbox.clock() at time zone 'UTC')::date + 1 then
    execute pg_catalog.format('lock table only outbox.%I in share row exclusive mode', p_table);
  end if;
  -- Move the rows of the day out of DEFAULT before the partition is attached, or that fails.
  execute pg_catalog.format('lock table outbox.%I in share row exclusive mode',
    p_table || '_default');
  -- Another call may have created it while this one waited.
  if pg_catalog.to_regclass('outbox.' || v_name) is not null then
    return false;
  end if;
  execute pg_catalog.format('create table outbox.%I (like outbox.%I including all)', v_name,
    p_table);
  execute pg_catalog.format('alter table outbox.%I enable row level security', v_name);
  execute pg_catalog.format(
    'with moved as (delete from outbox.%I where %I >= %L and %I < %L returning *) '
    'insert into outbox.%I select * from moved',
    p_table || '_default', v_key, v_from, v_key, v_to, v_name);
  execute pg_catalog.format(
    'alter table outbox.%I attach partition outbox.%I for values from (%L) to (%L)', p_table,
    v_name, v_from, v_to);
  return true;
end
$$;
comment on function outbox.add_partition(text, date) is
  'Creates the partition of event or attempt for one day (UTC), unless it exists, and moves the '
  'rows of DEFAULT of that day; true if it created it. Waits at most 100 ms for a lock.';

create function outbox.add_partitions() returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_today date := (outbox.clock() at time zone 'UTC')::date;
  v_made integer := 0;
  v_late text[] := array[]::text[];
  v_table text;
  v_day date;
begin
  for v_table, v_day in
    select t.name, v_today + d.n
    from (values ('event'), ('attempt')) t (name), pg_catalog.generate_series(0, 7) as d (n)
    order by 2, 1
  loop
    -- Skip the other days of this table: the same lock would delay them too, while runs wait for
    -- the locks of this call.
    continue when v_table = any (v_late);
    begin
      v_made := v_made + outbox.add_partition(v_table, v_day)::integer;
    exception when lock_not_available then
      v_late := v_late || v_table;
    end;
  end loop;
  return pg_catalog.jsonb_build_object('made', v_made, 'late', v_late);
end
$$;
comment on function outbox.add_partitions() is
  'Creates the missing partitions of today and the next seven days: {"made", "late": the tables '
  'that a lock delayed until the next call}.';

create function outbox.is_open_on(p_day date) returns boolean
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_from uuid := outbox.uuid_v7_floor(p_day::timestamp at time zone 'UTC');
  v_to uuid := outbox.uuid_v7_floor((p_day + 1)::timestamp at time zone 'UTC');
begin
  return exists (select from outbox.delivery d where d.event_id >= v_from and d.event_id < v_to)
    or exists (select from outbox.unrouted u where u.event_id >= v_from and u.event_id < v_to)
    or exists (select from outbox.unroutable u where u.event_id >= v_from and u.event_id < v_to);
end
$$;
comment on function outbox.is_open_on(date) is
  'Whether an event of that day (UTC) has an open delivery or is not routed.';

create function outbox.drop_partition(p_name text) returns boolean
language plpgsql
set search_path = ''
set lock_timeout = '100ms'
as $$
begin
  -- Readers and writers of the partition lock its parent too, so none is active after this lock.
  execute pg_catalog.format('lock table only outbox.%I in access exclusive mode',
    pg_catalog.left(p_name, -10));
  -- The transaction that held the lock may have published into the partition, or replayed an event.
  if p_name like 'event%' and outbox.is_open_on(outbox.partition_day(p_name)) then
    return false;
  end if;
  execute pg_catalog.format('drop table outbox.%I', p_name);
  delete from outbox.partition_check c where c.name = p_name;
  return true;
-- undefined_table: a concurrent call has dropped it.
exception when lock_not_available or undefined_table then
  return false;
end
$$;
comment on function outbox.drop_partition(text) is
  'Drops a partition; false if a lock was not free within 100 ms, if an event of its day is open '
  '(is_open_on()), or if it is already dropped.';

create function outbox.drop_partitions() returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_today date := (outbox.clock() at time zone 'UTC')::date;
  v_retention integer := outbox.setting_int('event.retention_days');
  -- One more night, because the first night comes less than a full day after the end of the day.
  v_clean integer := outbox.setting_int('event.delivered_days') + 1;
  v_name text;
  v_day date;
  v_nights integer;
  v_dropped integer := 0;
begin
  for v_name, v_day in
    select c.relname, outbox.partition_day(c.relname)
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'outbox.event'::regclass and c.relname ~ '_p[0-9]{8}$'
    order by c.relname
  loop
    continue when v_day >= v_today;
    if outbox.is_open_on(v_day) then
      delete from outbox.partition_check c where c.name = v_name;
      continue;
    end if;
    insert into outbox.partition_check as c (name, clean_nights, checked_on)
    values (v_name, 1, v_today)
    on conflict (name) do update set
      clean_nights = c.clean_nights + 1, checked_on = excluded.checked_on
    where c.checked_on < excluded.checked_on;
    select c.clean_nights into v_nights from outbox.partition_check c where c.name = v_name;
    if v_nights >= v_clean or v_day < v_today - v_retention - 8 then
      v_dropped := v_dropped + outbox.drop_partition(v_name)::integer;
    end if;
  end loop;
  for v_name in
    select c.relname
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'outbox.attempt'::regclass and c.relname ~ '_p[0-9]{8}$'
      and outbox.partition_day(c.relname) < v_today - outbox.setting_int('attempt.retention_days')
    order by c.relname
  loop
    -- The transaction that holds this lock would delay the other days too. It may also wait for the
    -- event partitions that this call has dropped: after 1 s that is a deadlock.
    exit when not outbox.drop_partition(v_name);
    v_dropped := v_dropped + 1;
  end loop;
  return pg_catalog.jsonb_build_object('dropped', v_dropped);
end
$$;
comment on function outbox.drop_partitions() is
  'Drops an event partition if none of its events was open (is_open_on()) in each of '
  'event.delivered_days + 1 nightly checks in a row, so that delivered events are stored for that '
  'many full days. Drops the attempt partitions older than attempt.retention_days. Returns '
  '{"dropped": how many}.';

select outbox.add_partitions();
