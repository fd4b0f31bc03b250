-- What setup/load.ts calls in Outhook's database.

create schema if not exists bench;

-- The id of an event of 10 microseconds * p_n after p_from_ms, as outbox.uuid_v7() would make it, but
-- fast enough for 20 million.
create or replace function bench.id(p_from_ms bigint, p_n integer) returns uuid
language sql immutable as $$
  select (lpad(to_hex(p_from_ms + p_n / 100), 12, '0')
    || '7' || lpad(to_hex(p_n % 100 * 40), 3, '0') || '8000' || lpad(to_hex(p_n), 12, '0'))::uuid
$$;

-- Events 0 to p_count - 1, an hour old and routed: event n waits for the endpoint of its type.
create or replace procedure bench.load_waiting(
  p_count integer, p_endpoints integer, p_head text, p_tail text
) language plpgsql as $$
declare
  v_at constant timestamptz := clock_timestamp() - interval '1 hour';
  v_ms constant bigint := extract(epoch from v_at) * 1000;
begin
  create temp table place on commit drop as
  select substr(s.pattern, 8)::int as n, e.id as endpoint_id, e.org_id, l.id as lane_id
  from outbox.endpoint e
  join outbox.subscription s on s.endpoint_id = e.id
  join outbox.gate g on g.endpoint_id = e.id
  join outbox.lane l on l.gate_id = g.id;
  create unique index on place (n);
  analyze place;

  create temp table fresh on commit drop as
  select n, bench.id(v_ms, n) as id
  from generate_series(0, p_count - 1) n;
  analyze fresh;

  insert into outbox.event (id, org_id, type, body, created_at)
  select f.id, p.org_id, 'bench.e' || lpad(p.n::text, 5, '0'),
    p_head || lpad(f.n::text, 8, '0') || p_tail, v_at
  from fresh f join place p on p.n = f.n % p_endpoints
  order by f.n;
  insert into outbox.delivery (event_id, endpoint_id, lane_id, body_bytes, due_at)
  select f.id, p.endpoint_id, p.lane_id, length(p_head) + 8 + length(p_tail),
    v_at + f.n * interval '10 microseconds'
  from fresh f join place p on p.n = f.n % p_endpoints
  order by f.n;

  update outbox.lane l set depth = d.depth, next_at = v_at
  from (select lane_id, count(*) as depth from outbox.delivery group by lane_id) d
  where d.lane_id = l.id;
  update outbox.gate g set depth = l.depth, next_at = v_at, lanes_from = '-infinity'
  from outbox.lane l where l.gate_id = g.id and l.depth > 0;
  -- Nothing else is ever due before the ring begins.
  update outbox.ring set from_at = '-infinity' where true;
  drop table place, fresh;
end
$$;

-- p_count attempts of today for the endpoints in turn. The indexes are made after them, as loading goes.
create or replace procedure bench.load_finished(p_count integer) language plpgsql as $$
declare
  v_to constant timestamptz := clock_timestamp();
  v_from constant timestamptz := greatest(date_trunc('day', v_to), v_to - interval '2 hours');
  v_ms constant bigint := extract(epoch from v_from) * 1000;
  v_step constant interval := (v_to - v_from) / greatest(p_count, 1);
  v_endpoints constant uuid[] := array(select id from outbox.endpoint);
  v_indexes text[];
begin
  select array_agg(pg_get_indexdef(i.indexrelid)) into v_indexes
  from pg_index i where i.indrelid = 'outbox.attempt'::regclass;
  drop index outbox.attempt_event, outbox.attempt_endpoint;
  insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome, status, duration_ms)
  select bench.id(v_ms, n), v_endpoints[1 + n % cardinality(v_endpoints)], 1,
    v_from + n * v_step, 'attempt', 'delivered', 200, 12
  from generate_series(0, p_count - 1) n;
  for n in 1 .. cardinality(v_indexes) loop
    execute v_indexes[n];
  end loop;
end
$$;

-- p_count deliveries of an hour ago behind one endpoint.
create or replace procedure bench.load_hanging(p_endpoint uuid, p_count integer)
language plpgsql as $$
declare
  v_at constant timestamptz := clock_timestamp() - interval '1 hour';
  v_ms constant bigint := extract(epoch from v_at) * 1000;
  v_lane outbox.lane;
begin
  select l.* into v_lane
  from outbox.lane l join outbox.gate g on g.id = l.gate_id where g.endpoint_id = p_endpoint;
  create temp table fresh on commit drop as
  select n, bench.id(v_ms, n) as id
  from generate_series(0, p_count - 1) n;
  insert into outbox.event (id, org_id, type, body, created_at)
  select f.id, 'default', 'bench.hang', '{"pad":"' || repeat('x', 200) || '"}', v_at
  from fresh f order by f.n;
  insert into outbox.delivery (event_id, endpoint_id, lane_id, body_bytes, due_at)
  select f.id, p_endpoint, v_lane.id, 210, v_at + f.n * interval '10 microseconds'
  from fresh f order by f.n;
  update outbox.lane set depth = p_count, next_at = v_at where id = v_lane.id;
  update outbox.gate set depth = p_count, next_at = v_at, lanes_from = '-infinity'
  where id = v_lane.gate_id;
  update outbox.ring set from_at = '-infinity' where true;
  drop table fresh;
end
$$;
