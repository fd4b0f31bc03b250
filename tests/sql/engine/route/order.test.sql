-- Where order is asked for, due_at is given out once, in the order of ids, whatever the clock does.
begin;
\ir ../../_helpers.sql
select plan(14);

create temporary table ours as
select endpoint(p_ordering => 'partition') as by_key, endpoint(p_ordering => 'endpoint') as whole, endpoint(p_ordering => 'none') as free;

create temporary table given as
select array(select jsonb_array_elements_text(outbox.publish_many((
  select jsonb_agg(jsonb_build_object('type', 'a', 'payload', n, 'partition_key', nullif('k' || n % 3, 'k2'))) from generate_series(1, 30) n)))::uuid) as ids;
select is(step(0) -> 'routed', '90', 'each endpoint gets each event');

create function lanes_of(p_endpoint uuid) returns table (id bigint, ordered boolean, key_hash bigint, depth bigint) language sql as $$
  select l.id, l.ordered, l.key_hash, l.depth from outbox.lane l join outbox.gate g on g.id = l.gate_id where g.endpoint_id = p_endpoint
$$;
select results_eq('select depth from ours, lanes_of(by_key) order by key_hash', 'values (10::bigint), (10), (10)', 'each key has its lane, and none is one too');
select results_eq('select ordered, key_hash, depth from ours, lanes_of(whole)', 'values (true, 0::bigint, 30::bigint)', 'an endpoint in order has one lane');
select results_eq('select ordered, key_hash, depth from ours, lanes_of(free)', 'values (false, 0::bigint, 30::bigint)', 'an endpoint without order has its own');
select is_empty(
  $$select from (
      select l.ordered, d.event_id, d.due_at, lag(d.event_id) over w as id_before, lag(d.due_at) over w as due_before
      from outbox.delivery d join outbox.lane l on l.id = d.lane_id window w as (partition by d.lane_id order by d.event_id)
    ) x where x.ordered and x.due_at <= x.due_before$$,
  'due_at grows strictly with the ids of a lane');

-- The clock goes back, and the next batch comes all the same behind the last one.
select time_passes('-1 hour');
select events(3, p_key => 'k1');
select is(step(0) -> 'routed', '0', 'subscriptions are younger than an event of an hour ago');
update outbox.subscription set created_at = created_at - interval '2 hours' where true;
create temporary table back as select events(3, p_key => 'k1') as ids;
select is(step(0) -> 'routed', '9', 'three more for each');
select ok(
  (select min(d.due_at) filter (where d.event_id = any (b.ids)) > max(d.due_at) filter (where d.event_id <> all (b.ids))
   from outbox.delivery d, back b, ours o where d.endpoint_id = o.whole),
  'what is routed later is due later, though the clock went back');
select is((select max(l.tail_at) from outbox.lane l join outbox.delivery d on d.lane_id = l.id, ours o where d.endpoint_id = o.whole),
  (select max(d.due_at) from outbox.delivery d, ours o where d.endpoint_id = o.whole), 'the lane remembers the last due_at');

select time_passes('2 hours');
create temporary table answer as select step(200) as a;
select is(claimed_events(a, whole), (select array_agg(d.event_id order by d.due_at) from outbox.delivery d where d.endpoint_id = whole and d.leased_until is not null),
  'an ordered lane is claimed in this order') from answer, ours;
select is(claimed_events(a, whole), (select ids[1:25] from given), 'from its beginning') from answer, ours;

select ok(outbox.key_hash('partition', 'a') <> outbox.key_hash('partition', 'b') and outbox.key_hash('endpoint', 'a') = 0 and outbox.key_hash('none', 'a') = 0,
  'key_hash() tells keys apart where each has its own order');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'nothing is left asleep');

select * from finish();
rollback;
