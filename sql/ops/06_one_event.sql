-- Shows what happened to one event, in order: when it was published, each attempt with its
-- response, open deliveries with the reason, and dead letters with what was done about them. Use it
-- for a question about one event. Name the event in the query, or set outhook.event = '…' before
-- it: its id, or organisation and idempotency key as org-123/key-1. Good: each endpoint ends with
-- delivered. A replay has no row of its own: all but the last one show before their next attempt.

with wanted as (
  select '' || coalesce(pg_catalog.current_setting('outhook.event', true), '') as text
),
asked as materialized (
  select w.text::uuid as id from wanted w
  where w.text ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
  union all
  select k.event_id
  from wanted w
  join outbox.idempotency_key k on k.org_id = pg_catalog.split_part(w.text, '/', 1)
    and k.key = pg_catalog.substr(w.text, pg_catalog.strpos(w.text, '/') + 1)
  where w.text ~ '/'
),
line as (
  select v.created_at as at, 1 as place, null::uuid as endpoint_id, null::integer as attempt,
    'published' as what,
    pg_catalog.format('%s of %s, %s bytes, correlation id %s', v.type, v.org_id,
      pg_catalog.octet_length(v.body), coalesce(v.correlation_id, v.id::text)) as detail
  from asked q join outbox.event v on v.id = q.id
  union all
  select now(), 8, null, null, 'not routed yet', null
  from asked q join outbox.unrouted u on u.event_id = q.id
  union all
  select u.set_aside_at, 2, null, null, 'set aside',
    pg_catalog.format('%s; select outbox.route_again(%L);', u.error, u.event_id)
  from asked q join outbox.unroutable u on u.event_id = q.id
  union all
  select a.at, case a.kind when 'attempt' then 3 else 4 end, a.endpoint_id, a.attempt,
    case a.kind when 'attempt' then a.outcome else 'ended: ' || a.outcome end,
    case a.kind
      when 'attempt' then pg_catalog.concat_ws(', ', coalesce(a.status::text, a.error_class),
        a.duration_ms || ' ms', a.error, 'next attempt at ' || a.next_retry_at)
      else a.error
    end
  from asked q cross join lateral (
    select a.* from outbox.attempt a where a.event_id = q.id order by a.at limit 1000
  ) a
  union all
  -- An attempt after an end follows a replay. Only the last replay of a dead letter has its time.
  select coalesce(y.replayed_at, a.at), 2, a.endpoint_id, null, 'replayed',
    case when y.replayed_at is null then 'after ' || a.ended_at end
  from asked q cross join lateral (
    select o.*,
      pg_catalog.lag(o.at) over w as ended_at,
      pg_catalog.lag(o.kind = 'close' or o.outcome = 'delivered') over w as had_ended
    from (
      select a.* from outbox.attempt a where a.event_id = q.id order by a.at limit 1000
    ) o
    window w as (partition by o.endpoint_id order by o.at, o.attempt, o.kind)
  ) a
  left join lateral (
    select y.replayed_at from outbox.dead_letter y
    where y.event_id = q.id and y.endpoint_id = a.endpoint_id
      and y.replayed_at between a.ended_at and a.at
    -- Looked up for each row.
    offset 0
  ) y on true
  where a.had_ended and a.kind = 'attempt'
  union all
  select x.at, 5, x.endpoint_id, null, x.what, x.note
  from asked q cross join lateral (
    select y.endpoint_id, s.at, s.what, y.note
    from outbox.dead_letter y
    cross join lateral (values
      (y.replayed_at, 'replayed'), (y.discarded_at, 'discarded')
    ) s (at, what)
    where y.event_id = q.id and s.at is not null
      -- Such a replay is a line already.
      and (s.what <> 'replayed' or not exists (
        select from outbox.attempt a
        where a.event_id = q.id and a.endpoint_id is not distinct from y.endpoint_id
          and a.kind = 'attempt' and a.at >= y.replayed_at))
    limit 1000
  ) x
  union all
  select now(), 9, d.endpoint_id, d.attempt, d.status,
    pg_catalog.concat_ws(', ', d.held_because, 'next attempt at ' || d.next_attempt_at)
  from asked q cross join lateral (
    select s.* from outbox.delivery_status s where s.event_id = q.id and s.open limit 200
  ) d
  union all
  select null, 0, null, null, 'no such event', case
      when w.text = '' then 'outhook.event is not set'
      when q.id is not null then
        pg_catalog.format('event %s does not exist, or its day has been dropped', q.id)
      when w.text ~ '/' then pg_catalog.format(
        'outhook.event is %L: no event of the organisation has this key within %s hours', w.text,
        outbox.setting_value('idempotency.window_hours'))
      else pg_catalog.format('outhook.event is %L: neither an id nor organisation/key', w.text)
    end
  from wanted w left join asked q on true
  where not exists (select from outbox.event v where v.id = q.id)
)
select l.at, l.what, e.url, l.endpoint_id, l.attempt, l.detail
from line l
left join outbox.endpoint e on e.id = l.endpoint_id
order by l.at, l.place, l.endpoint_id, l.attempt
limit 1000;
