-- Results of endpoints that have a failure among their results or a breaker that is not closed.
-- They need a decision about the delivery, its lane, its endpoint and its breaker. All other
-- results go through apply_delivered(), which takes half the time.
--
-- The steps of apply_results(), one CTE each, in this order:
--
--   1 unique_results  The first result of each attempt; renewals are not results.
--   2 assessed        The results whose attempt still holds its lease, each with its delivery, its
--                     lane, the rule of its failure (f.rule) and these decisions:
--       refused       the failure is not retryable
--       dead          no attempt follows: the failure is refused, the retries are used up, or too
--                     many leases were lost in a row
--       other         X-Signature was rejected (401, 403), and another secret signs too. It is
--                     never refused: the next attempt uses the other secret.
--       untried       other, and not all of these secrets were tried for this delivery yet
--       lost          the lease ended without a result
--       harmless      the failure does not use up a retry: it is lost or untried, or the endpoint
--                     is the cause
--       waits         harmless, but the delivery is not due at once
--       retry_at      when the next attempt is due; null if there is none, and after a release. In
--                     1 s after a lost lease, unless the rule has a min_delay_s
--       asked_wait    only for the action throttle: Retry-After, at least the rule's min_delay_s
--       is_failure    the breaker counts it: timeout, no connection, 408, 429, 5xx
--       is_success    it resets the breaker's streak: delivered, or another 4xx, because a server
--                     that refuses one event works. A lost lease, a redirect and a Retry-After are
--                     neither.
--   3 applied         assessed, with in_lane (results of the same lane) and last_success (the place
--                     of the gate's last success in the batch).
--   4 tallied, counted: the counters.
--   5 ended           Deletes the delivered and the dead deliveries.
--   6 still_open      Releases the others. An unordered delivery gets the time of its retry; of an
--                     ordered one the lane gets it (step 9), so that the order stays.
--   7 attempts        A row for each attempt, but none for a released delivery.
--   8 dead_letters    A dead letter for each dead delivery.
--   9 by_lane, updated_lanes: the lane's counts, its halt and when it is due again.
--  10 by_gate, updated_gates: the gate's counts, its quiet time, its streak and its breaker.
--
-- An example, checked by tests/sql/engine/complete/example.test.sql. The first retry waits 1 s,
-- and the breaker opens after 5 failures in a row.
--
--   gate (streak before)      results, in order                 gate after       lane after
--   A, unordered (3)          a1 500, a2 delivered, a3 500,     streak 1         due now (a4); a1
--                             a4 released                                        and a3 in 1 s
--   B, ordered, one lane (0)  b1 500, b2 released               streak 1         due in 1 s
--   C, unordered, half open   c1 delivered, the probe           closed, streak 0 empty
--
-- The streak of A is 1: a2 resets it, and a3 adds 1. B has one request less in flight, not two, and
-- b2 stays after b1. From now on, C may send a growing share of its max_in_flight (ramp_from).

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
  v_turned uuid[];
  v_secrets uuid[];
  v_events uuid[];
  v_endpoints uuid[];
  v_attempts integer[];
  v_patience interval :=
    pg_catalog.make_interval(days => outbox.setting_int('endpoint.disable_after_days'));
  v_longest integer := outbox.setting_int('retry_after.max_s');
  v_most_lost integer := outbox.setting_int('delivery.max_lost_leases');
  v_bounds integer[] := outbox.attempt_bounds();
  v_ages bigint[] := outbox.latency_bounds();
  v_ms bigint := pg_catalog.floor(extract(epoch from p_now) * 1000);
  v_each boolean := outbox.setting_on('metrics.per_endpoint');
begin
  with unique_results as materialized (
    select distinct on (u.event, u.endpoint, u.attempt) u.*
    from pg_catalog.unnest(p_results) with ordinality
      as u (event, endpoint, attempt, outcome, status, error_class, error, code, retry_after,
        duration_ms, response, lossy, provider_id, provider, cut,
        resent, endpoint_version, place)
    where u.outcome in ('delivered', 'failed', 'released')
    order by u.event, u.endpoint, u.attempt, u.place
  ), assessed as materialized (
    select d.row_at, d.event_id, d.endpoint_id, e.kind, d.attempt,
      d.failed_attempts + (r.outcome = 'failed' and v.harmless is not true)::integer
        as failed_attempts,
      case
        when v.lost then d.lost_leases + 1
        when r.outcome = 'failed' then 0
        else d.lost_leases
      end as lost_leases,
      d.lost_before + case when r.outcome = 'failed' and not v.lost then d.lost_leases else 0 end
        as lost_before,
      v.waits, v.lost, d.lane_id, d.deliver_at, d.replayed_at, d.body_bytes, l.lane_at,
      l.ordered, l.gate_id, l.head_at, l.leased,
      r.outcome, r.status, r.error_class, r.error, r.duration_ms, r.response, r.lossy, r.cut,
      r.resent, r.endpoint_version, r.place,
      case when not s.other then (f.rule).action end as action, s.other, s.rejected, x.refused,
      v.dead,
      v.dead and x.refused and (f.rule).of_recipient as let_go,
      h.asked_wait, h.is_failure, h.is_success,
      (f.rule).scope = 'lane' as of_lane, e.lane_spacing_ms * interval '1 ms' as spacing,
      case
        when v.waits then p_now + outbox.delay_after(p.policy, 1)
        when v.lost and (v.dead or (f.rule).min_delay_s = 0)
        then case when not v.dead then p_now + interval '1 s' end
        when v.harmless and not v.lost then p_now
        when r.outcome = 'failed' and not v.dead then p_now + greatest(
          outbox.delay_after(p.policy, d.failed_attempts + 1),
          (f.rule).min_delay_s * interval '1 s',
          h.asked_wait)
      end as retry_at
    from unique_results r
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
    -- Without offset 0 the planner evaluates the rule for successes too, and three times for each
    -- failure.
    cross join lateral (
      select case
        when r.outcome = 'failed'
        then outbox.retry_if_transient(
          outbox.failure_rule_of(e.kind, r.status, r.error_class, r.code,
            r.provider ->> 'subcode'),
          r.provider)
      end as rule offset 0
    ) f
    cross join lateral (
      select coalesce(r.error_class = k.response_class, false) as answered,
        r.outcome = 'failed' and coalesce(r.error_class = 'lease_expired', false) as lost
    ) b
    cross join lateral (
      select c.rejected,
        coalesce(c.rejected is not null and outbox.has_other_secret(
          d.endpoint_id, array[c.rejected], p_now), false) as other,
        coalesce(c.rejected is not null and outbox.has_other_secret(
          d.endpoint_id, d.rejected_secrets || c.rejected, p_now), false) as untried
      from (
        -- A delivery that was claimed before an upgrade has no secret_id.
        select case
          when r.outcome = 'failed' and r.status in (401, 403)
            and (f.rule).action in ('fail', 'fail_hold', 'retry')
          then coalesce(d.secret_id, outbox.signing_secret(d.endpoint_id, p_now))
        end as rejected offset 0
      ) c
      offset 0
    ) s
    -- coalesce: false, not null, if there is no status.
    cross join lateral (
      select (f.rule).action in ('fail', 'fail_hold') and not s.other
        and not (e.retry_4xx and coalesce(r.status between 400 and 499, false)) as refused
    ) x
    cross join lateral (
      select r.outcome = 'failed' and (f.rule).action not in ('hold', 'wait') and not s.untried
        and (x.refused or case
          when b.lost then d.lost_leases + 1 >= v_most_lost
          else d.failed_attempts >= least((f.rule).max_retries,
            coalesce((p.policy ->> 'max_retries')::integer, 5))
        end) as dead,
        -- If the failure pauses the endpoint, it uses up no retry: the delivery is due again when
        -- the pause ends.
        b.lost or s.untried or (f.rule).action = 'wait'
          or ((f.rule).action = 'hold' and k.pauses_on_hold) as harmless,
        coalesce((f.rule).action = 'wait', false) as waits,
        b.lost
    ) v
    cross join lateral (
      select case
        when (f.rule).action = 'throttle' then greatest(
          outbox.retry_after(r.retry_after, p_now, v_longest),
          nullif((f.rule).min_delay_s, 0) * interval '1 s')
      end as asked_wait
    ) w
    cross join lateral (
      select w.asked_wait,
        r.outcome = 'failed' and w.asked_wait is null
          and r.error_class is distinct from 'lease_expired'
          and case
            when v.waits then true
            when r.status is null then r.error_class is distinct from 'blocked'
              and not (b.answered and x.refused)
            else r.status in (408, 429) or r.status >= 500
          end as is_failure,
        r.outcome = 'delivered' or (
          r.outcome = 'failed' and (
            (r.status between 400 and 499 and r.status not in (408, 429))
            or (b.answered and x.refused))
        ) as is_success
    ) h
  ), applied as materialized (
    -- Window functions, because a self-join would be quadratic in the gates of the batch.
    select w.*,
      pg_catalog.count(*) over (partition by w.gate_id, w.lane_id) as in_lane,
      pg_catalog.max(w.place) filter (where w.is_success) over (partition by w.gate_id)
        as last_success
    from assessed w
  ), tallied as materialized (
    -- Summed up before they become counter rows: a batch has few different outcomes.
    select b.kind, b.outcome, coalesce(pg_catalog.left(b.error_class, 40), '') as error_class,
      coalesce(case when b.status = 429 then '429' else b.status / 100 || 'xx' end, '') as code,
      b.dead, b.refused, b.let_go, b.again, b.endpoint_id, b.took, b.n, b.ms,
      b.age, b.age_ms, b.resent, b.bytes
    from (
      select j.kind, j.outcome, j.error_class, j.status, j.dead, j.refused, j.let_go,
        j.retry_at is not null as again,
        case when v_each then j.endpoint_id end as endpoint_id,
        pg_catalog.width_bucket(j.duration_ms - 1, v_bounds) + 1 as took,
        pg_catalog.width_bucket(a.ms - 1, v_ages) + 1 as age,
        pg_catalog.count(*) as n, pg_catalog.sum(j.duration_ms) as ms,
        pg_catalog.sum(a.ms) as age_ms, pg_catalog.count(*) filter (where j.resent) as resent,
        pg_catalog.sum(j.body_bytes) as bytes
      from applied j
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
      group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    ) b
  ), counted as (
    insert into outbox.counter_change (metric, labels, n, total)
    select 'attempts', array[t.kind, t.outcome, t.error_class, t.code], pg_catalog.sum(t.n),
      pg_catalog.sum(t.bytes)
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
    select 'deliveries', array[t.kind, case
        when t.let_go then 'cancelled' when t.dead then 'dead_letter' else t.outcome
      end],
      pg_catalog.sum(t.n), 0
    from tallied t
    where t.dead or t.outcome = 'delivered'
    group by 2
    union all
    select 'dead_letters',
      array[t.kind, case
        when t.refused then 'not_retryable'
        when t.error_class = 'lease_expired' then 'leases_lost'
        else 'retries_exhausted'
      end],
      pg_catalog.sum(t.n), 0
    from tallied t
    where t.dead and not t.let_go
    group by 2
    union all
    select 'retries', array[t.kind, t.error_class], pg_catalog.sum(t.n), 0
    from tallied t
    where t.again
    group by 2
    union all
    select 'resends', array[t.kind], pg_catalog.sum(t.resent), 0
    from tallied t
    where t.resent > 0
    group by 2
    union all
    select 'endpoint_attempts', array[t.endpoint_id::text, t.outcome, t.error_class],
      pg_catalog.sum(t.n), 0
    from tallied t
    where t.endpoint_id is not null
    group by 2
  ), ended as (
    -- By ctid: only the holder of the gate's lock may move the row.
    delete from outbox.delivery d
    using applied j
    where d.ctid = j.row_at and (j.outcome = 'delivered' or j.dead)
    returning d.endpoint_id, d.secret_id, j.place,
      j.outcome = 'delivered' and d.rejected_secrets is not null as turned
  ), still_open as (
    update outbox.delivery d set
      leased_until = null,
      failed_attempts = j.failed_attempts,
      lost_leases = j.lost_leases,
      lost_before = j.lost_before,
      rejected_secrets = case
        when j.other then pg_catalog.array_append(
          pg_catalog.array_remove(d.rejected_secrets, j.rejected), j.rejected)
        else d.rejected_secrets
      end,
      due_at = case
        when j.retry_at is null or j.ordered then d.due_at
        else greatest(j.retry_at, j.head_at)
      end
    from applied j
    where d.ctid = j.row_at and j.outcome <> 'delivered' and not j.dead
  ), attempts as (
    insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome,
      status, error_class, error, duration_ms, response, response_lossy, next_retry_at,
      failed_attempts, response_cut, resent, endpoint_version)
    select j.event_id, j.endpoint_id, j.attempt, p_now, 'attempt', j.outcome,
      j.status, j.error_class, j.error, j.duration_ms, j.response, j.lossy, j.retry_at,
      case when j.outcome = 'delivered' then j.failed_attempts end, j.cut, j.resent,
      j.endpoint_version
    from applied j
    where j.outcome <> 'released'
    union all
    select j.event_id, j.endpoint_id, j.attempt, p_now, 'close',
      case when j.let_go then 'cancelled' else 'dead_letter' end,
      j.status, j.error_class, j.error, null, null, null, null, j.failed_attempts, null, null,
      null
    from applied j
    where j.dead
  ), dead_letters as (
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
      case
        when j.refused then 'not_retryable'
        when j.lost then 'leases_lost'
        else 'retries_exhausted'
      end
    from applied j
    cross join lateral outbox.find_event(j.event_id, j.endpoint_id) e
    where j.dead and not j.let_go
    on conflict (event_id, endpoint_id) do update set
      error = excluded.error, retry_count = excluded.retry_count, failed_at = excluded.failed_at,
      attempt = excluded.attempt, why = excluded.why,
      replayed_at = null, at_broker = false, delivered_at = null, discarded_at = null,
      note = null
  ), by_lane as materialized (
    select j.lane_at, j.endpoint_id, j.ordered,
      pg_catalog.count(*)::integer as results,
      pg_catalog.count(*) filter (where j.outcome = 'delivered' or j.dead)::integer as ended,
      pg_catalog.min(case when j.outcome = 'released' then p_now else j.retry_at end) as back_at,
      pg_catalog.max(j.retry_at) as retry_at,
      pg_catalog.bool_or(j.dead and not j.let_go) as died,
      pg_catalog.bool_or(j.lost_leases >= outbox.isolated_after() and not j.dead
        and j.outcome <> 'delivered') as isolated,
      -- lane_spacing_ms counts from each request that was sent or may have been sent.
      p_now + pg_catalog.max(j.spacing) filter (where j.outcome <> 'released') as rested_at
    from applied j
    group by j.lane_at, j.endpoint_id, j.ordered
  ), updated_lanes as (
    update outbox.lane l set
      leased = l.leased - b.results,
      changed_at = pg_catalog.date_trunc('second', p_now),
      leased_until = case when l.leased > b.results then l.leased_until end,
      depth = l.depth - b.ended,
      isolated = l.isolated or (b.ordered and b.isolated),
      halted = l.halted or (b.ordered and b.died and e.on_dead_letter = 'halt'),
      not_before = case
        -- Not earlier than before: a delivery of the lane may wait for its retry although the lease
        -- of a later one is lost now.
        when b.ordered then greatest(l.not_before, b.retry_at, b.rested_at)
        else l.not_before
      end,
      next_at = case
        when l.depth = b.ended then 'infinity'
        when not b.ordered then least(l.next_at, b.back_at)
        when l.leased > b.results then l.next_at
        when l.halted or (b.died and e.on_dead_letter = 'halt') then 'infinity'
        else greatest(l.not_before, b.retry_at, b.rested_at, p_now)
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
      pg_catalog.bool_or(j.is_success) as succeeded,
      pg_catalog.bool_or(j.outcome = 'delivered') as delivered,
      pg_catalog.bool_or(
        j.outcome = 'failed' and j.asked_wait is null
          and j.error_class is distinct from 'lease_expired'
      ) as failed,
      pg_catalog.count(*) filter (
        where j.is_failure and j.place > coalesce(j.last_success, 0)
      )::integer as failures,
      pg_catalog.count(*) filter (where j.outcome = 'delivered' or j.dead) as ended,
      -- An ordered lane is one request, which ends with the last of its leases.
      pg_catalog.count(*) filter (where not j.ordered)
        + pg_catalog.count(distinct j.lane_id) filter (where j.ordered and j.in_lane = j.leased)
        as requests,
      pg_catalog.max(j.asked_wait) filter (where not j.of_lane) as asked_wait,
      pg_catalog.bool_or(j.action in ('hold', 'fail_hold') and j.status = 410) as gone,
      pg_catalog.bool_or(j.action in ('hold', 'fail_hold')) as held,
      pg_catalog.bool_or(j.waits) as away,
      pg_catalog.bool_or(j.waits and j.place > coalesce(j.last_success, 0)) as down,
      (
        pg_catalog.array_agg(
          j.outcome = 'failed'
            and (j.waits or coalesce(j.error_class in ('timeout', 'connect'), false))
          order by j.place desc)
        filter (where j.outcome <> 'released' and j.error_class is distinct from 'lease_expired')
      )[1] as timed_out,
      pg_catalog.max(case
        when j.event_id = g.probe_event and j.attempt = g.probe_attempt then
          case when j.is_success then 'succeeded' when j.is_failure then 'failed' else 'void' end
      end) as probe
    from applied j
    cross join lateral (
      select g.ctid as gate_at, g.probe_event, g.probe_attempt
      from outbox.gate g
      where g.id = j.gate_id order by g.changed_at desc limit 1
    ) g
    group by g.gate_at, j.endpoint_id
  ), updated_gates as (
    update outbox.gate g set
      in_flight = g.in_flight - b.requests,
      changed_at = pg_catalog.date_trunc('second', p_now),
      depth = g.depth - b.ended,
      last_timed_out = coalesce(b.timed_out, g.last_timed_out),
      -- Without a breaker, an endpoint whose server cannot be reached waits as long again as it
      -- has failed.
      not_before = greatest(g.not_before, p_now + b.asked_wait, case
        when b.away and not e.breaker_enabled then p_now
          + least(interval '1 minute', greatest(interval '1 s', p_now - g.first_failure_at))
      end),
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
          when o.breaker <> 'closed' and b.probe is distinct from 'succeeded'
          then o.streak + (b.probe is not distinct from 'failed')::integer
          when b.succeeded then b.failures
          else o.streak + b.failures
        end as streak
    ) s
    cross join lateral (
      select s.streak,
        case
          when b.probe = 'succeeded' then 'closed'
          when b.probe is not null then 'open'
          when o.breaker = 'closed' and e.breaker_enabled
            and (b.down or s.streak >= e.breaker_threshold)
          then 'open'
          else o.breaker
        end as breaker
    ) n
    where g.ctid = b.gate_at
    returning b.endpoint_id, b.gone, b.held and b.gone is not true as held,
      n.breaker = 'open' and o.breaker = 'closed' as opened,
      n.breaker = 'closed' and o.breaker <> 'closed' as closed,
      g.first_failure_at < p_now - v_patience and e.ramp_from < p_now - v_patience as failing
  )
  select (select pg_catalog.count(*) from applied),
    (select pg_catalog.array_agg(j.event_id order by j.event_id, j.endpoint_id)
     from applied j where j.dead and not j.let_go),
    (select pg_catalog.array_agg(j.endpoint_id order by j.event_id, j.endpoint_id)
     from applied j where j.dead and not j.let_go),
    (select pg_catalog.array_agg(g.endpoint_id) from updated_gates g where g.opened),
    (select pg_catalog.array_agg(g.endpoint_id) from updated_gates g where g.closed),
    (select pg_catalog.array_agg(g.endpoint_id) from updated_gates g where g.gone),
    (select pg_catalog.array_agg(g.endpoint_id) from updated_gates g where g.held),
    (select pg_catalog.array_agg(g.endpoint_id) from updated_gates g where g.failing),
    (select pg_catalog.array_agg(l.id) from updated_lanes l where l.empty),
    (select pg_catalog.array_agg(e.endpoint_id order by e.place) from ended e where e.turned),
    (select pg_catalog.array_agg(e.secret_id order by e.place) from ended e where e.turned),
    r.events, r.endpoints, r.attempts
  into v_news.applied, v_news.dead_events, v_news.dead_endpoints, v_news.opened, v_news.closed,
    v_news.gone, v_news.held, v_news.failing, v_empty, v_turned, v_secrets,
    v_events, v_endpoints, v_attempts
  from (
    select pg_catalog.array_agg(j.event_id) as events,
      pg_catalog.array_agg(j.endpoint_id) as endpoints, pg_catalog.array_agg(j.attempt) as attempts
    from applied j
    where j.replayed_at is not null and j.outcome = 'delivered'
  ) r;
  if v_empty is not null then
    delete from outbox.lane l where l.id = any (v_empty);
  end if;
  if v_turned is not null then
    perform outbox.keep_secrets(v_turned, v_secrets, p_now);
  end if;
  if v_events is not null then
    perform outbox.resolve_dead_letters(v_events, v_endpoints, v_attempts, p_now);
  end if;
  return v_news;
end
$$;
comment on function outbox.apply_results(outbox.result[], timestamptz) is
  'Applies results to the deliveries whose lease they hold: changes deliveries, lanes, gates and '
  'breakers, and writes attempts and dead letters. Results without a lease change nothing. locks: '
  'the caller holds the gates.';
