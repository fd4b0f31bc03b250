-- The steps of the tick in which organisations take turns, beside very much work of a thousand organisations: how many
-- rows each call reads, with the statistics of an emptied table and with fresh ones.
\ir ../../_usage.sql

create temporary table org as select 'org-' || n as id, n, endpoint('{*}', p_org_id => 'org-' || n) as endpoint_id from generate_series(1, 1000) n;
create temporary table came (n integer generated always as identity, what text, result text, should text, rows bigint, most bigint, scans text);
create function all_counters() returns jsonb language sql as $$
  select jsonb_object_agg(c.relation, jsonb_build_array(c.seq_scans, c.rows)) from helper.counters() c
$$;
-- A scan of a small table is as good as a look-up; these are the ones that are filled.
create function measured(p_what text, p_statement text, p_should text, p_most bigint) returns void language plpgsql as $$
declare
  v_before jsonb := all_counters();
  v_result text;
begin
  execute p_statement into v_result;
  insert into came (what, result, should, rows, most, scans)
  select p_what, v_result, p_should, sum(c.rows - coalesce((v_before -> c.relation ->> 1)::bigint, 0)), p_most,
    string_agg(c.relation, ', ') filter (
      where c.relation in ('unroutable', 'refusal', 'delivery', 'dead_letter', 'endpoint', 'gate', 'event', 'unrouted', 'waiting_part')
        and c.seq_scans > coalesce((v_before -> c.relation ->> 0)::bigint, 0))
  from counters() c;
end
$$;
create function calls(p_fill text, p_table text, p_rows integer, p_what text, p_statement text, p_should text, p_most bigint)
returns void language plpgsql as $$
begin
  execute format('select helper.%I(%s)', p_fill, 2000);
  execute format('delete from outbox.%I where true', p_table);
  execute format('analyze outbox.%I', p_table);
  execute format('select helper.%I(%s)', p_fill, p_rows);
  perform measured(p_what || ', old statistics', p_statement, p_should, p_most);
  execute format('analyze outbox.%I', p_table);
  perform time_passes('1 s');
  perform measured(p_what || ', fresh statistics', p_statement, p_should, p_most);
  -- Not "truncate": the transaction has used the table.
  execute format('delete from outbox.%I where true', p_table);
end
$$;

-- One organisation has half of all rows, all of them older than those of the others.
create function owner(p_n integer, p_rows integer) returns bigint language sql immutable as $$
  select case when p_n <= p_rows / 2 then 1 else 1 + p_n % 1000 end::bigint
$$;
create function fill_unroutable(p_rows integer) returns void language sql as $$
  insert into outbox.unroutable (event_id, error, set_aside_at, org_id, failures, again_at)
  select outbox.uuid_v7(outbox.clock() - interval '1 day' + s.i * interval '1 ms'), 'no', outbox.clock(), o.id, 1, outbox.clock() - interval '1 day' + s.i * interval '1 us'
  from generate_series(1, p_rows) as s (i) join org o on o.n = owner(s.i, p_rows)
$$;
create function fill_refusal(p_rows integer) returns void language plpgsql as $$
begin
  insert into outbox.refusal (event_id, endpoint_id, step, failures, sqlstate, error, at, again_at)
  select outbox.uuid_v7(outbox.clock() - interval '1 day' + s.i * interval '1 ms'), o.endpoint_id, 'routing', 1, '40P01', 'no', outbox.clock(),
    outbox.clock() - interval '1 day' + s.i * interval '1 us'
  from generate_series(1, p_rows) as s (i) join org o on o.n = owner(s.i, p_rows);
end
$$;
create function fill_delivery(p_rows integer) returns void language sql as $$
  update outbox.lane set depth = p_rows where true;
  update outbox.gate set depth = p_rows where true;
  insert into outbox.delivery (event_id, endpoint_id, lane_id, due_at, body_bytes)
  select outbox.uuid_v7(outbox.clock() - interval '40 days' + s.i * interval '1 ms'), o.endpoint_id, l.id, outbox.clock() + interval '1 day', 2
  from generate_series(1, p_rows) as s (i) join org o on o.n = owner(s.i, p_rows)
  join outbox.gate g on g.endpoint_id = o.endpoint_id join outbox.lane l on l.gate_id = g.id
$$;
create function fill_dead_letter(p_rows integer) returns void language sql as $$
  insert into outbox.dead_letter (id, event_id, endpoint_id, org_id, original_topic, original_message, error, retry_count, failed_at, correlation_id, attempt, event_created_at, why,
    replayed_at, at_broker)
  select outbox.uuid_v7(outbox.clock() - interval '1 day' + s.i * interval '1 ms'), outbox.uuid_v7(outbox.clock() - interval '2 days' + s.i * interval '1 ms'), o.endpoint_id, o.id, 'a', '{}',
    'no', 6, outbox.clock() - interval '1 day' + s.i * interval '1 us', 'c', 6, outbox.clock(), 'retries', case when s.i % 2 = 0 then outbox.clock() - interval '2 hours' end, s.i % 2 = 0
  from generate_series(1, p_rows) as s (i) join org o on o.n = owner(s.i, p_rows)
$$;
-- Almost all of them were purged long ago.
create function fill_endpoint(p_rows integer) returns void language plpgsql as $$
begin
  insert into outbox.endpoint (org_id, url, timeout_ms, max_in_flight, quantum, rate_burst, breaker_enabled, breaker_threshold, breaker_open_ms, status, created_at, updated_at, is_purged)
  select o.id, 'https://example.com', 15000, 50, 25, 1, false, 5, 30000, 'deleted', outbox.clock() - interval '1 day', outbox.clock() - interval '1 day', s.i % 101 <> 0
  from generate_series(1, p_rows) as s (i) join org o on o.n = owner(s.i, p_rows);
  perform outbox.add_gate(e.id, e.ordering) from outbox.endpoint e
  where e.status = 'deleted' and not e.is_purged and not exists (select from outbox.gate g where g.endpoint_id = e.id) limit 2000;
end
$$;
create function fill_jobs() returns void language sql as $$
  insert into outbox.replay_job (org_id, failed_to, rate_per_second, created_at) select id, outbox.clock(), 1000, outbox.clock() from org
$$;
-- They wait for the turns of their organisations.
create function fill_unrouted(p_rows integer) returns void language plpgsql as $$
begin
  delete from outbox.waiting_part where true;
  insert into outbox.unrouted (event_id, org_id, xid)
  select outbox.uuid_v7(outbox.clock() - interval '1 hour' + s.i * interval '10 us'), o.id, '3' from generate_series(1, p_rows) as s (i) join org o on o.n = owner(s.i, p_rows);
  insert into outbox.waiting_part select distinct u.org_id, u.period from outbox.unrouted u;
  update outbox.router set watermark = (select u.event_id from outbox.unrouted u order by u.event_id desc limit 1), seen_below = pg_current_xact_id(),
    shared_at = '-infinity', last_org = '' where true;
end
$$;
create function read_batch() returns text language sql as $$
  select count(distinct o) || ' of ' || count(*) from unnest((outbox.read_unrouted()).orgs) o
$$;

create function all_calls(p_rows integer) returns void language plpgsql as $$
begin
  perform calls('fill_unrouted', 'unrouted', p_rows, 'read_unrouted()', 'select helper.read_batch()', '1000 of 1000', 60000);
  delete from outbox.waiting_part where true;
  perform calls('fill_unroutable', 'unroutable', p_rows, 'route_waiting()', 'select outbox.route_waiting(outbox.clock(), 100)', '100', 25000);
  perform calls('fill_refusal', 'refusal', p_rows, 'create_waiting()',
    'select outbox.create_waiting(outbox.clock(), 100) is not null', 'true', 40000);
  perform calls('fill_delivery', 'delivery', p_rows, 'expire_deliveries()', 'select outbox.expire_deliveries(200)', '200', 30000);
  perform fill_jobs();
  perform calls('fill_dead_letter', 'dead_letter', p_rows, 'next_replays()', 'select cardinality(outbox.next_replays(outbox.clock()))', '1000', 60000);
  update outbox.replay_job set status = 'done' where true;
  perform calls('fill_dead_letter', 'dead_letter', p_rows, 'abandoned_letters()',
    'select cardinality(outbox.abandoned_letters(outbox.clock() - interval ''1 hour'', outbox.clock(), 100))', '100', 4000);
  perform calls('fill_endpoint', 'endpoint', p_rows, 'purge_deleted()', 'select outbox.purge_deleted(1000)', '0', 12000);
end
$$;
