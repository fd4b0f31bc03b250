-- Partitions: one a day for event and attempt, made a week ahead. Until one exists, rows go to DEFAULT,
-- so that no publisher ever fails for want of a partition.

create function outbox.add_partition(p_table text, p_day date) returns boolean
language plpgsql
set search_path = '' set lock_timeout = '100ms'
as $$
declare
  v_name text := pg_catalog.format('%s_p%s', p_table, pg_catalog.to_char(p_day, 'YYYYMMDD'));
  v_from timestamptz := p_day::timestamp at time zone 'UTC';
  v_to timestamptz := (p_day + 1)::timestamp at time zone 'UTC';
  v_bounds text;
begin
  if pg_catalog.to_regclass('outbox.' || v_name) is not null then
    return false;
  end if;
  v_bounds := case p_table
    when 'event' then pg_catalog.format('from (%L) to (%L)', outbox.uuid_v7_floor(v_from), outbox.uuid_v7_floor(v_to))
    else pg_catalog.format('from (%L) to (%L)', v_from, v_to)
  end;
  execute pg_catalog.format('create table outbox.%I partition of outbox.%I for values %s', v_name, p_table, v_bounds);
  execute pg_catalog.format('alter table outbox.%I enable row level security', v_name);
  return true;
end
$$;
comment on function outbox.add_partition(text, date) is
  'Makes the partition of event or attempt for one day (UTC) unless it exists; true if it made it. Waits 100 ms for a lock at most.';

create function outbox.add_partitions() returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_today date := (outbox.clock() at time zone 'UTC')::date;
  v_made integer;
begin
  select pg_catalog.count(*) filter (where outbox.add_partition(t.name, v_today + d.n)) into v_made
  from (values ('event'), ('attempt')) t (name), pg_catalog.generate_series(0, 7) as d (n);
  return pg_catalog.jsonb_build_object('made', v_made);
end
$$;
comment on function outbox.add_partitions() is
  'Makes the partitions of today and the next seven days that do not exist: {"made": integer}.';

select outbox.add_partitions();
