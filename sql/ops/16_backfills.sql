-- Shows replay jobs and backfills, open ones first: how far they are and what they wait for. Use it
-- when an endpoint waits for old events or rows. Good: looked grows, and waits_for is empty.

select j.id, j.source, j.org_id, e.url, j.status, j.looked,
  j.total as about_total, j.replayed as sent, j.skipped, j.rate_per_second,
  case
    when j.status <> 'running' then null
    when r.error is not null then 'failed, and is repeated: ' || r.error
    else j.waits_for
  end as waits_for,
  j.created_at, j.finished_at,
  case j.status
    when 'running' then pg_catalog.format('select outbox.set_replay_job(%L, %L);', j.id, 'paused')
    when 'paused' then pg_catalog.format('select outbox.set_replay_job(%L, %L);', j.id, 'running')
  end as command
from outbox.replay_job j
left join outbox.endpoint e on e.id = j.endpoint_id
left join outbox.upkeep_refusal r
  on r.task in ('outbox.work_backfills', 'outbox.work_replay_jobs')
  and r.member = 'replay job ' || j.id
  and r.shown_until > now()
order by j.status in ('running', 'paused') desc, j.id desc
limit 50;
