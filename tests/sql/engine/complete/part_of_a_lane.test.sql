-- A run reports the deliveries of a lane in several calls: the lane and its slot are kept until the last result.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(12);

create temporary table made as select endpoint('{a}', p_ordering => 'endpoint', p_quantum => 3) as id;
select events(5, 'a');
create temporary table answer as select step() as a;
create function result(p_n integer, p_outcome text, p_more jsonb default '{}') returns jsonb language sql as $$
  select jsonb_build_array(results(a, p_outcome, p_more) -> p_n - 1) from answer
$$;
select step(0, result(3, 'released'));
select is((gate_of(id)).in_flight, 1, 'an ordered lane keeps its slot while some of it is on its way') from made;
select is_empty('select * from miscounts()', 'the counters are right');
select is(claimed(step()), 0, 'and gives out nothing');
select step(0, result(1, 'delivered') || result(2, 'failed', '{"status": 500}'));
select is((gate_of(id)).in_flight, 0, 'the last result frees it') from made;
select is((select l.leased_until from outbox.lane l join outbox.gate g on g.id = l.gate_id join made on g.endpoint_id = made.id where l.ordered), null,
  'a lane that holds nothing notes no lease');

-- A dead letter that stops its key while the rest is still on its way.
create temporary table halting as select endpoint('{b}', p_ordering => 'endpoint', p_quantum => 3) as id;
update outbox.endpoint e set on_dead_letter = 'halt' from halting where e.id = halting.id;
select events(4, 'b');
update answer set a = step() where true;
select is(claimed(a, id), 3, 'three of four are on their way') from answer, halting;
select step(0, results_of(a, id, 'failed', '{"status": 404}') - 2 - 1) from answer, halting;
select step(0, results_of(a, id, 'delivered', '{"status": 200}') - 0) from answer, halting;
select is((select l.halted and l.next_at = 'infinity' from outbox.lane l join outbox.gate g on g.id = l.gate_id join halting on g.endpoint_id = halting.id
  where l.ordered), true, 'what is delivered behind it does not set the key going');
select is(claimed(step(), id), 0, 'the fourth waits') from halting;

-- An unordered lane: what it notes of its leases, and of its last outcome, goes with the last result.
create temporary table plain as select endpoint('{c}') as id;
select events(2, 'c');
select fail(0, '{"status": null, "error_class": "timeout"}');
select is((gate_of(id)).last_timed_out and (gate_of(id)).first_failure_at is not null, true, 'a timeout is noted') from plain;
select time_passes('1 s');
select send(), time_passes('1 s'), send();
select is((gate_of(id)).last_timed_out, false, 'a success ends what a timeout began') from plain;
select is((gate_of(id)).first_failure_at, null, 'and the count of days') from plain;
select is((select l.leased_until from outbox.lane l join outbox.gate g on g.id = l.gate_id join plain on g.endpoint_id = plain.id where not l.ordered), null,
  'an unordered lane that holds nothing notes no lease either');

select * from finish();
rollback;
