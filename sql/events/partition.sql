-- The daily partitions of event and attempt, as they are. time/add_partition creates them and
-- time/drop_partition drops them.

create table outbox.partition_check (
  name text primary key,
  clean_nights integer not null,
  checked_on date not null
);
comment on table outbox.partition_check is
  'On how many consecutive nights an event partition had nothing open, and the day (UTC) of the '
  'last check; a replay resets the count.';

create function outbox.partition_name(p_table text, p_day date) returns text
language sql stable set search_path = ''
as $$
  select p_table || '_p' || pg_catalog.to_char(p_day, 'YYYYMMDD')
$$;
comment on function outbox.partition_name(text, date) is
  'The name of the partition that is created for a day. What it stores is in partitions().';

-- Postgres returns bounds only as text in the format of the session, so the settings of this
-- function fix the format.
create function outbox.partitions(p_table text)
returns table (name text, since timestamptz, until timestamptz, part regclass)
language plpgsql stable
set search_path = ''
set datestyle = 'ISO, YMD'
set timezone = 'UTC'
as $$
begin
  return query
  select b.name,
    case when b.by_id then outbox.uuid_v7_time(b.bounds[1]::uuid) else b.bounds[1]::timestamptz end,
    case when b.by_id then outbox.uuid_v7_time(b.bounds[2]::uuid) else b.bounds[2]::timestamptz end,
    b.part
  from (
    select c.relname::text as name, c.oid::regclass as part, p_table = 'event' as by_id,
      pg_catalog.regexp_match(pg_catalog.pg_get_expr(c.relpartbound, c.oid),
        '^FOR VALUES FROM \(''([^'']+)''\) TO \(''([^'']+)''\)') as bounds
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class c on c.oid = i.inhrelid
    where i.inhparent = pg_catalog.to_regclass('outbox.' || p_table)
  ) b
  where b.bounds is not null
  order by 2;
end
$$;
comment on function outbox.partitions(text) is
  'The partitions of event or attempt without DEFAULT, and the time span that each stores by its '
  'real bounds, whatever its name or schema is: of the ids of event, of "at" of attempt. Oldest '
  'first.';

create function outbox.stored_since() returns timestamptz
language plpgsql stable set search_path = ''
as $$
begin
  return pg_catalog.date_trunc('day', outbox.clock(), 'UTC')
    - pg_catalog.make_interval(days => outbox.setting_int('event.delivered_days'));
end
$$;
comment on function outbox.stored_since() is
  'The time since which all events are stored. Older ones are stored while they are open, and '
  'after an attempt since then.';

create function outbox.stored_from() returns uuid
language plpgsql stable security definer set search_path = ''
as $$
begin
  return outbox.uuid_v7_floor(outbox.stored_since());
end
$$;
comment on function outbox.stored_from() is
  'The lowest id from which on all events are stored: that of stored_since().';
