-- A gate whose slots are all taken looks again at the first end of a lease, be it of a key's lane or of a
-- replay.
begin;
\ir ../../_helpers.sql
select plan(4);

create temporary table ours as select endpoint('{}', p_ordering => 'partition', p_timeout_ms => 3000, p_max_in_flight => 2) as id;
create temporary table old as select events(1, p_key => 'z', p_endpoint_id => id) as ids from ours;
do $$ begin perform step(100, results(step(), 'delivered')); end $$;
create temporary table a_key as select events(3, p_key => 'a', p_endpoint_id => id) as ids from ours;
select is(claimed(step()), 3, 'a run takes a lane, and dies: its lease ends at 8 s');
select time_passes('7 s');
do $$ begin perform outbox.replay(ids[1], id) from old, ours; end $$;
select is(claimed(step()), 1, 'another takes a replay, whose lease ends at 15 s');
select is((select g.next_at - outbox.clock() from outbox.gate g), '1 s', 'the gate is looked at when the first ends');
select time_passes('1 s');
do $$ begin perform step(); end $$;
select is((select array_agg(d.lost_leases order by d.due_at) from outbox.delivery d join outbox.lane l on l.id = d.lane_id where l.ordered),
  '{1,1,1}', 'and the lane of the dead run is free');

select * from finish();
rollback;
