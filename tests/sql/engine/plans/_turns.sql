-- The steps in which organisations take turns, have a limit, or lose what is too old, beside very much work of many
-- organisations: how many rows each call reads, with the statistics of emptied tables and with fresh ones. The caller sets
--
--   places, firsts, orgs   the endpoints, those of the organisation that has half of everything, the organisations
--   deliveries, letters, unrouted, unroutables, refusals, purged   rows of each kind
\ir ../../_usage.sql

create table place (n integer primary key, id text not null, endpoint_id uuid not null, lane_id bigint not null);
create function add_places(p_places integer, p_firsts integer, p_orgs integer) returns void language plpgsql
-- Gates and lanes are looked up by their endpoints, whatever the statistics say.
set enable_nestloop = off as $$
begin
  insert into place
  select s.n, 'org-' || case when s.n <= p_firsts then 1 else 2 + (s.n - p_firsts - 1) % (p_orgs - 1) end, outbox.uuid_v7(outbox.clock()), 0
  from generate_series(1, p_places) as s (n);
  insert into outbox.endpoint (id, org_id, url, retry, created_at, updated_at)
  select p.endpoint_id, p.id, 'https://example.com/' || p.n, plain_retry(), outbox.clock() - interval '50 days', outbox.clock() - interval '1 h' from place p;
  insert into outbox.subscription (org_id, pattern, endpoint_id, created_at)
  select p.id, '*', p.endpoint_id, outbox.clock() - interval '50 days' from place p;
  insert into outbox.gate (endpoint_id, org_id, depth, next_at) select p.endpoint_id, p.id, 1000000, outbox.clock() - interval '1 min' from place p;
  insert into outbox.lane (gate_id, ordered, depth, next_at) select g.id, false, 1000000, g.next_at from outbox.gate g;
  update place p set lane_id = l.id from outbox.gate g join outbox.lane l on l.gate_id = g.id where g.endpoint_id = p.endpoint_id;
  insert into outbox.event_type (org_id, type, description, created_at, updated_at)
  select o.id, 't.' || t, '', outbox.clock(), outbox.clock() from (select distinct p.id from place p) o, generate_series(1, 10) t;
  insert into outbox.replay_job (org_id, failed_to, rate_per_second, created_at, status)
  select o.id, outbox.clock(), 1000, outbox.clock(), 'paused' from (select distinct p.id from place p) o, generate_series(1, 9);
end
$$;
-- Half of all rows are of the first organisation, all of them older than those of the others.
create function owner(p_n integer, p_rows integer) returns integer language sql immutable
return case when p_n <= p_rows / 2 then 1 + p_n % :firsts else 1 + :firsts + p_n % (:places - :firsts) end;

-- What the statistics say of tables that were full once.
select add_places(200, 100, 20);
delete from outbox.replay_job where true;
delete from outbox.event_type where true;
delete from outbox.lane where true;
delete from outbox.gate where true;
delete from outbox.subscription where true;
delete from outbox.endpoint where true;
truncate place;
analyze outbox.endpoint, outbox.subscription, outbox.gate, outbox.lane, outbox.event_type, outbox.replay_job;
select add_places(:places, :firsts, :orgs);

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
      where c.relation in ('unroutable', 'refusal', 'delivery', 'dead_letter', 'endpoint', 'gate', 'lane', 'event', 'unrouted', 'waiting_part', 'subscription', 'replay_job', 'event_type')
        and c.seq_scans > coalesce((v_before -> c.relation ->> 0)::bigint, 0))
  from counters() c;
end
$$;
-- First few rows that are deleted again, so that the statistics say that the table is empty.
create function prepare(p_table text, p_rows integer) returns void language plpgsql as $$
begin
  execute format('select helper.fill_%s(%s)', p_table, 2000);
  execute format('delete from outbox.%I where true', p_table);
  execute format('analyze outbox.%I', p_table);
  execute format('select helper.fill_%s(%s)', p_table, p_rows);
end
$$;

create function fill_unroutable(p_rows integer) returns void language sql as $$
  insert into outbox.unroutable (event_id, error, set_aside_at, org_id, failures, again_at)
  select outbox.uuid_v7(outbox.clock() - interval '1 day' + s.i * interval '1 ms'), 'no', outbox.clock(), o.id, 1, outbox.clock() - interval '1 day' + s.i * interval '1 us'
  from generate_series(1, p_rows) as s (i) join place o on o.n = owner(s.i, p_rows)
$$;
create function fill_refusal(p_rows integer) returns void language sql as $$
  insert into outbox.refusal (event_id, endpoint_id, step, failures, sqlstate, error, at, again_at)
  select outbox.uuid_v7(outbox.clock() - interval '1 day' + s.i * interval '1 ms'), o.endpoint_id, 'routing', 1, '40P01', 'no', outbox.clock(),
    outbox.clock() - interval '1 day' + s.i * interval '1 us'
  from generate_series(1, p_rows) as s (i) join place o on o.n = owner(s.i, p_rows)
$$;
create function fill_delivery(p_rows integer) returns void language sql as $$
  insert into outbox.delivery (event_id, endpoint_id, lane_id, due_at, body_bytes)
  select outbox.uuid_v7(outbox.clock() - interval '40 days' + s.i * interval '1 ms'), o.endpoint_id, o.lane_id, outbox.clock() - interval '1 day' + s.i * interval '1 us', 2
  from generate_series(1, p_rows) as s (i) join place o on o.n = owner(s.i, p_rows)
$$;
create function fill_dead_letter(p_rows integer) returns void language sql as $$
  insert into outbox.dead_letter (id, event_id, endpoint_id, org_id, original_topic, original_message, error, retry_count, failed_at, correlation_id, attempt, event_created_at, why,
    replayed_at, at_broker)
  select outbox.uuid_v7(outbox.clock() - interval '1 day' + s.i * interval '1 ms'), outbox.uuid_v7(outbox.clock() - interval '2 days' + s.i * interval '1 ms'), o.endpoint_id, o.id, 'a', '{}',
    'no', 6, outbox.clock() - interval '1 day' + s.i * interval '1 us', 'c', 6, outbox.clock(), 'retries', case when s.i % 2 = 0 then outbox.clock() - interval '2 hours' end, s.i % 2 = 0
  from generate_series(1, p_rows) as s (i) join place o on o.n = owner(s.i, p_rows)
$$;
-- Almost all of them were purged long ago.
create function fill_endpoint(p_rows integer) returns void language plpgsql as $$
begin
  insert into outbox.endpoint (org_id, url, timeout_ms, max_in_flight, quantum, rate_burst, breaker_enabled, breaker_threshold, breaker_open_ms, status, created_at, updated_at, is_purged)
  select o.id, 'https://example.com', 15000, 50, 25, 1, false, 5, 30000, 'deleted', outbox.clock() - interval '1 day', outbox.clock() - interval '1 day', s.i % 101 <> 0
  from generate_series(1, p_rows) as s (i) join place o on o.n = owner(s.i, p_rows);
  perform outbox.add_gate(e.id, e.ordering) from outbox.endpoint e
  where e.status = 'deleted' and not e.is_purged and not exists (select from outbox.gate g where g.endpoint_id = e.id) limit 2000;
end
$$;
-- They wait for the turns of their organisations.
create function fill_unrouted(p_rows integer) returns void language plpgsql as $$
begin
  delete from outbox.waiting_part where true;
  insert into outbox.unrouted (event_id, org_id, xid)
  select outbox.uuid_v7(outbox.clock() - interval '1 hour' + s.i * interval '10 us'), o.id, '3' from generate_series(1, p_rows) as s (i) join place o on o.n = owner(s.i, p_rows);
  insert into outbox.waiting_part select distinct u.org_id, u.period from outbox.unrouted u;
  update outbox.router set watermark = (select u.event_id from outbox.unrouted u order by u.event_id desc limit 1), seen_below = pg_current_xact_id(),
    shared_at = '-infinity', last_org = '' where true;
end
$$;

create function route_some() returns text language plpgsql as $$
begin
  perform time_passes('10 s');
  perform outbox.publish('a', '{}', 'org-' || n) from generate_series(2, 101) n;
  return (step(0) ->> 'routed')::integer >= 100;
end
$$;
create function claimed_by(p_full text[]) returns text language sql as $$
  select cardinality((outbox.claim(400, null, outbox.clock(), p_full)).events) > 100
$$;
-- Everything that counts what an organisation has.
create function within_limits(p_org_id text) returns text language plpgsql as $$
begin
  perform outbox.check_endpoint_limit(p_org_id), outbox.check_new_job(p_org_id, 10), outbox.count_portal_token(p_org_id),
    outbox.take_requests(p_org_id, 1), outbox.put_event_type(p_org_id, 't.new'), outbox.check_event_bytes(p_org_id, outbox.clock()),
    outbox.subscribe((select p.endpoint_id from place p where p.id = p_org_id order by p.n limit 1), '{b.*}');
  return 'yes';
end
$$;
create function read_batch() returns text language sql as $$
  select count(distinct o) || ' of ' || count(*) from unnest((outbox.read_unrouted()).orgs) o
$$;

-- What is measured, in parts: a part fills tables, makes its calls with old statistics, then with fresh ones.
create table part (n integer, relation text, rows integer, others text);
insert into part values
  (1, 'delivery', :deliveries, ', outbox.gate, outbox.lane, outbox.endpoint, outbox.subscription, outbox.replay_job, outbox.event_type'),
  (2, 'unrouted', :unrouted, ''), (3, 'unroutable', :unroutables, ''), (4, 'refusal', :refusals, ''), (5, 'dead_letter', :letters, ''), (6, 'endpoint', :purged, '');
create table call (part integer, n integer generated always as identity, statement text, result text, most bigint);
insert into call (part, statement, result, most) values
  (1, 'helper.route_some()', 'true', 60000),
  (1, 'helper.within_limits(''org-2'')', 'yes', 2000),
  (1, 'helper.claimed_by(''{}'')', 'true', 40000),
  (1, 'helper.claimed_by(''{org-1}'')', 'true', 50000),
  (1, 'jsonb_array_length(outbox.list_replay_jobs(''org-2'', null, 5) -> ''data'')', '5', 500),
  (1, 'outbox.expire_deliveries(200)', '200', 30000),
  (2, 'helper.read_batch()', '1000 of 1000', 60000),
  (3, 'outbox.route_waiting(outbox.clock(), 100)', '100', 40000),
  (4, 'outbox.create_waiting(outbox.clock(), 100) is not null', 'true', 80000),
  (5, 'cardinality(outbox.next_replays(outbox.clock())) >= 1000', 'true', 80000),
  (5, 'cardinality(outbox.abandoned_letters(outbox.clock() - interval ''1 hour'', outbox.clock(), 100))', '100', 4000),
  (6, 'outbox.purge_deleted(1000)', '0', 20000);
