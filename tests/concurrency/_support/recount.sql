-- Every counter of gate and lane that differs from a count of the deliveries, and every time that would
-- leave a delivery lying. One statement, so one snapshot: it may run while dispatches commit.
with counted as (
  -- What is set aside is due at no time, also if its row could not be changed.
  select d.lane_id, count(*) as depth, count(*) filter (where greatest(d.due_at, d.refused_until) < 'infinity') as live,
    count(d.leased_until) as leased,
    min(d.due_at) as head_at, min(greatest(d.due_at, d.refused_until)) filter (where d.leased_until is null) as free_at,
    min(d.leased_until) as leased_until
  from (
    select d.*, r.again_at as refused_until
    from outbox.delivery d
    left join outbox.refusal r on r.event_id = d.event_id and r.endpoint_id = d.endpoint_id and r.step = 'claim'
  ) d
  group by d.lane_id
), lanes as (
  select l.*, coalesce(c.depth, 0) as n, coalesce(c.live, 0) as live, coalesce(c.leased, 0) as held, c.head_at as first_at, c.free_at,
    c.leased_until as first_end
  from outbox.lane l left join counted c on c.lane_id = l.id
), gates as (
  select g.*, e.updated_at, e.max_in_flight, e.status, e.rate_per_second, outbox.allowed_in_flight(e.max_in_flight, g.last_timed_out, greatest(g.ramp_from, e.ramp_from), outbox.clock()) as allowed, coalesce(l.depth, 0) as n, coalesce(l.live, 0) as live, coalesce(l.slots, 0) as slots, l.next_at as lane_at
  from outbox.gate g
  join outbox.endpoint e on e.id = g.endpoint_id
  left join (
    -- A lane that is halted is due at no time, so a gate of such lanes alone is not due either.
    select gate_id, sum(n) as depth, sum(live) filter (where not halted) as live, min(next_at) filter (where n > 0) as next_at,
      sum(case when ordered then least(held, 1) else held end) as slots
    from lanes group by gate_id
  ) l on l.gate_id = g.id
), found as (
  select 'lane ' || l.id as what, p.problem
  from lanes l cross join lateral (values
    (case when l.depth <> l.n then format('depth %s, counted %s', l.depth, l.n) end),
    (case when l.leased <> l.held then format('leased %s, counted %s', l.leased, l.held) end),
    (case when (l.leased = 0) <> (l.leased_until is null) then 'leased and leased_until disagree' end),
    (case when l.leased_until > l.first_end then 'leased_until is later than the first lease''s end' end),
    (case when l.head_at > l.first_at then 'head_at is later than the first delivery' end),
    (case when l.live > 0 and l.next_at = 'infinity' and not l.halted then 'has deliveries and is never due' end),
    (case when not l.ordered and l.n > 0
            and l.next_at > greatest(outbox.clock(), least(l.free_at, l.first_end))
          then 'is due later than its first delivery' end),
    (case when l.ordered and l.held > 0 and l.next_at < l.first_end then 'is due while some of it is leased' end),
    (case when l.ordered and l.n = 0 and not l.halted and l.not_before <= outbox.clock() then 'is empty and was not removed' end)
  ) p (problem)
  union all
  select 'gate ' || g.id, p.problem
  from gates g cross join lateral (values
    (case when g.depth <> g.n then format('depth %s, counted %s', g.depth, g.n) end),
    (case when g.in_flight <> g.slots then format('in_flight %s, counted %s', g.in_flight, g.slots) end),
    (case when g.in_flight > g.max_in_flight then format('in_flight %s, at most %s', g.in_flight, g.max_in_flight) end),
    (case when g.live > 0 and least(g.next_at, g.isolated_at) = 'infinity' and g.status <> 'deleted' then 'has deliveries and is never due' end),
    (case when g.in_flight < g.allowed and g.breaker = 'closed' and g.status = 'enabled' and g.n > 0
            and least(g.next_at, g.isolated_at) > greatest(outbox.clock(), g.not_before, outbox.next_token_at(g.tokens, g.tokens_at, g.rate_per_second), g.lane_at)
            -- For 6 s after a resume, the tick makes it due when its lane is (wake_changed).
            and not (g.lane_at > outbox.clock() and g.next_at < g.updated_at + interval '6 s')
          then 'is due later than its first lane' end)
  ) p (problem)
  union all
  select 'delivery ' || d.event_id || ' of ' || d.endpoint_id, 'lies in no lane of its endpoint'
  from outbox.delivery d
  where not exists (
    select from outbox.lane l join outbox.gate g on g.id = l.gate_id
    where l.id = d.lane_id and g.endpoint_id = d.endpoint_id)
)
select what, problem from found where problem is not null order by what limit 20
