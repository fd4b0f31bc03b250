-- Shows the dead letters and deliveries of one endpoint in the last hour, and the commands that
-- send them again. Use it when a receiver was down for longer than its retries, or has lost data.
-- Name the endpoint by its id or a part of its URL: in the query, or set outhook.endpoint = '…'
-- before it. Good: 0 dead letters. A replay keeps the event's id, so a receiver can skip events
-- that it has.

with wanted as (
  select '' || coalesce(pg_catalog.current_setting('outhook.endpoint', true), '') as text
),
asked as materialized (
  select e.*
  from outbox.endpoint e cross join wanted w
  where w.text <> '' and (e.id::text = w.text or pg_catalog.strpos(e.url, w.text) > 0)
    and e.status <> 'deleted'
  order by e.created_at desc
  limit 5
)
select e.org_id, e.id as endpoint_id, e.url, 'dead letters' as what, x.n as count,
  'as a job, 20 a second' as how,
  pg_catalog.format(
    'select outbox.replay_many(p_endpoint_id => %L, p_failed_from => now() - %L::interval, '
    'p_rate_per_second => 20);', e.id, '1 hour') as command
from asked e
cross join lateral (
  select pg_catalog.count(*) as n
  from (
    select y.replayed_at, y.discarded_at from outbox.dead_letter y
    where y.endpoint_id = e.id and y.failed_at > now() - interval '1 hour' limit 10000
  ) y
  where y.replayed_at is null and y.discarded_at is null
) x
union all
select e.org_id, e.id, e.url, 'delivered',
  (outbox.get_org_stats(e.org_id, e.id, 1) #>> '{attempts,delivered}')::bigint,
  'the newest 500; repeat until no line is left; it blocks the endpoint while it runs',
  pg_catalog.format(
    'select outbox.replay(a.event_id, a.endpoint_id) from outbox.attempt a '
    'where a.endpoint_id = %L and a.at > now() - %L::interval and a.outcome = %L '
    'and a.at < %L order by a.at desc limit 500;', e.id, '1 hour', 'delivered', now())
from asked e
union all
select j.org_id, j.endpoint_id, e.url, 'job ' || j.id || ', ' || j.status, j.replayed,
  pg_catalog.format('%s skipped, up to %s', j.skipped, j.at_failed),
  case
    when j.status = 'running' then pg_catalog.format('select outbox.set_replay_job(%L, %L);', j.id,
      'paused')
    when j.status = 'paused' then pg_catalog.format('select outbox.set_replay_job(%L, %L);', j.id,
      'running')
  end
from (select * from outbox.replay_job order by id desc limit 100) j
join asked e on e.id = j.endpoint_id
union all
select null, null, null, 'no such endpoint', null,
  case
    when w.text = '' then 'outhook.endpoint is not set'
    else pg_catalog.format('outhook.endpoint is %L: neither an id nor a part of a URL', w.text)
  end,
  null
from wanted w where not exists (select from asked);
