-- How many row versions a call writes: each gate has one of its results and one of its claim, and a
-- lane that is alone keeps the keys of its indexes within a second.
begin;
\ir ../../_helpers.sql
select plan(12);

create temporary table ours as select n, endpoint('{}', p_quantum => 1) as id from generate_series(1, 4) n;
do $$ begin
  perform events(4, p_endpoint_id => o.id) from ours o;
  perform step(0);
end $$;

create function written(p_table text) returns bigint language sql volatile as $$
  select x.n_tup_upd from pg_stat_xact_all_tables x where x.relid = ('outbox.' || p_table)::regclass
$$;
create function due_lanes() returns timestamptz[] language sql stable as $$
  select array_agg(distinct l.next_at)
  from ours o join outbox.gate g on g.endpoint_id = o.id join outbox.lane l on l.gate_id = g.id
$$;
create function due_gates() returns timestamptz[] language sql stable as $$
  select array_agg(distinct g.next_at) from ours o join outbox.gate g on g.endpoint_id = o.id
$$;

create temporary table answers as select 1 as n, step(4) as answer;
select is((select claimed(answer) from answers), 4, 'a call takes one delivery of each endpoint');
do $$ begin perform time_passes('300 ms'); end $$;
create temporary table before as select written('gate') as gates, written('lane') as lanes, written('delivery') as deliveries;
insert into answers select 2, step(4, (select results(answer, 'delivered', '{"status": 200}') from answers));
create temporary table after as select written('gate') as gates, written('lane') as lanes, written('delivery') as deliveries;

select is((select claimed(answer) from answers where n = 2), 4, 'so does the next one, with the results of the first');
select is((select a.gates - b.gates from before b, after a), 8::bigint, 'each gate is written for its results and for its claim');
select is((select a.lanes - b.lanes from before b, after a), 8::bigint, 'and so is each lane');
select is((select a.deliveries - b.deliveries from before b, after a), 4::bigint, 'a delivery is written when it is claimed');
select is(due_lanes(), array[outbox.clock() - interval '300 ms'], 'a lane keeps its next_at within the second');
select is(due_gates(), array[outbox.clock()], 'a gate goes to the back of the ring');
do $$ begin perform time_passes('1 s'), step(4); end $$;
select is(due_lanes(), array[outbox.clock()], 'in the next second a lane has a new next_at');
select is_empty('select * from miscounts()', 'the counters are right');

-- Two lanes of one gate in one second, a request at a time.
create temporary table both_lanes as select endpoint('{}', p_quantum => 1) as id;
do $$ begin
  perform events(4, p_endpoint_id => b.id) from both_lanes b;
  perform step(0), time_passes('1 ms');
  perform outbox.change_lane(d, outbox.replay_lane(g.id, 5), outbox.clock())
  from both_lanes b join outbox.gate g on g.endpoint_id = b.id
  cross join lateral (
    select d.* from outbox.delivery d where d.endpoint_id = b.id order by d.event_id desc limit 2
  ) d;
  perform outbox.park(array[b.id], outbox.clock()) from both_lanes b;
end $$;
create function lane_served() returns bigint language plpgsql as $$
declare
  v_endpoint uuid := (select b.id from both_lanes b);
  v_claimed outbox.claimed;
begin
  perform time_passes('1 ms');
  v_claimed := outbox.lease_deliveries(array[v_endpoint], 1, outbox.clock());
  perform outbox.park(array[v_endpoint], outbox.clock(), v_claimed);
  return (select l.key_hash from outbox.lane l where l.id = v_claimed.lanes[1]);
end
$$;
select is(array[lane_served(), lane_served(), lane_served(), lane_served()], '{0,5,0,5}'::bigint[],
  'lanes of one gate take turns, also within a second');
select is_empty('select * from miscounts()', 'the counters are right with two lanes');
select is_empty('select * from asleep()', 'nothing is asleep for ever');

select * from finish();
rollback;
