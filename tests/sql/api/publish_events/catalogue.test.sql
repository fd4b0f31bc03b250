-- Publishing for one organisation: its events are its own, and where it is strict nothing is published that was not
-- checked against the catalogue as it is now.
begin;
\ir ../../_helpers.sql
select plan(27);

create function ids(p_answer jsonb) returns uuid[] language sql as $$
  select array(select jsonb_array_elements_text(p_answer -> 'ids')::uuid)
$$;

create temporary table made as select outbox.publish_events('org-1', '[
  {"type": "order.paid", "body": "{\"amount\": 1.10,  \"n\": 1e2}", "org_id": "org-2", "partition_key": "k", "correlation_id": "c", "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"},
  {"type": "order.sent", "payload": {"b": 1, "a": 2}, "idempotency_key": "key-1"}]') as a;
select results_eq($$select e.org_id, e.type, e.body, e.partition_key, e.correlation_id, e.traceparent, e.idempotency_key from made, unnest(ids(a)) with ordinality i join outbox.event e on e.id = i.i order by i.ordinality$$,
  $$values ('org-1', 'order.paid', '{"amount": 1.10,  "n": 1e2}', 'k', 'c', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', null),
    ('org-1', 'order.sent', '{"a": 2, "b": 1}', null, null, null, 'key-1')$$, 'the organisation is the caller''s, the bytes are kept');
select is((select count(*) from outbox.unrouted), 2::bigint, 'both wait to be routed');
select is((select (ids(a))[1] < (ids(a))[2] from made), true, 'ids grow in the order of the array');
select is(ids(outbox.publish_events('org-1', '[{"type": "order.sent", "payload": {"a": 2, "b": 1}, "idempotency_key": "key-1"}]')), array[(ids(a))[2]], 'a key that is taken gives its event') from made;
select is(cardinality(ids(outbox.publish_events('org-2', '[{"type": "order.sent", "payload": 1, "idempotency_key": "key-1"}]'))), 1, 'another organisation has keys of its own');
select is(refusal($$select outbox.publish_events('org-1', '[{"type": "x", "payload": 1}, {"type": "order.sent", "payload": 1, "idempotency_key": "key-1"}]')$$), 'OH003 events[1]: idempotency_key was used within 24 hours for an event with other content', 'a key with other content is told apart');
select is((select count(*) from outbox.event where type = 'x'), 0::bigint, 'and nothing of its batch is published');
select is((select (ids(b))[1] = (ids(b))[2] from (select outbox.publish_events('org-1', '[{"type": "x", "payload": 1, "idempotency_key": "twice"}, {"type": "x", "payload": 1, "idempotency_key": "twice"}]') as b) b), true, 'a key twice in a batch is one event');
select is(refusal($$select outbox.publish_events('outhook', '[{"type": "x", "payload": 1}]')$$), 'OH001 events[0]: org_id is outhook, which is the system''s own', 'outhook is nobody''s');
select is(refusal($$select outbox.publish_events('org-1', '[{"type": "x", "payload": 1}, {"type": "x", "body": "{"}]')$$), 'OH001 events[1]: payload is not JSON: invalid input syntax for type json', 'what is not JSON is refused with its place');
select is(refusal($$select outbox.publish_events('org-1', '[{"type": "x", "payload": 1}, 7]')$$), 'OH001 events[1]: event is not a JSON object', 'and what is no event');

select is(outbox.read_catalogue('org-1'), '{"strict": false, "version": "0", "types": {}}', 'an organisation begins without a catalogue');
select outbox.put_event_type('org-1', 'order.paid', 'Paid', '{"type": "object"}');
select is(outbox.publish_events('org-1', '[{"type": "x", "payload": 1}]') ? 'ids', true, 'a catalogue alone binds nobody');
select outbox.set_catalogue('org-1', true);
select is(outbox.publish_events('org-1', '[{"type": "x", "payload": 1}]'), '{"catalogue": {"strict": true, "version": "2", "types": {"order.paid": {"type": "object"}}}, "duplicates": []}', 'a strict one is given back first');
select is(outbox.read_catalogue('org-1', false), '{"strict": true, "version": "2", "types": {}}', 'its types may be left out');
-- The keys come before the catalogue.
select is(ids(outbox.publish_events('org-1', '[{"type": "order.sent", "payload": {"a": 2, "b": 1}, "idempotency_key": "key-1"}]')), array[(ids(a))[2]], 'an event that was published before is no matter of the catalogue') from made;
select is(outbox.publish_events('org-1', '[{"type": "x", "payload": 1}, {"type": "order.sent", "payload": {"a": 2, "b": 1}, "idempotency_key": "key-1"}]') -> 'duplicates', '[1]', 'among new ones it is named');
select is(refusal($$select outbox.publish_events('org-1', '[{"type": "order.sent", "payload": 7, "idempotency_key": "key-1"}]')$$), 'OH003 events[0]: idempotency_key was used within 24 hours for an event with other content', 'other content is a conflict, whatever the catalogue says');
create temporary table batch as select outbox.publish_events('org-1', '[{"type": "order.paid", "payload": {}}]', '2', 'batch-1') as b;
select is(outbox.publish_events('org-1', '[{"type": "order.paid", "payload": {}}]', '1', 'batch-1'), b, 'a request that was answered has its answer') from batch;
select is(refusal($$select outbox.publish_events('org-1', '[{"type": "x", "payload": {}}]', null, 'batch-1')$$), 'OH003 Idempotency-Key was used within 24 hours for another request', 'and another one with its key is a conflict');
select is(outbox.publish_events('org-1', '[{"type": "order.paid", "payload": {}}]', '1') ? 'ids', false, 'and again when what was checked is old');
select is(outbox.publish_events('org-1', '[{"type": "order.paid", "payload": {}}]', '2') ? 'ids', true, 'what was checked against it is published');
select is(outbox.publish_events('org-2', '[{"type": "x", "payload": 1}]') ? 'ids', true, 'another organisation is not bound');
select outbox.delete_event_type('org-1', 'order.paid');
select is(outbox.read_catalogue('org-1'), '{"strict": true, "version": "3", "types": {}}', 'each change is a new version');
select outbox.set_catalogue('org-1', false);
select is(outbox.publish_events('org-1', '[{"type": "x", "payload": 1}]', '3') ? 'ids', true, 'strict can be taken back');
select is(refusal($$select outbox.set_catalogue('org-1', null)$$), 'OH001 strict is null', 'strict is true or false');
select is(outbox.publish_events('org-1', '[]'), '{"ids": [], "duplicates": []}', 'nothing is published of nothing');

select * from finish();
rollback;
