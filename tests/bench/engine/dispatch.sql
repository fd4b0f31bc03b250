-- What tests/bench/dispatch.ts runs in a database of its own.

create schema bench;

create table bench.call (
  ms float8 not null,
  cpu_ms float8,
  wal_bytes numeric not null,
  claimed integer not null,
  gates integer not null,
  updates bigint not null,
  hot_updates bigint not null,
  deletes bigint not null,
  look_ups bigint not null,
  seq_scans bigint not null
);

-- Endpoints that each have p_each deliveries waiting for an hour already: event k is the k-th of every
-- endpoint. With p_keys the endpoints are ordered, and the deliveries lie in that many lanes of each.
create procedure bench.load(p_endpoints integer, p_each integer, p_keys integer, p_secrets boolean)
language plpgsql as $$
declare
  v_at constant timestamptz := clock_timestamp() - interval '1 hour';
  v_org constant text := 'bench-' || clock_timestamp()::text;
begin
  insert into outbox.endpoint (org_id, url, ordering, max_in_flight, created_at, updated_at)
  select v_org, 'https://example.com/hook', case when p_keys > 0 then 'partition' else 'none' end,
    case when p_keys > 0 then 1000 else 50 end, v_at, v_at
  from generate_series(1, p_endpoints);
  perform outbox.add_gate(e.id, e.ordering) from outbox.endpoint e where e.org_id = v_org;
  if p_secrets then
    perform outbox.add_secret(e.id, 'whsec_' || encode(sha256(e.id::text::bytea), 'base64'), v_at)
    from outbox.endpoint e where e.org_id = v_org;
  end if;
  insert into outbox.lane (gate_id, ordered, key_hash)
  select g.id, true, outbox.key_hash('partition', 'key ' || k)
  from outbox.gate g join outbox.endpoint e on e.id = g.endpoint_id, generate_series(0, p_keys - 1) k
  where e.org_id = v_org;

  create temp table fresh on commit drop as
  select n, outbox.uuid_v7(v_at + n * interval '1 microsecond') as id, k.key,
    outbox.key_hash(case when p_keys > 0 then 'partition' end, k.key) as key_hash
  from generate_series(1, p_each) n, lateral (select case when p_keys > 0 then 'key ' || n % p_keys end as key) k;
  insert into outbox.event (id, org_id, type, body, partition_key, created_at)
  select f.id, v_org, 'order.paid', format('{"id":%s,"note":"%s"}', f.n, repeat('x', 370)), f.key, v_at from fresh f;
  create temp table place on commit drop as
  select e.id as endpoint_id, l.id as lane_id, l.key_hash
  from outbox.endpoint e join outbox.gate g on g.endpoint_id = e.id join outbox.lane l on l.gate_id = g.id
  where e.org_id = v_org;
  analyze fresh, place;
  -- Millions of rows go in faster without the indexes.
  if p_endpoints * p_each::bigint > 200000 then
    set local maintenance_work_mem = '512MB';
    drop index outbox.delivery_lane;
    alter table outbox.delivery drop constraint delivery_pkey;
  end if;
  insert into outbox.delivery (event_id, endpoint_id, lane_id, body_bytes, due_at)
  select f.id, p.endpoint_id, p.lane_id, 390, v_at + f.n * interval '1 microsecond'
  from fresh f join place p on p.key_hash = f.key_hash
  order by f.n, p.lane_id;
  if p_endpoints * p_each::bigint > 200000 then
    alter table outbox.delivery add primary key (event_id, endpoint_id);
    create index delivery_lane on outbox.delivery (lane_id, due_at, event_id) where lane_id > 0;
  end if;
  update outbox.ring set from_at = '-infinity' where true;
  update outbox.lane l set depth = d.n, next_at = v_at, tail_at = case when l.ordered then d.tail_at else l.tail_at end
  from (select lane_id, count(*) as n, max(due_at) as tail_at from outbox.delivery group by lane_id) d
  where d.lane_id = l.id;
  update outbox.gate g set depth = l.n, next_at = v_at, lanes_from = '-infinity'
  from (select gate_id, sum(depth) as n from outbox.lane group by gate_id) l
  where l.gate_id = g.id;
  drop table fresh, place;
end
$$;

-- Puts as many deliveries into the same lanes as have just been delivered, so that the backlog keeps its size.
create procedure bench.refill(p_done jsonb) language plpgsql as $$
declare
  v_now constant timestamptz := clock_timestamp();
  v_pairs outbox.pair[];
  v_endpoints uuid[];
begin
  with done as (
    select * from jsonb_to_recordset(p_done) as r (event uuid, endpoint uuid)
  ), again as materialized (
    select d.event as was, outbox.uuid_v7(v_now + row_number() over () * interval '1 microsecond') as id
    from (select distinct d.event from done d) d
  ), added as (
    insert into outbox.event (id, org_id, type, body, partition_key, created_at)
    select a.id, e.org_id, e.type, e.body, e.partition_key, v_now from again a join outbox.event e on e.id = a.was
  )
  select array_agg(row(a.id, d.endpoint, null, null, outbox.key_hash(p.ordering, e.partition_key), octet_length(e.body), false)::outbox.pair),
    array_agg(d.endpoint) into v_pairs, v_endpoints
  from done d join again a on a.was = d.event join outbox.event e on e.id = d.event join outbox.endpoint p on p.id = d.endpoint;
  if v_pairs is not null then
    perform outbox.lock_gates(v_endpoints);
    perform outbox.add_deliveries(v_pairs, v_now);
    perform outbox.park(v_endpoints, v_now);
  end if;
end
$$;

-- As the owner of dispatch(): Postgres makes the plan of a table with row security again for each change of the
-- role, and both procedures call the same functions.
grant usage on schema bench to postgres;
alter procedure bench.refill(jsonb) owner to postgres;
alter procedure bench.refill(jsonb) security definer;

-- How long this backend has computed, in ms, whatever else the machine does; null where the system does not say.
create function bench.cpu_ms() returns float8 language sql volatile as $$
  select split_part(pg_read_file('/proc/self/schedstat', 0, 100, true), ' ', 1)::float8 / 1e6
$$;

create function bench.changes(out updates bigint, out hot_updates bigint, out deletes bigint,
  out look_ups bigint, out seq_scans bigint)
language sql volatile as $$
  select sum(x.n_tup_upd), sum(x.n_tup_hot_upd), sum(x.n_tup_del), sum(x.idx_scan),
    sum(x.seq_scan) filter (where x.relname ~ '^(delivery|lane|gate|event|attempt|unrouted)')
  from pg_stat_xact_all_tables x where x.schemaname = 'outbox'
$$;

-- Calls dispatch() p_calls times, each with the results of the call before, and notes what each took. The
-- answer is made into text, as it goes over the wire.
create procedure bench.run(p_calls integer, p_limit integer) language plpgsql as $$
declare
  v_run constant uuid := gen_random_uuid();
  v_results jsonb := '[]';
  v_text text;
  v_deliveries jsonb;
  v_begun timestamptz;
  v_called timestamptz;
  v_cpu float8;
  v_lsn pg_lsn;
  v_wal numeric;
  v_before record;
  v_after record;
begin
  for v_seq in 1 .. p_calls loop
    v_lsn := pg_current_wal_insert_lsn();
    v_before := bench.changes();
    v_cpu := bench.cpu_ms();
    v_begun := clock_timestamp();
    v_text := outbox.dispatch(v_run, v_seq, v_results, p_limit, 'worker')::text;
    v_called := clock_timestamp();
    v_cpu := bench.cpu_ms() - v_cpu;
    v_after := bench.changes();
    commit;
    v_wal := pg_current_wal_insert_lsn() - v_lsn;
    if v_text::jsonb ->> 'error' is not null then
      raise exception 'dispatch answered %', v_text::jsonb -> 'error';
    end if;
    v_deliveries := v_text::jsonb -> 'deliveries';
    insert into bench.call values (
      extract(epoch from v_called - v_begun) * 1000, v_cpu, v_wal,
      jsonb_array_length(v_deliveries), (select count(distinct d -> 'endpoint') from jsonb_array_elements(v_deliveries) d),
      v_after.updates - v_before.updates, v_after.hot_updates - v_before.hot_updates,
      v_after.deletes - v_before.deletes, v_after.look_ups - v_before.look_ups,
      v_after.seq_scans - v_before.seq_scans);
    call bench.refill(v_results);
    v_results := (
      select coalesce(jsonb_agg(d || '{"outcome": "delivered", "status": 200, "duration_ms": 12, "response": "ok"}'), '[]')
      from jsonb_array_elements(v_deliveries) d);
    commit;
  end loop;
  perform outbox.dispatch(v_run, p_calls + 1, v_results, 0, 'worker');
  commit;
  call bench.refill(v_results);
  commit;
end
$$;
