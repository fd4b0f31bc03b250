-- Shows dead letters that nobody replayed or discarded, by endpoint and reason, and the command
-- that sends them again after the cause is corrected. Use it when the number of dead letters grows.
-- Good: no line. It checks the 20,000 newest dead letters.

with newest as materialized (
  select x.* from outbox.dead_letter x order by x.failed_at desc, x.id desc limit 20000
)
select
  x.org_id,
  x.endpoint_id,
  e.url,
  e.status,
  x.why,
  pg_catalog.left(x.error, 200) as error,
  pg_catalog.count(*) as dead,
  pg_catalog.min(x.failed_at) as first_at,
  pg_catalog.max(x.failed_at) as last_at,
  pg_catalog.string_agg(distinct x.original_topic, ', ') as event_types,
  pg_catalog.format('select outbox.replay_many(p_endpoint_id => %L, p_failed_from => %L);',
    x.endpoint_id, pg_catalog.min(x.failed_at)) as command
from newest x
join outbox.endpoint e on e.id = x.endpoint_id
where x.replayed_at is null and x.discarded_at is null
group by x.org_id, x.endpoint_id, e.url, e.status, x.why, pg_catalog.left(x.error, 200)
order by pg_catalog.max(x.failed_at) desc, x.endpoint_id
limit 100;
