-- What is undelivered, for whom, since when and why: one line per endpoint that has something open,
-- the longest waiting first. Use it when somebody misses an event. Counts come from the gates, so
-- that millions of deliveries make it no slower.

select
  e.org_id,
  e.id as endpoint_id,
  e.url,
  g.depth as open_deliveries,
  g.in_flight as being_sent,
  first.event_id as oldest_event,
  outbox.uuid_v7_time(first.event_id) as oldest_published_at,
  case
    when e.state <> 'enabled' then
      pg_catalog.concat_ws(': ', 'held, the endpoint is ' || e.state, e.state_reason)
    when g.breaker <> 'closed' and e.breaker_enabled then
      pg_catalog.format('held, the breaker is %s until %s', g.breaker, g.open_until)
    when stopped.lanes > 0 and g.next_at = 'infinity' then
      pg_catalog.format('held, %s keys are halted behind a dead letter', stopped.lanes)
    when g.not_before > now() then 'held back until ' || g.not_before
    when g.next_at > now() then 'next look at ' || g.next_at
    else 'due since ' || g.next_at
  end as why,
  last.at as last_failure_at,
  coalesce(last.status::text, last.error_class) as last_failure,
  last.error as last_error
from outbox.gate g
join outbox.endpoint e on e.id = g.endpoint_id
left join lateral (
  select d.event_id
  from outbox.lane l
  cross join lateral (
    select d.event_id from outbox.delivery d
    where d.lane_id = l.id order by d.due_at, d.event_id limit 1
  ) d
  where l.gate_id = g.id
  order by d.event_id
  limit 1
) first on true
cross join lateral (
  select pg_catalog.count(*) as lanes from outbox.lane l where l.gate_id = g.id and l.halted
) stopped
left join lateral (
  select a.at, a.status, a.error_class, a.error
  from outbox.attempt a
  where a.endpoint_id = g.endpoint_id and a.kind = 'try' and a.outcome = 'failed'
  order by a.at desc
  limit 1
) last on true
where g.depth > 0
order by first.event_id;
