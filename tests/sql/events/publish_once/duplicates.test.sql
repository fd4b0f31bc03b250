-- Modules: api
-- publish_once() tells a new event from a duplicate, and so does the API.
begin;
\ir ../../_helpers.sql
select plan(11);

create temporary table first as select outbox.publish_once('{"type": "order.paid", "payload": {"id": 1}, "idempotency_key": "paid-1"}') as r;
select is((select r -> 'duplicate' from first), 'false', 'a new event');
create temporary table again as select outbox.publish_once('{"type": "order.paid", "payload": {"id": 1}, "idempotency_key": "paid-1"}') as r;
select is((select r -> 'duplicate' from again), 'true', 'the same key and content again');
select is((select r ->> 'id' from again), (select r ->> 'id' from first), 'with the id of the first');
select is((select count(*) from outbox.event where idempotency_key = 'paid-1'), 1::bigint, 'one event');
select is((select array_agg(k order by k) from first, jsonb_object_keys(r) k), '{duplicate,id}', 'and nothing else');
select is(outbox.publish_once('{"type": "order.paid", "payload": {"id": 1}}') -> 'duplicate', 'false', 'without a key each event is new');
select is(refusal($$select outbox.publish_once('{"type": "order.paid", "payload": {"id": 2}, "idempotency_key": "paid-1"}')$$),
  'OH003 idempotency_key was used within 24 hours for an event with other content', 'other content is an error');
select is(refusal($$select outbox.publish_once('{"payload": 1}')$$), 'OH001 type is NULL', 'an invalid event is an error, by its field');
select is(refusal($$select outbox.publish_once('[]')$$), 'OH001 event is not a JSON object', 'as is what is no event');

-- Over the API: by the place in the list.
create temporary table many as select outbox.publish_events('default', '[
  {"type": "order.sent", "body": "1", "idempotency_key": "sent-1"},
  {"type": "order.paid", "body": "{\"id\": 1}", "idempotency_key": "paid-1"},
  {"type": "order.sent", "body": "1", "idempotency_key": "sent-1"}]') as r;
select is((select r -> 'duplicates' from many), '[1, 2]', 'publish_events() names the places of duplicates, also within the list');
select is((select (r -> 'ids' ->> 1) || ',' || (r -> 'ids' ->> 2) from many), (select (f.r ->> 'id') || ',' || (m.r -> 'ids' ->> 0) from first f, many m), 'whose ids are those of the earlier events');

select * from finish();
rollback;
