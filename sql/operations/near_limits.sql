-- Limits of the database that are near. Each is told while there is time to act, because a full
-- disk, or no transaction id or connection left, stops the application as well.

create function outbox.disk_checks() returns table (detail text, problem text)
language plpgsql stable set search_path = ''
as $$
declare
  v_disk bigint := outbox.setting_int('database.disk_mib')::bigint * 1048576;
  v_used bigint;
  v_slot record;
begin
  detail := 'database.disk_mib is not set';
  -- To add up what is used asks for the size of each file.
  if v_disk > 0 then
    v_used := outbox.databases_bytes() + coalesce(outbox.wal_bytes(), 0);
    detail := pg_catalog.format('%s of %s', pg_catalog.pg_size_pretty(v_used),
      pg_catalog.pg_size_pretty(v_disk));
  end if;
  if v_used > v_disk * 0.9 then
    problem := pg_catalog.format(
      'the disk has %s%% left: %s of %s are used (runbook: Disk)',
      greatest(0, pg_catalog.floor(100 - v_used * 100.0 / v_disk)),
      pg_catalog.pg_size_pretty(v_used), pg_catalog.pg_size_pretty(v_disk));
  end if;
  return next;
  select * into v_slot from outbox.slot_wal() limit 1;
  -- Without slots, the log stays at about max_wal_size.
  if v_slot.bytes > least(nullif(v_disk, 0) / 10,
    pg_catalog.pg_size_bytes(pg_catalog.current_setting('max_wal_size')))
  then
    detail := pg_catalog.format('the slot %s keeps %s of WAL', v_slot.slot_name,
      pg_catalog.pg_size_pretty(v_slot.bytes));
    problem := pg_catalog.format(
      'the replication slot %s keeps %s of WAL, %s (runbook: Disk)', v_slot.slot_name,
      pg_catalog.pg_size_pretty(v_slot.bytes),
      case when v_slot.active then 'its reader is behind' else 'and nobody reads it' end);
    return next;
  end if;
end
$$;
comment on function outbox.disk_checks() is
  'How full the disk is, a problem if less than 10 % is left; and a replication slot that keeps '
  'more of the write-ahead log than max_wal_size, or than a tenth of the disk.';

create function outbox.dead_row_checks() returns table (detail text, problem text)
language plpgsql stable set search_path = ''
as $$
declare
  -- A delivery leaves two dead rows, when it is leased and when it is deleted, and autovacuum comes
  -- once a minute: 1.2 million at 10,000 deliveries a second are no problem.
  v_most constant bigint := 2000000;
  v_table record;
begin
  select t.relname, t.n_live_tup, t.n_dead_tup into v_table
  from pg_catalog.pg_stat_user_tables t
  where t.schemaname = 'outbox' and t.n_dead_tup > t.n_live_tup
  order by t.n_dead_tup - t.n_live_tup desc, t.relname limit 1;
  detail := coalesce(pg_catalog.format('%s has %s dead and %s live rows', v_table.relname,
    v_table.n_dead_tup, v_table.n_live_tup), 'no table has more dead than live rows');
  if v_table.n_dead_tup > v_table.n_live_tup + v_most then
    problem := pg_catalog.format(
      'vacuum does not remove dead rows: the table %s has %s of them, and %s live rows '
      '(runbook: Vacuum delayed)',
      v_table.relname, v_table.n_dead_tup, v_table.n_live_tup);
  end if;
  return next;
end
$$;
comment on function outbox.dead_row_checks() is
  'The table that has the most dead rows beyond its live ones, a problem if they are 2 million.';

create function outbox.partition_checks(p_now timestamptz)
returns table (detail text, problem text)
language plpgsql stable set search_path = ''
as $$
declare
  v_day constant date := (p_now at time zone 'UTC')::date + 2;
  v_table text;
  v_until timestamptz;
begin
  -- To read the bounds of all partitions takes ten times as long.
  if pg_catalog.to_regclass('outbox.' || outbox.partition_name('event', v_day)) is not null
    and pg_catalog.to_regclass('outbox.' || outbox.partition_name('attempt', v_day)) is not null
  then
    detail := pg_catalog.format('to the end of %s at least', v_day);
    return next;
    return;
  end if;
  select t.name, coalesce(p.until, '-infinity') into v_table, v_until
  from (values ('event'), ('attempt')) t (name)
  cross join lateral (
    select pg_catalog.max(o.until) as until from outbox.partitions(t.name) o
  ) p
  order by 2, 1 limit 1;
  detail := 'until ' || coalesce(outbox.iso_time(nullif(v_until, '-infinity')), 'no day');
  if v_until < p_now + interval '2 days' then
    problem := pg_catalog.format(
      'the partitions of %s end %s: outbox.add_partitions() creates more (runbook: Partitions)',
      v_table, coalesce('at ' || outbox.iso_time(nullif(v_until, '-infinity')), 'before today'));
  end if;
  return next;
end
$$;
comment on function outbox.partition_checks(timestamptz) is
  'Until when events and attempts have partitions, a problem if that is less than two days. The '
  'job creates them seven days ahead.';

create function outbox.snapshot_checks(p_now timestamptz)
returns table (detail text, problem text)
language plpgsql stable set search_path = ''
as $$
declare
  v_session record;
begin
  select a.pid, a.xact_start into v_session
  from pg_catalog.pg_stat_activity a
  where a.backend_type = 'client backend' and a.pid <> pg_catalog.pg_backend_pid()
    and coalesce(a.backend_xmin, a.backend_xid) is not null
  order by a.xact_start limit 1;
  detail := coalesce(pg_catalog.format('the oldest is of pid %s, since %s', v_session.pid,
    outbox.iso_time(v_session.xact_start)), 'no transaction is open');
  if v_session.xact_start < p_now - interval '15 minutes' then
    problem := pg_catalog.format(
      'a transaction delays vacuum: pid %s, open since %s (runbook: Vacuum delayed)',
      v_session.pid, outbox.iso_time(v_session.xact_start));
  end if;
  return next;
end
$$;
comment on function outbox.snapshot_checks(timestamptz) is
  'The oldest transaction that delays vacuum, a problem if it began 15 minutes before p_now.';

create function outbox.near_limits(p_now timestamptz)
returns table (name text, detail text, problem text)
language plpgsql stable set search_path = ''
as $$
declare
  v_ids bigint := outbox.transaction_id_age();
  v_open bigint := outbox.connections_used();
  v_most integer := outbox.connections_most();
  v_requests bigint := outbox.net_requests();
  v_traffic bigint := outbox.setting_int('traffic.mib_per_month')::bigint * 1048576;
  v_sent bigint;
begin
  if v_traffic > 0 then
    v_sent := outbox.sent_in_month(p_now);
  end if;
  return query
  select 'disk', c.detail, c.problem from outbox.disk_checks() c
  union all
  select 'transaction_ids', v_ids || ' of 2147483648', case
    when v_ids > 1000000000 then pg_catalog.format(
      'the oldest row is %s transactions old, and Postgres stops writing at 2147 million '
      '(runbook: Transaction ids)', v_ids)
  end
  union all
  select 'connections', pg_catalog.format('%s of %s', v_open, v_most), case
    when v_open > v_most * 0.9 then pg_catalog.format(
      '%s of %s connections are open (runbook: Connections)', v_open, v_most)
  end
  union all
  select 'snapshots', c.detail, c.problem
  from outbox.snapshot_checks(pg_catalog.clock_timestamp()) c
  union all
  select 'dead_rows', c.detail, c.problem from outbox.dead_row_checks() c
  union all
  select 'partitions', c.detail, c.problem from outbox.partition_checks(p_now) c
  union all
  select 'net_requests', coalesce(v_requests || ' requests', 'there is no pg_net'), case
    -- pg_net sends 200 at a time.
    when v_requests > 1000 then pg_catalog.format(
      'the queue of pg_net has %s requests, and kicks wait behind them (runbook: Kicks wait)',
      v_requests)
  end
  union all
  select 'traffic', case
      when v_traffic = 0 then 'traffic.mib_per_month is not set'
      else coalesce(pg_catalog.pg_size_pretty(v_sent), 'not yet known') || ' of '
        || pg_catalog.pg_size_pretty(v_traffic)
    end,
    case
      when v_sent > v_traffic * 0.9 then pg_catalog.format(
        '%s of the %s of this month are sent (runbook: Traffic)', pg_catalog.pg_size_pretty(v_sent),
        pg_catalog.pg_size_pretty(v_traffic))
    end;
end
$$;
comment on function outbox.near_limits(timestamptz) is
  'Each limit of the database: its use as a text, and the problem if it is near, else null. name: '
  'disk (a second row for a replication slot), transaction_ids, connections, snapshots, dead_rows, '
  'partitions, net_requests, traffic.';

create function outbox.limit_warnings(p_now timestamptz) returns text[]
language plpgsql stable set search_path = ''
as $$
begin
  return array(select n.problem from outbox.near_limits(p_now) n where n.problem is not null);
exception when query_canceled or assert_failure or others then
  -- The problems of the queue are worth more.
  return array['the limits of the database cannot be read: SQLSTATE ' || sqlstate];
end
$$;
comment on function outbox.limit_warnings(timestamptz) is
  'The limits of the database that are near, as texts; empty if there are none. They stop no '
  'delivery yet, so they are the warnings of queue_health, and none of its problems.';
