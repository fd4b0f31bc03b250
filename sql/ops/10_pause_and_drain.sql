-- Shows the steps to pause one endpoint and wait until nothing is in flight: the current step and
-- the next command. Use it before maintenance of a receiver. Run it again after each command, until
-- it says drained. Name the endpoint by its id or a part of its URL: in the query, or set
-- outhook.endpoint = '…' before it. Good: enabled. Nothing is lost while the endpoint is paused. To
-- stop all endpoints at once, see worker.enabled in RUNBOOK.md.

with wanted as (
  select '' || coalesce(pg_catalog.current_setting('outhook.endpoint', true), '') as text
),
asked as materialized (
  select e.*
  from outbox.endpoint e cross join wanted w
  where w.text <> '' and (e.id::text = w.text or pg_catalog.strpos(e.url, w.text) > 0)
    and e.status <> 'deleted'
  order by e.created_at desc
  limit 20
)
select
  e.org_id,
  e.id as endpoint_id,
  e.url,
  e.status,
  e.status_reason,
  g.in_flight,
  g.depth as open_deliveries,
  case
    when e.status = 'enabled' then 'enabled: pause it'
    when g.in_flight > 0 then pg_catalog.format(
      'draining: %s in flight, for at most %s s', g.in_flight, e.timeout_ms / 1000 + 5)
    else 'drained: nothing is in flight'
  end as step,
  case
    when e.status = 'enabled' then
      pg_catalog.format('select outbox.pause_endpoint(%L, %L);', e.id, 'maintenance')
    when g.in_flight > 0 then 'wait, and run this again'
    else outbox.release_command(e.id) || ';'
  end as command
from asked e
join outbox.gate g on g.endpoint_id = e.id
union all
select null, null, null, null, null, null, null,
  'no such endpoint: ' || case
    when w.text = '' then 'outhook.endpoint is not set'
    else pg_catalog.format('outhook.endpoint is %L, neither an id nor a part of a URL', w.text)
  end,
  null
from wanted w where not exists (select from asked)
order by url, endpoint_id;
