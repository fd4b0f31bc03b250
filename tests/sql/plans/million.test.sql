-- The same with 1,000,000 deliveries waiting behind 1,000 endpoints: with the statistics of a drained queue, and
-- with fresh ones. What a call touches must not depend on what waits, nor on statistics. Takes about 20 s.
begin;
\ir ../_helpers.sql
\ir ../_usage.sql
select plan(18);

-- What a drained queue leaves: tables of many pages without a row, which is what the statistics say until the
-- next analyze, however many rows come. The planner then takes each table for one row.
create function fill(p_endpoints integer, p_events integer) returns void language plpgsql as $$
begin
  insert into outbox.endpoint (org_id, url, breaker_enabled, retry, created_at, updated_at)
  select 'many', 'https://example.com/' || n, false, plain_retry(), outbox.clock(), outbox.clock() from generate_series(1, p_endpoints) n;
  insert into outbox.subscription (org_id, pattern, endpoint_id, created_at)
  select 'many', 'a.*', e.id, e.created_at from outbox.endpoint e where e.org_id = 'many';
  perform outbox.add_gate(e.id, 'none') from outbox.endpoint e where e.org_id = 'many';
  perform events(p_events, 'a.b', p_org_id => 'many');
  -- As routing would leave it.
  insert into outbox.delivery (event_id, endpoint_id, lane_id, due_at, body_bytes)
  select e.id, g.endpoint_id, l.id, outbox.clock(), 2
  from outbox.event e cross join outbox.gate g join outbox.lane l on l.gate_id = g.id;
  update outbox.lane set depth = p_events, next_at = outbox.clock() where true;
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
create function round_of(p_name text) returns void language plpgsql as $$
declare
  v_answer jsonb;
begin
  perform time_passes('1 s');
  v_answer := measure(p_name || ': claim', 400);
  perform time_passes('1 s');
  v_answer := measure(p_name || ': both', 400, results(v_answer, 'delivered', '{"status": 200}'));
  perform time_passes('1 s');
  perform events(2, 'a.b', p_org_id => 'many');
  update answer set a = measure(p_name || ': route', 0, results(v_answer, 'failed', '{"status": 500}')) where true;
end
$$;

select round_of('stale');
select is((select (a -> 'applied')::text || (a -> 'routed') from answer), '4002000', 'with stale statistics calls claim, complete and route');
select is_empty(format('select seq_scans(%L)', 'stale: ' || c.what), 'scan nothing: ' || c.what) from (values ('claim'), ('both'), ('route')) c (what);
select cmp_ok(rows_touched('stale: ' || c.what), '<=', c.most, format('and touch at most %s rows: %s', c.most, c.what))
from (values ('claim', 4000::bigint), ('both', 6000), ('route', 30000)) c (what, most);

analyze outbox.endpoint, outbox.gate, outbox.lane, outbox.delivery, outbox.event, outbox.subscription, outbox.unrouted;
select round_of('fresh');
select is((select (a -> 'applied')::text || (a -> 'routed') from answer), '4002000', 'with fresh statistics calls claim, complete and route');
select is_empty(format('select seq_scans(%L)', 'fresh: ' || c.what), 'scan nothing: ' || c.what) from (values ('claim'), ('both'), ('route')) c (what);
select cmp_ok(rows_touched('fresh: ' || c.what), '<=', c.most, format('and touch at most %s rows: %s', c.most, c.what))
from (values ('claim', 4000::bigint), ('both', 6000), ('route', 30000)) c (what, most);

-- An endpoint that holds nothing in flight, deep in the ring, is not paid for by the others.
select time_passes('1 s');
update outbox.endpoint set state = 'paused' where id in (select e.id from outbox.endpoint e order by e.id limit 500);
-- The first look at each parks it.
do $$ begin perform step(400) from generate_series(1, 4); perform time_passes('1 s'); end $$;
update answer set a = measure('paused', 100) where true;
select is((select claimed(a) from answer), 100, 'half a million deliveries of paused endpoints are nobody''s business');
select cmp_ok(rows_touched('paused'), '<=', 1000::bigint, 'and cost next to nothing');
select is_empty('select seq_scans(''paused'')', 'and no scan');

select * from finish();
rollback;
