-- A resume is in force within one tick, and takes up speed within ten seconds.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(17);

create temporary table made as select endpoint() as id;
select outbox.pause_endpoint(id) from made;
create temporary table event as select events(100) as ids;
select step();
select time_passes('1 h');
select is(claimed(step()), 0, 'paused');
select time_passes('1 s');
select is(outbox.resume_endpoint(id), jsonb_build_object('id', id, 'status', 'enabled', 'was', 'paused', 'reason', null, 'open', 100), 'it says what was and how much is open') from made;
select is((select distinct status from outbox.delivery_status), 'pending', 'nothing is held any more');
select outbox.tick();
create temporary table answer as select step(400) as a;
select is(claimed_events(a), ids[1:1], 'after one tick it is served, one at a time at first, the oldest first') from answer, event;
create function in_flight() returns integer language sql as $$ select g.in_flight from outbox.gate g $$;
select time_passes('1 s'), step(400);
select is(in_flight(), 5, 'after a second a tenth of what it may have');
select time_passes('1 s'), step(400);
select is(in_flight(), 10, 'after two a fifth');
select time_passes('3 s'), step(400);
select is(in_flight(), 25, 'after five the half');
select time_passes('5 s'), step(400);
select is(in_flight(), 50, 'after ten all');
select time_passes('1 s'), step(400);
select is(in_flight(), 50, 'and never more');

-- A quick receiver is asked again as soon as it answers.
create temporary table quick as select endpoint(p_max_in_flight => 10) as id;
select outbox.pause_endpoint(id) from quick;
select events(20, p_endpoint_id => id) from quick;
select step();
select outbox.resume_endpoint(id) from quick;
select outbox.tick();
select is(array[send(), send(), send()], '{1,1,1}', 'in the first second each answer lets one more through');
select time_passes('5 s');
select is(array[send(), send()], '{5,5}', 'later as many as its share');

-- resume of one that is enabled begins no ramp; of a disabled one it does.
select outbox.resume_endpoint(id) from quick;
select time_passes('5 s');
select is((select ramp_from from outbox.endpoint join quick using (id)), (select at - interval '10 s' from outbox.test_clock), 'a resume of what is enabled begins nothing anew');
select events(20, p_endpoint_id => id) from quick;
select is(claimed(step(), id), 10, 'it is served in full') from quick;
select outbox.disable_endpoint(id) from quick;
select is(outbox.resume_endpoint(id) ->> 'was', 'disabled', 'a disabled one is resumed the same way') from quick;
select is((select status_reason from outbox.endpoint join quick using (id)), null, 'its reason goes');
select is(refusal('select outbox.resume_endpoint(''00000000-0000-0000-0000-000000000000'')'),
  $$OH002 endpoint '00000000-0000-0000-0000-000000000000' does not exist$$, 'an unknown endpoint is refused');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
