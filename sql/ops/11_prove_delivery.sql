-- Proves that an endpoint received an event: its response, the time, the number of the attempt, and
-- the SHA-256 of the data sent. Use it when a customer says that an event did not arrive. Name the
-- event by its id: in the query, or set outhook.event = '…' before it; the columns name the
-- organisation. Good: one line for each endpoint, proven. Attempts are stored for
-- attempt.retention_days. After that, only a dead letter is left as evidence.

with wanted as (
  select '' || coalesce(pg_catalog.current_setting('outhook.event', true), '') as text
),
asked as materialized (
  select v.*
  from wanted w
  join outbox.event v on v.id = case
    when w.text ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then w.text::uuid
  end
)
select
  v.org_id,
  v.id as event_id,
  v.type as event_type,
  v.created_at as published_at,
  pg_catalog.encode(
    pg_catalog.sha256(pg_catalog.convert_to(v.body, 'UTF8')), 'hex') as sha256_of_data,
  a.endpoint_id,
  e.url,
  a.at as attempted_at,
  a.attempt,
  a.status,
  a.duration_ms,
  a.response,
  a.response_cut,
  case
    when a.outcome = 'delivered' then pg_catalog.format(
      'proven: %s was received by %s, which responded with %s at %s (attempt %s)', v.id,
      coalesce(nullif(e.url, ''), e.kind), coalesce(a.status::text, 'success'), a.at, a.attempt)
    when a.outcome = 'no_subscriber' then 'no endpoint of the organisation was subscribed to it'
    else 'not received: ' || pg_catalog.concat_ws(', ', a.outcome, a.error)
  end as verdict
from asked v
cross join lateral (
  -- For each endpoint the attempt that delivered, otherwise the last attempt.
  select distinct on (a.endpoint_id) a.*
  from (select a.* from outbox.attempt a where a.event_id = v.id limit 10000) a
  order by a.endpoint_id, (a.outcome = 'delivered') desc, a.at desc, a.kind desc
) a
left join outbox.endpoint e on e.id = a.endpoint_id
union all
select null, null, null, null, null, null, null, null, null, null, null, null, null,
  case
    when w.text = '' then 'outhook.event is not set'
    when w.text !~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
    then pg_catalog.format('outhook.event is %L: not the id of an event', w.text)
    else pg_catalog.format('event %s does not exist, or its day has been dropped', w.text)
  end
from wanted w where not exists (select from asked)
order by url, endpoint_id;
