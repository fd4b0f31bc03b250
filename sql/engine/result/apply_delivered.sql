-- Results with the outcome delivered, which most results have. They need no failure rule, no retry
-- and no decision about the breaker, so this statement takes half the time of apply_results().

create function outbox.endpoints_to_judge(p_results outbox.result[]) returns uuid[]
language plpgsql stable
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup.
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return array(
    select r.endpoint
    from (
      select u.endpoint,
        pg_catalog.bool_or(u.outcome is distinct from 'delivered') as failed
      from pg_catalog.unnest(p_results) u
      group by u.endpoint
    ) r
    cross join lateral (
      select g.breaker from outbox.gate g
      where g.endpoint_id = r.endpoint order by g.changed_at desc limit 1
    ) g
    where r.failed or g.breaker <> 'closed');
end
$$;
comment on function outbox.endpoints_to_judge(outbox.result[]) is
  'The endpoints that have a result other than delivered, or a breaker that is not closed: their '
  'results are for apply_results(), all others for apply_delivered().';

create function outbox.resolve_dead_letters(
  p_events uuid[], p_endpoints uuid[], p_attempts integer[], p_now timestamptz
) returns void
language plpgsql
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
begin
  -- attempt too: the dead letter is stored longer than the attempts, and another replay continues
  -- its numbers.
  update outbox.dead_letter x set delivered_at = p_now, attempt = p.attempt
  from unnest(p_events, p_endpoints, p_attempts) as p (event_id, endpoint_id, attempt)
  cross join lateral (
    select y.id from outbox.dead_letter y
    where y.event_id = p.event_id and y.endpoint_id = p.endpoint_id offset 0
  ) y
  -- Not by ctid, because an operator may be changing this row. `= any (array)` keeps the planner
  -- from starting at dead_letter.
  where x.id = any (array[y.id]);
end
$$;
comment on function outbox.resolve_dead_letters(uuid[], uuid[], integer[], timestamptz) is
  'Sets delivered_at in the dead letters of these replays, if they have one.';

create function outbox.apply_delivered(
  p_results outbox.result[], p_now timestamptz
) returns integer
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
  v_applied integer;
  v_empty bigint[];
  v_turned uuid[];
  v_secrets uuid[];
  v_events uuid[];
  v_endpoints uuid[];
  v_attempts integer[];
  v_bounds integer[] := outbox.attempt_bounds();
  v_ages bigint[] := outbox.latency_bounds();
  v_ms bigint := pg_catalog.floor(extract(epoch from p_now) * 1000);
  v_each boolean := outbox.setting_on('metrics.per_endpoint');
begin
  with gone as (
    -- By ctid: only the holder of the gate's lock may move the row. If a call has a result twice,
    -- the row is deleted once.
    delete from outbox.delivery d
    using pg_catalog.unnest(p_results) r
    cross join lateral (
      select o.ctid as row_at from outbox.delivery o
      where o.event_id = r.event and o.endpoint_id = r.endpoint and o.attempt = r.attempt
        and o.leased_until is not null offset 0
    ) o
    where d.ctid = o.row_at
    returning d.event_id, d.endpoint_id, d.attempt, d.failed_attempts, d.lane_id, d.replayed_at,
      d.deliver_at, d.secret_id, d.rejected_secrets, d.body_bytes,
      r.status, r.error_class, r.error, r.duration_ms, r.response, r.lossy, r.cut,
      r.resent, r.endpoint_version
  ), attempt as (
    insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome,
      status, error_class, error, duration_ms, response, response_lossy, failed_attempts,
      response_cut, resent, endpoint_version)
    select g.event_id, g.endpoint_id, g.attempt, p_now, 'attempt', 'delivered',
      g.status, g.error_class, g.error, g.duration_ms, g.response, g.lossy, g.failed_attempts,
      g.cut, g.resent, g.endpoint_version
    from gone g
  ), tallied as (
    select t.*, e.kind
    from (
      select g.endpoint_id, coalesce(pg_catalog.left(g.error_class, 40), '') as error_class,
        coalesce(case when g.status = 429 then '429' else g.status / 100 || 'xx' end, '') as code,
        pg_catalog.width_bucket(g.duration_ms - 1, v_bounds) + 1 as took,
        pg_catalog.width_bucket(a.ms - 1, v_ages) + 1 as age,
        pg_catalog.count(*) as n, pg_catalog.sum(g.duration_ms) as ms,
        pg_catalog.sum(a.ms) as age_ms, pg_catalog.count(*) filter (where g.resent) as resent,
        pg_catalog.sum(g.body_bytes) as bytes
      from gone g
      cross join lateral (
        -- The time since the event, which its id contains, or since deliver_at if that is later.
        select case
          when g.replayed_at is null then greatest(0, v_ms - greatest(
            pg_catalog.floor(extract(epoch from g.deliver_at) * 1000)::bigint,
            ('x' || pg_catalog.encode(
              pg_catalog.substr(pg_catalog.uuid_send(g.event_id), 1, 6), 'hex')
            )::bit(48)::bigint))
        end as ms offset 0
      ) a
      group by 1, 2, 3, 4, 5
    ) t
    cross join lateral (
      select e.kind from outbox.endpoint e where e.id = t.endpoint_id offset 0
    ) e
  ), by_kind as (
    -- Before the labels are made: they would be as many as the endpoints.
    select t.kind, t.error_class, t.code, t.took, t.age, pg_catalog.sum(t.n) as n,
      pg_catalog.sum(t.ms) as ms, pg_catalog.sum(t.age_ms) as age_ms,
      pg_catalog.sum(t.resent) as resent, pg_catalog.sum(t.bytes) as bytes
    from tallied t
    group by 1, 2, 3, 4, 5
  ), counted as (
    insert into outbox.counter_change (metric, labels, n, total)
    select c.metric, c.labels, pg_catalog.sum(c.n), coalesce(pg_catalog.sum(c.total), 0)
    from by_kind t
    cross join lateral (values
      ('attempts', array[t.kind, 'delivered', t.error_class, t.code], t.n, t.bytes),
      ('attempt_ms', array[t.kind, 'delivered', t.took::text], t.n, t.ms),
      ('latency_ms', array[t.kind, t.age::text], t.n, t.age_ms),
      ('resends', case when t.resent > 0 then array[t.kind] end, t.resent, 0),
      ('deliveries', array[t.kind, 'delivered'], t.n, 0)
    ) c (metric, labels, n, total)
    where pg_catalog.array_position(c.labels, null) is null and c.labels is not null
    group by c.metric, c.labels
    union all
    select 'endpoint_attempts', array[t.endpoint_id::text, 'delivered', t.error_class],
      pg_catalog.sum(t.n), 0
    from tallied t
    where v_each
    group by t.endpoint_id, t.error_class
  ), by_lane as materialized (
    select g.lane_id, g.endpoint_id, pg_catalog.count(*)::integer as n
    from gone g
    group by g.lane_id, g.endpoint_id
  ), lanes as (
    update outbox.lane l set
      leased = l.leased - b.n,
      changed_at = pg_catalog.date_trunc('second', p_now),
      leased_until = case when l.leased > b.n then l.leased_until end,
      depth = l.depth - b.n,
      not_before = case when l.ordered then greatest(l.not_before, r.rested_at)
        else l.not_before end,
      next_at = case
        when l.depth = b.n then 'infinity'
        when not l.ordered or l.leased > b.n then l.next_at
        when l.halted then 'infinity'
        else greatest(l.not_before, r.rested_at, p_now)
      end
    from by_lane b
    cross join lateral (
      select o.ctid as lane_at, o.ordered from outbox.lane o
      where o.id = b.lane_id order by o.changed_at desc limit 1
    ) o
    left join lateral (
      -- An ordered lane waits for its lane_spacing_ms after each request.
      select p_now + e.lane_spacing_ms * interval '1 ms' as rested_at
      from outbox.endpoint e where e.id = b.endpoint_id and o.ordered offset 0
    ) r on true
    where l.ctid = o.lane_at
    returning l.id, l.gate_id, b.n,
      -- An ordered lane is one request, which ends with the last of its leases.
      case when l.ordered then (l.leased = 0)::integer else b.n end as slots,
      l.ordered and l.leased = 0 and l.depth = 0 and not l.halted
        and coalesce(r.rested_at <= p_now, true) as empty
  ), gates as (
    update outbox.gate g set
      in_flight = g.in_flight - b.slots,
      changed_at = pg_catalog.date_trunc('second', p_now),
      depth = g.depth - b.n,
      last_timed_out = false,
      streak = 0,
      first_failure_at = null
    from (
      select l.gate_id, pg_catalog.sum(l.slots) as slots, pg_catalog.sum(l.n) as n
      from lanes l
      group by l.gate_id
    ) b
    cross join lateral (
      select o.ctid as gate_at from outbox.gate o
      where o.id = b.gate_id order by o.changed_at desc limit 1
    ) o
    where g.ctid = o.gate_at
  ), replays as (
    select g.event_id, g.endpoint_id, g.attempt from gone g where g.replayed_at is not null
  )
  select (select pg_catalog.count(*) from gone),
    (select pg_catalog.array_agg(l.id) from lanes l where l.empty),
    t.endpoints, t.secrets, r.events, r.endpoints, r.attempts
  into v_applied, v_empty, v_turned, v_secrets, v_events, v_endpoints, v_attempts
  from (
    select pg_catalog.array_agg(r.event_id) as events,
      pg_catalog.array_agg(r.endpoint_id) as endpoints, pg_catalog.array_agg(r.attempt) as attempts
    from replays r
  ) r
  cross join (
    select pg_catalog.array_agg(g.endpoint_id) as endpoints,
      pg_catalog.array_agg(g.secret_id) as secrets
    from gone g where g.rejected_secrets is not null
  ) t;
  if v_empty is not null then
    delete from outbox.lane l where l.id = any (v_empty);
  end if;
  if v_turned is not null then
    perform outbox.keep_secrets(v_turned, v_secrets, p_now);
  end if;
  if v_events is not null then
    perform outbox.resolve_dead_letters(v_events, v_endpoints, v_attempts, p_now);
  end if;
  return v_applied;
end
$$;
comment on function outbox.apply_delivered(outbox.result[], timestamptz) is
  'Applies results of endpoints that endpoints_to_judge() did not return, each to the delivery '
  'whose lease it holds: deletes the delivery, writes its attempt, and updates its lane and gate. '
  'Returns how many applied. locks: the caller holds the gates.';
