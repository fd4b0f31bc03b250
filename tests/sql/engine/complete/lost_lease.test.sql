-- A run that dies: its lease ends, which is a failed attempt that uses up no retry, and the delivery goes on.
begin;
\ir ../../_helpers.sql
select plan(24);

create temporary table ours as select endpoint(p_retry => plain_retry(1), p_max_in_flight => 2) as id;
create temporary table given as select events(1) as ids;
create temporary table answer as select step() as a;
select time_passes('20 s');
create temporary table next as select step() as a;
select results_eq('select attempt, failed_attempts, leased_until, due_at from outbox.delivery', $$values (1, 0, null::timestamptz, '2026-03-01 12:00:21+00'::timestamptz)$$,
  'a lease that has ended uses up no retry, and the delivery is due again in a second');
select is((select lost_leases from outbox.delivery), 1, 'it is counted apart');
select is((select to_jsonb(a) @> '{"attempt": 1, "kind": "attempt", "outcome": "failed", "status": null, "error_class": "lease_expired",
    "at": "2026-03-01T12:00:20+00:00", "next_retry_at": "2026-03-01T12:00:21+00:00"}' from outbox.attempt a), true, 'the attempt says so');
select is((select in_flight from outbox.gate), 0, 'its place is free again');
select is((select a -> 'stale' from (select step(0, results(answer.a, 'delivered')) as a from answer) x), '1', 'a result that comes after that changes nothing');
select results_eq('select status, next_attempt_at from outbox.delivery_status', $$values ('retrying', '2026-03-01 12:00:21+00'::timestamptz)$$, 'delivery_status shows the retry');

select time_passes('1 s');
update next set a = step() where true;
select is((select (d ->> 'attempt') || '/' || (d ->> 'failed_attempts') from next, jsonb_array_elements(a -> 'deliveries') d), '2/1', 'then it is claimed again, as a second attempt');
select time_passes('19.999 s');
select is(step(0, results(a, 'failed', '{"status": 500}')) -> 'applied', '1', 'a result that comes before the end of the lease is applied') from next;
select is((select failed_attempts || '/' || lost_leases from outbox.delivery), '1/0', 'uses up a retry, and ends the count of lost leases');
do $$ begin perform time_passes('1 min'), step(0, results(step(), 'delivered')); end $$;

-- Too many leases lost in a row, without a retry that is used up.
create temporary table second as select events(1) as ids;
create function lose(p_times integer) returns void language plpgsql as $$
begin
  for v_time in 1 .. p_times loop
    perform helper.step(), helper.time_passes('20 s'), helper.step(), helper.time_passes('1 s');
  end loop;
end
$$;
select lose(4);
select is((select failed_attempts || '/' || lost_leases from outbox.delivery), '0/4', 'four lost leases are not too many');
select lose(1);
select is((select d.why || '/' || d.retry_count || '/' || d.attempt from outbox.dead_letter d, second s where d.event_id = s.ids[1]), 'leases_lost/0/5',
  'the fifth ends in a dead letter');
select is_empty('select * from miscounts()', 'the counters are right');

-- A late result of a lease that has ended, before anybody noticed.
create temporary table third as select events(1) as ids;
update next set a = step() where true;
select time_passes('25 s');
select is(step(0, results(a, 'delivered')) -> 'applied', '1', 'a result counts as long as nobody has noticed the end of the lease') from next;

-- Places that lost leases took are free for others, and nobody else's leases are touched.
create temporary table fourth as select events(5) as ids;
update next set a = step() where true;
select is((select claimed(a) from next), 2, 'an endpoint with two places has two under way');
select time_passes('10 s');
update next set a = step(100, jsonb_build_array(results(next.a, 'delivered') -> 0)) where true;
select is((select claimed_events(a) from next), (select ids[3:3] from fourth), 'the third takes the place of the first');
select time_passes('10 s');
update next set a = step() where true;
select is((select claimed_events(a) from next), (select ids[4:4] from fourth), 'when the lease of the second ends, the fourth takes its place');
select is((select d.leased_until from outbox.delivery d, fourth f where d.event_id = f.ids[3]), outbox.clock() + interval '10 s', 'the third is still held');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'nothing is asleep for ever');

-- A whole ordered lane lost: one lost lease for each row that was claimed, and the order stays.
create temporary table ordered as select endpoint('{}', p_ordering => 'partition', p_timeout_ms => 5000) as id;
create temporary table lane as select events(3, p_key => 'a', p_endpoint_id => id) as ids from ordered;
do $$ begin perform step(); perform time_passes('30 s'); perform step(); end $$;
select is((select array_agg(d.lost_leases order by d.due_at) from outbox.delivery d, lane l where d.event_id = any (l.ids)), '{1,1,1}', 'each row of a lost lane has lost a lease');
select time_passes('1 s');
select is((select claimed_events(step(), o.id) from ordered o), (select ids from lane), 'and the lane comes again in order');
select is_empty('select * from miscounts()', 'the counters are right');
select is((select in_flight from outbox.gate g join ordered o on o.id = g.endpoint_id), 1, 'as one request');
select is_empty('select * from asleep()', 'nothing is asleep for ever');

select * from finish();
rollback;
