-- The rate counts deliveries, not lanes, and so does the limit of what is in flight count requests: a lane is
-- one at a time, however many of it a run holds.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(17);

create temporary table made as select endpoint(p_ordering => 'partition', p_rate_per_second => 4) as id;
update outbox.endpoint set rate_burst = 5 where true;
create temporary table event as select events(3, p_key => 'a') as a, events(3, p_key => 'b') as b;
create temporary table answer as select step() as a;
select is(claimed(a), 5, 'five of two lanes, the burst') from answer;
select step(0, results(a, 'delivered')) from answer;
select time_passes('250 ms');
select is(send(), 1, 'the sixth a quarter of a second later');
select is((select count(*) from outbox.delivery), 0::bigint, 'all are sent');

create temporary table many as select endpoint('{many.event}', p_ordering => 'partition', p_max_in_flight => 2) as id;
create temporary table many_event as select k, events(3, 'many.event', p_key => 'key ' || k, p_endpoint_id => id) as ids from many, generate_series(1, 5) k;
update answer set a = step() where true;
select is((select count(distinct d ->> 'lane') from answer, jsonb_array_elements(a -> 'deliveries') d), 2::bigint, 'two keys of five are in flight');
select is(claimed(a), 6, 'with all that they have') from answer;
select is((gate_of(id)).in_flight, 2, 'each is one request at a time') from many;
select is(claimed(step()), 0, 'no third while both are out');
-- One of the keys fails: it waits, and the others go on.
create temporary table lanes as select distinct on (d ->> 'lane') k, ids from answer, jsonb_array_elements(a -> 'deliveries') d join many_event on (d ->> 'event')::uuid = any (ids);
create temporary table failing as select k, ids from lanes order by k limit 1;
select step(0, (
  select jsonb_agg(r || case when r ->> 'event' = f.ids[1]::text then '{"outcome": "failed", "status": 500}'
    when (r ->> 'event')::uuid = any (f.ids) then '{"outcome": "released"}' else '{}' end::jsonb)
  from answer, jsonb_array_elements(results(a, 'delivered')) r, failing f));
select is((gate_of(id)).in_flight, 0, 'none is out') from many;
update answer set a = step() where true;
select is((select count(distinct d ->> 'lane') from answer, jsonb_array_elements(a -> 'deliveries') d), 2::bigint, 'two other keys are in flight');
select is(claimed_events(a) && f.ids, false, 'the one that failed waits for its retry') from answer, failing f;
select step(0, results(a, 'delivered')) from answer;
select time_passes('1 s');
update answer set a = step() where true;
select is(array(select e from unnest(claimed_events(a)) with ordinality x (e, n) where e = any (f.ids) order by n), f.ids, 'then it goes on in its order, the failed one first')
from answer, failing f;
select is(claimed(a), 6, 'beside the fifth key') from answer;
-- Given back in part: the rest follows in order.
select step(0, (select jsonb_agg(r || case when r ->> 'event' = f.ids[1]::text then '{"outcome": "delivered"}' else '{}' end::jsonb)
  from answer, jsonb_array_elements(results(a, 'released')) r, failing f));
update answer set a = step() where true;
select is(array(select e from unnest(claimed_events(a)) with ordinality x (e, n) where e = any (f.ids) order by n), f.ids[2:3], 'what was given back keeps its place')
from answer, failing f;
select step(0, results(a, 'delivered')) from answer;
select is((select count(*) from outbox.delivery), 0::bigint, 'all is delivered');
select is((select count(*) from outbox.lane where ordered), 0::bigint, 'and every lane is gone');
select is_empty('select * from miscounts()', 'the counters are right');
select is((select count(*) from outbox.attempt where outcome = 'failed'), 1::bigint, 'one failure in all');

select * from finish();
rollback;
