-- Pause one endpoint and let it drain: where it stands, and the next command. Run it again until
-- it says drained. Use it before a receiver's maintenance. Say which endpoint, by its id or a part
-- of its URL: below, or before by set outhook.endpoint = '…'. Good: enabled. Nothing is lost while
-- it is paused; for all endpoints at once see worker.enabled in the runbook.

with wanted as (
  select '' || coalesce(pg_catalog.current_setting('outhook.endpoint', true), '') as text
)
select
  e.org_id,
  e.id as endpoint_id,
  e.url,
  e.status,
  e.status_reason,
  g.in_flight as being_sent,
  g.depth as open_deliveries,
  case
    when e.status = 'enabled' then 'it is being served: pause it'
    when g.in_flight > 0 then pg_catalog.format(
      'draining: %s on their way, for %s s at most', g.in_flight, e.timeout_ms / 1000 + 5)
    else 'drained: nothing is on its way'
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
