-- Dropping partitions: each night, those of events that are no longer needed, and those of old
-- attempts. What a partition stores is decided by its bounds, not by its name. If some events of an
-- old day are open, time/sweep_events deletes the others.

create function outbox.is_open_between(p_since timestamptz, p_until timestamptz) returns boolean
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_from uuid := outbox.uuid_v7_floor(p_since);
  v_to uuid := outbox.uuid_v7_floor(p_until);
begin
  return exists (select from outbox.delivery d where d.event_id >= v_from and d.event_id < v_to)
    or exists (select from outbox.unrouted u where u.event_id >= v_from and u.event_id < v_to)
    or exists (select from outbox.unroutable u where u.event_id >= v_from and u.event_id < v_to)
    or exists (select from outbox.refusal r where r.event_id >= v_from and r.event_id < v_to);
end
$$;
comment on function outbox.is_open_between(timestamptz, timestamptz) is
  'Whether an event of that time span has an open delivery, or one that the database refused to '
  'create, or is not routed.';

create function outbox.drop_partition(p_table text, p_part regclass) returns boolean
language plpgsql
set search_path = ''
set lock_timeout = '100ms'
as $$
declare
  v_name text;
  v_open boolean;
begin
  -- Readers and writers of the partition lock its parent too, so none is active after this lock.
  execute pg_catalog.format('lock table only outbox.%I in access exclusive mode', p_table);
  -- The transaction that held the lock may have published into the partition, or replayed an event.
  select p.name, p_table = 'event' and outbox.is_open_between(p.since, p.until)
  into v_name, v_open
  from outbox.partitions(p_table) p
  where p.part = p_part;
  if not found or v_open then
    return false;
  end if;
  execute pg_catalog.format('drop table %s', p_part);
  delete from outbox.partition_check c where c.name = v_name;
  return true;
exception when lock_not_available then
  return null;
end
$$;
comment on function outbox.drop_partition(text, regclass) is
  'Drops a partition of event or attempt; null if a lock was not free within 100 ms, false if one '
  'of its events is open (is_open_between()), or if it is already dropped.';

create function outbox.is_clean_tonight(
  p_name text, p_since timestamptz, p_until timestamptz, p_today date
) returns boolean
language plpgsql
set search_path = ''
-- A replay locks the row after its gate. drop_partitions() may have locked attempt by then, for
-- which a claim waits while it holds a gate.
set lock_timeout = '100ms'
as $$
declare
  -- One more night, because the first night comes less than a full day after the end of the day.
  v_clean integer := outbox.setting_int('event.delivered_days') + 1;
  v_open boolean;
  v_check outbox.partition_check;
begin
  select * into v_check from outbox.partition_check c where c.name = p_name;
  v_open := outbox.is_open_between(p_since, p_until);
  -- A night counts once, also if it has several calls.
  -- Written only if it changes, because a replay waits for the row while it holds its gate.
  if not found or v_check.checked_on < p_today or (v_open and v_check.clean_nights > 0) then
    insert into outbox.partition_check as c (name, clean_nights, checked_on)
    values (p_name, (not v_open)::integer, p_today)
    on conflict (name) do update set
      clean_nights = case when v_open then 0 else c.clean_nights + 1 end,
      checked_on = excluded.checked_on
    returning c.* into v_check;
  end if;
  return not v_open and (v_check.clean_nights >= v_clean or p_until
    <= (p_today - outbox.setting_int('event.retention_days') - 8)::timestamp at time zone 'UTC');
exception when lock_not_available then
  return null;
end
$$;
comment on function outbox.is_clean_tonight(text, timestamptz, timestamptz, date) is
  'Checks an event partition, once a night, and counts its nights without an open event. Returns '
  'whether it may be dropped: after event.delivered_days + 1 such nights in a row, or '
  'event.retention_days + 8 days after its end if nothing is open. Null if a replay had its row '
  'locked for 100 ms.';

create function outbox.drop_partitions(p_most integer default 1000) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_today date := (outbox.clock() at time zone 'UTC')::date;
  v_midnight timestamptz := v_today::timestamp at time zone 'UTC';
  v_old timestamptz := (v_today - outbox.setting_int('attempt.retention_days'))::timestamp
    at time zone 'UTC';
  v_deadline timestamptz := outbox.job_deadline();
  v_part record;
  v_dropped integer := 0;
  v_more boolean := false;
  v_done boolean;
  v_late text[] := array[]::text[];
  v_failed text[] := array[]::text[];
begin
  -- Before a restore has loaded the deliveries, each old partition looks finished.
  perform outbox.refuse_restoring(outbox.unrestored_table());
  for v_part in
    -- First those of attempt, which need no check.
    select 'attempt' as parent, p.* from outbox.partitions('attempt') p where p.until <= v_old
    union all
    select 'event', p.* from outbox.partitions('event') p where p.until <= v_midnight
  loop
    v_more := v_dropped >= p_most or pg_catalog.clock_timestamp() >= v_deadline;
    exit when v_more;
    begin
      v_done := v_part.parent = 'attempt'
        or outbox.is_clean_tonight(v_part.name, v_part.since, v_part.until, v_today);
      if v_done then
        v_done := outbox.drop_partition(v_part.parent, v_part.part);
      end if;
      -- The transaction that holds this lock would delay the other days too, and the tick waits
      -- for the rows of partition_check that this call holds.
      if v_done is null then
        v_late := v_late || v_part.name;
        exit;
      end if;
      v_dropped := v_dropped + v_done::integer;
      perform outbox.admit_upkeep('outbox.drop_partitions', v_part.name);
    -- Such as a view that somebody made of a partition. The other partitions can be dropped.
    exception when query_canceled or assert_failure or others then
      v_failed := v_failed || v_part.name;
      perform outbox.refuse_upkeep('outbox.drop_partitions', v_part.name, sqlstate, sqlerrm,
        '25 hours');
    end;
  end loop;
  return pg_catalog.jsonb_build_object('dropped', v_dropped, 'more', v_more)
    || case when v_late = '{}' then '{}' else pg_catalog.jsonb_build_object('late', v_late) end
    || case when v_failed = '{}' then '{}' else pg_catalog.jsonb_build_object('failed', v_failed)
    end;
end
$$;
comment on function outbox.drop_partitions(integer) is
  'Drops up to p_most partitions: those of attempt older than attempt.retention_days, and those of '
  'event that is_clean_tonight() allows, so that delivered events are stored for '
  'event.delivered_days full days. Stops at job_deadline(). Returns {"dropped": how many, "more": '
  'whether to call it again, "late": the partition whose lock was not free within 100 ms, if any: '
  'it and those after it wait for a later call, "failed": the partitions that could not be '
  'dropped, if any; upkeep_refusal has the errors}.';
