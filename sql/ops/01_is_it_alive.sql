-- Checks whether the outbox works, with one line for each question. Use it first in every alarm and
-- after each deployment. The column status is ok, warning (it may be intended or temporary) or
-- error. The column runbook names the section of RUNBOOK.md to read. Good: every line is ok. It
-- reads only small tables, and large ones from their first live row.

with job as (
  select j.jobname, j.active, r.status, r.start_time, r.return_message
  from cron.job j
  left join lateral (
    select d.status, d.start_time, d.return_message
    from cron.job_run_details d where d.jobid = j.jobid order by d.runid desc limit 1
  ) r on true
),
-- The tick stores the time when it ended, because the log of pg_cron may be disabled.
tick as materialized (
  select j.*, outbox.last_tick_at() as ticked_at, outbox.tick_problem() as problem
  from (select 'outhook-tick' as name) n left join job j on j.jobname = n.name
),
-- Materialized, because each use of the count would read the default partitions again.
partitions as materialized (
  select j.*, q.rows_in_default
  from (select 'outhook-partitions' as name) n left join job j on j.jobname = n.name
  cross join outbox.queue_health q
),
cleanup as (
  -- One of the two nightly jobs: the one with a problem, if there is one.
  select j.*, n.name
  from (values ('outhook-cleanup'), ('outhook-drop-partitions')) n (name)
  left join job j on j.jobname = n.name
  order by j.active and j.status is distinct from 'failed'
    and coalesce(j.start_time > now() - interval '25 hours', true) nulls first
  limit 1
),
-- A step that fails, or that was not finished on a day.
unfinished as (
  select pg_catalog.string_agg(p.name || coalesce(': ' || p.error, ''), ', ' order by p.name)
    as steps
  from outbox.cleanup_progress p
  where p.error is not null or p.done_on < (now() at time zone 'UTC')::date - 1
),
held as (
  select
    pg_catalog.count(*) as n,
    pg_catalog.string_agg(distinct s.status, ', ') as how
  from outbox.endpoint_status s where s.status not in ('enabled', 'deleted')
),
configured as (
  select pg_catalog.count(*) = 2 as fully, pg_catalog.count(outbox.try_read(s.id)) = 2 as readable
  from vault.secrets s where s.name in ('outhook_functions_url', 'outhook_worker_secret')
),
kicks as (
  select
    pg_catalog.count(*) as n,
    pg_catalog.count(*) filter (where r.status_code = 202) as accepted,
    -- A function that starts slowly is a timeout of pg_net, although its run begins.
    pg_catalog.count(*)
      filter (where r.status_code is distinct from 202 and r.timed_out is not true) as refused,
    pg_catalog.bool_or(r.status_code = 202) filter (where r.nth = 1) as last_accepted,
    pg_catalog.bool_or(r.status_code = 202) filter (where r.nth <= 3) as lately_accepted,
    -- The text of a timeout has its timings, so each is different.
    pg_catalog.string_agg(distinct coalesce(r.status_code::text,
        case when r.timed_out then 'timed out' end, r.error_msg, 'no response'), ', ')
      filter (where r.status_code is distinct from 202) as others
  from (
    select o.*, pg_catalog.row_number() over (order by o.created desc, o.id desc) as nth
    from net._http_response o
    where o.created > now() - interval '5 minutes'
  ) r
),
runs as (
  select
    pg_catalog.count(*) as n,
    pg_catalog.string_agg(distinct r.kind, ', ') as kinds,
    coalesce(pg_catalog.bool_or(r.kind = 'worker'), false) as any_worker
  from outbox.run r
  where r.ended_at is null and r.polled_at > outbox.alive_since(now())
),
due as (
  select pg_catalog.count(*) as n, greatest(now() - pg_catalog.min(g.next_at), '0') as late
  from outbox.gate g
  where g.next_at >= (select outbox.ring_from(now())) and g.next_at <= now()
    and g.next_at < 'infinity'
),
new as (
  select greatest(now() - q.oldest_unrouted_at, '0') as late from outbox.queue_health q
),
aside as (
  select pg_catalog.count(*) as n, pg_catalog.max(u.error) as error from outbox.unroutable u
),
refused as (
  select q.set_aside as n, q.set_aside_error as error from outbox.queue_health q
),
left_out as (
  select pg_catalog.count(*) as n, pg_catalog.max(r.sqlstate || ' ' || r.error) as error
  from outbox.endpoint_refusal r where r.again_at > now()
),
lanes as (
  select pg_catalog.count(*) as n, pg_catalog.max(r.sqlstate || ' ' || r.error) as error
  from outbox.lane_refusal r
  join outbox.lane l on l.id = r.lane_id and (l.depth > 0 or l.leased > 0)
),
unreadable as (
  select pg_catalog.count(*) as n, pg_catalog.max(e.id::text || ', ' || e.status_reason) as first
  from outbox.endpoint e where e.status = 'paused' and e.status_reason like 'unreadable: %'
),
leases as (
  select
    (select coalesce(pg_catalog.sum(g.in_flight), 0) from outbox.gate g) as n,
    greatest(now() - pg_catalog.min(l.leased_until), '0') as late
  from (
    -- Few gates have requests in flight, and their leased lanes are due first.
    select l.leased_until
    from outbox.gate g
    cross join lateral (
      select l.leased_until, l.leased from outbox.lane l
      where l.gate_id = g.id and l.next_at < 'infinity' order by l.next_at limit 20
    ) l
    where g.in_flight > 0 and l.leased > 0
  ) l
),
dead as (
  select pg_catalog.count(*) as n
  from (
    select x.replayed_at, x.discarded_at from outbox.dead_letter x
    where x.failed_at > now() - interval '1 day' order by x.failed_at desc limit 10000
  ) x
  where x.replayed_at is null and x.discarded_at is null
),
pinned as (
  select
    greatest(now() - pg_catalog.min(a.xact_start), '0') as late,
    (pg_catalog.array_agg(pg_catalog.format('pid %s, %s', a.pid, a.state) order by a.xact_start))[1]
      as who
  from pg_catalog.pg_stat_activity a
  where a.backend_type = 'client backend' and a.pid <> pg_catalog.pg_backend_pid()
    and coalesce(a.backend_xmin, a.backend_xid) is not null
),
limits as materialized (
  select n.name, pg_catalog.string_agg(coalesce(n.problem, n.detail), '; ') as detail,
    pg_catalog.bool_or(n.problem is not null) as is_near
  from outbox.near_limits(outbox.clock()) n group by n.name
),
checks as (
  select 1 as place, 'Is delivery switched on?' as question, 'Nothing moves' as runbook,
    case when outbox.setting_on('worker.enabled') then 'ok' else 'warning' end as status,
    'worker.enabled is ' || outbox.setting_value('worker.enabled')::text as result
  union all
  select 2, 'Does the tick run?', 'No tick',
    case
      when t.active is not true or t.problem is not null then 'error'
      when t.status = 'failed' or t.ticked_at is null then 'warning'
      else 'ok'
    end,
    pg_catalog.concat_ws(', ',
      case
        when t.jobname is null then 'there is no job outhook-tick'
        when not t.active then 'the job outhook-tick is switched off'
        when t.problem is not null then t.problem
        when t.ticked_at is null then 'it has not run yet; it must run within 90 s'
        else 'it last ended at ' || t.ticked_at
      end,
      case when t.status = 'failed' then 'its last run failed: ' || t.return_message end)
  from tick t
  union all
  select 3, 'Are partitions created ahead?', 'Partitions',
    case
      when p.active and p.status is distinct from 'failed' and p.rows_in_default = 0
        and (p.status is not null or t.problem is null)
      then 'ok' else 'error'
    end,
    case
      when p.rows_in_default > 0 then p.rows_in_default || ' rows are in a default partition'
      when p.jobname is null then 'there is no job outhook-partitions'
      when not p.active then 'the job outhook-partitions is switched off'
      when p.status is null then 'it has not run yet'
      else pg_catalog.concat_ws(', ', p.status, p.start_time, p.return_message)
    end
  from partitions p cross join tick t
  union all
  select 4, 'Does the nightly cleanup run?', 'Cleanup',
    case
      when c.active and c.status is distinct from 'failed'
        and coalesce(c.start_time > now() - interval '25 hours', t.problem is null)
        and u.steps is null
      then 'ok' else 'error'
    end,
    case
      when c.jobname is null then 'there is no job ' || c.name
      when not c.active then 'the job ' || c.name || ' is switched off'
      when u.steps is not null then 'not finished: ' || u.steps
      when c.status is null then 'it has not run yet'
      else pg_catalog.concat_ws(', ', c.status, c.start_time, c.return_message)
    end
  from cleanup c cross join tick t cross join unfinished u
  union all
  select 5, 'Does the database know where the function is?', 'Not configured',
    case when (c.fully and c.readable) or r.any_worker then 'ok' else 'error' end,
    case
      when c.fully and not c.readable
      then 'yes, but Vault cannot decrypt it: call configure() again'
      when c.fully then 'yes'
      when r.any_worker then 'no, but a worker delivers'
      else 'no'
    end
  from configured c cross join runs r
  union all
  select 6, 'How did the function respond in the last 5 minutes?', 'No run',
    case
      when k.others is null then 'ok'
      when k.refused = 0 and (k.last_accepted or r.n > 0) then 'ok'
      -- Of the last three, so that a change shows before five minutes are over.
      when k.lately_accepted then 'warning'
      else 'error'
    end,
    pg_catalog.format('%s responses to pg_net, %s of them 202%s', k.n, k.accepted,
      '; others: ' || k.others)
  from kicks k cross join runs r
  union all
  select 7, 'Do functions and database fit together?', 'Two versions',
    case when v.problem is null then 'ok' else 'error' end,
    coalesce(v.problem, 'no run was refused in the last 5 minutes')
  from (select outbox.contract_problem(outbox.clock()) as problem) v
  union all
  select 8, 'Is a run alive if work is due?', 'No run',
    case when r.n > 0 or d.late < interval '5 s' then 'ok' else 'error' end,
    case when r.n > 0 then pg_catalog.format('%s (%s)', r.n, r.kinds) else 'none is alive' end
  from runs r cross join due d
  union all
  select 9, 'How late is the oldest due endpoint?', 'Falling behind',
    case
      when d.late < interval '5 s' then 'ok'
      when d.late < interval '1 minute' then 'warning'
      else 'error'
    end,
    pg_catalog.format('%s due, the oldest for %s', d.n, d.late)
  from due d
  union all
  select 10, 'How old is the oldest unrouted event?', 'Falling behind',
    case
      when n.late < interval '5 s' then 'ok'
      when n.late < interval '1 minute' then 'warning'
      else 'error'
    end,
    n.late::text
  from new n
  union all
  select 11, 'Are events set aside?', 'Set aside',
    case when a.n = 0 then 'ok' else 'error' end,
    pg_catalog.concat_ws(', such as: ', a.n, a.error)
  from aside a
  union all
  select 12, 'Does the database refuse a delivery?', 'Refused',
    case when r.n = 0 and l.n = 0 and k.n = 0 then 'ok' else 'error' end,
    pg_catalog.concat_ws(', such as: ', pg_catalog.concat_ws(', ', r.n || ' deliveries set aside',
      case when l.n > 0 then l.n || ' endpoints skipped' end,
      case when k.n > 0 then k.n || ' lanes skipped' end), coalesce(r.error, l.error, k.error))
  from refused r cross join left_out l cross join lanes k
  union all
  select 13, 'Can all secrets be read?', 'Unreadable secrets',
    case when u.n = 0 then 'ok' else 'error' end,
    case when u.n = 0 then 'yes' else pg_catalog.concat_ws(', such as: ', u.n || ' endpoints held',
      u.first) end
  from unreadable u
  union all
  select 14, 'Do runs end without reporting results?', 'Lost leases',
    case when l.late < interval '5 s' then 'ok' else 'warning' end,
    pg_catalog.concat_ws(', one overdue by ', l.n || ' deliveries leased',
      case when l.late > interval '0' then l.late end)
  from leases l
  union all
  select 15, 'Are endpoints held?', 'Held',
    case when h.n = 0 then 'ok' else 'warning' end, pg_catalog.concat_ws(': ', h.n, h.how)
  from held h
  union all
  select 16, 'Are there new dead letters?', 'Dead letters',
    case when d.n = 0 then 'ok' else 'warning' end,
    d.n || ' in 24 hours that nobody replayed or discarded'
  from dead d
  union all
  select 17, 'Does a transaction delay vacuum?', 'Vacuum delayed',
    case
      when p.late < interval '1 minute' then 'ok'
      when p.late < interval '10 minutes' then 'warning'
      else 'error'
    end,
    pg_catalog.concat_ws(', the oldest of ', p.who, p.late)
  from pinned p
  union all
  select 18, 'Does the database belong to the project of its runs?', 'A copy',
    case when c.problem is null then 'ok' else 'error' end,
    coalesce(c.problem, (select 'yes: ' || b.project from outbox.binding b),
      'it belongs to no project until the first run')
  from (select outbox.binding_problem(outbox.clock()) as problem) c
  union all
  select 19, 'Does pg_net send the kicks?', 'Kicks wait',
    case when k.problem is null then 'ok' when r.any_worker then 'warning' else 'error' end,
    coalesce(k.problem, 'no kick waits for 20 s')
  from (select outbox.kick_problem(outbox.clock()) as problem) k cross join runs r
  union all
  select 20, 'Is each watched table published?', 'Broken watch',
    case when w.problems is null then 'ok' else 'error' end,
    coalesce(w.problems, 'yes')
  from (
    -- Empty without the module watch.
    select pg_catalog.string_agg(p, '; ' order by p) as problems
    from pg_catalog.unnest(outbox.more_problems()) p
  ) w
  union all
  select 21, 'Does the periodic work process everything?', 'Periodic work',
    case when u.problem is null then 'ok' else 'error' end,
    coalesce(u.problem || ', such as: ' || (
      select r.sqlstate || ' ' || r.error from outbox.upkeep_refusal r
      where r.shown_until > outbox.clock() order by r.at desc, r.task, r.member limit 1), 'yes')
  from (select outbox.upkeep_problem(outbox.clock()) as problem) u
  union all
  select 22, 'Can a run send each kind of endpoint?', 'No sender',
    case when k.problem is null then 'ok' else 'error' end,
    coalesce(k.problem, 'yes')
  from (select outbox.kind_problem(outbox.clock()) as problem) k
  union all
  select 23, 'Has each setting a row?', 'Missing settings',
    case when s.problem is null then 'ok' else 'error' end,
    coalesce(s.problem, 'yes')
  from (select outbox.settings_problem() as problem) s
  union all
  select q.place, q.question, q.runbook, case when l.is_near then 'error' else 'ok' end, l.detail
  from (values
    (24, 'disk', 'Is there room on the disk?', 'Disk'),
    (25, 'transaction_ids', 'Are there transaction ids left?', 'Transaction ids'),
    (26, 'connections', 'Are there connections left?', 'Connections'),
    (27, 'dead_rows', 'Does vacuum remove dead rows?', 'Vacuum delayed'),
    (28, 'partitions', 'How far do the partitions reach?', 'Partitions'),
    (29, 'net_requests', 'Is the queue of pg_net short?', 'Kicks wait'),
    (30, 'traffic', 'How much was sent in this month?', 'Traffic')
  ) q (place, name, question, runbook)
  join limits l on l.name = q.name
)
select c.question, c.status, c.result, case when c.status <> 'ok' then c.runbook end as runbook
from checks c
order by c.place;
