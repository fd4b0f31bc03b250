-- What must never be, whatever happened before, counted as naively as can be; a row says what is broken.
create function property.broken_count() returns table (problem text) language plpgsql as $$
begin
  return query
  with lanes as (
    select l.*, g.lanes_from, e.status, count(d.event_id) as n, count(d.leased_until)::integer as held, min(d.due_at) as first_at, min(d.leased_until) as first_end,
      min(d.due_at) filter (where d.leased_until is null) as free_at
    from outbox.lane l join outbox.gate g on g.id = l.gate_id join outbox.endpoint e on e.id = g.endpoint_id
    left join outbox.delivery d on d.lane_id = l.id and d.endpoint_id = g.endpoint_id
    group by l.id, l.changed_at, g.lanes_from, e.status
  ), gates as (
    select g.*, e.max_in_flight, e.status, coalesce(sum(l.n), 0) as n, bool_or(l.n > 0 and not l.halted) as moves,
      coalesce(sum(case when l.ordered then least(l.held, 1) else l.held end), 0) as slots
    from outbox.gate g join outbox.endpoint e on e.id = g.endpoint_id left join lanes l on l.gate_id = g.id group by g.id, g.changed_at, e.id
  )
  select format('lane %s %s', l.id, w.wrong)
  from lanes l cross join lateral (values
    (case when (l.depth, l.leased) <> (l.n, l.held) then format('has depth %s and %s leased, counted %s and %s', l.depth, l.leased, l.n, l.held) end),
    (case when l.leased_until > l.first_end then 'looks for lost leases too late' end),
    (case when l.next_at < l.lanes_from and not l.isolated then 'is due before the first lane of its gate' end),
    (case when l.head_at > l.first_at then 'begins behind its first delivery' end),
    (case when l.n > 0 and l.next_at = 'infinity' and not l.halted then 'has deliveries and is never due' end),
    (case when not l.ordered and l.n > 0 and l.next_at > greatest((select m.at from property.latest m), least(l.free_at, l.first_end)) then 'is due later than its first delivery' end),
    (case when l.ordered and l.held > 0 and l.next_at < l.first_end then 'is due while some of it is leased' end),
    (case when l.ordered and l.n = 0 and not l.halted and l.status <> 'deleted' then 'is empty and was not removed' end)
  ) w (wrong) where w.wrong is not null
  union all
  select format('gate %s %s', g.id, w.wrong)
  from gates g cross join lateral (values
    (case when (g.depth, g.in_flight) <> (g.n, g.slots) then format('has depth %s and %s in flight, counted %s and %s', g.depth, g.in_flight, g.n, g.slots) end),
    (case when g.next_at < (select r.from_at from outbox.ring r where r.from_at <= outbox.clock() - interval '1 s') then 'is due before the ring begins' end),
    (case when g.in_flight > g.max_in_flight then format('has %s in flight, at most %s', g.in_flight, g.max_in_flight) end),
    (case when g.moves and least(g.next_at, g.isolated_at) = 'infinity' and g.status <> 'deleted' then 'has deliveries and is never due' end)
  ) w (wrong) where w.wrong is not null
  union all
  select format('gate %s is there %s times', g.id, count(*)) from outbox.gate g group by g.id having count(*) > 1
  union all
  select format('endpoint %s has %s gates', g.endpoint_id, count(*)) from outbox.gate g group by g.endpoint_id having count(*) > 1
  union all
  select format('gate %s has %s lanes of key %s', l.gate_id, count(*), l.key_hash) from outbox.lane l
  group by l.gate_id, l.ordered, l.key_hash having count(*) > 1
  union all
  select format('%s of %s lies in no lane', d.event_id, d.endpoint_id) from outbox.delivery d
  where not exists (select from outbox.lane l join outbox.gate g on g.id = l.gate_id where l.id = d.lane_id and g.endpoint_id = d.endpoint_id);
end
$$;

create function property.broken_delivery() returns table (problem text) language plpgsql as $$
begin
  return query
  select format('%s for %s: %s', p.event_id, p.endpoint_id, w.wrong)
  from property.pair p
  left join outbox.delivery d on d.event_id = p.event_id and d.endpoint_id = p.endpoint_id
  left join outbox.dead_letter x on x.event_id = p.event_id and x.endpoint_id = p.endpoint_id
  left join outbox.endpoint e on e.id = p.endpoint_id
  cross join lateral (
    select count(*) filter (where r.kind = 'attempt') as attempts, count(distinct r.attempt) filter (where r.kind = 'attempt') as numbers,
      coalesce(max(r.attempt), 0) as last, (array_agg(r.outcome order by r.n desc) filter (where r.kind = 'close' or r.outcome = 'delivered'))[1] as ended
    from property.attempt r where r.event_id = p.event_id and r.endpoint_id = p.endpoint_id
  ) r
  cross join lateral (values
    (case when d is null and r.ended is null then 'is lost: neither open nor ended' end),
    (case when r.attempts <> r.numbers then 'two attempts have one attempt number' end),
    (case when d.attempt < r.last then 'its attempt number went back' end),
    (case when d.leased_until is not null and d.attempt = r.last and r.attempts > 0 then 'is leased under a number that has its attempt' end),
    (case when d is null and r.ended in ('dead_letter', 'expired') and e.status <> 'deleted'
            and (x is null and not p.discarded
              or x.attempt <> r.last or x.replayed_at is not null or x.delivered_at is not null)
          then 'ended as a dead letter, which does not say so' end)
  ) w (wrong)
  where w.wrong is not null;
end
$$;

create function property.broken_view() returns table (problem text) language plpgsql as $$
begin
  return query
  select 'queue_health: ' || to_jsonb(q)::text
  from outbox.queue_health q
  where (q.unrouted, q.open, q.in_flight, q.endpoints_held, q.breakers_open, q.dead_letters) is distinct from (
    (select count(*) from outbox.unrouted),
    (select count(*) from outbox.delivery d join outbox.endpoint e on e.id = d.endpoint_id where e.status <> 'deleted')::numeric,
    (select count(*) from (
       select distinct d.lane_id, case when not l.ordered then d.event_id end from outbox.delivery d join outbox.lane l on l.id = d.lane_id where d.leased_until is not null) s)::numeric,
    (select count(*) from outbox.endpoint e where e.status in ('paused', 'disabled')),
    (select count(*) from outbox.gate g join outbox.endpoint e on e.id = g.endpoint_id where g.breaker <> 'closed' and e.status <> 'deleted'),
    (select count(*) from outbox.dead_letter x where x.replayed_at is null and x.discarded_at is null))
  union all
  select 'endpoint_status: ' || to_jsonb(s)::text
  from outbox.endpoint_status s
  where s.open <> (select count(*) from outbox.delivery d where d.endpoint_id = s.id)
    or s.in_flight > (select e.max_in_flight from outbox.endpoint e where e.id = s.id)
  union all
  select 'delivery_status: ' || p.event_id || ' for ' || p.endpoint_id || ' is ' || coalesce(s.shown, 'not there')
  from property.pair p
  left join outbox.delivery d on d.event_id = p.event_id and d.endpoint_id = p.endpoint_id
  cross join lateral (
    select string_agg(v.status, ' and ') as shown from outbox.delivery_status v where v.event_id = p.event_id and v.endpoint_id = p.endpoint_id
  ) s
  where case
    when d is null then s.shown not in ('delivered', 'dead_letter', 'cancelled', 'expired', 'filter_error')
    else s.shown is null or s.shown not in ('pending', 'processing', 'retrying', 'held', 'cancelled') end;
end
$$;

create function property.broken_breaker() returns table (problem text) language plpgsql as $$
begin
  return query
  select 'the probe of ' || g.endpoint_id || ' is held by nobody'
  from outbox.gate g join outbox.endpoint e on e.id = g.endpoint_id
  where g.breaker = 'half_open' and e.status <> 'deleted'
    and not exists (
      select from outbox.delivery d where d.event_id = g.probe_event and d.endpoint_id = g.endpoint_id and d.attempt = g.probe_attempt and d.leased_until is not null);
end
$$;

create function property.broken() returns jsonb language plpgsql as $$
begin
  return (
    select coalesce(jsonb_agg(b.problem), '[]') from (
      select * from property.broken_count()
      union all select * from property.broken_delivery()
      union all select * from property.broken_view()
      union all select * from property.broken_breaker()
    ) b);
end
$$;
