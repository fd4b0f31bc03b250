-- Shows the last 50 attempts of one endpoint, newest first. Use it when a receiver gets nothing, or
-- too much. Name the endpoint by its id or a part of its URL: in the query, or set outhook.endpoint
-- = '…' before it. Without a name, it shows the 20 newest endpoints. Good: delivered, attempt 1.

with wanted as (
  select '' || coalesce(pg_catalog.current_setting('outhook.endpoint', true), '') as text
),
asked as (
  select e.id, e.org_id, e.url, e.status
  from outbox.endpoint e cross join wanted w
  where e.id::text = w.text or pg_catalog.strpos(e.url, w.text) > 0
  order by e.created_at desc
  limit 20
)
select
  a.org_id,
  a.endpoint_id,
  a.url,
  a.endpoint_status,
  a.at,
  a.event_id,
  v.type as event_type,
  a.attempt,
  a.kind,
  a.outcome,
  a.status,
  a.error_class,
  a.error,
  a.duration_ms,
  a.next_retry_at,
  a.response
from (
  select a.*, e.org_id, e.url, e.status as endpoint_status
  from asked e
  cross join lateral (
    select a.* from outbox.attempt a where a.endpoint_id = e.id order by a.at desc limit 50
  ) a
  order by a.at desc, a.event_id, a.attempt desc, a.kind desc
  limit 50
) a
left join outbox.event v on v.id = a.event_id
union all
select null, null, null, null, null, null, null, null, null, 'no such endpoint', null, null,
  pg_catalog.format('outhook.endpoint is %L: neither an id nor a part of a URL', w.text),
  null, null, null
from wanted w
where w.text <> '' and not exists (select from asked)
order by at desc, event_id, attempt desc, kind desc;
