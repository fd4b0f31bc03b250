-- The example in the head of apply_results(): three gates and seven results.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(9);

create temporary table ours as
select 'a' as gate, endpoint('{}', p_breaker => true) as id
union all select 'b', endpoint('{}', p_ordering => 'partition', p_breaker => true)
union all select 'c', endpoint('{}', p_breaker => true);
create temporary table published as
select o.gate, events(c.n, p_key => 'k', p_endpoint_id => o.id) as ids
from ours o join (values ('a', 4), ('b', 2), ('c', 1)) c (gate, n) using (gate);
do $$ begin perform step(0); end $$;
update outbox.gate g set breaker = 'open', open_until = outbox.clock() from ours o where o.gate = 'c' and g.endpoint_id = o.id;
select is(claimed(step(100)), 7, 'all seven are claimed, one as the probe');
update outbox.gate g set streak = 3 from ours o where o.gate = 'a' and g.endpoint_id = o.id;

create temporary table given (place serial, gate text, nth integer, outcome text, status integer);
insert into given (gate, nth, outcome, status) values
  ('a', 1, 'failed', 500), ('a', 2, 'delivered', 200), ('a', 3, 'failed', 500), ('a', 4, 'released', null),
  ('b', 1, 'failed', 500), ('b', 2, 'released', null), ('c', 1, 'delivered', 200);
select is(
  (outbox.apply_results(array(
    select jsonb_populate_record(null::outbox.result, jsonb_build_object('event', p.ids[n.nth], 'endpoint', o.id, 'attempt', 1,
      'outcome', n.outcome, 'status', n.status))
    from given n join ours o using (gate) join published p using (gate) order by n.place), outbox.clock())).applied,
  7, 'all seven are applied');

select is((select array_agg((gate_of(o.id)).streak order by o.gate) from ours o), '{1,1,0}', 'the streaks');
select is((select array_agg(breaker_of(o.id) order by o.gate) from ours o), '{closed,closed,closed}', 'the probe closes its breaker');
select is((select array_agg((gate_of(o.id)).in_flight order by o.gate) from ours o), '{0,0,0}', 'two results of an ordered lane end one request');
select is((gate_of(id)).ramp_from, outbox.clock(), 'the share of c grows from now on') from ours where gate = 'c';
select is(
  (select array_agg(l.next_at - outbox.clock() order by o.gate)
   from ours o join outbox.gate g on g.endpoint_id = o.id join outbox.lane l on l.gate_id = g.id where o.gate <> 'c'),
  '{0 s,1 s}', 'lane a is due because of a4, lane b when the retry of b1 is');
select is(
  (select array_agg(d.due_at - outbox.clock() order by d.due_at)
   from outbox.delivery d join ours o on o.id = d.endpoint_id where o.gate = 'a'),
  '{0 s,1 s,1 s}', 'a1 and a3 are due in 1 s');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
