-- A run that lives has the lease of an ordered lane renewed; one that died holds it no longer than a delivery.
begin;
\ir ../../_helpers.sql
select plan(30);

create temporary table ours as select endpoint('{}', p_ordering => 'partition', p_timeout_ms => 3000) as id;
create temporary table a_key as select events(4, p_key => 'a', p_endpoint_id => id) as ids from ours;
create temporary table answer as select step() as a;

create function renewals(p_answer jsonb, p_ids uuid[]) returns jsonb language sql as $$
  select jsonb_agg(r) from jsonb_array_elements(results(p_answer, 'renew')) r where (r ->> 'event')::uuid = any (p_ids)
$$;
create function ends(p_ids uuid[]) returns interval[] language sql as $$
  select array_agg(d.leased_until - outbox.clock() order by d.due_at) from outbox.delivery d where d.event_id = any (p_ids)
$$;

select time_passes('4 s');
create temporary table next as
select step(100, jsonb_build_array(results(a, 'delivered') -> 0) || renewals(a, k.ids[2:4])) as a from answer, a_key k;
select is((select a -> 'renewed' from next),
  (select jsonb_agg(jsonb_build_object('event', e, 'endpoint', o.id, 'attempt', 1, 'lease_ms', 8000)) from a_key k, unnest(k.ids[2:4]) e, ours o),
  'the answer says what is leased anew, and for how long');
select is((select a ->> 'applied' || '/' || (a ->> 'stale') || '/' || jsonb_array_length(a -> 'deliveries') from next), '1/0/0',
  'a renewal is no result, and gives nothing of the lane to anybody');
select is((select ends(ids) from a_key), array['8 s', '8 s', '8 s']::interval[], 'the rows carry a whole lease from now');
select results_eq('select leased_until, next_at from outbox.lane where ordered', $$values ('2026-03-01 12:00:12+00'::timestamptz, '2026-03-01 12:00:12+00'::timestamptz)$$,
  'the lane is looked at when it ends');
select is((select next_at from outbox.gate), '2026-03-01 12:00:12+00'::timestamptz, 'and its gate too');
select is_empty('select * from miscounts()', 'the counters are right');

-- One delivery names its lane: the result of another may be on its way, and their leases end together.
select time_passes('2 s');
update next set a = step(100, renewals(answer.a, k.ids[4:4])) from answer, a_key k;
select is((select jsonb_array_length(a -> 'renewed') from next), 1, 'the answer names what the call named');
select is((select ends(ids) from a_key), array['8 s', '8 s', '8 s']::interval[], 'and all that is held of the lane is renewed');
select is((select l.leased_until - outbox.clock() from outbox.lane l where l.ordered), '8 s', 'so it is due when all of it is');
select time_passes('4 s');

-- What is not held.
update next set a = step(100, jsonb_set(renewals(answer.a, k.ids[2:2]), '{0,attempt}', '2')) from answer, a_key k;
select is((select a -> 'renewed' from next), 'null', 'another attempt is not renewed');
update next set a = step(100, renewals(answer.a, k.ids[1:1])) from answer, a_key k;
select is((select a -> 'renewed' from next), 'null', 'nor what has ended');
update next set a = step(100, '[{"outcome": "renew"}, {"outcome": "renew", "event": "00000000-0000-7000-8000-00000000dead", "endpoint": "00000000-0000-7000-8000-00000000beef", "attempt": 1}]');
select is((select a -> 'renewed' || (a -> 'stale') from next), '[null, 0]', 'nor what never was');
select is((select ends(ids) from a_key), array['4 s', '4 s', '4 s']::interval[], 'and nothing has changed');

-- A held endpoint: its lane may be hundreds of sends long, and goes on for one lease at most.
do $$ begin perform outbox.pause_endpoint(id) from ours; end $$;
update next set a = step(100, renewals(answer.a, k.ids[2:4])) from answer, a_key k;
select is((select a -> 'renewed' from next), 'null', 'nor what a paused endpoint has');
select is((select ends(ids) from a_key), array['4 s', '4 s', '4 s']::interval[], 'but a pause takes no lease away');
do $$ begin perform outbox.resume_endpoint(id) from ours; end $$;
do $$ begin perform step(100, renewals(answer.a, k.ids[2:4])) from answer, a_key k; end $$;
select is((select ends(ids) from a_key), array['8 s', '8 s', '8 s']::interval[], 'and after it leases are renewed again');

-- The clock was set back: what a run was given it keeps.
select time_passes('-3 s');
do $$ begin perform step(100, renewals(answer.a, k.ids[4:4])) from answer, a_key k; end $$;
select is((select ends(ids) from a_key), array['11 s', '11 s', '11 s']::interval[], 'a lease is never shortened');
select time_passes('3 s');

-- The end of a lease, before and after anybody has noticed.
select time_passes('1 s');
update next set a = outbox.dispatch('00000000-0000-7000-8000-000000000001', currval('seq'), '[]', 100)::jsonb where true;
select is((select a -> 'renewed' || (a -> 'repeat') from next), '[null, true]', 'a repeat does not tell');
select time_passes('6.999 s');
update next set a = step(0, renewals(answer.a, k.ids[2:4])) from answer, a_key k;
select is((select jsonb_array_length(a -> 'renewed') from next), 3, 'a lease is renewed up to its end');
select time_passes('7.999 s');
select is(claimed(step()), 0, 'it holds to its end');
select is((select array_agg(d.lost_leases order by d.due_at) from outbox.delivery d), '{0,0,0}', 'and nothing is lost until then');
select time_passes('1 ms');
update next set a = step(0, renewals(answer.a, k.ids[2:4])) from answer, a_key k;
select is((select a -> 'renewed' from next), 'null', 'and not from then on, though nobody has noticed: a row of the lane may have gone');
do $$ begin perform step(); end $$;
select is((select array_agg(d.lost_leases order by d.due_at) from outbox.delivery d), '{1,1,1}', 'the run that dies loses the lease of each row, one lease after its last word');
select time_passes('1 s');
select is(claimed_events(step()), k.ids[2:4], 'the lane goes on in order') from a_key k;
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'nothing is asleep for ever');

-- Deliveries without an order have their own lease, which is long enough for each.
create temporary table plain as select endpoint('{}', p_timeout_ms => 3000) as id;
create temporary table loose as select events(2, p_endpoint_id => id) as ids from plain;
update answer set a = step() where true;
select time_passes('4 s');
update next set a = step(100, renewals(answer.a, l.ids)) from answer, loose l;
select is((select a -> 'renewed' from next), 'null', 'of an endpoint without order nothing is renewed');
select is((select ends(ids) from loose), array['4 s', '4 s']::interval[], 'and its leases end as they did');

-- A deleted endpoint: from the end of the lease on nothing holds its rows.
create temporary table doomed as select endpoint('{}', p_ordering => 'partition', p_timeout_ms => 3000) as id;
create temporary table last_key as select events(2, p_key => 'z', p_endpoint_id => id) as ids from doomed;
update answer set a = step() where true;
do $$ begin perform outbox.delete_endpoint(id) from doomed; end $$;
update next set a = step(100, renewals(answer.a, l.ids)) from answer, last_key l;
select is((select a -> 'renewed' from next), 'null', 'of a deleted endpoint nothing is renewed');
select time_passes('8 s');
select is(outbox.purge_deleted(100), 2, 'and its rows go when the lease has ended');

select * from finish();
rollback;
