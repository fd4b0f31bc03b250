-- The retries of the attempts in [$1, $2), compared with the schedule 1, 5, 15, 60, 300 s, each multiplied
-- by 0.5 to 1.5. off: planned at another time. early: made before the planned time. late: made more than a
-- minute after it, without the time in which the breaker of the endpoint was open. held: had to wait for a
-- breaker. unplanned: neither planned nor the last.
with change as (
  select (e.body::jsonb ->> 'endpointId')::uuid as endpoint_id, e.type, e.created_at as at,
    lead(e.created_at, 1, 'infinity') over (partition by e.body::jsonb ->> 'endpointId' order by e.id) as until
  from outbox.event e
  where e.type in ('outhook.breaker.opened', 'outhook.breaker.closed') and e.org_id = 'outhook'
    and e.created_at >= $1::timestamptz - interval '1 day'
), open as materialized (
  select c.endpoint_id, tstzrange(c.at, c.until) as during
  from change c
  where c.type = 'outhook.breaker.opened'
), tried as (
  select a.*,
    count(*) filter (where a.kind = 'close') over w as lives,
    count(*) filter (where a.outcome = 'failed' and a.error_class is distinct from 'lease_expired') over w as failures,
    lead(a.at) over w as next_made, lead(a.kind) over w as next_kind
  from outbox.attempt a
  where a.at >= $1::timestamptz - interval '1 day'
  window w as (partition by a.event_id, a.endpoint_id order by a.attempt, a.kind)
), retry as (
  select r.*, extract(epoch from r.next_retry_at - r.at) as planned_s,
    extract(epoch from r.next_made - r.next_retry_at) as waited_s,
    (array[1, 5, 15, 60, 300])[r.failures] as delay_s,
    coalesce((
      select sum(extract(epoch from
        least(upper(o.during), r.next_made) - greatest(lower(o.during), r.next_retry_at)))
      from open o
      where o.endpoint_id = r.endpoint_id and r.next_made > r.next_retry_at
        and o.during && tstzrange(r.next_retry_at, r.next_made)), 0) as held_s
  from tried r
  where r.outcome = 'failed' and r.error_class is distinct from 'lease_expired' and r.lives = 0
    and r.at >= $1 and r.at < $2
)
select count(*)::integer as checked,
  (count(*) filter (
    where next_retry_at is not null and (delay_s is null
      or planned_s not between delay_s * 0.5 - 0.002 and delay_s * 1.5 + 0.002)))::integer as off,
  (count(*) filter (where waited_s < 0))::integer as early,
  (count(*) filter (where waited_s - held_s > 60))::integer as late,
  (count(*) filter (where next_retry_at is null and next_kind is distinct from 'close'))::integer as unplanned,
  (count(*) filter (where held_s > 0))::integer as held,
  coalesce(max(waited_s - held_s), 0)::float8 as worst_s
from retry
