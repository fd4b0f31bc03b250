-- Shows failing endpoints: since when, with which errors, and what helps. It checks the last 50
-- attempts of the 100 endpoints that have failed for longest and of the 200 that were served last.
-- Endpoints whose last attempt failed come first. Use it when an alert is about failures, dead
-- letters or breakers. Good: no line, or none that has failed for long.

with looked_at as (
  (
    select g.id from outbox.gate g
    where g.first_failure_at is not null or g.streak > 0
    order by g.first_failure_at, g.id limit 100
  )
  union
  (select g.id from outbox.gate g order by g.changed_at desc limit 200)
),
failing as materialized (
  select g.*, e.kind, e.url, e.status, e.status_reason, e.breaker_enabled
  from looked_at o
  join outbox.gate g on g.id = o.id
  join outbox.endpoint e on e.id = g.endpoint_id
  where e.status <> 'deleted'
)
select
  f.org_id,
  f.endpoint_id,
  coalesce(nullif(f.url, ''), f.kind) as url,
  case
    when f.status <> 'enabled' then f.status || coalesce(': ' || f.status_reason, '')
    when f.breaker <> 'closed' and f.breaker_enabled then 'breaker ' || f.breaker
    else f.status
  end as status,
  f.first_failure_at as failing_since,
  f.streak as consecutive_failures,
  f.depth as open_deliveries,
  t.delivered as delivered_of_last_50,
  t.failures as failures_of_last_50,
  t.last_error,
  h.hint as remedy,
  case
    when f.status = 'enabled' and f.breaker <> 'open' and t.delivered = 0 then
      pg_catalog.format('select outbox.pause_endpoint(%L, %L);', f.endpoint_id, 'it fails')
    else outbox.release_command(f.endpoint_id) || ';'
  end as command
from failing f
cross join lateral (
  select
    coalesce(pg_catalog.sum(k.n) filter (where k.class is null), 0)::integer as delivered,
    pg_catalog.string_agg(
      pg_catalog.format('%s x %s', k.n, k.class), ', ' order by k.n desc, k.class)
      filter (where k.class is not null) as failures,
    (pg_catalog.array_agg(k.error_class order by k.at desc)
      filter (where k.class is not null))[1] as error_class,
    (pg_catalog.array_agg(k.error order by k.at desc)
      filter (where k.class is not null))[1] as last_error
  from (
    select c.class, pg_catalog.count(*) as n, pg_catalog.max(a.at) as at,
      (pg_catalog.array_agg(a.error order by a.at desc))[1] as error,
      (pg_catalog.array_agg(a.error_class order by a.at desc))[1] as error_class
    from (
      select a.* from outbox.attempt a
      where a.endpoint_id = f.endpoint_id order by a.at desc limit 50
    ) a
    cross join lateral (
      select case when a.outcome <> 'delivered' then coalesce(a.status::text, a.error_class) end
        as class
    ) c
    where a.kind = 'attempt'
    group by c.class
  ) k
) t
left join outbox.error_hint h on h.error_class = t.error_class
where t.failures is not null
order by f.first_failure_at, t.delivered, f.id
limit 100;
