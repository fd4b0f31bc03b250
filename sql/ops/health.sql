-- Is the outbox alive? One line per question; state is ok, look (it may be intended, or pass) or bad, and
-- runbook names the part of sql/ops/README.md to read. Use it first in every alarm and after a deployment.

with job as (
  select j.jobname, j.active, r.status, r.start_time, r.return_message
  from cron.job j
  left join lateral (
    select d.status, d.start_time, d.return_message
    from cron.job_run_details d where d.jobid = j.jobid order by d.runid desc limit 1
  ) r on true
  where j.jobname in ('outhook-tick', 'outhook-partitions')
),
answers as (
  select
    pg_catalog.count(*) as n,
    pg_catalog.count(*) filter (where r.status_code = 202) as good,
    pg_catalog.string_agg(distinct coalesce(r.status_code::text, r.error_msg, 'timed out'), ', ')
      filter (where r.status_code is distinct from 202) as bad
  from net._http_response r
  where r.created > now() - interval '5 minutes'
),
configured as (
  select pg_catalog.count(*) as n
  from vault.secrets s where s.name in ('outhook_functions_url', 'outhook_worker_secret')
),
run as (
  select pg_catalog.count(*) as n, pg_catalog.string_agg(distinct r.kind, ', ') as kinds
  from outbox.run r where r.ended_at is null and r.polled_at > now() - interval '10 s'
),
due as (
  select now() - pg_catalog.min(g.next_at) as late, pg_catalog.count(*) as n
  from outbox.gate g where g.next_at <= now() and g.next_at < 'infinity'
),
new as (
  select now() - outbox.uuid_v7_time(u.event_id) as age
  from outbox.unrouted u order by u.event_id limit 1
),
aside as (
  select pg_catalog.count(*) as n, pg_catalog.max(u.error) as error from outbox.unroutable u
),
leases as (
  select
    coalesce(pg_catalog.sum(l.leased), 0) as n,
    pg_catalog.max(now() - l.leased_until) filter (where l.leased_until < now()) as overdue
  from outbox.lane l where l.leased > 0
),
dead as (
  select pg_catalog.count(*) as n
  from outbox.dead_letter x where x.id >= outbox.uuid_v7_floor(now() - interval '1 day')
),
astray as (
  select exists (select from outbox.event_default) or exists (select from outbox.attempt_default) as any
)
select c.question, c.state, c.answer, case when c.state <> 'ok' then c.runbook end as runbook
from (
  select 1 as place, 'Is delivery switched on?' as question,
    case when outbox.setting_on('worker.enabled') then 'ok' else 'look' end as state,
    'worker.enabled is ' || outbox.setting_value('worker.enabled') as answer, 'Nothing moves' as runbook
  union all
  select 2, 'Does the tick run?',
    case when j.active and j.start_time > now() - interval '3 minutes' and j.status <> 'failed' then 'ok' else 'bad' end,
    case
      when j.jobname is null then 'there is no job outhook-tick'
      when not j.active then 'the job outhook-tick is switched off'
      else pg_catalog.concat_ws(', ', coalesce(j.status, 'has not run yet'), j.start_time::text,
        case when j.status = 'failed' then j.return_message end)
    end, 'No tick'
  from (select 'outhook-tick' as name) n left join job j on j.jobname = n.name
  union all
  select 3, 'Are partitions made ahead?',
    case when j.active and not a.any and j.status is distinct from 'failed' then 'ok' else 'bad' end,
    case
      when j.jobname is null then 'there is no job outhook-partitions'
      when a.any then 'rows have gone to the default partition'
      else pg_catalog.concat_ws(', ', coalesce(j.status, 'has not run yet'), j.start_time::text,
        case when j.status = 'failed' then j.return_message end)
    end, 'Partitions'
  from (select 'outhook-partitions' as name) n left join job j on j.jobname = n.name cross join astray a
  union all
  select 4, 'Does the database know where the function is?',
    case when c.n = 2 then 'ok' when r.kinds like '%worker%' then 'ok' else 'bad' end,
    case when c.n = 2 then 'configured' when r.kinds like '%worker%' then 'not configured; a worker delivers' else 'not configured' end,
    'Not configured'
  from configured c cross join run r
  union all
  select 5, 'What did the function answer in 5 minutes?',
    case when a.bad is null then 'ok' when a.good > 0 then 'look' else 'bad' end,
    pg_catalog.format('%s answers to pg_net, %s of them 202%s', a.n, a.good, '; else ' || a.bad), 'Kicks fail'
  from answers a
  union all
  select 6, 'Is a run awake?',
    case when r.n > 0 or d.late is null or d.late < interval '5 s' then 'ok' else 'bad' end,
    coalesce(r.n || ' (' || r.kinds || ')', 'none'), 'Kicks fail'
  from run r cross join due d
  union all
  select 7, 'How late is the oldest due endpoint?',
    case when d.late is null or d.late < interval '5 s' then 'ok' when d.late < interval '1 minute' then 'look' else 'bad' end,
    coalesce(d.n || ' due, the oldest for ' || d.late, 'none is due'), 'Falling behind'
  from due d
  union all
  select 8, 'How old is the oldest unrouted event?',
    case when n.age is null or n.age < interval '5 s' then 'ok' when n.age < interval '1 minute' then 'look' else 'bad' end,
    coalesce(n.age::text, 'none is unrouted'), 'Falling behind'
  from (values (1)) as one (row) left join new n on true
  union all
  select 9, 'Are events set aside?',
    case when a.n = 0 then 'ok' else 'bad' end,
    case when a.n = 0 then 'none' else pg_catalog.format('%s, such as: %s', a.n, a.error) end, 'Set aside'
  from aside a
  union all
  select 10, 'Do runs end without a word?',
    case when l.overdue is null or l.overdue < interval '5 s' then 'ok' else 'look' end,
    pg_catalog.format('%s deliveries leased%s', l.n, ', one overdue by ' || l.overdue), 'Lost leases'
  from leases l
  union all
  select 11, 'Are there new dead letters?',
    case when d.n = 0 then 'ok' else 'look' end, d.n || ' in 24 hours', 'Dead letters'
  from dead d
) c
order by c.place;
