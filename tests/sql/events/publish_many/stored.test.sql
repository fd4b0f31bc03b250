-- publish_many(): one statement, many events, ids in the order of the array.
begin;
\ir ../../_helpers.sql
select plan(13);

create temporary table ids as
select x.id::uuid, x.place
from jsonb_array_elements_text(outbox.publish_many((
  select jsonb_agg(jsonb_build_object('type', 'n.' || n, 'payload', n, 'idempotency_key', 'k' || (2000 - n)))
  from generate_series(1, 1500) n))) with ordinality as x (id, place);

select is((select count(*)::integer from outbox.event), 1500, 'publish_many() stores each element');
select is((select count(*)::integer from outbox.unrouted), 1500, 'publish_many() leaves each to be routed');
select is_empty('select from ids i join outbox.event e using (id) where e.type <> ''n.'' || i.place',
  'publish_many() returns the ids in the order of the array, whatever the order of the keys');
select is_empty(
  'select from (select id, lag(id) over (order by place) as before from ids) x where x.id <= x.before',
  'publish_many() gives out ids that grow strictly');
select is((select max(e.created_at) - min(e.created_at) from outbox.event e), interval '1499 microseconds',
  'publish_many() steps the time one microsecond an element');

select is(outbox.publish_many('[]'), '[]'::jsonb, 'publish_many() of nothing is nothing');

create temporary table one as select (outbox.publish_many('[{
  "type": "full.event", "body": "{ \"a\":1.10 }", "org_id": "org-9", "partition_key": "p",
  "correlation_id": "c", "idempotency_key": "i", "deliver_at": "2026-03-02T00:00:00Z",
  "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}]') ->> 0)::uuid as id;
select ok(
  (select to_jsonb(e) @> '{"org_id": "org-9", "type": "full.event", "body": "{ \"a\":1.10 }", "partition_key": "p",
    "correlation_id": "c", "idempotency_key": "i", "endpoint_id": null,
    "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "deliver_at": "2026-03-02T00:00:00+00:00"}'::jsonb
   from outbox.event e join one using (id)),
  'publish_many() stores every field, and a body as it is');

create temporary table twice as select outbox.publish_many(
  '[{"type": "a", "payload": 1, "idempotency_key": "t"}, {"type": "b", "payload": 2},
    {"type": "a", "payload": 1, "idempotency_key": "t"}]') as ids;
select is((select ids -> 0 from twice), (select ids -> 2 from twice),
  'publish_many() makes one event of two elements with one key');
select isnt((select ids -> 0 from twice), (select ids -> 1 from twice), 'publish_many() keeps the others apart');
select is(
  outbox.publish_many('[{"type": "a", "payload": 1, "idempotency_key": "t"}]') -> 0, (select ids -> 0 from twice),
  'publish_many() knows the keys of earlier calls');
select is(
  outbox.publish('a', '1', p_idempotency_key => 't')::text, (select ids ->> 0 from twice),
  'publish_many() and publish() share their keys');
select is(
  outbox.publish_many('[{"type": "z", "payload": null}]') is null, false,
  'publish_many() takes a payload of JSON null');
select is((select body from outbox.event where type = 'z'), 'null', 'publish_many() stores JSON null as null');

select * from finish();
rollback;
