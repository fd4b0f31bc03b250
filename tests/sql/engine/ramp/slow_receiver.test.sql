-- While its share grows an endpoint is looked at every second, though nothing has come back yet; and an
-- endpoint of few slots has one at least.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(8);

create temporary table made as select endpoint(p_max_in_flight => 20) as id, endpoint('{few.event}', p_max_in_flight => 1) as few;
select outbox.pause_endpoint(id), outbox.pause_endpoint(few) from made;
select events(40), events(3, 'few.event', p_endpoint_id => few) from made;
select step();
select outbox.resume_endpoint(id), outbox.resume_endpoint(few) from made;
select outbox.tick();
create temporary table taken (n integer, ids integer, few integer);
do $$
declare
  v_answer jsonb;
begin
  for n in 0 .. 12 loop
    v_answer := step(400);
    insert into taken select n, (gate_of(made.id)).in_flight, (gate_of(made.few)).in_flight from made;
    perform time_passes('1 s');
  end loop;
end
$$;
select is((select array_agg(ids order by n) from taken), '{1,2,4,6,8,10,12,14,16,18,20,20,20}', 'a share that grows second by second without an answer');
select is((select array_agg(distinct few) from taken), '{1}', 'an endpoint of one slot has it from the start');
select is_empty('select * from miscounts()', 'the counters are right');

-- allowed_in_flight() by itself.
select is(outbox.allowed_in_flight(row_endpoint.max_in_flight, row_gate.last_timed_out, greatest(row_gate.ramp_from, row_endpoint.ramp_from), c.at), c.allowed, c.what)
from made
join outbox.endpoint row_endpoint on row_endpoint.id = made.id join outbox.gate row_gate on row_gate.endpoint_id = made.id
cross join lateral (values
  (row_endpoint.ramp_from, 1, 'at the resume one'), (row_endpoint.ramp_from + interval '10 s', 20, 'ten seconds after it all'),
  (row_endpoint.ramp_from + interval '1 year', 20, 'never more'), (row_endpoint.ramp_from - interval '1 s', 1, 'a clock that goes back gives one'),
  (row_endpoint.ramp_from + interval '251 ms', 1, 'less than one is one')) c (at, allowed, what);

select * from finish();
rollback;
