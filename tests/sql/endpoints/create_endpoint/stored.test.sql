-- What create_endpoint() and subscribe() write.
begin;
\ir ../../_helpers.sql
select plan(16);

create temporary table made as
select outbox.create_endpoint('https://example.com/hook', '{order.*,order.*,invoice.paid}', 'org-1',
  p_description => 'Shop', p_headers => '{"x-key": "k"}', p_payload => 'data', p_timeout_ms => 3000, p_ordering => 'none',
  p_max_in_flight => 7, p_quantum => 3, p_retry => '{"strategy": "fixed", "base_delay": 2}') as answer;
create temporary table ours as select (answer ->> 'id')::uuid as id from made;

select set_eq('select jsonb_object_keys(answer) from made', array['id', 'secret'], 'create_endpoint() returns id and secret');
select ok((select to_jsonb(e) @> '{"org_id": "org-1", "kind": "webhook", "url": "https://example.com/hook", "description": "Shop", "header_names": ["x-key"],
    "payload": "data", "timeout_ms": 3000, "ordering": "none", "max_in_flight": 7, "quantum": 3,
    "retry": {"strategy": "fixed", "base_delay": 2}, "status": "enabled", "version": 1,
    "created_at": "2026-03-01T12:00:00+00:00", "updated_at": "2026-03-01T12:00:00+00:00"}'::jsonb
   from outbox.endpoint e join ours using (id)),
  'create_endpoint() stores every setting');
select set_eq('select pattern from outbox.subscription join ours on endpoint_id = id', array['order.*', 'invoice.paid'],
  'create_endpoint() subscribes to each event type once');
select results_eq('select next_at, in_flight, depth from outbox.gate join ours on endpoint_id = ours.id',
  $$values ('infinity'::timestamptz, 0, 0::bigint)$$, 'create_endpoint() makes a gate that is not due');
select results_eq('select l.ordered, l.depth from outbox.lane l join outbox.gate g on g.id = l.gate_id join ours on g.endpoint_id = ours.id',
  $$values (false, 0::bigint)$$, 'create_endpoint() makes the one lane of an unordered endpoint');
select is_empty(
  format('select from outbox.lane l join outbox.gate g on g.id = l.gate_id where g.endpoint_id = %L', endpoint(p_ordering => 'partition')),
  'create_endpoint() makes no lane of an ordered one: each comes with its first delivery');

create temporary table plain as select (outbox.create_endpoint('https://example.com') ->> 'id')::uuid as id;
select is((select row(e.org_id, e.payload, e.timeout_ms, e.ordering, e.max_in_flight, e.quantum, e.header_names, e.retry)::text
           from outbox.endpoint e join plain using (id)), '(default,envelope,15000,none,50,25,{},)', 'create_endpoint() has defaults');
select results_eq('select pattern from outbox.subscription join plain on endpoint_id = id', $$values ('*')$$,
  'create_endpoint() subscribes to everything by default');

select is(outbox.subscribe(id, '{ping,order.*}'),
  jsonb_build_object('endpoint_id', id, 'event_types', '["invoice.paid", "order.*", "ping"]'::jsonb),
  'subscribe() adds what is new and returns all there is')
from ours;
select is(refusal(format('select outbox.subscribe(%L, %L)', id, '{a..b}')), $$OH001 event_types contains 'a..b'$$,
  'subscribe() refuses what is no pattern') from ours;
select is(refusal($$select outbox.subscribe('00000000-0000-0000-0000-000000000000', '{a}')$$),
  'OH002 endpoint ''00000000-0000-0000-0000-000000000000'' does not exist', 'subscribe() refuses an unknown endpoint');
select is(refusal('select outbox.subscribe(null, ''{a}'')'), 'OH002 endpoint NULL does not exist', 'subscribe() refuses null');
update outbox.endpoint set status = 'deleted' where id = (select id from plain);
select alike(refusal(format('select outbox.subscribe(%L, %L)', id, '{a}')), 'OH002 endpoint % does not exist',
  'subscribe() refuses a deleted endpoint') from plain;

select is(outbox.type_patterns(c.type), c.patterns::text[], 'type_patterns() of ' || c.type)
from (values
  ('ping', '{*,ping}'),
  ('order.paid', '{*,order.*,order.paid}'),
  ('a.b.c', '{*,a.*,a.b.*,a.b.c}')
) c (type, patterns);

select * from finish();
rollback;
