-- What endpoint_status and queue_health say equals a recount, in every status and after everything that may happen.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(13);

create function differences() returns setof text language sql as $$
  select format('%s: open %s, counted %s', s.id, s.open, count(d.event_id)) from outbox.endpoint_status s left join outbox.delivery d on d.endpoint_id = s.id
  group by s.id, s.open having s.open <> count(d.event_id)
  union all
  select format('%s: in flight %s, counted %s', s.id, s.in_flight, c.n) from outbox.endpoint_status s
  cross join lateral (select count(distinct case when l.ordered then l.id::text else d.event_id::text end) filter (where d.leased_until is not null) as n
    from outbox.delivery d join outbox.lane l on l.id = d.lane_id where d.endpoint_id = s.id) c
  where s.in_flight <> c.n
  union all
  select format('queue: %s, counted %s', h, c) from (select jsonb_build_object('unrouted', unrouted, 'unroutable', unroutable, 'open', open, 'in_flight', in_flight,
      'endpoints_held', endpoints_held, 'breakers_open', breakers_open, 'dead_letters', dead_letters) as h from outbox.queue_health) q,
    (select jsonb_build_object('unrouted', (select count(*) from outbox.unrouted), 'unroutable', (select count(*) from outbox.unroutable),
      'open', (select count(*) from outbox.delivery d join outbox.endpoint e on e.id = d.endpoint_id where e.status <> 'deleted'),
      'in_flight', (select coalesce(sum(s.in_flight), 0) from outbox.endpoint_status s),
      'endpoints_held', (select count(*) from outbox.endpoint_status where status in ('paused', 'disabled')),
      'breakers_open', (select count(*) from outbox.gate g join outbox.endpoint e on e.id = g.endpoint_id where g.breaker <> 'closed' and e.breaker_enabled and e.status <> 'deleted'),
      'dead_letters', (select count(*) from outbox.dead_letter where replayed_at is null and discarded_at is null)) as c) r
  where h <> c
$$;
create temporary table made as select endpoint(p_breaker => true) as breaking, endpoint(p_ordering => 'partition') as keyed, endpoint(p_ordering => 'endpoint') as ordered,
  endpoint() as paused, endpoint() as deleted;
select is_empty('select * from differences()', 'nothing is nothing');
select events(10, p_key => 'key ' || n) from generate_series(1, 3) n;
select is((select unrouted || ' ' || (oldest_unrouted_at = '2026-03-01 12:00:00+00') from outbox.queue_health), '30 true', 'what is not routed is counted, with the time of the oldest');
select is_empty('select * from differences()', 'before routing');
select step(0);
select is((select open from outbox.queue_health), 150::numeric, 'each event for each endpoint');
select is((select oldest_due_at from outbox.queue_health), '2026-03-01 12:00:00+00'::timestamptz, 'due since');
create temporary table answer as select step(90) as a;
select is_empty('select * from differences()', 'under way');
select outbox.pause_endpoint(paused), outbox.delete_endpoint(deleted) from made;
select step(0, (select jsonb_agg(r || case n % 4 when 0 then '{"outcome": "delivered"}' when 1 then '{"status": 500}' when 2 then '{"outcome": "released"}' else '{"status": 404}' end::jsonb)
  from answer, jsonb_array_elements(results(a, 'failed')) with ordinality x (r, n) where n % 5 <> 0));
select is_empty('select * from differences()', 'after every kind of result, paused and deleted');
select step(0, results_of(a, breaking, 'failed', '{"status": 500}')) from answer, made;
select is((select breakers_open || ' ' || endpoints_held from outbox.queue_health), '1 1', 'one breaker is open, one endpoint held');
select is_empty('select * from differences()', 'with an open breaker');
select time_passes('1 h'), outbox.tick(), step(50), outbox.tick();
select is_empty('select * from differences()', 'after lost leases and a purge');
select outbox.replay_many(), outbox.tick(), outbox.tick();
select is_empty('select * from differences()', 'after a replay');
select outbox.discard_dead_letter(event_id, endpoint_id, 'why') from outbox.dead_letter where replayed_at is null;
select time_passes('31 d'), outbox.tick(), outbox.cleanup();
select is_empty('select * from differences()', 'after the expiry of what was left');
select is_empty('select * from miscounts()', 'and the counters behind them are right');

select * from finish();
rollback;
