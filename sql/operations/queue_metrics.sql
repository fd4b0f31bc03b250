-- The part of the metrics about endpoints and their queues. gate_metrics() reads each endpoint
-- once, and queue_metrics() adds them up.
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
        when e.status = 'paused' and e.status_reason like 'held: %'
          and (select k.pauses_on_hold from outbox.endpoint_kind k where k.kind = e.kind)
        then 'held'
        when e.status = 'paused' and e.status_reason like 'unreadable: %' then 'unreadable'
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
    -- Only ordered endpoints have halted lanes.
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
