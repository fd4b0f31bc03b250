-- A call scans no table that grows, and touches rows in proportion to what it was asked for: 1,000 events,
-- 2,000 deliveries, statistics of empty tables.
begin;
\ir ../_helpers.sql
\ir ../_usage.sql
select plan(19);

do $$ begin perform endpoint(array['type' || n % 25 || '.*'], p_max_in_flight => 1000, p_quantum => 10) from generate_series(1, 50) n; end $$;
do $$ begin perform events(40, 'type' || n || '.x') from generate_series(0, 24) n; end $$;

create temporary table answer as select measure('route', 0) as a;
select is((select a -> 'routed' from answer), '2000', 'a call routes 2,000 deliveries');
select is_empty('select seq_scans(''route'')', 'routing scans nothing');
select cmp_ok(rows_touched('route'), '<=', 24000::bigint, 'and touches at most twelve rows a delivery');

update answer set a = measure('claim', 400) where true;
select is((select claimed(a) from answer), 400, 'a call claims 400');
select is_empty('select seq_scans(''claim'')', 'claiming scans nothing');
select cmp_ok(rows_touched('claim'), '<=', 4000::bigint, 'and touches at most ten rows a delivery');

select time_passes('1 s');
create temporary table next as select measure('both', 400, results(a, 'delivered')) as a from answer;
select is((select (a -> 'applied')::text || claimed(a) from next), '400400', 'a call applies 400 results and claims 400');
select is_empty('select seq_scans(''both'')', 'completing scans nothing');
select cmp_ok(rows_touched('both'), '<=', 8000::bigint, 'and touches at most twenty rows for both');

update answer set a = measure('failures', 0, results(next.a, 'failed', '{"status": 404}')) from next;
select is((select a -> 'applied' from answer), '400', 'a call applies 400 failures');
select is_empty('select seq_scans(''failures'')', 'dead letters scan nothing');
select cmp_ok(rows_touched('failures'), '<=', 16000::bigint, 'and touch at most forty rows a result');

-- A small request in a large place, and a call with nothing to do.
do $$ begin perform step(0), time_passes('1 s'); end $$;
update answer set a = measure('one', 1) where true;
select is((select claimed(a) from answer), 1, 'a call claims one');
select cmp_ok(rows_touched('one'), '<=', 200::bigint, 'and touches few rows for it');
delete from outbox.delivery where true;
update outbox.lane set depth = 0, leased = 0, leased_until = null, next_at = 'infinity' where true;
update outbox.gate set depth = 0, in_flight = 0, next_at = 'infinity' where true;
update answer set a = measure('idle', 400) where true;
select is_empty('select seq_scans(''idle'')', 'a call without work scans nothing');
select cmp_ok(rows_touched('idle'), '<=', 10::bigint, 'and touches next to no row');

-- An ordered lane whose lease is renewed.
create temporary table ordered as select endpoint('{}', p_ordering => 'partition', p_quantum => 100) as id;
do $$ begin perform events(200, p_key => 'a', p_endpoint_id => id) from ordered; perform step(0); end $$;
update answer set a = step(400) where true;
select time_passes('1 s');
update answer set a = measure('renew', 0,
  (select jsonb_build_array(results(x.a, 'renew') -> -1) from answer x)) where true;
select is((select count(*)::integer from outbox.delivery d, ordered o where d.endpoint_id = o.id and d.leased_until = outbox.clock() + interval '20 s'), 100, 'a call renews a lane of which 100 are leased');
select is_empty('select seq_scans(''renew'')', 'renewing scans nothing');
select cmp_ok(rows_touched('renew'), '<=', 1000::bigint, 'and touches at most ten rows a lease');

select * from finish();
rollback;
