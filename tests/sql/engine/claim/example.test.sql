-- The examples in the heads of lease_deliveries() and park(): three gates, five lanes, a batch of 8.
begin;
\ir ../../_helpers.sql
select plan(7);

create temporary table ours as
select 'a' as gate, endpoint('{}', p_max_in_flight => 10, p_quantum => 3) as id
union all select 'b', endpoint('{}', p_ordering => 'partition', p_max_in_flight => 4, p_quantum => 3)
union all select 'c', endpoint('{}', p_max_in_flight => 10, p_quantum => 3);

-- Two requests of gate b are in flight.
do $$ begin
  perform events(1, p_key => k, p_endpoint_id => id) from ours, unnest('{x,y}'::text[]) k where gate = 'b';
  perform step(100);
end $$;

-- Routed one after the other, so that the lanes are due in this order.
create temporary table lanes (lane text, gate text, ids uuid[]);
create function fill(p_lane text, p_gate text, p_key text, p_count integer) returns void language plpgsql as $$
begin
  insert into lanes
  select p_lane, p_gate, events(p_count, p_key => p_key, p_endpoint_id => o.id) from ours o where o.gate = p_gate;
  perform step(0);
end $$;
do $$ begin
  perform fill('a', 'a', null, 5);
  perform fill('b1', 'b', 'b1', 2);
  perform fill('b2', 'b', 'b2', 1);
  perform fill('b3', 'b', 'b3', 1);
  perform fill('c', 'c', null, 4);
end $$;

create temporary table got as
select outbox.lease_deliveries(array(select id from ours order by gate), 8, outbox.clock()) as claimed;
select outbox.park(array(select id from ours), outbox.clock(), (select claimed from got));

select is(
  (select array_agg(l.lane || '.' || array_position(l.ids, e) order by place)
   from got, unnest((claimed).events) with ordinality as u (e, place) join lanes l on e = any (l.ids)),
  '{a.1,a.2,a.3,b1.1,b1.2,b2.1,c.1,c.2}', 'the rows of the example are taken, in the order of the gates');
select is((select array_agg(g.in_flight order by o.gate) from ours o join outbox.gate g on g.endpoint_id = o.id),
  '{3,4,2}', 'an ordered lane is one request, however many rows it gives');

create function lane_of(p_lane text) returns outbox.lane language sql stable as $$
  select l from outbox.lane l
  where l.id = (select d.lane_id from outbox.delivery d, lanes n where n.lane = p_lane and d.event_id = n.ids[1])
$$;
select is((select array_agg((lane_of(l.lane)).leased order by l.lane) from lanes l), '{3,2,1,0,2}',
  'each lane counts what it has given');
select is((select array_agg(l.lane order by l.lane) from lanes l where (lane_of(l.lane)).next_at <= outbox.clock()), '{a,b3,c}',
  'lanes that have more, and the lane that was not read, are due at once');
select is((select array_agg((lane_of(l.lane)).next_at - outbox.clock() order by l.lane) from lanes l where l.lane in ('b1', 'b2')),
  '{20 s,20 s}', 'ordered lanes are due when their lease ends');
select is((select array_agg(g.next_at - outbox.clock() order by o.gate) from ours o join outbox.gate g on g.endpoint_id = o.id),
  '{0 s,20 s,0 s}', 'a gate at its limit is due when its leases end, the others at once');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
