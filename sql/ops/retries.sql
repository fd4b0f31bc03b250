-- Deliveries that wait for a retry, the next one first. Use it to see what will go out again and
-- when, and what each failed of. Looks at the last 100 failures of each endpoint.

select
  a.next_retry_at,
  e.org_id,
  e.url,
  a.endpoint_id,
  a.event_id,
  v.type as event_type,
  d.tries as failed_tries,
  coalesce((p.policy ->> 'max_retries')::integer, 5) + 1 - d.tries as tries_left,
  a.status,
  a.error_class,
  a.error
from outbox.gate g
join outbox.endpoint e on e.id = g.endpoint_id
cross join lateral (select coalesce(e.retry, outbox.retry_preset(e.kind)) as policy) p
cross join lateral (
  select a.*
  from outbox.attempt a
  where a.endpoint_id = g.endpoint_id and a.next_retry_at is not null
  order by a.at desc
  limit 100
) a
-- A later attempt has a higher number: then this failure is history.
join outbox.delivery d
  on d.event_id = a.event_id and d.endpoint_id = a.endpoint_id and d.attempt = a.attempt
  and d.leased_until is null
join outbox.event v on v.id = a.event_id
where g.depth > 0
order by a.next_retry_at, a.event_id
limit 200;
