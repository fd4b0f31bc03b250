-- The view of endpoints, for an operator on call: which endpoints are held, why, and since when.

create view outbox.endpoint_status with (security_invoker = true) as
select e.id, e.org_id, e.kind, e.url, e.description,
  case
    when e.status = 'enabled' and g.breaker <> 'closed' and e.breaker_enabled
    then 'breaker ' || g.breaker
    else e.status
  end as status,
  coalesce(e.status_reason, 'claiming is refused: ' || c.sqlstate || ' ' || c.error) as reason,
  coalesce(g.depth, 0) as open, coalesce(g.in_flight, 0) as in_flight,
  g.streak as failures_running, g.first_failure_at as failing_since,
  -- The probe is the next due delivery, which may be due later than open_until.
  case
    when g.breaker = 'open' then greatest(g.open_until, nullif(g.next_at, 'infinity'))
  end as probe_at,
  nullif(g.next_at, 'infinity') as next_at,
  nullif(greatest(g.not_before, case
    when g.tokens_at > 'epoch' and g.tokens < 1
    then outbox.next_token_at(g.tokens, g.tokens_at, e.rate_per_second)
  end), '-infinity') as not_before,
  e.created_at, e.updated_at, coalesce(s.n, 0) as set_aside, s.error as set_aside_error
from outbox.endpoint e
left join outbox.gate g on g.endpoint_id = e.id
left join outbox.endpoint_refusal c on c.endpoint_id = e.id and c.failures > 0
left join lateral (
  select pg_catalog.count(*) as n,
    (pg_catalog.array_agg(r.sqlstate || ' ' || r.error order by r.at desc))[1] as error
  from outbox.refusal r
  where r.endpoint_id = e.id and r.again_at = 'infinity'
) s on true;
comment on view outbox.endpoint_status is
  'All endpoints with the data of their gates: the status and its reason, the deliveries that are '
  'open and in flight, the failures in a row, the time of the next delivery, and the deliveries '
  'that are set aside, with the last error. For a deleted endpoint, open counts the deliveries '
  'that are not cancelled yet.';
