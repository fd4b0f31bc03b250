-- The view of endpoints, for an operator on call: which endpoints are held, why, and since when.

create view outbox.endpoint_status with (security_invoker = true) as
select e.id, e.org_id, e.kind, e.url, e.description,
  case
    when e.status = 'enabled' and g.breaker <> 'closed' and e.breaker_enabled
    then 'breaker ' || g.breaker
    else e.status
  end as status,
  coalesce(e.status_reason, 'claiming is refused: ' || c.sqlstate || ' ' || c.error,
    'claiming from ' || q.n || ' of its lanes is refused: ' || q.error,
    'waits for a run that can send kind ' || w.kind) as reason,
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
left join outbox.waiting_kind w on w.kind = e.kind and w.at > pg_catalog.now() - interval '1 minute'
  and e.status = 'enabled' and g.depth > 0
left join lateral (
  select pg_catalog.count(*) as n,
    (pg_catalog.array_agg(r.sqlstate || ' ' || r.error order by r.at desc))[1] as error
  from outbox.refusal r
  where r.endpoint_id = e.id and r.again_at = 'infinity'
) s on true
left join lateral (
  select pg_catalog.count(*) as n,
    (pg_catalog.array_agg(r.sqlstate || ' ' || r.error order by r.at desc))[1] as error
  from outbox.lane_refusal r
  join outbox.lane l on l.id = r.lane_id and (l.depth > 0 or l.leased > 0)
  where r.endpoint_id = e.id
) q on true;
comment on view outbox.endpoint_status is
  'All endpoints with the data of their gates: the status and its reason, the deliveries that are '
  'open and in flight, the failures in a row, the time of the next delivery, and the deliveries '
  'that are set aside, with the last error. For a deleted endpoint, open counts the deliveries '
  'that are not cancelled yet.';
comment on column outbox.endpoint_status.id is 'The endpoint.';
comment on column outbox.endpoint_status.org_id is 'Its organisation.';
comment on column outbox.endpoint_status.kind is 'Its kind, such as webhook or kafka.';
comment on column outbox.endpoint_status.url is 'Where its deliveries go.';
comment on column outbox.endpoint_status.description is 'The description that its creator gave.';
comment on column outbox.endpoint_status.status is
  'enabled, paused, disabled, deleted, breaker open or breaker half_open.';
comment on column outbox.endpoint_status.reason is
  'Why it has this status, or why nothing is sent although it is enabled.';
comment on column outbox.endpoint_status.open is 'How many deliveries have not ended.';
comment on column outbox.endpoint_status.in_flight is
  'How many requests are in flight: one for each leased delivery, and one for a lane that is '
  'sent in order.';
comment on column outbox.endpoint_status.failures_running is
  'How many failures in a row the breaker has counted. A 4xx that it does not count ends them.';
comment on column outbox.endpoint_status.failing_since is
  'When the first attempt after the last success failed, other than by a request to wait. Null: '
  'none has.';
comment on column outbox.endpoint_status.probe_at is
  'When the open breaker lets the next probe through. Null: it is not open.';
comment on column outbox.endpoint_status.next_at is
  'When the endpoint is looked at next. Null: nothing waits.';
comment on column outbox.endpoint_status.not_before is
  'Until when a Retry-After, a throttle or the rate delays its deliveries. Null: nothing has '
  'delayed them.';
comment on column outbox.endpoint_status.created_at is 'When it was created.';
comment on column outbox.endpoint_status.updated_at is 'When its settings changed last.';
comment on column outbox.endpoint_status.set_aside is
  'How many of its deliveries the database rejected, until retry_now().';
comment on column outbox.endpoint_status.set_aside_error is 'The last SQLSTATE and text of these.';
