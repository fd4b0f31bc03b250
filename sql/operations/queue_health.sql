-- The health of the queue in one row. It counts at most 10,000 of anything that can be many, so
-- that it is fast at any backlog.

create function outbox.queue_backlog() returns jsonb
language plpgsql stable security definer
set search_path = ''
-- These settings force index lookups: see foundation/setup.
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_from timestamptz := outbox.ring_from(outbox.clock());
  v_router outbox.router := outbox.current_router();
begin
  return pg_catalog.jsonb_build_object(
    'unrouted', (
      select pg_catalog.count(*) from (
        select u from outbox.unrouted_late(v_router, 10000) u
        union
        (
          select u.event_id from outbox.unrouted u where u.event_id > v_router.watermark
          limit 10000
        )
        union
        select u from outbox.waiting_events(10000) u
        limit 10000
      ) c
    ),
    'waiting_turn', (select pg_catalog.count(*) from outbox.waiting_events(10000)),
    'oldest_unrouted_at', least(outbox.oldest_new(v_router), outbox.oldest_waiting()),
    'oldest_due_at', least(
      (select g.next_at from outbox.gate g
       where g.next_at >= v_from and g.next_at < 'infinity' order by g.next_at limit 1),
      (select g.isolated_at from outbox.gate g
       where g.isolated_at < 'infinity' order by g.isolated_at limit 1)
    ));
end
$$;
comment on function outbox.queue_backlog() is
  'The backlog, read from where routing and the ring start, so that no dead row is scanned: '
  '{"unrouted", "waiting_turn": the number of them that wait for the turn of their organisation, '
  'each up to 10,000, "oldest_unrouted_at", "oldest_due_at": the time of the first endpoint, which '
  'may be in the future}.';

create function outbox.gate_totals() returns jsonb
language plpgsql stable security definer
set search_path = ''
-- While a transaction is left open, a gate has thousands of versions. An index scan starts with the
-- newest; a bitmap scan would fetch all of them.
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
  'The sums over the gates of all endpoints: {"open", "in_flight", "breakers_open"}.';

create function outbox.queue_problems(p_backlog jsonb) returns text[]
language plpgsql stable security definer set search_path = ''
as $$
declare
  v_now timestamptz := pg_catalog.clock_timestamp();
  v_more text[];
begin
  -- They read objects of the application, and must hide no other problem.
  begin
    v_more := outbox.more_problems();
  exception when assert_failure or others then
    v_more := array['the problems of a module cannot be read: SQLSTATE ' || sqlstate];
  end;
  return pg_catalog.array_remove(array[
    outbox.tick_problem(),
    outbox.module_problem(),
    outbox.contract_problem(outbox.clock()),
    outbox.binding_problem(outbox.clock()),
    outbox.kick_problem(outbox.clock()),
    outbox.kind_problem(outbox.clock()),
    outbox.upkeep_problem(outbox.clock()),
    outbox.settings_problem(),
    case
      when least((p_backlog ->> 'oldest_unrouted_at')::timestamptz,
        (p_backlog ->> 'oldest_due_at')::timestamptz) < v_now - interval '60 s'
      then 'events or deliveries have been due for more than a minute'
    end,
    case when not outbox.setting_on('worker.enabled') then 'delivery is switched off' end
  ], null) || v_more;
end
$$;
comment on function outbox.queue_problems(jsonb) is
  'The problems that stop or delay deliveries, as texts; empty if there are none: the tick, '
  'an upgrade that is not finished, functions of another version, runs of another project, kicks '
  'that pg_net does not send, kinds that no live run can send, objects that the periodic work '
  'cannot process, settings without a row, a backlog older than a minute, worker.enabled is '
  'false, what a module adds. p_backlog: the result of queue_backlog().';

create view outbox.queue_health with (security_invoker = true) as
select
  (w.backlog ->> 'unrouted')::bigint as unrouted,
  (w.backlog ->> 'oldest_unrouted_at')::timestamptz as oldest_unrouted_at,
  (select pg_catalog.count(*) from outbox.unroutable) as unroutable,
  (g.totals ->> 'open')::numeric as open,
  (g.totals ->> 'in_flight')::bigint as in_flight,
  (w.backlog ->> 'oldest_due_at')::timestamptz as oldest_due_at,
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
    where r.ended_at is null and r.polled_at > outbox.alive_since(pg_catalog.now())
  ) as runs,
  (select pg_catalog.count(*) from (select from outbox.event_default limit 10000) c)
    + (select pg_catalog.count(*) from (select from outbox.attempt_default limit 10000) c)
    as rows_in_default,
  a.n as set_aside,
  a.error as set_aside_error,
  outbox.last_tick_at() as last_tick_at,
  outbox.queue_problems(w.backlog) as problems,
  (w.backlog ->> 'waiting_turn')::bigint as waiting_turn,
  outbox.limit_warnings(outbox.clock()) as warnings
from (select outbox.queue_backlog() as backlog offset 0) w
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
  'The queue in one row: the backlog and its age, held endpoints, runs, and the problems that '
  'stop or delay deliveries. set_aside counts deliveries that the database rejected, '
  'set_aside_error is the last SQLSTATE and text. waiting_turn counts the unrouted events that '
  'wait for the turn of their organisation. unrouted, waiting_turn, dead_letters, set_aside and '
  'rows_in_default count up to 10,000.';
comment on column outbox.queue_health.unrouted is 'How many committed events are not routed yet.';
comment on column outbox.queue_health.oldest_unrouted_at is 'Since when the oldest of them waits.';
comment on column outbox.queue_health.unroutable is
  'How many events routing has set aside, until route_again().';
comment on column outbox.queue_health.open is
  'How many deliveries of endpoints that are not deleted have not ended.';
comment on column outbox.queue_health.in_flight is 'How many requests are in flight.';
comment on column outbox.queue_health.oldest_due_at is
  'When the first endpoint is due. It may be in the future. Null: none is due.';
comment on column outbox.queue_health.endpoints_held is
  'How many endpoints are paused or disabled.';
comment on column outbox.queue_health.breakers_open is 'How many breakers are open or half-open.';
comment on column outbox.queue_health.dead_letters is
  'How many dead letters are neither replayed nor discarded.';
comment on column outbox.queue_health.runs is
  'How many runs polled in the last 10 s, or in worker.poll_interval_ms if that is longer.';
comment on column outbox.queue_health.rows_in_default is
  'How many events and attempts have no partition of their day.';
comment on column outbox.queue_health.set_aside is
  'How many deliveries the database rejected, until retry_now().';
comment on column outbox.queue_health.set_aside_error is 'The last SQLSTATE and text of these.';
comment on column outbox.queue_health.last_tick_at is 'When pg_cron called the tick last.';
comment on column outbox.queue_health.problems is
  'What stops or delays deliveries, as texts. Empty: nothing.';
comment on column outbox.queue_health.waiting_turn is
  'How many of the unrouted events wait for the turn of their organisation.';
comment on column outbox.queue_health.warnings is
  'The limits of the database that are near, as texts. Nothing is stopped or delayed yet. Empty: '
  'none.';
