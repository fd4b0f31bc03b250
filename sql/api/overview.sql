-- The state of all endpoints of an organisation in one call, for a page that asks every few
-- seconds. It reads the gates, at most 20,000 attempts and ends through the index of each endpoint
-- (10,000, but at least two of each endpoint), at most 10,000 entries of an index of events, and
-- what due_retries() reads.

create function outbox.waiting_letters(p_endpoint_id uuid, p_most integer)
returns setof timestamptz
language plpgsql stable rows 10
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
begin
  -- A range of one value, which leaves one index for the order: see group_dead_letters().
  return query
  select x.failed_at from outbox.dead_letter x
  where x.endpoint_id >= p_endpoint_id and x.endpoint_id <= p_endpoint_id
    and x.replayed_at is null and x.discarded_at is null
  order by x.endpoint_id desc, x.failed_at desc
  limit p_most;
end
$$;
comment on function outbox.waiting_letters(uuid, integer) is
  'When the dead letters of an endpoint that wait for a decision failed, the newest first, at most '
  'p_most.';

create function outbox.get_org_overview(p_org_id text, p_minutes integer default 60) returns jsonb
language plpgsql stable security definer
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_most constant integer := 10000;
  v_parts constant integer := 24;
  v_now timestamptz := outbox.clock();
  v_from timestamptz;
  v_each integer;
  v_result jsonb;
begin
  perform outbox.check_range('minutes', p_minutes, 1, 10080);
  v_from := v_now - pg_catalog.make_interval(mins => p_minutes);
  v_each := greatest(2, v_most / greatest(1, (
    select pg_catalog.count(*)
    from (
      select from outbox.endpoint e
      where e.org_id = p_org_id and e.status <> 'deleted' limit v_most
    ) c)));
  with own as materialized (
    select e.id, e.status, g.depth, g.in_flight, g.streak, g.first_failure_at, g.next_at,
      case when e.breaker_enabled then g.breaker else 'closed' end as breaker
    from outbox.endpoint e
    left join lateral (
      select o.* from outbox.gate o where o.endpoint_id = e.id order by o.changed_at desc limit 1
    ) g on true
    where e.org_id = p_org_id and e.status <> 'deleted'
    limit v_most
  ), published as materialized (
    select least(v_most, pg_catalog.count(*)) as total, pg_catalog.count(*) > v_most as capped,
      pg_catalog.min(n.id::text) as first_id
    from (
      select e.id from outbox.event e
      where e.org_id > '' and e.org_id = p_org_id and e.id >= outbox.uuid_v7_floor(v_from)
      order by e.org_id desc, e.id desc
      -- One more, to know whether there are more.
      limit v_most + 1
    ) n
  ), latest as materialized (
    select o.id, t.at, t.kind, t.outcome, t.duration_ms, t.event_id,
      pg_catalog.row_number() over (partition by o.id order by t.at desc) as n
    from own o
    cross join lateral (
      -- Bounded before it is filtered: there may be a million ends without an attempt.
      select a.at, a.kind, a.outcome, a.duration_ms, a.event_id
      from outbox.attempt a
      where a.endpoint_id = o.id and a.at > v_from
      order by a.at desc
      limit v_each
    ) t
    limit 2 * v_most
  ), span as materialized (
    select coalesce(pg_catalog.max(l.at) filter (where l.n = v_each), v_from) as since,
      coalesce(pg_catalog.bool_or(l.n = v_each), false) as capped
    from latest l
  ), tried as materialized (
    -- The time of the event as in uuid_v7_time(), of which 10,000 calls take 300 ms.
    select l.id, l.at, l.outcome = 'delivered' as good, l.duration_ms,
      case when l.outcome = 'delivered' then greatest(0,
        extract(epoch from l.at) * 1000 - ('x' || pg_catalog.translate(
          pg_catalog.left(l.event_id::text, 13), '-', ''))::bit(48)::bigint)::bigint end as age_ms
    from latest l cross join span s
    where l.at >= s.since and l.kind = 'attempt'
  ), by_part as materialized (
    select t.id,
      least(v_parts - 1, pg_catalog.floor(
        extract(epoch from t.at - v_from) * v_parts / (p_minutes * 60))::integer) as n,
      pg_catalog.count(*) as total, pg_catalog.count(*) filter (where t.good) as good
    from tried t
    group by 1, 2
  ), by_endpoint as materialized (
    select p.id, pg_catalog.sum(p.total) as total, pg_catalog.sum(p.good) as good,
      pg_catalog.jsonb_object_agg(p.n, pg_catalog.jsonb_build_array(p.good, p.total - p.good))
        as parts
    from by_part p
    group by p.id
  )
  select pg_catalog.jsonb_build_object(
    'time', outbox.iso_time(v_now),
    'minutes', p_minutes,
    'endpoints', (
      select pg_catalog.jsonb_build_object(
        'total', pg_catalog.count(*),
        'enabled', pg_catalog.count(*) filter (where o.status = 'enabled'),
        'paused', pg_catalog.count(*) filter (where o.status = 'paused'),
        'disabled', pg_catalog.count(*) filter (where o.status = 'disabled'),
        'failing', pg_catalog.count(*) filter (where o.first_failure_at is not null),
        'breakersOpen', pg_catalog.count(*) filter (where o.breaker <> 'closed'))
      from own o),
    'events', (
      select pg_catalog.jsonb_build_object(
        'total', p.total, 'capped', p.capped,
        -- Complete from the millisecond after the first event that is not counted.
        'since', outbox.iso_time(case
          when p.capped
          then greatest(v_from, outbox.uuid_v7_time(p.first_id::uuid) + interval '1 ms')
          else v_from
        end))
      from published p),
    'retriesDue', outbox.due_retries(p_org_id, v_now, v_now + interval '1 hour'),
    'open', (select coalesce(pg_catalog.sum(o.depth), 0) from own o),
    'inFlight', (select coalesce(pg_catalog.sum(o.in_flight), 0) from own o),
    'oldestDueAt', (
      select outbox.iso_time(pg_catalog.min(o.next_at)) from own o
      where o.status = 'enabled' and o.next_at <= v_now),
    'deadLetters', (
      select pg_catalog.count(*) from (
        select from own o
        cross join lateral outbox.waiting_letters(o.id, v_most) w
        limit v_most
      ) c),
    'attempts', (
      select pg_catalog.jsonb_build_object(
        'since', outbox.iso_time(s.since), 'capped', s.capped,
        'total', pg_catalog.count(t.id),
        'delivered', pg_catalog.count(*) filter (where t.good),
        'failed', pg_catalog.count(*) filter (where not t.good),
        'p50Ms', pg_catalog.percentile_disc(0.5) within group (order by t.duration_ms),
        'p95Ms', pg_catalog.percentile_disc(0.95) within group (order by t.duration_ms),
        'p99Ms', pg_catalog.percentile_disc(0.99) within group (order by t.duration_ms))
      from span s left join tried t on true
      group by s.since, s.capped),
    'latency', (
      select pg_catalog.jsonb_build_object(
        'p50Ms', pg_catalog.percentile_disc(0.5) within group (order by t.age_ms),
        'p95Ms', pg_catalog.percentile_disc(0.95) within group (order by t.age_ms),
        'p99Ms', pg_catalog.percentile_disc(0.99) within group (order by t.age_ms))
      from tried t),
    'series', (
      select coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
        'at', outbox.iso_time(v_from + c.n * pg_catalog.make_interval(secs => p_minutes)),
        'delivered', c.good, 'failed', c.bad) order by c.n), '[]')
      from (
        select pg_catalog.floor(extract(epoch from t.at - v_from) / p_minutes)::integer as n,
          pg_catalog.count(*) filter (where t.good) as good,
          pg_catalog.count(*) filter (where not t.good) as bad
        from tried t
        group by 1
      ) c),
    'busiest', (
      select coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
        'endpointId', b.id, 'status', b.status, 'breaker', b.breaker, 'open', b.depth,
        'inFlight', b.in_flight, 'failuresRunning', b.streak,
        'failingSince', outbox.iso_time(b.first_failure_at),
        'oldestDueAt', outbox.iso_time(b.due_at),
        'delivered', coalesce(b.good, 0), 'failed', coalesce(b.total - b.good, 0),
        'deliveredParts', (
          select pg_catalog.jsonb_agg(coalesce(b.parts -> n::text -> 0, '0') order by n)
          from pg_catalog.generate_series(0, v_parts - 1) n),
        'failedParts', (
          select pg_catalog.jsonb_agg(coalesce(b.parts -> n::text -> 1, '0') order by n)
          from pg_catalog.generate_series(0, v_parts - 1) n))
        order by b.breaker <> 'closed' desc, b.streak desc, b.depth desc, b.total desc, b.id), '[]')
      from (
        select o.id, o.status, coalesce(o.breaker, 'closed') as breaker,
          coalesce(o.depth, 0) as depth, coalesce(o.in_flight, 0) as in_flight,
          coalesce(o.streak, 0) as streak, o.first_failure_at, coalesce(y.total, 0) as total,
          case when o.status = 'enabled' and o.next_at <= v_now then o.next_at end as due_at,
          y.good, y.parts
        from own o
        left join by_endpoint y on y.id = o.id
        where o.depth > 0 or o.streak > 0 or o.breaker <> 'closed' or y.total > 0
        order by coalesce(o.breaker, 'closed') <> 'closed' desc, coalesce(o.streak, 0) desc,
          coalesce(o.depth, 0) desc, coalesce(y.total, 0) desc, o.id
        limit 100
      ) b))
  into v_result;
  return v_result;
end
$$;
comment on function outbox.get_org_overview(text, integer) is
  'The state of an organisation and its attempts of the last p_minutes, at most 10,000 (of more '
  'than 5,000 endpoints, two each): {"time", '
  '"minutes", "endpoints": numbers by status, "events": those of p_minutes, counted up to 10,000, '
  '"retriesDue": due_retries() of the next hour, "open", "inFlight", "oldestDueAt", '
  '"deadLetters": up to 10,000, "attempts", "latency": from the event to its delivery, "series": '
  'at most 61 spans with attempts, "busiest": up to 100 endpoints with work, the worst first, with '
  'their attempts in 24 parts of the span}. attempts.capped, events.capped: there were more; they '
  'are complete from since on. OH001.';
