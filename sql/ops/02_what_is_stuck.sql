-- Shows late deliveries: which endpoint, since when, why, and the command that helps. The 50
-- endpoints with the oldest due delivery. Use it when an event does not arrive. Good: no line, or
-- lines that are a few seconds old. Deliveries for later (deliver_at) are not late. Counts come
-- from the gates, so millions of deliveries do not make it slower.

with waiting as materialized (
  select g.*, e.kind, e.url, e.status, e.status_reason, e.breaker_enabled,
    first.event_id, first.halted, first.aside,
    greatest(g.not_before, outbox.next_token_at(g.tokens, g.tokens_at, e.rate_per_second))
      as held_until,
    outbox.uuid_v7_time(first.event_id) as published_at
  from outbox.gate g
  join outbox.endpoint e on e.id = g.endpoint_id
  left join lateral (
    -- The first delivery of up to twenty lanes each: those due first, halted ones, and, if the gate
    -- is never due, those that are never due. Index entries of deleted rows are before head_at.
    select d.event_id, l.halted, d.scheduled, d.aside
    from (
      (
        select l.id, l.head_at, l.halted from outbox.lane l
        where l.gate_id = g.id and l.next_at < 'infinity' order by l.next_at limit 20
      )
      union all
      (
        select l.id, l.head_at, l.halted from outbox.lane l
        where l.gate_id = g.id and l.halted limit 20
      )
      union all
      (
        select l.id, l.head_at, l.halted from outbox.lane l
        where l.gate_id = g.id and g.next_at = 'infinity' and l.next_at = 'infinity' limit 20
      )
    ) l
    cross join lateral (
      select d.event_id,
        coalesce(d.deliver_at > now() and d.failed_attempts = 0, false) as scheduled,
        d.due_at = 'infinity' or exists (
          select from outbox.refusal r
          where r.endpoint_id = d.endpoint_id and r.event_id = d.event_id
            and r.again_at = 'infinity') as aside
      from outbox.delivery d
      where d.lane_id = l.id and d.lane_id > 0 and d.due_at >= l.head_at
      order by d.due_at, d.event_id limit 1
    ) d
    order by d.scheduled, d.event_id
    limit 1
  ) first on true
  where g.depth > 0 and first.scheduled is not true
  order by first.event_id
  limit 50
)
select
  w.org_id,
  w.endpoint_id,
  coalesce(nullif(w.url, ''), w.kind) as url,
  w.depth as open_deliveries,
  w.in_flight,
  w.event_id as first_event,
  w.published_at,
  greatest(now() - w.published_at, '0') as age,
  case
    when not outbox.setting_on('worker.enabled') then 'held, delivery is switched off'
    when w.status <> 'enabled' then
      pg_catalog.concat_ws(': ', 'held, the endpoint is ' || w.status, w.status_reason)
    when w.breaker <> 'closed' and w.breaker_enabled then
      'held, the breaker is ' || case
        when w.breaker = 'open' then 'open, its next probe is at '
          || greatest(w.open_until, nullif(w.next_at, 'infinity'))
        else 'half open, its probe is in flight'
      end
    when refused.again_at > now() then 'skipped, the database refuses to claim: '
      || refused.sqlstate || ' ' || refused.error
    when lane.again_at is not null then 'skipped, the database refuses to change its lane: '
      || lane.sqlstate || ' ' || lane.error
    when w.aside then pg_catalog.concat_ws(': ', 'set aside, the database refused '
        || case when r.step = 'claim' then 'to lease it' else 'its result' end,
      r.sqlstate || ' ' || r.error)
    when w.halted then 'held, a key is halted after a dead letter'
    when w.held_until > now() then 'throttled until ' || w.held_until
    when unsent.kind is not null then 'waits for a run that can send kind ' || unsent.kind
    when w.next_at > now() then 'nothing is due before ' || w.next_at
    else 'due since ' || w.next_at
  end as why,
  last.at as last_failure_at,
  coalesce(last.status::text, last.error_class) as last_failure,
  last.error as last_error,
  case
    when not outbox.setting_on('worker.enabled') then
      $$select outbox.set_setting('worker.enabled', 'true');$$
    when w.status in ('paused', 'disabled') then outbox.release_command(w.endpoint_id) || ';'
    when w.breaker <> 'closed' and w.breaker_enabled then null
    when w.aside then
      pg_catalog.format('select outbox.retry_now(%L, %L);', w.event_id, w.endpoint_id)
    when w.halted then
      pg_catalog.format('select outbox.resume_lane(%L, %L);', w.endpoint_id,
        (select v.partition_key from outbox.find_event(w.event_id, w.endpoint_id) v))
    when w.next_at <= now() then 'see 01_is_it_alive.sql'
  end as command
from waiting w
left join outbox.endpoint_refusal refused
  on refused.endpoint_id = w.endpoint_id and refused.failures > 0
left join lateral (
  select q.again_at, q.sqlstate, q.error
  from outbox.delivery d join outbox.lane_refusal q on q.lane_id = d.lane_id
  where d.event_id = w.event_id and d.endpoint_id = w.endpoint_id
) lane on true
left join outbox.refusal r on r.event_id = w.event_id and r.endpoint_id = w.endpoint_id
left join outbox.waiting_kind unsent
  on unsent.kind = w.kind and unsent.at > now() - interval '1 minute'
left join lateral (
  select a.at, a.status, a.error_class, a.error
  from (
    select a.* from outbox.attempt a
    where a.endpoint_id = w.endpoint_id order by a.at desc limit 100
  ) a
  where a.kind = 'attempt' and a.outcome = 'failed'
  order by a.at desc
  limit 1
) last on true
order by w.event_id;
