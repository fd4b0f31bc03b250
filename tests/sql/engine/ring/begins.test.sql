-- The ring is read from where its first live entry is, which every look moves on; a gate that comes in before, its
-- change having taken long to commit, is found by the tick.
begin;
\ir ../../_helpers.sql
select plan(13);

create temporary table made as select endpoint('{}', p_quantum => 1) as one, endpoint('{}', p_quantum => 1) as two;
select is(outbox.ring_from(outbox.clock()), '-infinity'::timestamptz, 'before the first look the ring is read whole');
do $$ begin perform events(2, p_endpoint_id => one), events(2, p_endpoint_id => two) from made; end $$;
select is(claimed(step(2)), 2, 'a look');
select is((select from_at from outbox.ring), outbox.clock() - interval '1 s', 'after it the ring begins a second ago');
select time_passes('10 s');
select is(claimed(step(1)), 1, 'an endpoint that waited');
select is((select from_at from outbox.ring), outbox.clock() - interval '11 s', 'the ring begins no later than the first that waits');
select is((select next_at from outbox.gate g, made m where g.endpoint_id = m.two), outbox.clock() - interval '10 s', 'which keeps its place');
select is((select array_agg(outbox.first_lane_at(g.id, '-infinity') = g.lanes_from) from outbox.gate g), '{t,t}', 'and each gate knows when its first lane is due');
select is(claimed(step(1), two), 1, 'and comes next') from made;

-- What was noted 5 s before the ring began, as a call does that takes so long to commit.
select time_passes('100 s');
update outbox.ring set from_at = outbox.clock() - interval '1 s' where true;
update outbox.delivery set leased_until = null where true;
update outbox.lane set leased = 0, leased_until = null, next_at = outbox.clock() - interval '6 s' where true;
update outbox.gate set in_flight = 0, next_at = outbox.clock() - interval '6 s', lanes_from = '-infinity' where true;
select is(outbox.has_due(outbox.clock()), false, 'a look does not see it');
select lives_ok('select outbox.wake_missed(outbox.clock())', 'the tick does');
select is(claimed(step(2)), 2, 'and then it is claimed');

-- The clock is set back by an hour.
select time_passes('-1 h');
select is(outbox.ring_from(outbox.clock()), '-infinity'::timestamptz, 'the ring is read whole when the clock was set back');
select is_empty('select * from miscounts()', 'the counters are right');
select * from finish();
rollback;
