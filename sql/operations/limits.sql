-- What the limits of the database are used up to: the disk, transaction ids, connections, the queue
-- of pg_net and the traffic of a month. near_limits judges these figures. They cost a few system
-- calls for each file of the database, and read no table that grows.

insert into outbox.setting (name, value, type, lowest, highest, description) values
  ('database.disk_mib', '0', 'integer', 0, 1000000000,
    'The size of the disk of the database in MiB, which no query can find out; 0: not known, and '
    'nothing warns before the disk is full'),
  ('traffic.mib_per_month', '0', 'integer', 0, 1000000000,
    'How many MiB of payloads may be sent in a month (UTC) before health warns; nothing is ever '
    'held back; 0: no warning');

create function outbox.wal_position() returns pg_lsn
language plpgsql stable set search_path = ''
as $$
begin
  return case
    when pg_catalog.pg_is_in_recovery() then pg_catalog.pg_last_wal_replay_lsn()
    else pg_catalog.pg_current_wal_lsn()
  end;
end
$$;
comment on function outbox.wal_position() is
  'How far the write-ahead log is, also on a standby server.';

create function outbox.wal_bytes() returns bigint
language plpgsql stable set search_path = ''
as $$
begin
  if not pg_catalog.has_function_privilege('pg_catalog.pg_ls_waldir()', 'execute') then
    return null;
  end if;
  return (select coalesce(pg_catalog.sum(w.size), 0) from pg_catalog.pg_ls_waldir() w);
end
$$;
comment on function outbox.wal_bytes() is
  'The size of the files of the write-ahead log; null if the owner of the schema may not list '
  'them (pg_monitor).';

create function outbox.databases_bytes() returns bigint
language plpgsql stable set search_path = ''
as $$
begin
  return (
    select pg_catalog.sum(pg_catalog.pg_database_size(d.oid))
    from pg_catalog.pg_database d
    where pg_catalog.has_database_privilege(d.oid, 'connect')
      or pg_catalog.pg_has_role('pg_read_all_stats', 'usage'));
end
$$;
comment on function outbox.databases_bytes() is
  'The size of all databases of the server whose size may be read, without the write-ahead log.';

create function outbox.slot_wal() returns table (slot_name text, active boolean, bytes bigint)
language plpgsql stable set search_path = ''
as $$
begin
  return query
  select s.slot_name::text, s.active,
    greatest(0, pg_catalog.pg_wal_lsn_diff(outbox.wal_position(), s.restart_lsn))::bigint
  from pg_catalog.pg_replication_slots s
  where s.restart_lsn is not null
  order by 3 desc, 1;
end
$$;
comment on function outbox.slot_wal() is
  'How much of the write-ahead log each replication slot keeps from being removed, the most first.';

create function outbox.transaction_id_age() returns bigint
language plpgsql stable set search_path = ''
as $$
begin
  -- Row locks that several transactions share have ids of their own, which run out alike.
  return (
    select pg_catalog.max(greatest(
      pg_catalog.age(d.datfrozenxid), pg_catalog.mxid_age(d.datminmxid)))
    from pg_catalog.pg_database d);
end
$$;
comment on function outbox.transaction_id_age() is
  'How many transaction ids, or ids of shared row locks, the oldest row may be behind. About 2,147 '
  'million exist; before they run out, Postgres accepts no more writes.';

create function outbox.connections_used() returns bigint
language plpgsql stable set search_path = ''
as $$
begin
  return (
    select pg_catalog.count(*) from pg_catalog.pg_stat_activity a
    where a.backend_type = 'client backend');
end
$$;
comment on function outbox.connections_used() is 'How many connections to the server are open.';

create function outbox.connections_most() returns integer
language plpgsql stable set search_path = ''
as $$
begin
  return pg_catalog.current_setting('max_connections')::integer
    - pg_catalog.current_setting('superuser_reserved_connections')::integer
    -- Since version 16.
    - coalesce(pg_catalog.current_setting('reserved_connections', true)::integer, 0);
end
$$;
comment on function outbox.connections_most() is
  'How many connections roles without special rights may open.';

create function outbox.net_requests() returns bigint
language plpgsql stable set search_path = ''
as $$
begin
  -- By the statistics: the queue has no index, and may be large.
  return pg_catalog.pg_stat_get_live_tuples(pg_catalog.to_regclass('net.http_request_queue'));
end
$$;
comment on function outbox.net_requests() is
  'How many requests wait in the queue of pg_net, those of the application included, by the '
  'statistics of Postgres; null without pg_net.';

create function outbox.sent_bytes() returns bigint
language plpgsql stable set search_path = ''
as $$
declare
  v_since timestamptz := outbox.counters_since(pg_catalog.clock_timestamp());
begin
  return (
    select coalesce(pg_catalog.sum(a.total), 0)
    from (
      select c.total from outbox.counter c where c.metric = 'attempts'
      union all
      select c.total from outbox.counter_change c
      where c.at >= v_since and c.metric = 'attempts'
    ) a);
end
$$;
comment on function outbox.sent_bytes() is
  'The bytes of payloads of all attempts so far, repeated ones included, and those that ended '
  'before anything was sent. Headers, TLS and responses are not counted.';

create function outbox.traffic_month(p_now timestamptz) returns text
language sql immutable set search_path = ''
as $$
  select pg_catalog.to_char(p_now at time zone 'UTC', 'YYYY-MM')
$$;
comment on function outbox.traffic_month(timestamptz) is 'The month (UTC) of a time: 2026-03.';

create function outbox.note_traffic(p_now timestamptz, p_limit integer) returns void
language plpgsql set search_path = ''
as $$
declare
  v_labels text[] := array[outbox.traffic_month(p_now)];
begin
  -- The first tick of a month has to add up, all others have to look.
  if p_limit < 1 or exists (
    select from outbox.counter c where c.metric = 'sent_before' and c.labels = v_labels)
    or not outbox.hold_counters()
  then
    return;
  end if;
  insert into outbox.counter (metric, labels, n, total)
  values ('sent_before', v_labels, 1, outbox.sent_bytes())
  on conflict (metric, labels) do nothing;
end
$$;
comment on function outbox.note_traffic(timestamptz, integer) is
  'A step of the tick: notes once a month how much was sent before. locks: hold_counters().';

create function outbox.sent_in_month(p_now timestamptz) returns bigint
language plpgsql stable set search_path = ''
as $$
begin
  return outbox.sent_bytes() - (
    select c.total from outbox.counter c
    where c.metric = 'sent_before' and c.labels = array[outbox.traffic_month(p_now)]);
end
$$;
comment on function outbox.sent_in_month(timestamptz) is
  'The bytes of payloads that were sent in this month (UTC), by sent_bytes(); null until its first '
  'tick, because nothing says then what was sent before.';

create function outbox.limit_gauges(p_now timestamptz) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return '[["limits_unreadable", [], 0]]'::jsonb || (
    select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_array(g.metric, '[]'::jsonb, g.value))
    from (values
      ('database_bytes', outbox.databases_bytes()),
      ('wal_bytes', outbox.wal_bytes()),
      ('slot_wal_bytes', (select coalesce(pg_catalog.max(s.bytes), 0) from outbox.slot_wal() s)),
      ('disk_bytes', nullif(outbox.setting_int('database.disk_mib')::bigint, 0) * 1048576),
      ('transaction_id_age', outbox.transaction_id_age()),
      ('connections', outbox.connections_used()),
      ('connections_max', outbox.connections_most()::bigint),
      ('net_requests', outbox.net_requests()),
      ('sent_month_bytes', outbox.sent_in_month(p_now)),
      ('traffic_bytes', nullif(outbox.setting_int('traffic.mib_per_month')::bigint, 0) * 1048576)
    ) g (metric, value)
    where g.value is not null);
exception when assert_failure or others then
  -- They read objects of the server, and must hide no other metric.
  raise warning 'outbox.limit_gauges(): % %', sqlstate, sqlerrm;
  return '[["limits_unreadable", [], 1]]'::jsonb;
end
$$;
comment on function outbox.limit_gauges(timestamptz) is
  'The use of the limits of the database as gauges, [[metric, [], value], …], without those that '
  'cannot be determined, and limits_unreadable: 1 if an error hides them.';
