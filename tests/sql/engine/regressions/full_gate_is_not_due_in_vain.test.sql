-- A gate that is full, here one slot after a timeout, is looked at again when the next lease ends: not when one would
-- have ended that was given back long ago.
begin;
\ir ../../_helpers.sql
select plan(5);
create temporary table made as select endpoint(p_timeout_ms => 15000, p_retry => '{"strategy": "fixed", "base_delay": 60}') as id;
select events(1);
create temporary table first as select step() as a;
select time_passes('10 s');
select events(2);
create temporary table second as select step(10) as a;
select is(claimed(a), 2, 'two more are under way') from second;
select is(step(10, results(a, 'failed', '{"error_class": "timeout"}')) -> 'applied', '1', 'the first one times out, which leaves one slot') from first;
-- The first lease would end now; those of the others in ten seconds.
select time_passes('10 s');
select is(claimed(step()), 0, 'nothing is to be claimed');
select is((select next_at - outbox.clock() from outbox.gate), interval '10 s', 'and the gate is due when the next lease ends');
select is_empty('select * from miscounts()', 'the counters are right');
select * from finish();
rollback;
