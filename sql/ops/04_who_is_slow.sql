-- Shows slow endpoints. Of the 200 endpoints with the most requests in flight, or served last, the
-- 50 slowest by the 95th percentile of their last 50 attempts. Use it when deliveries are late and
-- no attempt fails. Good: milliseconds, and in_flight well below max_in_flight. A slow endpoint
-- delays only its own deliveries.

with served as materialized (
  select g.*, e.kind, e.url, e.timeout_ms, e.max_in_flight
  from outbox.gate g
  join outbox.endpoint e on e.id = g.endpoint_id
  where e.status = 'enabled'
  order by g.in_flight desc, g.changed_at desc
  limit 200
)
select
  s.org_id,
  s.endpoint_id,
  coalesce(nullif(s.url, ''), s.kind) as url,
  t.attempts,
  t.p50_ms,
  t.p95_ms,
  t.timeouts,
  s.timeout_ms,
  s.in_flight,
  s.max_in_flight,
  s.depth as open_deliveries,
  case
    when s.last_timed_out then 'timed out last: gets one request at a time until it responds'
    when s.in_flight >= s.max_in_flight then 'at its limit of requests in flight'
    when t.p95_ms > 5000 then 'responds late: it should respond first and work afterwards'
  end as note
from served s
cross join lateral (
  select
    pg_catalog.count(*) as attempts,
    pg_catalog.round(
      pg_catalog.percentile_cont(0.5) within group (order by a.duration_ms)) as p50_ms,
    pg_catalog.round(
      pg_catalog.percentile_cont(0.95) within group (order by a.duration_ms)) as p95_ms,
    pg_catalog.count(*) filter (where a.error_class = 'timeout') as timeouts
  from (
    select a.* from outbox.attempt a
    where a.endpoint_id = s.endpoint_id order by a.at desc limit 50
  ) a
  where a.kind = 'attempt' and a.duration_ms is not null
) t
where t.attempts > 0
order by t.p95_ms desc, s.in_flight desc
limit 50;
