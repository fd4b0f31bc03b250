-- An event with deliver_at waits for its time, and holds up nobody.
begin;
\ir ../../_helpers.sql
select plan(11);

select endpoint();
create temporary table given as
select outbox.publish('a', '{}', p_deliver_at => outbox.clock() + interval '2 min') as late,
  outbox.publish('a', '{}', p_deliver_at => outbox.clock() + interval '1 min') as soon;
select is(claimed(step()), 0, 'an event for later waits');
select is((select next_at from outbox.gate), outbox.clock() + interval '1 min', 'the gate sleeps until the first is due');
select ok(not outbox.has_due(outbox.clock()), 'nothing is due meanwhile');

create temporary table now_one as select outbox.publish('a', '{}') as id;
select is(claimed_events(step()), (select array[id] from now_one), 'an event for now is not held up by it');
select step(p_results => jsonb_build_array(jsonb_build_object('event', n.id, 'endpoint', d.endpoint_id, 'attempt', 1, 'outcome', 'delivered')))
from now_one n join outbox.delivery d on d.event_id = n.id;
select cmp_ok((select next_at from outbox.gate), '<=', outbox.clock() + interval '1 min', 'and the gate still wakes in time for the first');

select time_passes('59.999999 s');
select is(claimed(step()), 0, 'it waits to the microsecond');
select time_passes('1 microsecond');
select ok(outbox.has_due(outbox.clock()), 'then it is due');
select is(claimed_events(step()), (select array[soon] from given), 'and claimed, and not the one that is due later');
select is((select status from outbox.delivery_status s join given g on g.late = s.event_id), 'pending', 'which is shown as pending');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'nothing is asleep for ever');

select * from finish();
rollback;
