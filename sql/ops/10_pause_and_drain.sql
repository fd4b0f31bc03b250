-- Shows the steps to pause one endpoint and wait until nothing is in flight: the current step and
-- the next command. Use it before maintenance of a receiver. Run it again after each command, until
-- it says drained. Name the endpoint by its id or a part of its URL: in the query, or set
-- outhook.endpoint = '…' before it. Good: enabled. Nothing is lost while the endpoint is paused. To
-- stop all endpoints at once, see worker.enabled in RUNBOOK.md.

with wanted as (
  select '' || coalesce(pg_catalog.current_setting('outhook.endpoint', true), '') as text
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
      pg_catalog.format('select outbox.pause_endpoint(%L, %L)', e.id, 'maintenance')
    when g.in_flight > 0 then 'wait, and run this again'
    else outbox.release_command(e.id)
  end as command
from outbox.endpoint e
cross join wanted w
join outbox.gate g on g.endpoint_id = e.id
where w.text <> '' and (e.id::text = w.text or pg_catalog.strpos(e.url, w.text) > 0)
  and e.status <> 'deleted'
order by e.created_at desc
limit 20;
