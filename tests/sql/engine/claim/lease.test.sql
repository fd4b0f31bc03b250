-- A claim gives a delivery to one run, for a time, with a number that only grows.
begin;
\ir ../../_helpers.sql
select plan(17);

create temporary table ours as select endpoint(p_timeout_ms => 3000) as id;
create temporary table given as select events(10) as ids;

create temporary table answer as select step(4) as a;
select is((select claimed(a) from answer), 4, 'a claim gives out no more than it was asked for');
select is((select claimed_events(a) from answer), (select ids[1:4] from given), 'the oldest first');
select is((select a -> 'deliveries' -> 0 from answer),
  (select jsonb_build_object('event', g.ids[1], 'endpoint', o.id, 'attempt', 1, 'failed_attempts', 0, 'lane', l.id::text, 'ordered', false, 'lease_ms', 8000)
   from given g, ours o, outbox.gate t join outbox.lane l on l.gate_id = t.id where t.endpoint_id = o.id),
  'a delivery says what it is, which attempt, and for how long it is leased: the timeout and 5 s');
select results_eq('select attempt, failed_attempts, leased_until from outbox.delivery d, given g where d.event_id = g.ids[1]',
  $$values (1, 0, '2026-03-01 12:00:08+00'::timestamptz)$$, 'the row carries the lease');
select results_eq('select attempt, leased_until from outbox.delivery d, given g where d.event_id = g.ids[5]',
  'values (0, null::timestamptz)', 'a row that was not claimed carries none');
select results_eq('select in_flight, depth from outbox.gate', 'values (4, 10::bigint)', 'the gate counts requests under way and open deliveries');

update answer set a = step(100) where true;
select is((select claimed_events(a) from answer), (select ids[5:10] from given), 'the next claim gets the others');
update answer set a = step(100) where true;
select is((select claimed(a) from answer), 0, 'what is leased is not given out again');
select is((select status from outbox.delivery_status limit 1), 'processing', 'delivery_status shows it as processing');
select is((select next_at from outbox.gate), '2026-03-01 12:00:08+00'::timestamptz, 'the gate sleeps until a lease ends');

select time_passes('7.999 s');
select is(claimed(step(100)), 0, 'a lease holds to its end');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'nothing is asleep for ever');

-- A limit of nothing, and the setting.
create temporary table more as select events(10) as ids;
select is(claimed(step(0)), 0, 'a limit of 0 claims nothing');
do $$ begin perform outbox.set_setting('worker.batch_size', '3'); end $$;
select is(claimed(step(100)), 3, 'the setting worker.batch_size bounds every claim');
do $$ begin perform outbox.set_setting('worker.batch_size', '400'); end $$;
select is(claimed(step(100)), 7, 'and none but the claims made while it is so');

select is_empty('select * from miscounts()', 'the counters are still right');

select * from finish();
rollback;
