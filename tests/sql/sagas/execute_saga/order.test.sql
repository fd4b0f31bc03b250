-- A saga that goes well: every step has done its part, and each has left its event.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir _order.sql
select plan(17);
-- The real clock, or the ids of one moment would have no order.
delete from outbox.test_clock t where true;

select endpoint(p_ordering => 'partition');
create temporary table done as
  select outbox.execute_saga('place_order', '{"order": 7, "customer": 1, "item": "lamp", "quantity": 2}') as a;

select is((select free from shop.stock), 1, 'the first step has done its part');
select is((select amount from shop.payment), 99.80, 'the second has seen what the first returned');
select is((select state from shop.orders), 'confirmed', 'the third too');
select is(a - 'id' - 'steps' - 'event_ids', '{"saga": "place_order", "repeated": false, "context":
  {"order": 7, "customer": 1, "item": "lamp", "quantity": 2, "reserved": 2, "payment": 1}}'::jsonb,
  'the result has the final context') from done;
select is((select string_agg((s ->> 'function') || ' ' || (s ->> 'event_type'), ', ') from done, jsonb_array_elements(a -> 'steps') s),
  'shop.reserve_stock stock.reserved, shop.take_payment payment.taken, shop.confirm order.confirmed',
  'it names the steps in their order');
select results_eq($$select e.type, e.body, e.org_id from outbox.event e order by e.id$$,
  $$values ('stock.reserved', '{"order": 7, "reserved": 2}', 'default'), ('payment.taken', '{"payment": 1}', 'default'),
    ('order.confirmed', '{}', 'default')$$, 'each step has an event, with what it returned');
select is((select jsonb_agg(e.id order by e.id) from outbox.event e), a -> 'event_ids', 'the result has the events'' ids') from done;
select is((select array_agg(distinct e.correlation_id) from outbox.event e), array[a ->> 'id'], 'the correlation id of all is the saga''s') from done;
select is((select array_agg(distinct e.partition_key) from outbox.event e), array[a ->> 'id'], 'and so is the partition key') from done;

-- The view shows them as spec 3 names their states; an ordered endpoint gets them in their order.
select is((select string_agg(distinct status, ',') from outbox.saga_outbox where saga_id = a ->> 'id'), 'PENDING', 'PENDING at first') from done;
create temporary table answer as select step(10) as a;
select is((select string_agg(event_type, ', ' order by event_id) from outbox.saga_outbox where status = 'CLAIMED'),
  'stock.reserved, payment.taken, order.confirmed', 'CLAIMED while a run has them');
select step(0, results(a, 'delivered')) from answer;
select is((select string_agg(distinct status, ',') from outbox.saga_outbox), 'SENT', 'SENT at the end');

-- Traced, and for an organisation.
select outbox.execute_saga('place_order', '{"order": 8, "customer": 1, "item": "lamp", "quantity": 1}', p_org_id => 'org-1',
  p_traceparent => '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01');
select is((select count(*) from outbox.event where org_id = 'org-1' and traceparent is not null), 3::bigint, 'events carry org and trace');
select is((select count(*) from outbox.event), 6::bigint, 'six events in all');

-- A step sees for whom it runs, whatever the context says; behind the saga the setting is as it was.
create function shop.tells(p_context jsonb) returns jsonb language sql as $$
  select jsonb_build_object('org', current_setting('outhook.org_id'), 'said', p_context -> 'org')
$$;
select outbox.define_saga('tell', '[{"function": "shop.tells", "event_type": "a.told"}]');
select is(outbox.execute_saga('tell', '{"org": "org-9"}', 'org-1') -> 'context', '{"org": "org-1", "said": "org-9"}'::jsonb,
  'a step sees the organisation');
select is(current_setting('outhook.org_id', true), '', 'the setting ends with the saga');
-- The form of the HTTP API.
select ok(a - 'id' - 'steps' - 'eventIds' = jsonb_build_object('saga', 'tell', 'repeated', false, 'context', '{"n": 1.10, "org": "org-1", "said": null}')
    and a -> 'steps' -> 0 = jsonb_build_object('function', 'shop.tells', 'eventType', 'a.told', 'eventId', a -> 'eventIds' -> 0),
  'execute_org_saga() has its names, and the context as text')
from outbox.execute_org_saga('org-1', 'tell', '{"n": 1.10}') a;

select * from finish();
rollback;
