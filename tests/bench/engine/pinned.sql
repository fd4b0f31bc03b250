-- What tests/bench/pinned.ts runs in a database of its own.

create schema bench;

create table bench.call (
  at timestamptz not null,
  ms float8 not null,
  claimed integer not null,
  cpu_ms float8
);

create function bench.cpu_ms() returns float8 language sql volatile as $$
  select split_part(pg_read_file('/proc/self/schedstat', 0, 100, true), ' ', 1)::float8 / 1e6
$$;

-- Endpoints that nothing but their own events reaches.
create procedure bench.add_endpoints(p_count integer) language plpgsql as $$
begin
  insert into outbox.endpoint (org_id, url, created_at, updated_at)
  select 'bench', 'https://example.com/hook', now() - interval '1 hour', now() - interval '1 hour'
  from generate_series(1, p_count);
  perform outbox.add_gate(e.id, e.ordering) from outbox.endpoint e where e.org_id = 'bench';
end
$$;

-- Events for endpoints chosen by chance.
create procedure bench.publish(p_count integer) language plpgsql as $$
declare
  v_endpoints constant uuid[] := array(select e.id from outbox.endpoint e where e.org_id = 'bench');
begin
  perform outbox.publish_many(jsonb_agg(jsonb_build_object('type', 'order.paid', 'org_id', 'bench',
    'payload', jsonb_build_object('id', n, 'note', repeat('x', 300)),
    'endpoint_id', v_endpoints[1 + floor(random() * cardinality(v_endpoints))::integer])))
  from generate_series(1, p_count) n;
end
$$;

-- A run that works until p_until: what it claims it reports as delivered, and for each delivery one more event is
-- published, so that as many wait at the end as at the beginning. Only dispatch() is timed.
create procedure bench.work(p_until timestamptz, p_limit integer) language plpgsql as $$
declare
  v_run constant uuid := gen_random_uuid();
  v_seq bigint := 0;
  v_results jsonb := '[]';
  v_answer jsonb;
  v_begun timestamptz;
  v_cpu float8;
  v_ms float8;
  v_claimed integer;
begin
  while clock_timestamp() < p_until loop
    v_seq := v_seq + 1;
    v_cpu := bench.cpu_ms();
    v_begun := clock_timestamp();
    v_answer := outbox.dispatch(v_run, v_seq, v_results, p_limit, 'worker');
    v_ms := extract(epoch from clock_timestamp() - v_begun) * 1000;
    v_cpu := bench.cpu_ms() - v_cpu;
    commit;
    if v_answer ->> 'error' is not null then
      raise exception 'dispatch answered %', v_answer -> 'error';
    end if;
    v_claimed := jsonb_array_length(v_answer -> 'deliveries');
    insert into bench.call values (clock_timestamp(), v_ms, v_claimed, v_cpu);
    v_results := (
      select coalesce(jsonb_agg(d || '{"outcome": "delivered", "status": 200, "duration_ms": 12, "response": "ok"}'), '[]')
      from jsonb_array_elements(v_answer -> 'deliveries') d);
    if v_claimed > 0 then
      call bench.publish(v_claimed);
    end if;
    commit;
  end loop;
  perform outbox.dispatch(v_run, v_seq + 1, v_results, 0, 'worker', true);
end
$$;
