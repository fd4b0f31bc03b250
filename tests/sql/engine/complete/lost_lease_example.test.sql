-- The example in the head of record_lost_leases(): three lanes and five leases.
begin;
\ir ../../_helpers.sql
select plan(5);

create temporary table ours as
select 'a' as gate, endpoint('{}') as id union all select 'b', endpoint('{}', p_ordering => 'partition');

create temporary table lanes (lane text, ids uuid[]);
create function send_to(p_lane text, p_gate text, p_count integer) returns void language plpgsql as $$
begin
  insert into lanes select p_lane, events(p_count, p_key => p_lane, p_endpoint_id => o.id) from ours o where o.gate = p_gate;
  perform step(100), time_passes('5 s');
end $$;
do $$ begin perform send_to('a', 'a', 1), send_to('b', 'b', 2), send_to('a2', 'a', 1), send_to('c', 'b', 1), time_passes('5 s'); end $$;

select is(outbox.record_lost_leases(array(select id from ours), outbox.clock()), 3, 'three leases are recorded as lost');
select is(
  (select array_agg(l.lane || ' ' || (d.leased_until is null)::text order by l.lane)
   from lanes l join outbox.delivery d on d.event_id = l.ids[1]),
  '{"a true","a2 false","b true","c false"}', 'those of a and b that have ended');
select is(
  (select array_agg(to_char(n.leased_until at time zone 'UTC', 'HH24:MI:SS') order by l.lane)
   from lanes l join outbox.delivery d on d.event_id = l.ids[1] join outbox.lane n on n.id = d.lane_id where l.lane <> 'a2'),
  '{12:00:30,null,12:00:35}', 'each lane has the end of its first lease');
select is((select array_agg(g.in_flight order by o.gate) from ours o join outbox.gate g on g.endpoint_id = o.id), '{1,1}',
  'two of four requests are still in flight');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
