-- What publish() writes: one event and one unrouted row, in the caller's transaction.
begin;
\ir ../../_helpers.sql
select plan(9);

create temporary table given as select
  outbox.publish('order.paid', '{"id": 1}') as plain,
  outbox.publish(
    p_type => 'order.shipped', p_payload => '{"b": 1, "a": [1.10, 12345678901234567890123]}',
    p_org_id => 'org-123', p_partition_key => 'Kunde 7', p_correlation_id => 'req-9',
    p_idempotency_key => 'key-1', p_deliver_at => '2026-03-02 00:00:00+00',
    p_traceparent => '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01') as full_one;

select ok(
  (select to_jsonb(e) @> '{"org_id": "default", "type": "order.paid", "body": "{\"id\": 1}", "partition_key": null,
    "correlation_id": null, "idempotency_key": null, "traceparent": null, "endpoint_id": null,
    "deliver_at": null, "created_at": "2026-03-01T12:00:00+00:00"}'::jsonb
   from outbox.event e where e.id = (select g.plain from given g)),
  'publish() stores an event with nothing but its type, payload and the time');

select is(
  (select e.type || '|' || e.org_id || '|' || e.partition_key || '|' || e.correlation_id || '|'
     || e.idempotency_key || '|' || e.traceparent
   from outbox.event e where e.id = (select g.full_one from given g)),
  'order.shipped|org-123|Kunde 7|req-9|key-1|00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  'publish() stores every field that is given');

select is(
  (select e.deliver_at from outbox.event e where e.id = (select g.full_one from given g)),
  '2026-03-02 00:00:00+00'::timestamptz, 'publish() stores the time for which an event is meant');

select is(
  (select e.body from outbox.event e where e.id = (select g.full_one from given g)),
  '{"a": [1.10, 12345678901234567890123], "b": 1}',
  'publish() stores the text of the jsonb, trailing zeros and big integers included');

select set_eq('select event_id from outbox.unrouted',
  'select plain from given union select full_one from given',
  'publish() leaves each event to be routed');

select results_eq('select distinct xid from outbox.unrouted', 'select pg_current_xact_id()',
  'publish() notes the transaction that publishes');

select is_empty('select from outbox.delivery', 'publish() makes no delivery itself');

create temporary table nothing as select outbox.publish('a', 'null') as id;
select is((select e.body from outbox.event e join nothing using (id)), 'null',
  'publish() takes any JSON value, null included');

savepoint before;
select outbox.publish('order.lost', '{}');
rollback to before;
select is(
  (select count(*)::integer from outbox.event e left join outbox.unrouted u on u.event_id = e.id),
  3, 'publish() leaves nothing behind a rollback');

select * from finish();
rollback;
