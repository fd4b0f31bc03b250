-- The world of one sequence: endpoints as the script wants them, a clock of its own, and what was seen so
-- far. All of it is written inside the sequence's subtransaction and rolled back with it.
create schema property;

-- Claims as the runs got them. call numbers the dispatch that gave them.
create table property.claim (
  n integer generated always as identity,
  call integer not null,
  run integer not null,
  event_id uuid not null,
  endpoint_id uuid not null,
  attempt integer not null,
  lane text not null,
  ordered boolean not null,
  reported boolean not null default false,
  abandoned boolean not null default false
);
create table property.call (n integer not null, run integer not null, seq bigint not null, results jsonb not null, room integer not null);
-- attempt keeps its rows for some days only; these stay as long as the sequence.
create table property.attempt (
  event_id uuid not null, endpoint_id uuid, attempt integer not null, at timestamptz not null,
  kind text not null, outcome text not null, error_class text, status integer, next_retry_at timestamptz,
  n integer generated always as identity
);
-- The latest time that the clock has shown, for it goes back at times.
create table property.latest (at timestamptz not null);
create table property.event (event_id uuid primary key);
create table property.pair (event_id uuid, endpoint_id uuid, discarded boolean not null default false, primary key (event_id, endpoint_id));

create function property.endpoint_id(p_n integer) returns uuid language sql immutable as $$
  select ('00000000-0000-4000-8000-00000000000' || p_n)::uuid
$$;

create function property.run_id(p_n integer) returns uuid language sql immutable as $$
  select ('00000000-0000-7000-8000-00000000000' || p_n)::uuid
$$;

create function property.micros(p_at timestamptz) returns bigint language plpgsql immutable as $$
begin
  -- Far away is far enough, and jsonb has no infinity.
  return case p_at when 'infinity' then 9000000000000000 when '-infinity' then 0 else extract(epoch from p_at) * 1000000 end;
end
$$;

create function property.begin_world(p_endpoints jsonb) returns void language plpgsql as $$
declare
  v_at constant timestamptz := '2026-03-01 12:00:00+00';
begin
  insert into outbox.test_clock (at) values (v_at) on conflict (only_row) do update set at = excluded.at;
  insert into property.latest values (v_at);
  perform setval('outbox.last_kick', 0), setval('outbox.kicks_without_run', 0, false), setval('outbox.passed_pairs', 0),
    setval('outbox.event_clock', 0, false);
  -- Fewer than by default, so that more sequences reach the end of a delivery that loses its leases.
  perform outbox.set_setting('delivery.max_lost_leases', '3');
  insert into outbox.endpoint (id, org_id, url, ordering, max_in_flight, quantum, retry, rate_per_second, rate_burst, on_dead_letter,
    breaker_enabled, breaker_threshold, breaker_open_ms, created_at, updated_at)
  select property.endpoint_id((x.n - 1)::integer), x.e ->> 'org', 'https://example.com/hook', x.e ->> 'ordering', (x.e ->> 'maxInFlight')::integer, (x.e ->> 'quantum')::integer,
    jsonb_build_object('strategy', 'schedule', 'delays', x.e -> 'delays', 'max_retries', x.e -> 'maxRetries', 'jitter', false),
    (x.e ->> 'rate')::double precision, 2, x.e ->> 'onDeadLetter', x.e ->> 'threshold' is not null, coalesce((x.e ->> 'threshold')::integer, 5), 30000,
    v_at - interval '1 day', v_at - interval '1 day'
  from jsonb_array_elements(p_endpoints) with ordinality x (e, n);
  insert into outbox.subscription (org_id, pattern, endpoint_id, created_at)
  select x.e ->> 'org', p.pattern, property.endpoint_id((x.n - 1)::integer), v_at - interval '1 day'
  from jsonb_array_elements(p_endpoints) with ordinality x (e, n), jsonb_array_elements_text(x.e -> 'patterns') p (pattern);
  perform outbox.add_gate(property.endpoint_id((x.n - 1)::integer), x.e ->> 'ordering')
  from jsonb_array_elements(p_endpoints) with ordinality x (e, n);
end
$$;

-- What is there after a step: open deliveries, gates, and what came since the last look.
create function property.observe() returns jsonb language plpgsql as $$
declare
  v_seen jsonb;
begin
  with fresh as (
    insert into property.attempt
    select a.event_id, a.endpoint_id, a.attempt, a.at, a.kind, a.outcome, a.error_class, a.status, a.next_retry_at from outbox.attempt a
    where not exists (
      select from property.attempt r
      where r.event_id = a.event_id and r.endpoint_id is not distinct from a.endpoint_id and r.attempt = a.attempt and r.at = a.at
        and r.kind = a.kind and r.outcome = a.outcome)
    returning *
  ), events as (
    insert into property.event select e.id from outbox.event e on conflict do nothing returning event_id
  ), pairs as (
    insert into property.pair select d.event_id, d.endpoint_id from outbox.delivery d
    union select f.event_id, f.endpoint_id from fresh f where f.endpoint_id is not null on conflict do nothing
  )
  select jsonb_build_object(
    'at', property.micros(outbox.clock()),
    'events', (select jsonb_agg(jsonb_build_object('id', v.id, 'org', v.org_id, 'type', v.type, 'key', v.partition_key, 'at', property.micros(v.created_at)) order by v.id) from events n join outbox.event v on v.id = n.event_id),
    'unrouted', (select coalesce(jsonb_agg(u.event_id order by u.event_id), '[]') from outbox.unrouted u),
    'attempts', (
      select coalesce(jsonb_agg(jsonb_build_object('event', f.event_id, 'endpoint', f.endpoint_id, 'attempt', f.attempt, 'kind', f.kind, 'outcome', f.outcome,
        'errorClass', f.error_class, 'status', f.status, 'retryAt', property.micros(f.next_retry_at), 'failures', x.retry_count)
        order by f.kind, f.event_id, f.endpoint_id), '[]')
      from fresh f left join outbox.dead_letter x on f.kind = 'close' and x.event_id = f.event_id and x.endpoint_id = f.endpoint_id),
    'open', (
      select coalesce(jsonb_agg(jsonb_build_array(d.event_id, d.endpoint_id, d.attempt, d.failed_attempts, d.leased_until is not null) order by l.id, d.due_at, d.event_id), '[]')
      from outbox.delivery d join outbox.lane l on l.id = d.lane_id),
    'gates', (
      select coalesce(jsonb_agg(jsonb_build_array(e.id, e.status, g.breaker, g.in_flight, g.depth, property.micros(g.not_before), g.next_at <= outbox.clock()) order by g.id), '[]')
      from outbox.endpoint e join outbox.gate g on g.endpoint_id = e.id),
    'broken', property.broken())
  into v_seen;
  return v_seen;
end
$$;
