-- The view of the whole queue, in one row. It counts no more than 10,000 of anything that can be
-- many, so that it answers at once whatever waits.

create function outbox.waiting() returns jsonb
language plpgsql stable security definer
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup.
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_from timestamptz := outbox.ring_from(outbox.clock());
  v_router outbox.router;
begin
  select * into v_router from outbox.router r order by r.turn desc limit 1;
  return pg_catalog.jsonb_build_object(
    'unrouted', (
      select pg_catalog.count(*) from (
        select u from outbox.unrouted_late(v_router, 10000) u
        union all
        select u.event_id from outbox.unrouted u where u.event_id > v_router.watermark
        limit 10000
      ) c
    ),
    'oldest_unrouted_at', outbox.uuid_v7_time((outbox.next_unrouted(v_router))[1]),
    'oldest_due_at', (
      select g.next_at from outbox.gate g
      where g.next_at >= v_from and g.next_at < 'infinity' order by g.next_at limit 1
    ));
end
$$;
comment on function outbox.waiting() is
  'What waits, read from where routing and the ring begin, so that no dead row is walked: '
  '{"unrouted": up to 10,000, "oldest_unrouted_at", "oldest_due_at": of the first endpoint, which '
  'may lie ahead}.';

create function outbox.gate_totals() returns jsonb
language plpgsql stable security definer
set search_path = ''
-- Beside a transaction that is left open a gate has thousands of versions: a look begins with the
-- newest, where a bitmap would fetch all of them.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return (
    select pg_catalog.jsonb_build_object(
      'open', coalesce(pg_catalog.sum(g.depth) filter (where e.status <> 'deleted'), 0),
      'in_flight', coalesce(pg_catalog.sum(g.in_flight), 0),
      'breakers_open', pg_catalog.count(*) filter (
        where g.breaker <> 'closed' and e.breaker_enabled and e.status <> 'deleted'))
    from outbox.endpoint e
    cross join lateral (
      select o.* from outbox.gate o where o.endpoint_id = e.id order by o.changed_at desc limit 1
    ) g);
end
$$;
comment on function outbox.gate_totals() is
  'What the gates of all endpoints come to: {"open", "in_flight", "breakers_open"}.';

create function outbox.problems(p_waiting jsonb) returns text[]
language plpgsql stable security definer set search_path = ''
as $$
declare
  v_now timestamptz := pg_catalog.clock_timestamp();
begin
  return pg_catalog.array_remove(array[
    outbox.tick_problem(),
    outbox.contract_problem(outbox.clock()),
    case
      when least((p_waiting ->> 'oldest_unrouted_at')::timestamptz,
        (p_waiting ->> 'oldest_due_at')::timestamptz) < v_now - interval '60 s'
      then 'work has been due for more than a minute'
    end,
    case when not outbox.setting_on('worker.enabled') then 'delivery is switched off' end
  ], null);
end
$$;
comment on function outbox.problems(jsonb) is
  'The problems that keep the outbox from working, as texts; empty if there are none: the tick, '
  'functions of another version, late work, delivery switched off. p_waiting: the result of '
  'waiting().';

create view outbox.queue_health with (security_invoker = true) as
select
  (w.waiting ->> 'unrouted')::bigint as unrouted,
  (w.waiting ->> 'oldest_unrouted_at')::timestamptz as oldest_unrouted_at,
  (select pg_catalog.count(*) from outbox.unroutable) as unroutable,
  (g.totals ->> 'open')::numeric as open,
  (g.totals ->> 'in_flight')::bigint as in_flight,
  (w.waiting ->> 'oldest_due_at')::timestamptz as oldest_due_at,
  (
    select pg_catalog.count(*) from outbox.endpoint e where e.status in ('paused', 'disabled')
  ) as endpoints_held,
  (g.totals ->> 'breakers_open')::bigint as breakers_open,
  (
    select pg_catalog.count(*) from (
      select from outbox.dead_letter x
      where x.replayed_at is null and x.discarded_at is null
      limit 10000
    ) c
  ) as dead_letters,
  (
    select pg_catalog.count(*)
    from outbox.run r
    where r.ended_at is null and r.polled_at > pg_catalog.now() - interval '10 s'
  ) as runs,
  (select pg_catalog.count(*) from (select from outbox.event_default limit 10000) c)
    + (select pg_catalog.count(*) from (select from outbox.attempt_default limit 10000) c)
    as rows_in_default,
  a.n as set_aside,
  a.error as set_aside_error,
  outbox.last_tick_at() as last_tick_at,
  outbox.problems(w.waiting) as problems
from (select outbox.waiting() as waiting offset 0) w
cross join (select outbox.gate_totals() as totals offset 0) g
cross join (
  select pg_catalog.count(*) as n,
    (pg_catalog.array_agg(r.sqlstate || ' ' || r.error order by r.at desc))[1] as error
  from (
    select r.sqlstate, r.error, r.at from outbox.refusal r
    where r.again_at = 'infinity' order by r.at desc limit 10000
  ) r
) a;
comment on view outbox.queue_health is
  'The queue in one row: what waits, since when, what is held, whether a run is alive, and the '
  'problems that keep it from working. set_aside counts deliveries that the database refuses, '
  'set_aside_error is the last SQLSTATE and text. Counts of unrouted, dead_letters, set_aside and '
  'rows_in_default stop at 10,000.';
