-- What the tests share. A test loads this file after its begin, so that its rollback takes all of it
-- away again: a clock that only the test turns, endpoints and events in one word each, a run to make
-- dispatch calls with, and recounts that trust no counter.
\ir ../_support/test_clock.sql
create schema helper;
set local search_path = helper, extensions;

-- Some functions wait 50 to 500 ms for a lock and then leave their work for later. On a busy machine autovacuum may
-- hold one for longer, and a test would miss what it asked for.
do $$
declare
  v_function regprocedure;
begin
  for v_function in
    select p.oid from pg_proc p, unnest(p.proconfig) c
    where p.pronamespace = 'outbox'::regnamespace and c like 'lock_timeout=%'
  loop
    execute format('alter function %s set lock_timeout = ''1min''', v_function);
  end loop;
end
$$;

-- Each test has a clock of its own, so the sequence of event_time() must be its own too.
create sequence event_clock minvalue 0 start 0;
do $$ begin
  execute replace(pg_get_functiondef('outbox.event_time(integer)'::regprocedure), 'outbox.event_clock', 'helper.event_clock');
  execute replace(pg_get_functiondef('outbox.latest_event_time()'::regprocedure), 'outbox.event_clock', 'helper.event_clock');
end $$;

create function time_is(p_at timestamptz) returns void language sql as $$
  insert into outbox.test_clock (at) values (p_at) on conflict (only_row) do update set at = excluded.at
$$;

create function time_passes(p_by interval) returns void language sql as $$
  update outbox.test_clock set at = at + p_by where only_row
$$;

-- The last kick is a sequence, which no rollback takes back: every test begins without one, and with a tick
-- of now, whatever pg_cron does.
do $$ begin perform setval('outbox.last_kick', 0), setval('outbox.kicks_without_run', 0, false), setval('outbox.passed_pairs', 0), helper.time_is('2026-03-01 12:00:00+00'),
  setval('outbox.last_tick', (extract(epoch from clock_timestamp()) * 1000)::bigint),
  setval('outbox.last_tick_second', extract(epoch from timestamptz '2026-03-01 12:00:00+00')::bigint); end $$;

-- What refuses a statement, as 'SQLSTATE message'; a refusal without a remedy says so.
create function refusal(p_statement text) returns text language plpgsql as $$
declare
  v_hint text;
begin
  execute p_statement;
  return 'accepted';
exception when others then
  get stacked diagnostics v_hint = pg_exception_hint;
  return sqlstate || ' ' || sqlerrm || case when v_hint = '' then ' (without a hint)' else '' end;
end
$$;

create function plain_retry(p_max_retries integer default 5) returns jsonb language sql as $$
  select jsonb_build_object('strategy', 'schedule', 'delays', '[1, 5, 15, 60, 300]'::jsonb,
    'max_retries', p_max_retries, 'jitter', false)
$$;

-- Without a breaker, since failures are what most tests are about, unless p_breaker says otherwise.
create function endpoint(
  p_types text[] default '{*}', p_ordering text default 'none', p_max_in_flight integer default 50,
  p_quantum integer default 25, p_retry jsonb default helper.plain_retry(),
  p_org_id text default 'default', p_timeout_ms integer default 15000, p_breaker boolean default false,
  p_rate_per_second double precision default null, p_filter text default null
) returns uuid language plpgsql as $$
declare
  v_id uuid := outbox.create_endpoint('https://example.com/hook', p_types, p_org_id => p_org_id,
    p_ordering => p_ordering, p_max_in_flight => p_max_in_flight, p_quantum => p_quantum, p_retry => p_retry,
    p_timeout_ms => p_timeout_ms, p_rate_per_second => p_rate_per_second, p_filter => p_filter) ->> 'id';
begin
  update outbox.endpoint e set breaker_enabled = p_breaker where e.id = v_id;
  return v_id;
end
$$;

-- Events of one type, whose ids grow in the order of the array that comes back.
create function events(
  p_count integer, p_type text default 'test.event', p_key text default null,
  p_endpoint_id uuid default null, p_payload jsonb default '{}', p_org_id text default 'default'
) returns uuid[] language sql as $$
  select array(select jsonb_array_elements_text(outbox.publish_many((
    select jsonb_agg(jsonb_build_object('type', p_type, 'payload', p_payload, 'partition_key', p_key,
      'endpoint_id', p_endpoint_id, 'org_id', p_org_id))
    from generate_series(1, p_count))))::uuid)
$$;

create sequence seq;

-- One dispatch call of the test's own run, which counts as holding nothing.
create function step(p_limit integer default 100, p_results jsonb default '[]') returns jsonb
language sql as $$
  select outbox.dispatch('00000000-0000-7000-8000-000000000001', nextval('helper.seq'), p_results, p_limit)::jsonb
$$;

-- The result of each delivery that a call returned, in the form that the next call takes.
create function results(p_answer jsonb, p_outcome text, p_more jsonb default '{}') returns jsonb
language sql as $$
  select coalesce(jsonb_agg(jsonb_build_object('event', d -> 'event', 'endpoint', d -> 'endpoint',
    'attempt', d -> 'attempt', 'outcome', p_outcome) || p_more), '[]')
  from jsonb_array_elements(p_answer -> 'deliveries') d
$$;

-- How many deliveries a call returned, in all or for one endpoint.
create function claimed(p_answer jsonb, p_endpoint_id uuid default null) returns integer
language sql as $$
  select count(*)::integer from jsonb_array_elements(p_answer -> 'deliveries') d
  where p_endpoint_id is null or d ->> 'endpoint' = p_endpoint_id::text
$$;

-- The events that a call returned, in the order in which they are to be sent.
create function claimed_events(p_answer jsonb, p_endpoint_id uuid default null) returns uuid[]
language sql as $$
  select array(
    select (d ->> 'event')::uuid
    from jsonb_array_elements(p_answer -> 'deliveries') with ordinality as x (d, place)
    where p_endpoint_id is null or d ->> 'endpoint' = p_endpoint_id::text
    order by place)
$$;

-- Counters of gates and lanes that differ from a recount of the deliveries.
create function miscounts() returns table (what text, id bigint, kept bigint, counted bigint)
language sql set enable_nestloop = off as $$
  with lane_count as (
    select l.id, l.gate_id, l.ordered, count(d.event_id) as depth,
      count(d.event_id) filter (where d.leased_until is not null) as leased
    from outbox.lane l left join outbox.delivery d on d.lane_id = l.id
    group by l.id, l.changed_at
  ), gate_count as (
    select g.id, coalesce(sum(c.depth), 0) as depth,
      coalesce(sum(case when c.ordered then least(c.leased, 1) else c.leased end), 0) as in_flight
    from outbox.gate g left join lane_count c on c.gate_id = g.id
    group by g.id
  )
  select 'gate.depth', g.id, g.depth, c.depth from outbox.gate g join gate_count c using (id)
  where g.depth <> c.depth
  union all
  select 'gate.in_flight', g.id, g.in_flight, c.in_flight from outbox.gate g join gate_count c using (id)
  where g.in_flight <> c.in_flight
  union all
  select 'lane.depth', l.id, l.depth, c.depth from outbox.lane l join lane_count c using (id)
  where l.depth <> c.depth
  union all
  select 'lane.leased', l.id, l.leased, c.leased from outbox.lane l join lane_count c using (id)
  where l.leased <> c.leased
  union all
  select 'gates of one endpoint', max(g.id), 1, count(*) from outbox.gate g group by g.endpoint_id having count(*) > 1
  union all
  select 'lanes of one key', max(l.id), 1, count(*) from outbox.lane l group by l.gate_id, l.ordered, l.key_hash having count(*) > 1
  union all
  select 'delivery without a lane', null, 0, count(*) from outbox.delivery d
  where not exists (select from outbox.lane l where l.id = d.lane_id) having count(*) > 0
$$;

-- Gates and lanes that have open deliveries and will never be looked at again, though nobody stopped them, and those
-- that a look would begin behind.
create function asleep() returns table (what text, id bigint) language sql set enable_nestloop = off as $$
  select 'gate', g.id
  from outbox.gate g join outbox.endpoint e on e.id = g.endpoint_id
  where least(g.next_at, g.isolated_at) = 'infinity' and e.status <> 'deleted' and exists (
    select from outbox.delivery d join outbox.lane l on l.id = d.lane_id where d.endpoint_id = e.id and not l.halted
      and d.due_at < 'infinity')
  union
  select 'lane', l.id from outbox.lane l join outbox.delivery d on d.lane_id = l.id
  where l.next_at = 'infinity' and not l.halted and d.due_at < 'infinity'
  union
  select 'lane before the first of its gate', l.id from outbox.lane l join outbox.gate g on g.id = l.gate_id
  where l.next_at < g.lanes_from and not l.isolated
  union
  select 'gate before the ring', g.id from outbox.gate g join outbox.ring r on g.next_at < r.from_at
$$;
