-- Ordered lanes: consecutive rows, one holder at a time, and no key waits for another.
begin;
\ir ../../_helpers.sql
select plan(26);

create temporary table ours as select endpoint('{}', p_ordering => 'partition', p_quantum => 4, p_timeout_ms => 3000) as id;
create temporary table a_key as select events(6, p_key => 'a', p_endpoint_id => id) as ids from ours;
select time_passes('1 ms');
create temporary table b_key as select events(2, p_key => 'b', p_endpoint_id => id) as ids from ours;
do $$ begin perform step(0); end $$;

create function of_key(p_answer jsonb, p_ids uuid[]) returns uuid[] language sql as $$
  select coalesce(array_agg(c.id order by c.place), '{}') from unnest(claimed_events(p_answer)) with ordinality c (id, place) where c.id = any (p_ids)
$$;

create temporary table answer as select step() as a;
select is(of_key(a, k.ids), k.ids[1:4], 'a lane gives out its first rows, in order, at most a quantum') from answer, a_key k;
select is(of_key(a, k.ids), k.ids, 'another key is served in the same call') from answer, b_key k;
select is((select array_agg(distinct (d ->> 'lease_ms')::integer) from answer, jsonb_array_elements(a -> 'deliveries') d),
  '{8000}', 'the lease is the timeout and 5 s, however many rows the run has: it renews it');
select is((select array_agg(distinct l.next_at) from outbox.lane l where l.ordered), array[outbox.clock() + interval '8 s'], 'a lane is looked at again when its lease ends');
select ok((select bool_and((d -> 'ordered')::boolean) from answer, jsonb_array_elements(a -> 'deliveries') d), 'the run is told that they are ordered');
select is((select in_flight from outbox.gate), 2, 'a lane counts as one request');
select is(claimed(step()), 0, 'nothing of a lane is given out while a run holds some of it');
create temporary table more as select events(1, p_key => 'b', p_endpoint_id => id) as ids from ours;
select is(claimed(step()), 0, 'new rows of it neither');
create temporary table c_key as select events(1, p_key => 'c', p_endpoint_id => id) as ids from ours;
select is(claimed_events(step()), (select ids from c_key), 'a new key is served at once');

-- Part of the lane ends: the rest stays with the run.
create function some_of(p_answer jsonb, p_ids uuid[], p_outcome text, p_more jsonb default '{}') returns jsonb language sql as $$
  select jsonb_agg(r) from jsonb_array_elements(results(p_answer, p_outcome, p_more)) r where (r ->> 'event')::uuid = any (p_ids)
$$;
create temporary table next as select step(100, some_of(a, k.ids[1:2], 'delivered')) as a from answer, a_key k;
select is((select claimed(a) from next), 0, 'while the run holds two of four, the lane gives out nothing');
select is_empty('select * from miscounts()', 'the counters are right');
update next set a = step(100, some_of(answer.a, k.ids[3:4], 'delivered')) from answer, a_key k;
select is(of_key(a, k.ids), k.ids[5:6], 'when the last of them has ended, the lane goes on in order') from next, a_key k;

-- A failure holds its lane, and what the run gave back stays behind it in order.
select time_passes('1 s');
update next set a = step(100, some_of(answer.a, k.ids[1:1], 'failed', '{"status": 500}') || some_of(answer.a, k.ids[2:2], 'released')) from answer, b_key k;
select is(of_key(a, k.ids || m.ids), '{}', 'a failed row holds its lane') from next, b_key k, more m;
select is_empty($$select from outbox.delivery d, b_key k, more m where d.event_id = any (k.ids || m.ids) and d.leased_until is not null$$, 'nothing of it is leased');
select is((select array_agg(d.event_id order by d.due_at) from outbox.delivery d, b_key k, more m where d.event_id = any (k.ids || m.ids)),
  (select k.ids || m.ids from b_key k, more m), 'and its order is as it was');
select is((select next_attempt_at from outbox.delivery_status s, b_key k where s.event_id = k.ids[1]), outbox.clock() + interval '1 s', 'the lane waits for the retry');
select is(claimed_events(step()), '{}', 'nothing is due until then');
select time_passes('1 s');
update next set a = step() where true;
select is(of_key(a, k.ids || m.ids), k.ids || m.ids, 'then it goes on with the failed row, in order') from next, b_key k, more m;
select is((select d ->> 'attempt' || '/' || (d ->> 'failed_attempts') from next, jsonb_array_elements(a -> 'deliveries') d, b_key k where (d ->> 'event')::uuid = k.ids[1]), '2/1', 'whose second attempt it is');
select is((select (d ->> 'attempt') || '/' || (d ->> 'failed_attempts') from next, jsonb_array_elements(a -> 'deliveries') d, b_key k where (d ->> 'event')::uuid = k.ids[2]), '2/0', 'a released row has lost no try');

-- One order for the whole endpoint.
create temporary table whole as select endpoint('{}', p_ordering => 'endpoint', p_quantum => 3) as id;
create temporary table all_of_it as
select array(select jsonb_array_elements_text(outbox.publish_many((
  select jsonb_agg(jsonb_build_object('type', 'a', 'payload', n, 'partition_key', 'k' || n, 'endpoint_id', w.id)) from generate_series(1, 5) n)))::uuid) as ids
from whole w;
update next set a = step() where true;
select is((select claimed_events(a, w.id) from next, whole w), (select ids[1:3] from all_of_it), 'an endpoint in order gives out its first rows, whatever their keys');
select is(claimed(step(), id), 0, 'and no more while a run holds them') from whole;
update next set a = step(2, results(next.a, 'delivered')) where true;
select is((select claimed_events(a, w.id) from next, whole w), (select ids[4:5] from all_of_it), 'then it goes on, with as many as the run has room for');
update next set a = step(100, results(next.a, 'delivered')) where true;
select is((select count(*)::integer from outbox.lane l join outbox.gate g on g.id = l.gate_id join whole w on w.id = g.endpoint_id), 0, 'a lane that is empty is removed');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'nothing is asleep for ever');

select * from finish();
rollback;
