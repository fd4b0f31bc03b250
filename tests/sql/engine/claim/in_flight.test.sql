-- max_in_flight holds over all calls and lanes of an endpoint.
begin;
\ir ../../_helpers.sql
select plan(19);

create temporary table ours as select endpoint(p_max_in_flight => 3) as id;
select events(10);
create temporary table answer as select step() as a;
select is((select claimed(a) from answer), 3, 'an endpoint has no more under way than it may');
select is(claimed(step()), 0, 'in the next call neither');
select is((select in_flight from outbox.gate), 3, 'the gate counts them');
create temporary table one as
select jsonb_build_array(results(a, 'delivered') -> 0) as first_one, results(a, 'delivered') - 0 as others from answer;
select is(claimed(step(100, first_one)), 1, 'a result makes room for one more') from one;
select is(claimed(step(100, others)), 2, 'two results for two') from one;
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'nothing is asleep for ever');

-- An endpoint that is full costs its neighbour nothing.
create temporary table other as select endpoint(p_types => '{other}') as id;
select events(5, 'other', p_endpoint_id => (select id from other));
update answer set a = step() where true;
select is((select claimed(a, o.id) from answer, other o), 5, 'a full endpoint does not hold up another');
select is((select claimed(a, o.id) from answer, ours o), 0, 'and gets nothing itself');

-- A limit that is lowered while more are under way.
update outbox.endpoint set max_in_flight = 2 where id = (select id from other);
select events(5, 'other', p_endpoint_id => (select id from other));
select is(claimed(step(100, jsonb_build_array(results(a, 'delivered') -> 0)), o.id), 0, 'a lower limit gives out nothing until less are under way')
from answer, other o;
select is((select in_flight from outbox.gate g join other o on o.id = g.endpoint_id), 4, 'though more are under way than may be');
select is(claimed(step(100, results(a, 'delivered') - 0), o.id), 2, 'then it is kept to') from answer, other o;

-- Lanes of an ordered endpoint: each is one request at a time.
create temporary table lanes as select endpoint('{}', p_ordering => 'partition', p_max_in_flight => 3) as id;
do $$ begin perform events(4, p_key => 'k' || k, p_endpoint_id => (select id from lanes)) from generate_series(1, 5) k; end $$;
update answer set a = step(100) where true;
select is((select claimed(a, l.id) from answer, lanes l), 12, 'three lanes of four rows are claimed');
select is((select in_flight from outbox.gate g join lanes l on l.id = g.endpoint_id), 3, 'and count as three requests');
select is((select count(distinct d ->> 'lane')::integer from answer, jsonb_array_elements(a -> 'deliveries') d, lanes l where d ->> 'endpoint' = l.id::text),
  3, 'of three lanes');
select is(claimed(step(100), l.id), 0, 'the other two wait for room') from lanes l;
select is(claimed(step(100, results(a, 'delivered')), l.id), 8, 'which they get') from answer, lanes l;
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'nothing is asleep for ever');

select * from finish();
rollback;
