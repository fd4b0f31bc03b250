-- An ordered lane sends one request at a time: it keeps its slot until the last result of its claimed
-- deliveries, whatever the first result is.
begin;
\ir ../../_helpers.sql
select plan(22);

create function in_flight(p_endpoint uuid) returns integer language sql stable as $$
  select g.in_flight from outbox.gate g where g.endpoint_id = p_endpoint
$$;
create function results_in_order(p_answer jsonb, p_endpoint uuid, p_outcome text, p_more jsonb) returns jsonb language sql as $$
  select jsonb_agg(r.value order by r.n) from jsonb_array_elements(results(p_answer, p_outcome, p_more)) with ordinality r (value, n)
  where r.value ->> 'endpoint' = p_endpoint::text
$$;

-- What the first result says, and how many of key b come next: its slot is free once both results are there.
create temporary table what (outcome text, more jsonb, breaker boolean);
insert into what values ('delivered', '{"status": 200}', false), ('delivered', '{"status": 200}', true), ('failed', '{"status": 500}', false),
  ('failed', '{"status": 404}', false), ('released', '{}', false);
create temporary table made as
select w.*, endpoint('{}', p_ordering => 'partition', p_max_in_flight => 1, p_breaker => breaker) as id from what w;
-- The key that waits for the slot is not due before the other.
do $$ begin perform events(2, p_key => 'a', p_endpoint_id => id) from made; perform step(0); perform time_passes('1 ms'); perform events(1, p_key => 'b', p_endpoint_id => id) from made; end $$;
create temporary table first as select step() as a;
select is((select claimed(a, id) from first), 2, format('%s %s: both of a key are claimed', outcome, more)) from made;
select step(0, (select jsonb_agg(results_in_order(a, id, outcome, more) -> 0) from made, first));
select is(in_flight(id), 1, format('%s %s: the slot is not free at the first result', outcome, more)) from made;
create temporary table second as select step() as a;
select is((select claimed(a, id) from second), 0, format('%s %s: so that no other key is claimed', outcome, more)) from made;
select step(0, (select jsonb_agg(results_in_order(a, id, 'delivered', '{"status": 200}') -> 1) from made, first));
select is(in_flight(id), 0, format('%s %s: it is free at the last', outcome, more)) from made;
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'nothing is asleep for ever');

select * from finish();
rollback;
