-- The data of the function `metrics`. get_metrics() joins six parts:
--
--   1 counters()          The counters that results, runs and routing increment.
--   2 queue_metrics()     Endpoints and their queues, summed by kind and status, and the worst
--                         endpoints by name.
--   3 event_metrics()     Unrouted events, and dead letters, each counted up to 10,000.
--   4 engine_metrics()    Runs, the tick, kicks, replay jobs and partitions.
--   5 database_metrics()  Vacuum and transactions that delay it, from the statistics of Postgres.
--   6 module_gauges()     What modules measure (more_gauges()).
--
-- All reads are small: no part counts attempts or deliveries. gate.depth is the number of open
-- deliveries of an endpoint.

create function outbox.event_metrics() returns jsonb
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_router outbox.router := outbox.current_router();
begin
  return pg_catalog.jsonb_build_object(
    -- As routing reads: new events above the watermark, and late ones.
    'unrouted', (
      select pg_catalog.count(*) from (
        (
          select u.event_id from outbox.unrouted u where u.event_id > v_router.watermark
          limit 10000
        )
        union
        select u from outbox.waiting_events(10000) u
        union
        select u from outbox.unrouted_late(v_router, 1000) u
      ) u),
    'unrouted_since', (
      select extract(epoch from least(outbox.oldest_new(v_router), outbox.oldest_waiting()))),
    'set_aside', (select pg_catalog.count(*) from (select from outbox.unroutable limit 10000) u),
    'dead_letters', (
      select pg_catalog.count(*) from (
        select from outbox.dead_letter x
        where x.replayed_at is null and x.discarded_at is null limit 10000
      ) x));
end
$$;
comment on function outbox.event_metrics() is
  'Events that are unrouted or set aside, and dead letters that are neither replayed nor '
  'discarded: {"unrouted", "unrouted_since", "set_aside", "dead_letters"}, each counted up to '
  '10,000.';

create function outbox.engine_metrics(p_now timestamptz) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return pg_catalog.jsonb_build_object(
    'enabled', outbox.setting_on('worker.enabled'),
    'copy', outbox.binding_problem(p_now) is not null,
    'runs', (
      select coalesce(pg_catalog.jsonb_object_agg(r.kind, r.n), '{}')
      from (
        select r.kind, pg_catalog.count(*) as n from outbox.run r
        where r.ended_at is null and r.polled_at > outbox.alive_since(p_now)
        group by r.kind
      ) r),
    'tick_at', (select nullif(s.last_value, 0) / 1000.0 from outbox.last_tick s),
    'kick_at', (select nullif(s.last_value, 0) / 1000.0 from outbox.last_kick s),
    'kicks', pg_catalog.jsonb_build_object(
      'commit', (select s.last_value + s.is_called::integer from outbox.kicks_on_commit s),
      'tick', (select s.last_value + s.is_called::integer from outbox.kicks_by_tick s)),
    'kicks_waiting', outbox.kicks_waiting(),
    'replay_jobs', (
      select pg_catalog.count(*) from outbox.replay_job j where j.status in ('running', 'paused')),
    'in_default', pg_catalog.jsonb_build_object(
      'event', (
        select pg_catalog.count(*) from (select from outbox.event_default limit 10000) d),
      'attempt', (
        select pg_catalog.count(*) from (select from outbox.attempt_default limit 10000) d)),
    'partitions', (
      select pg_catalog.jsonb_agg(p)
      from (
        select t.name as table, pg_catalog.count(*) as n,
          extract(epoch from pg_catalog.max(d.until)) as until,
          -- As of the last vacuum: pg_relation_size() would wait for a call that creates a
          -- partition.
          pg_catalog.sum(c.relpages::bigint * 8192) as bytes
        from (values ('event'), ('attempt')) t (name)
        cross join lateral outbox.partitions(t.name) d
        join pg_catalog.pg_class c on c.oid = d.part
        group by t.name
      ) p));
end
$$;
comment on function outbox.engine_metrics(timestamptz) is
  'The status of runs, the tick, kicks and partitions: {"enabled", "copy": whether there is a '
  'binding_problem(), "runs": by kind, "tick_at", '
  '"kick_at", "kicks": by reason, "kicks_waiting", "replay_jobs", "in_default", "partitions": '
  '[{"table", "n", "until", "bytes"}]}.';

create function outbox.database_metrics() returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return pg_catalog.jsonb_build_object(
    'tables', (
      select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('table', t.relname,
        'live', t.n_live_tup, 'dead', t.n_dead_tup,
        'vacuumed_at', extract(epoch from greatest(t.last_vacuum, t.last_autovacuum))))
      from pg_catalog.pg_stat_user_tables t
      where t.schemaname = 'outbox' and t.relname in (
        'gate', 'lane', 'delivery', 'unrouted', 'run', 'run_batch', 'counter_change',
        'dead_letter')),
    -- Only the oldest of each, because vacuum waits for that.
    'snapshot_s', (
      select coalesce(extract(epoch from
        pg_catalog.clock_timestamp() - pg_catalog.min(a.xact_start)), 0)
      from pg_catalog.pg_stat_activity a
      where a.backend_xmin is not null and a.pid <> pg_catalog.pg_backend_pid()
        and a.backend_type <> 'autovacuum worker'),
    'xmin_age', (
      select coalesce(pg_catalog.max(x.age), 0) from (
        select pg_catalog.age(a.backend_xmin) as age from pg_catalog.pg_stat_activity a
        where a.pid <> pg_catalog.pg_backend_pid()
        union all
        select greatest(pg_catalog.age(s.xmin), pg_catalog.age(s.catalog_xmin))
        from pg_catalog.pg_replication_slots s
        union all
        select pg_catalog.age(p.transaction) from pg_catalog.pg_prepared_xacts p
      ) x));
end
$$;
comment on function outbox.database_metrics() is
  'Statistics of the busy tables, and the age of what delays vacuum: {"tables": [{"table", '
  '"live", "dead", "vacuumed_at"}], "snapshot_s", "xmin_age": in transactions}.';

create function outbox.module_counters() returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return (
    select coalesce(pg_catalog.jsonb_agg(
      pg_catalog.jsonb_build_array(m.metric, m.labels, m.n, m.total)), '[]')
    from outbox.more_counters() m);
end
$$;
comment on function outbox.module_counters() is
  'The counters of modules: [[metric, [label, …], n, total], …].';

create function outbox.counters() returns jsonb
language plpgsql stable
set search_path = ''
as $$
declare
  v_since timestamptz := outbox.counters_since(pg_catalog.clock_timestamp());
  v_more jsonb := '[]'::jsonb;
begin
  -- An error in a module must hide no other metric: see module_gauges().
  begin
    v_more := outbox.module_counters();
  exception when assert_failure or others then
    raise warning 'outbox.more_counters(): % %', sqlstate, sqlerrm;
  end;
  return v_more || (
    select coalesce(pg_catalog.jsonb_agg(
      pg_catalog.jsonb_build_array(c.metric, c.labels, c.n, c.total)), '[]')
    from (
      select a.metric, a.labels, pg_catalog.sum(a.n) as n, pg_catalog.sum(a.total) as total
      from (
        select c.metric, c.labels, c.n, c.total from outbox.counter c
        -- It is no counter: see operations/limits.
        where c.metric <> 'sent_before'
        union all
        select c.metric, c.labels, c.n, c.total from outbox.counter_change c where c.at >= v_since
      ) a
      group by a.metric, a.labels
    ) c);
end
$$;
comment on function outbox.counters() is
  'All counters: [[metric, [label, …], n, total], …].';

create function outbox.module_gauges() returns jsonb
language plpgsql stable set search_path = ''
as $$
declare
  v_gauges jsonb;
begin
  begin
    perform outbox.module_counters();
    v_gauges := (
      select coalesce(
        pg_catalog.jsonb_agg(pg_catalog.jsonb_build_array(g.metric, g.labels, g.value)), '[]')
      from outbox.more_gauges() g);
    return v_gauges || '[["modules_unreadable", [], 0]]';
  exception when assert_failure or others then
    raise warning 'outbox.more_gauges(): % %', sqlstate, sqlerrm;
    return '[["modules_unreadable", [], 1]]'::jsonb;
  end;
end
$$;
comment on function outbox.module_gauges() is
  'The gauges of modules, [[metric, [label, …], value], …], and modules_unreadable: 1 if they or '
  'the counters of modules cannot be read.';

create function outbox.get_metrics() returns jsonb
language plpgsql stable security definer
set search_path = ''
set statement_timeout = '5s'
as $$
declare
  v_now timestamptz := outbox.clock();
begin
  return pg_catalog.jsonb_build_object(
    'version', outbox.version() ->> 'version',
    'now', extract(epoch from v_now),
    'bounds', pg_catalog.jsonb_build_object('attempt_ms', outbox.attempt_bounds(),
      'latency_ms', outbox.latency_bounds()),
    'counters', outbox.counters(),
    'queue', outbox.queue_metrics(v_now),
    'events', outbox.event_metrics(),
    'engine', outbox.engine_metrics(v_now),
    'database', outbox.database_metrics(),
    'gauges', outbox.module_gauges() || outbox.limit_gauges(v_now));
end
$$;
comment on function outbox.get_metrics() is
  'The data of the function metrics: {"version", "now", "bounds", "counters", "queue", '
  '"events", "engine", "database", "gauges"}. The parts are those of counters(), '
  'queue_metrics(), event_metrics(), engine_metrics(), database_metrics(), module_gauges() and '
  'limit_gauges(). '
  'Reads neither history nor queues.';
