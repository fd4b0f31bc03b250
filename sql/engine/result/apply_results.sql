-- Results that have to be judged: what a failure means for the delivery, its lane, its endpoint and
-- the breaker, and what a success means for a breaker that is not closed.

create function outbox.apply_results(
  p_results outbox.result[], p_now timestamptz
) returns outbox.news
language plpgsql
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_news outbox.news;
  v_empty bigint[];
  v_events uuid[];
  v_endpoints uuid[];
  v_attempts integer[];
  v_patience interval :=
    pg_catalog.make_interval(days => outbox.setting_int('endpoint.disable_after_days'));
  v_longest integer := outbox.setting_int('retry_after.max_s');
  v_bounds integer[] := outbox.attempt_bounds();
  v_ages bigint[] := outbox.latency_bounds();
  v_ms bigint := pg_catalog.floor(extract(epoch from p_now) * 1000);
  v_each boolean := outbox.setting_on('metrics.per_endpoint');
begin
  with given as materialized (
    select distinct on (u.event, u.endpoint, u.attempt) u.*
    from pg_catalog.unnest(p_results) with ordinality
      as u (event, endpoint, attempt, outcome, status, error_class, error, code, retry_after,
        duration_ms, response, lossy, provider_id, provider, place)
    where u.outcome in ('delivered', 'failed', 'released')
    order by u.event, u.endpoint, u.attempt, u.place
  ), weighed as materialized (
    -- What each result means: the delivery is gone (delivered, or dead), free again (released), or
    -- waits for its retry. failed_attempts counts this one. For the breaker: an answer ends the
    -- streak of failures; a lost lease, a redirect and a request to wait are neither.
    select d.row_at, d.event_id, d.endpoint_id, e.kind, d.attempt,
      d.failed_attempts + (r.outcome <> 'released' and v.harmless is not true)::integer
        as failed_attempts,
      v.waits, d.lane_id, d.deliver_at, d.replayed_at, l.lane_at, l.ordered, l.gate_id, l.head_at,
      l.leased,
      r.outcome, r.status, r.error_class, r.error, r.duration_ms, r.response, r.lossy, r.place,
      (f.rule).action, x.refused, v.dead, h.hint, h.counted, h.answered,
      (f.rule).scope = 'lane' as of_lane, e.lane_spacing_ms * interval '1 ms' as spacing,
      case
        when v.waits then p_now + outbox.delay_after(p.policy, 1)
        when v.harmless then p_now
        when r.outcome = 'failed' and not v.dead then p_now + greatest(
          outbox.delay_after(p.policy, d.failed_attempts + 1),
          (f.rule).min_delay_s * interval '1 s',
          h.hint)
      end as retry_at
    from given r
    cross join lateral (
      select d.ctid as row_at, d.* from outbox.delivery d
      where d.event_id = r.event and d.endpoint_id = r.endpoint and d.attempt = r.attempt
        and d.leased_until is not null offset 0
    ) d
    cross join lateral (
      select l.ctid as lane_at, l.* from outbox.lane l
      where l.id = d.lane_id order by l.changed_at desc limit 1
    ) l
    cross join lateral (select e.* from outbox.endpoint e where e.id = d.endpoint_id offset 0) e
    cross join lateral (
      select k.* from outbox.endpoint_kind k where k.kind = e.kind offset 0
    ) k
    cross join lateral (select coalesce(e.retry, k.retry) as policy) p
    -- offset 0 keeps the planner from asking for the rule of a success, and thrice for a failure's.
    cross join lateral (
      select case
        when r.outcome = 'failed'
        then outbox.softened(
          outbox.failure_rule_of(e.kind, r.status, r.error_class, r.code,
            r.provider ->> 'subcode'),
          r.provider)
      end as rule offset 0
    ) f
    -- Never null: without a status retry_4xx has no say.
    cross join lateral (
      select (f.rule).action in ('fail', 'fail_hold')
        and not (e.retry_4xx and coalesce(r.status between 400 and 499, false)) as refused
    ) x
    cross join lateral (
      select r.outcome = 'failed' and (f.rule).action not in ('hold', 'wait')
        and (x.refused or d.failed_attempts >= least((f.rule).max_retries,
          coalesce((p.policy ->> 'max_retries')::integer, 5))) as dead,
        -- A pause of the endpoint uses up no attempt: the delivery goes first when it ends.
        (f.rule).action = 'wait' or ((f.rule).action = 'hold' and k.pauses_on_hold)
          as harmless,
        coalesce((f.rule).action = 'wait', false) as waits
    ) v
    cross join lateral (
      select case
        when (f.rule).action = 'throttle' then greatest(
          outbox.retry_after(r.retry_after, p_now, v_longest),
          nullif((f.rule).min_delay_s, 0) * interval '1 s')
      end as hint
    ) w
    cross join lateral (
      select coalesce(r.error_class = k.response_class, false) as answered
    ) b
    cross join lateral (
      select w.hint,
        r.outcome = 'failed' and w.hint is null
          and r.error_class is distinct from 'lease_expired'
          and case
            when v.waits then true
            when r.status is null then r.error_class is distinct from 'blocked'
              and not (b.answered and x.refused)
            else r.status in (408, 429) or r.status >= 500
          end as counted,
        r.outcome = 'delivered' or (
          r.outcome = 'failed' and (
            (r.status between 400 and 499 and r.status not in (408, 429))
            or (b.answered and x.refused))
        ) as answered
    ) h
  ), judged as materialized (
    -- Windows, where a join of the batch with its own sums would be quadratic in its gates.
    select w.*,
      pg_catalog.count(*) over (partition by w.gate_id, w.lane_id) as in_lane,
      pg_catalog.max(w.place) filter (where w.answered) over (partition by w.gate_id) as answered_at
    from weighed w
  ), tallied as materialized (
    -- For the counters: a batch has few different outcomes.
    select b.kind, b.outcome, coalesce(pg_catalog.left(b.error_class, 40), '') as error_class,
      coalesce(case when b.status = 429 then '429' else b.status / 100 || 'xx' end, '') as code,
      b.dead, b.refused, b.again, b.endpoint_id, b.took, b.n, b.ms,
      b.age, b.age_ms
    from (
      select j.kind, j.outcome, j.error_class, j.status, j.dead, j.refused,
        j.retry_at is not null as again,
        case when v_each then j.endpoint_id end as endpoint_id,
        pg_catalog.width_bucket(j.duration_ms - 1, v_bounds) + 1 as took,
        pg_catalog.width_bucket(a.ms - 1, v_ages) + 1 as age,
        pg_catalog.count(*) as n, pg_catalog.sum(j.duration_ms) as ms,
        pg_catalog.sum(a.ms) as age_ms
      from judged j
      cross join lateral (
        -- As in apply_delivered().
        select case
          when j.outcome = 'delivered' and j.replayed_at is null then greatest(0, v_ms - greatest(
            pg_catalog.floor(extract(epoch from j.deliver_at) * 1000)::bigint,
            ('x' || pg_catalog.encode(
              pg_catalog.substr(pg_catalog.uuid_send(j.event_id), 1, 6), 'hex')
            )::bit(48)::bigint))
        end as ms offset 0
      ) a
      where j.outcome <> 'released'
      group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
    ) b
  ), counted as (
    insert into outbox.counter_change (metric, labels, n, total)
    select 'attempts', array[t.kind, t.outcome, t.error_class, t.code], pg_catalog.sum(t.n), 0
    from tallied t
    group by t.kind, t.outcome, t.error_class, t.code
    union all
    select 'attempt_ms', array[t.kind, t.outcome, t.took::text], pg_catalog.sum(t.n),
      pg_catalog.sum(t.ms)
    from tallied t
    where t.took is not null
    group by t.kind, t.outcome, t.took
    union all
    select 'latency_ms', array[t.kind, t.age::text], pg_catalog.sum(t.n),
      pg_catalog.sum(t.age_ms)
    from tallied t
    where t.age is not null
    group by t.kind, t.age
    union all
    select 'deliveries', array[t.kind, case when t.dead then 'dead_letter' else t.outcome end],
      pg_catalog.sum(t.n), 0
    from tallied t
    where t.dead or t.outcome = 'delivered'
    group by 2
    union all
    select 'dead_letters',
      array[t.kind, case when t.refused then 'not_retryable' else 'retries_exhausted' end],
      pg_catalog.sum(t.n), 0
    from tallied t
    where t.dead
    group by 2
    union all
    select 'retries', array[t.kind, t.error_class], pg_catalog.sum(t.n), 0
    from tallied t
    where t.again
    group by 2
    union all
    select 'endpoint_attempts', array[t.endpoint_id::text, t.outcome, t.error_class],
      pg_catalog.sum(t.n), 0
    from tallied t
    where t.endpoint_id is not null
    group by 2
  ), gone as (
    -- By ctid: whoever could move the row waits for the gate.
    delete from outbox.delivery d
    using judged j
    where d.ctid = j.row_at and (j.outcome = 'delivered' or j.dead)
  ), kept as (
    -- An ordered lane keeps its order: the lane waits for the retry, the row stays where it is.
    update outbox.delivery d set
      leased_until = null,
      failed_attempts = j.failed_attempts,
      due_at = case
        when j.retry_at is null or j.ordered then d.due_at
        else greatest(j.retry_at, j.head_at)
      end
    from judged j
    where d.ctid = j.row_at and j.outcome <> 'delivered' and not j.dead
  ), attempt as (
    insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome,
      status, error_class, error, duration_ms, response, response_lossy, next_retry_at)
    select j.event_id, j.endpoint_id, j.attempt, p_now, 'try', j.outcome,
      j.status, j.error_class, j.error, j.duration_ms, j.response, j.lossy, j.retry_at
    from judged j
    where j.outcome <> 'released'
    union all
    select j.event_id, j.endpoint_id, j.attempt, p_now, 'close', 'dead_letter',
      j.status, j.error_class, j.error, null, null, null, null
    from judged j
    where j.dead
  ), buried as (
    insert into outbox.dead_letter as x (
      id, event_id, endpoint_id,
      org_id, original_topic, original_message, partition_key, idempotency_key, traceparent,
      correlation_id, event_created_at,
      error, retry_count, failed_at, attempt, why)
    select
      outbox.uuid_v7(p_now), e.id, j.endpoint_id,
      e.org_id, e.type, e.body, e.partition_key, e.idempotency_key, e.traceparent,
      coalesce(e.correlation_id, e.id::text), e.created_at,
      coalesce(j.error, j.error_class, 'failed'), j.failed_attempts, p_now, j.attempt,
      case when j.refused then 'not_retryable' else 'retries_exhausted' end
    from judged j
    cross join lateral outbox.find_event(j.event_id, j.endpoint_id) e
    where j.dead
    on conflict (event_id, endpoint_id) do update set
      error = excluded.error, retry_count = excluded.retry_count, failed_at = excluded.failed_at,
      attempt = excluded.attempt, why = excluded.why,
      replayed_at = null, delivered_at = null, discarded_at = null, note = null
  ), by_lane as materialized (
    select j.lane_at, j.endpoint_id, j.ordered,
      pg_catalog.count(*)::integer as ended,
      pg_catalog.count(*) filter (where j.outcome = 'delivered' or j.dead)::integer as gone,
      pg_catalog.min(case when j.outcome = 'released' then p_now else j.retry_at end) as back_at,
      pg_catalog.max(j.retry_at) as retry_at,
      pg_catalog.bool_or(j.dead) as died,
      -- A lane with a spacing rests behind what was sent, and behind what may have been.
      p_now + pg_catalog.max(j.spacing) filter (where j.outcome <> 'released') as rested_at
    from judged j
    group by j.lane_at, j.endpoint_id, j.ordered
  ), lanes as (
    update outbox.lane l set
      leased = l.leased - b.ended,
      changed_at = pg_catalog.date_trunc('second', p_now),
      leased_until = case when l.leased > b.ended then l.leased_until end,
      depth = l.depth - b.gone,
      halted = l.halted or (b.ordered and b.died and e.on_dead_letter = 'halt'),
      not_before = case
        when b.ordered then greatest(coalesce(b.retry_at, l.not_before), b.rested_at)
        else l.not_before
      end,
      next_at = case
        when l.depth = b.gone then 'infinity'
        when not b.ordered then least(l.next_at, b.back_at)
        when l.leased > b.ended then l.next_at
        when l.halted or (b.died and e.on_dead_letter = 'halt') then 'infinity'
        else greatest(coalesce(b.retry_at, l.not_before), b.rested_at, p_now)
      end
    from by_lane b
    cross join lateral (
      select e.on_dead_letter from outbox.endpoint e where e.id = b.endpoint_id offset 0
    ) e
    where l.ctid = b.lane_at
    returning l.id,
      b.ordered and l.leased = 0 and l.depth = 0 and not l.halted
        and coalesce(b.rested_at <= p_now, true) as empty
  ), by_gate as materialized (
    select g.gate_at, j.endpoint_id,
      pg_catalog.bool_or(j.answered) as answered,
      pg_catalog.bool_or(j.outcome = 'delivered') as delivered,
      pg_catalog.bool_or(
        j.outcome = 'failed' and j.hint is null and j.error_class is distinct from 'lease_expired'
      ) as failed,
      pg_catalog.count(*) filter (
        where j.counted and j.place > coalesce(j.answered_at, 0)
      )::integer as failures,
      pg_catalog.count(*) filter (where j.outcome = 'delivered' or j.dead) as ended,
      -- An ordered lane is one request at a time, and free again with its last result.
      pg_catalog.count(*) filter (where not j.ordered)
        + pg_catalog.count(distinct j.lane_id) filter (where j.ordered and j.in_lane = j.leased)
        as slots,
      pg_catalog.max(j.hint) filter (where not j.of_lane) as hint,
      pg_catalog.bool_or(j.action in ('hold', 'fail_hold')) as gone,
      pg_catalog.bool_or(j.waits and j.place > coalesce(j.answered_at, 0)) as down,
      (
        pg_catalog.array_agg(
          j.outcome = 'failed' and j.error_class is not distinct from 'timeout'
          order by j.place desc)
        filter (where j.outcome <> 'released' and j.error_class is distinct from 'lease_expired')
      )[1] as timed_out,
      pg_catalog.max(case
        when j.event_id = g.probe_event and j.attempt = g.probe_attempt then
          case when j.answered then 'answered' when j.counted then 'failed' else 'void' end
      end) as probe
    from judged j
    cross join lateral (
      select g.ctid as gate_at, g.probe_event, g.probe_attempt
      from outbox.gate g
      where g.id = j.gate_id order by g.changed_at desc limit 1
    ) g
    group by g.gate_at, j.endpoint_id
  ), gates as (
    update outbox.gate g set
      in_flight = g.in_flight - b.slots,
      changed_at = pg_catalog.date_trunc('second', p_now),
      depth = g.depth - b.ended,
      last_timed_out = coalesce(b.timed_out, g.last_timed_out),
      not_before = greatest(g.not_before, p_now + b.hint),
      streak = n.streak,
      first_failure_at = case
        when b.delivered then null
        when b.failed then coalesce(g.first_failure_at, p_now)
        else g.first_failure_at
      end,
      breaker = n.breaker,
      open_until = case
        when n.breaker <> 'open' or (g.breaker = 'open' and b.probe is null) then g.open_until
        when b.probe = 'void' then p_now
        else p_now + e.breaker_open_ms * interval '1 ms'
      end,
      ramp_from = case
        when n.breaker = 'closed' and g.breaker <> 'closed' then p_now
        else g.ramp_from
      end,
      probe_event = case when n.breaker = 'half_open' then g.probe_event end,
      probe_attempt = case when n.breaker = 'half_open' then g.probe_attempt end
    from by_gate b
    cross join lateral (select e.* from outbox.endpoint e where e.id = b.endpoint_id offset 0) e
    cross join lateral (select o.* from outbox.gate o where o.ctid = b.gate_at offset 0) o
    cross join lateral (
      select
        case
          when o.breaker <> 'closed' and b.probe is distinct from 'answered'
          then o.streak + (b.probe is not distinct from 'failed')::integer
          when b.answered then b.failures
          else o.streak + b.failures
        end as streak
    ) s
    cross join lateral (
      select s.streak,
        case
          when b.probe = 'answered' then 'closed'
          when b.probe is not null then 'open'
          when o.breaker = 'closed' and e.breaker_enabled
            and (b.down or s.streak >= e.breaker_threshold)
          then 'open'
          else o.breaker
        end as breaker
    ) n
    where g.ctid = b.gate_at
    returning b.endpoint_id, b.gone,
      n.breaker = 'open' and o.breaker = 'closed' as opened,
      n.breaker = 'closed' and o.breaker <> 'closed' as closed,
      g.first_failure_at < p_now - v_patience and e.ramp_from < p_now - v_patience as failing
  )
  select (select pg_catalog.count(*) from judged),
    (select pg_catalog.array_agg(j.event_id order by j.event_id, j.endpoint_id)
     from judged j where j.dead),
    (select pg_catalog.array_agg(j.endpoint_id order by j.event_id, j.endpoint_id)
     from judged j where j.dead),
    (select pg_catalog.array_agg(g.endpoint_id) from gates g where g.opened),
    (select pg_catalog.array_agg(g.endpoint_id) from gates g where g.closed),
    (select pg_catalog.array_agg(g.endpoint_id) from gates g where g.gone),
    (select pg_catalog.array_agg(g.endpoint_id) from gates g where g.failing),
    (select pg_catalog.array_agg(l.id) from lanes l where l.empty),
    r.events, r.endpoints, r.attempts
  into v_news.applied, v_news.dead_events, v_news.dead_endpoints, v_news.opened, v_news.closed,
    v_news.gone, v_news.failing, v_empty, v_events, v_endpoints, v_attempts
  from (
    select pg_catalog.array_agg(j.event_id) as events,
      pg_catalog.array_agg(j.endpoint_id) as endpoints, pg_catalog.array_agg(j.attempt) as attempts
    from judged j
    where j.replayed_at is not null and j.outcome = 'delivered'
  ) r;
  if v_empty is not null then
    delete from outbox.lane l where l.id = any (v_empty);
  end if;
  if v_events is not null then
    perform outbox.resolve_dead_letters(v_events, v_endpoints, v_attempts, p_now);
  end if;
  return v_news;
end
$$;
comment on function outbox.apply_results(outbox.result[], timestamptz) is
  'Applies results to the deliveries whose lease they hold, with their attempts, dead letters, '
  'lanes, gates and breakers, in one statement; results without a lease change nothing. locks: '
  'the caller holds the gates.';
