-- The data of the function `metrics`. get_metrics() joins five parts:
--
--   1 counters()          The counters that results, runs and routing increment.
--   2 queue_metrics()     Endpoints and their queues, summed by kind and status, and the worst
--                         endpoints by name. It reads each endpoint once, in gate_metrics().
--   3 event_metrics()     Unrouted events, and dead letters, each counted up to 10,000.
--   4 engine_metrics()    Runs, the tick, kicks, replay jobs and partitions.
--   5 database_metrics()  Vacuum and transactions that delay it, from the statistics of Postgres.
--
-- All reads are small: no part counts attempts or deliveries. gate.depth is the number of open
-- deliveries of an endpoint.
--
-- due_at of gate_metrics() is the time since which the first delivery of an endpoint is due; null
-- if none can be claimed now. An example at 12:00:00:
--
--   endpoint                                                      due_at
--   A, enabled, first delivery due since 11:58:00                 11:58:00
--   A', the same, but a Retry-After ended at 11:59:30             11:59:30
--   B, all its deliveries are in flight                           null
--   C, its breaker is open                                        null
--
-- The first due delivery is looked up for the 200 lanes with the earliest head_at. For all others
-- due_at is head_at, which may be too early. The oldest of all is among the 200, because no
-- delivery of a lane is due before its head_at.

-- An index of the few halted lanes. No claim can use it.
create index lane_halted on outbox.lane (gate_id) where halted;

create function outbox.gate_metrics(p_now timestamptz) returns table (
  endpoint_id uuid, org_id text, kind text, status text, open bigint, halted bigint,
  in_flight integer, failures integer, failing_since timestamptz, due_at timestamptz
)
language plpgsql stable
set search_path = ''
-- These settings force index lookups: see foundation/setup.
set enable_hashjoin = off
set enable_mergejoin = off
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return query
  with gates as materialized (
    select e.id, e.org_id, e.kind,
      case
        when e.status = 'enabled' and e.breaker_enabled and g.breaker <> 'closed'
        then 'breaker_' || g.breaker
        -- Paused by a failure, not by an operator.
        when e.status = 'paused' and e.status_reason like 'held: %'
          and (select k.pauses_on_hold from outbox.endpoint_kind k where k.kind = e.kind)
        then 'held'
        else e.status
      end as status,
      g.depth, h.depth as halted, g.in_flight, g.streak, g.first_failure_at,
      l.id as lane_id, l.head_at, l.not_before,
      pg_catalog.row_number() over (order by l.head_at) as place
    from outbox.endpoint e
    cross join lateral (
      select o.* from outbox.gate o
      where o.endpoint_id = e.id order by o.changed_at desc limit 1
    ) g
    -- Unordered endpoints, the majority, have no halted lanes.
    left join lateral (
      select pg_catalog.sum(n.depth)::bigint as depth from outbox.lane n
      where n.gate_id = g.id and n.halted and e.ordering <> 'none'
    ) h on true
    -- The next due lane. Lanes of replay jobs are excluded, because their deliveries are old by
    -- design.
    left join lateral (
      select n.* from outbox.lane n
      where n.gate_id = g.id and n.next_at >= g.lanes_from and n.next_at <= p_now
        and n.next_at < 'infinity' and (n.ordered or n.key_hash = 0)
        -- In this subquery, so that the lookup is skipped if this is false.
        and g.depth > g.in_flight and e.status = 'enabled'
        and (g.breaker = 'closed' or not e.breaker_enabled)
        -- Not during a Retry-After, nor without a token.
        and greatest(g.not_before,
          outbox.next_token_at(g.tokens, g.tokens_at, e.rate_per_second)) <= p_now
      order by n.next_at limit 1
    ) l on true
    where e.status <> 'deleted'
  )
  select g.id, g.org_id, g.kind, g.status, g.depth, coalesce(g.halted, 0), g.in_flight, g.streak,
    g.first_failure_at,
    case
      when f.due_at <= p_now then greatest(f.due_at, g.not_before)
      when g.place > 200 then greatest(g.head_at, g.not_before)
    end
  from gates g
  -- This lookup reads the dead entries of deliveries that were delivered since the last claim.
  left join lateral (
    select o.due_at from outbox.delivery o
    where g.place <= 200 and o.lane_id = g.lane_id and o.lane_id > 0 and o.due_at >= g.head_at
    order by o.due_at, o.event_id limit 1
  ) f on true;
end
$$;
comment on function outbox.gate_metrics(timestamptz) is
  'All endpoints with the counts of their gates, and the time since which the first delivery is '
  'due; null if none can be claimed. due_at is exact for the 200 endpoints with the oldest due '
  'deliveries and may be too early for the others. Takes some index lookups per endpoint.';

create function outbox.queue_metrics(p_now timestamptz) returns jsonb
language plpgsql stable
set search_path = ''
as $$
declare
  v_top integer := outbox.setting_int('metrics.top_endpoints');
  v_each boolean := outbox.setting_on('metrics.per_endpoint');
begin
  return (
    with gates as materialized (
      select g.*,
        pg_catalog.row_number() over (order by g.open desc, g.endpoint_id) as by_open,
        pg_catalog.row_number() over (
          order by g.failures desc, g.failing_since, g.endpoint_id) as by_failures
      from outbox.gate_metrics(p_now) g
    )
    select pg_catalog.jsonb_build_object(
      'endpoints', (
        select coalesce(pg_catalog.jsonb_agg(s), '[]')
        from (
          select g.kind, g.status, pg_catalog.count(*) as n,
            pg_catalog.sum(g.open - case when g.status = 'enabled' then g.halted else 0 end)
              as open,
            pg_catalog.sum(g.in_flight) as in_flight
          from gates g group by g.kind, g.status
          union all
          -- These rows count lanes, so n is 0. Any other status of the endpoint takes precedence.
          select g.kind, 'halted', 0, pg_catalog.sum(g.halted), 0
          from gates g where g.status = 'enabled' and g.halted > 0 group by g.kind
        ) s),
      'due_since', (select extract(epoch from pg_catalog.min(g.due_at)) from gates g),
      'open_since', (
        select extract(epoch from pg_catalog.min(g.failing_since)) from gates g
        where g.status in ('breaker_open', 'breaker_half_open')),
      'named', (
        select coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
          'endpoint', g.endpoint_id, 'org', g.org_id, 'kind', g.kind, 'status', g.status,
          'open', g.open, 'failures', g.failures,
          'failing_since', extract(epoch from g.failing_since),
          'due_since', extract(epoch from g.due_at))), '[]')
        from gates g
        where v_each or (g.by_open <= v_top and g.open > 0)
          or (g.by_failures <= v_top and g.failures > 0))));
end
$$;
comment on function outbox.queue_metrics(timestamptz) is
  'The endpoints and their queues: {"endpoints": [{"kind", "status", "n", "open", "in_flight"}], '
  'the status halted counts the deliveries of halted lanes at enabled endpoints, '
  '"due_since", "open_since", "named": [{"endpoint", "org", "kind", "status", "open", "failures", '
  '"failing_since", "due_since"}]}, times in seconds since 1970 or null.';

create function outbox.event_metrics() returns jsonb
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_router outbox.router;
begin
  select * into v_router from outbox.router r order by r.turn desc limit 1;
  return pg_catalog.jsonb_build_object(
    -- As routing reads: new events above the watermark, and late ones.
    'unrouted', (
      select pg_catalog.count(*) from (
        (select from outbox.unrouted u where u.event_id > v_router.watermark limit 10000)
        union all
        (select from outbox.unrouted_late(v_router, 1000) u)
      ) u),
    'unrouted_since', (
      select extract(epoch from outbox.uuid_v7_time(u))
      from pg_catalog.unnest(outbox.next_unrouted(v_router)) u),
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
    'runs', (
      select coalesce(pg_catalog.jsonb_object_agg(r.kind, r.n), '{}')
      from (
        select r.kind, pg_catalog.count(*) as n from outbox.run r
        where r.ended_at is null and r.polled_at > p_now - interval '10 s'
        group by r.kind
      ) r),
    'tick_at', (select nullif(s.last_value, 0) / 1000.0 from outbox.last_tick s),
    'kick_at', (select nullif(s.last_value, 0) / 1000.0 from outbox.last_kick s),
    'kicks', pg_catalog.jsonb_build_object(
      'commit', (select s.last_value + s.is_called::integer from outbox.kicks_on_commit s),
      'tick', (select s.last_value + s.is_called::integer from outbox.kicks_by_tick s)),
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
        select o.relname as table, pg_catalog.count(*) as n,
          extract(epoch from
            (pg_catalog.max(outbox.partition_day(c.relname)) + 1)::timestamp at time zone 'UTC')
            as until,
          -- As of the last vacuum: pg_relation_size() would wait for a call that creates a
          -- partition.
          pg_catalog.sum(c.relpages::bigint * 8192) as bytes
        from pg_catalog.pg_inherits i
        join pg_catalog.pg_class c on c.oid = i.inhrelid
        join pg_catalog.pg_class o on o.oid = i.inhparent
        where i.inhparent in ('outbox.event'::regclass, 'outbox.attempt'::regclass)
          and c.relname ~ '_p[0-9]{8}$'
        group by o.relname
      ) p));
end
$$;
comment on function outbox.engine_metrics(timestamptz) is
  'The status of runs, the tick, kicks and partitions: {"enabled", "runs": by kind, "tick_at", '
  '"kick_at", "kicks": by reason, "replay_jobs", "in_default", "partitions": [{"table", "n", '
  '"until", "bytes"}]}.';

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

create function outbox.counters() returns jsonb
language plpgsql stable
set search_path = ''
as $$
declare
  v_since timestamptz := outbox.counters_since(pg_catalog.clock_timestamp());
begin
  return (
    select coalesce(pg_catalog.jsonb_agg(
      pg_catalog.jsonb_build_array(c.metric, c.labels, c.n, c.total)), '[]')
    from (
      select a.metric, a.labels, pg_catalog.sum(a.n) as n, pg_catalog.sum(a.total) as total
      from (
        select c.metric, c.labels, c.n, c.total from outbox.counter c
        union all
        select c.metric, c.labels, c.n, c.total from outbox.counter_change c where c.at >= v_since
      ) a
      group by a.metric, a.labels
      union all
      select m.metric, m.labels, m.n, m.total from outbox.more_counters() m
    ) c);
end
$$;
comment on function outbox.counters() is
  'All counters: [[metric, [label, …], n, total], …].';

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
    'database', outbox.database_metrics());
end
$$;
comment on function outbox.get_metrics() is
  'The data of the function metrics: {"version", "now", "bounds", "counters", "queue", '
  '"events", "engine", "database"}. The parts are those of counters(), queue_metrics(), '
  'event_metrics(), engine_metrics() and database_metrics(). Reads neither history nor queues.';
