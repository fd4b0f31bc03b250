-- The same with 1,000,000 deliveries waiting behind 1,000 endpoints, 100 of them ordered by key: with the statistics of
-- a drained queue, and with fresh ones. What a call touches must not depend on what waits, nor on statistics. Takes about
-- 40 s.
begin;
-- A million rows take longer than any other statement of the tests.
set local statement_timeout = '5min';
\ir ../../_helpers.sql
\ir ../../_usage.sql
select plan(51);

-- What a drained queue leaves: tables of many pages without a row, which is what the statistics say until the
-- next analyze, however many rows come. The planner then takes each table for one row.
create function fill(p_endpoints integer, p_events integer) returns void language plpgsql as $$
begin
  insert into outbox.endpoint (org_id, url, ordering, breaker_enabled, retry, created_at, updated_at)
  select 'many', 'https://example.com/' || n, case when n % 10 = 0 then 'partition' else 'none' end, false, plain_retry(), outbox.clock(), outbox.clock()
  from generate_series(1, p_endpoints) n;
  insert into outbox.subscription (org_id, pattern, endpoint_id, created_at)
  select 'many', 'a.*', e.id, e.created_at from outbox.endpoint e where e.org_id = 'many';
  perform outbox.add_gate(e.id, e.ordering) from outbox.endpoint e where e.org_id = 'many';
  perform events(p_events, 'a.b', p_org_id => 'many');
  -- As routing would leave it, with ten keys at each ordered endpoint.
  insert into outbox.lane (gate_id, ordered, key_hash, tail_at)
  select g.id, true, k, outbox.clock() from outbox.gate g join outbox.endpoint e on e.id = g.endpoint_id cross join generate_series(0, 9) k where e.ordering = 'partition';
  insert into outbox.delivery (event_id, endpoint_id, lane_id, due_at, body_bytes)
  select e.id, g.endpoint_id, l.id, outbox.clock(), 2
  from (select v.id, row_number() over () % 10 as k from outbox.event v) e cross join outbox.gate g
  join outbox.lane l on l.gate_id = g.id and (not l.ordered or l.key_hash = e.k);
  update outbox.lane set depth = p_events / case when ordered then 10 else 1 end, next_at = outbox.clock() where true;
  update outbox.gate set depth = p_events, next_at = outbox.clock() where true;
  delete from outbox.unrouted where true;
end
$$;
select fill(500, 20);
delete from outbox.delivery where true;
delete from outbox.event where true;
delete from outbox.lane where true;
delete from outbox.gate where true;
delete from outbox.subscription where true;
delete from outbox.endpoint where true;
analyze outbox.endpoint, outbox.gate, outbox.lane, outbox.delivery, outbox.event, outbox.subscription, outbox.unrouted, outbox.dead_letter;
select fill(1000, 1000);
select is((select count(*)::integer from outbox.delivery), 1000000, 'a million deliveries wait');

create temporary table answer as select '{}'::jsonb as a;
create temporary table came (what text, came text);
create function round_of(p_name text) returns void language plpgsql as $$
declare
  v_answer jsonb;
begin
  perform time_passes('1 s');
  v_answer := measure(p_name || ': claim', 400);
  insert into came values (p_name || ': claim', claimed(v_answer));
  perform time_passes('1 s');
  v_answer := measure(p_name || ': both', 400, results(v_answer, 'delivered', '{"status": 200}'));
  insert into came values (p_name || ': both', (v_answer ->> 'applied') || ' ' || claimed(v_answer));
  perform time_passes('1 s');
  perform events(2, 'a.b', p_org_id => 'many');
  v_answer := measure(p_name || ': route', 0, results(v_answer, 'failed', '{"status": 500}'));
  insert into came values (p_name || ': route', (v_answer ->> 'applied') || ' ' || (v_answer ->> 'routed'));
  perform time_passes('1 s');
  v_answer := step(400);
  v_answer := measure(p_name || ': dead letters', 0, results(v_answer, 'failed', '{"status": 404}'));
  insert into came select p_name || ': dead letters', (v_answer ->> 'applied') || ' ' || count(*) from outbox.dead_letter x where x.failed_at = outbox.clock();
end
$$;

-- The ordered ones have their turn before the others: each key is sent one by one, while it is asked for more time, and
-- behind a failure its rest is given back.
create function ordered_round_of(p_name text) returns void language plpgsql as $$
declare
  v_claimed jsonb;
  v_lanes integer;
  v_answer jsonb;
begin
  perform step(0), time_passes('1 s');
  update outbox.gate g set next_at = outbox.clock() + case when e.ordering = 'none' then interval '1 h' else '0' end
  from outbox.endpoint e where e.id = g.endpoint_id;
  v_claimed := measure(p_name || ': ordered', 400);
  v_lanes := count(distinct d ->> 'lane') from jsonb_array_elements(v_claimed -> 'deliveries') d;
  insert into came select p_name || ': ordered', count(*)
  from jsonb_array_elements(v_claimed -> 'deliveries') d join outbox.lane l on l.id = (d ->> 'lane')::bigint and l.ordered;
  perform time_passes('1 s');
  v_answer := measure(p_name || ': renew', 0, (
    select jsonb_agg(r) from (
      select distinct on (d ->> 'lane') r
      from jsonb_array_elements(v_claimed -> 'deliveries') with ordinality x (d, n) join jsonb_array_elements(results(v_claimed, 'renew')) with ordinality y (r, n) using (n)
      order by d ->> 'lane', n desc) o));
  insert into came select p_name || ': renew', count(*) || case when jsonb_array_length(v_answer -> 'renewed') = v_lanes then ' of each lane' else '' end from outbox.delivery d where d.leased_until = outbox.clock() + interval '20 s';
  v_answer := measure(p_name || ': ordered results', 0, (
    select jsonb_agg(r || case nth when 1 then '{"outcome": "delivered", "status": 200}' when 2 then '{"outcome": "failed", "status": 404}' else '{"outcome": "released"}' end::jsonb)
    from (
      select r, row_number() over (partition by d ->> 'lane' order by n) as nth
      from jsonb_array_elements(v_claimed -> 'deliveries') with ordinality x (d, n) join jsonb_array_elements(results(v_claimed, '')) with ordinality y (r, n) using (n)) o));
  insert into came select p_name || ': ordered results', (v_answer ->> 'applied') || case when count(*) = v_lanes then ', one dead of each lane' else '' end
  from outbox.dead_letter x where x.failed_at = outbox.clock();
  update outbox.gate g set next_at = outbox.clock() where true;
end
$$;

-- What a person asks of a million open ones: how many of them he waits for.
create function deliveries_read(p_question text) returns bigint language plpgsql as $$
declare
  v_before bigint;
  v_asked text;
begin
  select replace(replace(p_question, '@event', d.event_id::text), '@endpoint', d.endpoint_id::text) into v_asked
  from outbox.delivery d join outbox.lane l on l.id = d.lane_id where not l.ordered limit 1;
  v_before := (select c.rows from counters() c where c.relation = 'delivery');
  execute v_asked;
  return (select c.rows from counters() c where c.relation = 'delivery') - v_before;
end
$$;
-- By endpoint only with fresh statistics: nothing in a view can keep the planner from reading a table that it takes for
-- empty.
create function asked(p_name text) returns setof text language sql as $$
  select cmp_ok(deliveries_read(q), '<=', most, format('%s: %s reads at most %s deliveries', p_name, q, most))
  from (values
    ('select * from outbox.delivery_status where event_id = ''@event'' and endpoint_id = ''@endpoint''', 1000::bigint),
    ('select * from outbox.delivery_status where endpoint_id = ''@endpoint'' and open limit 20', 50),
    ('select status, count(*) from outbox.delivery_status where endpoint_id = ''@endpoint'' and open group by 1', 1000),
    ('select * from outbox.delivery_status where endpoint_id = ''@endpoint'' and status in (''retrying'', ''held'')', 1000)) x (q, most)
  where p_name = 'fresh' or q like '%@event%'
$$;
select asked('stale');

select round_of('stale'), ordered_round_of('stale');

analyze outbox.endpoint, outbox.gate, outbox.lane, outbox.delivery, outbox.event, outbox.subscription, outbox.unrouted, outbox.attempt,
  outbox.dead_letter;
select asked('fresh');
select round_of('fresh'), ordered_round_of('fresh');

create temporary table should (what text, should text, most bigint);
insert into should values
  ('claim', '400', 4000), ('both', '400 400', 6000), ('route', '400 2000', 30000), ('dead letters', '400 400', 4800),
  ('ordered', '400', 6000), ('renew', '400 of each lane', 4000), ('ordered results', '400, one dead of each lane', 6000);
select is(c.came, s.should, c.what) from came c join should s on c.what like '%: ' || s.what;
select is_empty(format('select seq_scans(%L)', u.what), u.what || ' scans nothing') from (select distinct what from usage) u;
select cmp_ok(rows_touched(st || ': ' || s.what), '<=', s.most, format('%s: %s touches at most %s rows', st, s.what, s.most)) from should s, unnest(array['stale', 'fresh']) st;

-- An endpoint that holds nothing in flight, deep in the ring, is not paid for by the others.
select time_passes('1 s');
update outbox.endpoint set status = 'paused' where id in (select e.id from outbox.endpoint e order by e.id limit 500);
-- The first look at each parks it.
do $$ begin perform step(400) from generate_series(1, 4); perform time_passes('1 s'); end $$;
update answer set a = measure('paused', 100) where true;
select is((select claimed(a) from answer), 100, 'half a million deliveries of paused endpoints are nobody''s business');
select cmp_ok(rows_touched('paused'), '<=', 1500::bigint, 'and cost next to nothing beside the 500 due ones, which are read for the turns of organisations');
select is_empty('select seq_scans(''paused'')', 'and no scan');

select * from finish();
rollback;
