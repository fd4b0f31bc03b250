-- What is undelivered, for whom, since when and why: one line per endpoint that has open deliveries,
-- the longest waiting first. Use it when somebody misses an event. Counts come from the gates, so it
-- is as quick with millions of deliveries as with ten.

select
  e.org_id,
  e.id as endpoint_id,
  e.url,
  g.depth as open_deliveries,
  g.in_flight as being_sent,
  first.event_id as oldest_event,
  outbox.uuid_v7_time(first.event_id) as oldest_published_at,
  case
    when e.state <> 'enabled' then 'held: the endpoint is ' || e.state
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
left join lateral (
  select a.at, a.status, a.error_class, a.error
  from outbox.attempt a
  where a.endpoint_id = g.endpoint_id and a.kind = 'try' and a.outcome = 'failed'
  order by a.at desc
  limit 1
) last on true
where g.depth > 0
order by first.event_id;
