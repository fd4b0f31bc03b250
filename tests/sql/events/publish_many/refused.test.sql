-- publish_many() stores all or none, and says which element is wrong and in what.
begin;
\ir ../../_helpers.sql
create temporary table refused (what text, events text, expected text);
insert into refused values
  ('null', null, 'OH001 events is not a JSON array'),
  ('an object', '{"type": "a", "payload": 1}', 'OH001 events is not a JSON array'),
  ('an element that is no object', '[{"type": "a", "payload": 1}, 5]', 'OH001 events[1]: event is not a JSON object'),
  ('an unknown field', '[{"type": "a", "payload": 1, "key": "k"}]', 'OH001 events[0]: key is not a field of an event'),
  ('an element without data', '[{"type": "a", "payload": 1}, {"type": "a"}]',
    'OH001 events[1]: payload and body are both given or both missing'),
  ('an element with payload and body', '[{"type": "a", "payload": 1, "body": "1"}]',
    'OH001 events[0]: payload and body are both given or both missing'),
  ('a body that is not JSON', '[{"type": "a", "payload": 1}, {"type": "b", "body": "{"}]',
    'OH001 events[1]: payload is not JSON: invalid input syntax for type json'),
  ('an element without a type', '[{"payload": 1}]', 'OH001 events[0]: type is NULL'),
  ('the second element', '[{"type": "a", "payload": 1}, {"type": "b c", "payload": 1}]', $$OH001 events[1]: type is 'b c'$$),
  ('a bad organisation', '[{"type": "a", "payload": 1, "org_id": ""}]', $$OH001 events[0]: org_id is ''$$),
  ('an endpoint that is no uuid', '[{"type": "a", "payload": 1, "endpoint_id": "x"}]',
    'OH001 events[0]: endpoint_id is not a uuid'),
  ('a time that is none', '[{"type": "a", "payload": 1}, {"type": "a", "payload": 1, "deliver_at": "soon"}]',
    'OH001 events[1]: deliver_at is not a time'),
  ('a day that is not in the calendar', '[{"type": "a", "payload": 1, "deliver_at": "2026-02-30T00:00:00Z"}]',
    'OH001 events[0]: deliver_at is not a time'),
  ('a zone that is not known', '[{"type": "a", "payload": 1, "deliver_at": "2026-03-02 00:00 Mars/North"}]',
    'OH001 events[0]: deliver_at is not a time'),
  ('an unknown endpoint', '[{"type": "a", "payload": 1, "endpoint_id": "00000000-0000-0000-0000-000000000000"}]',
    'OH002 events[0]: endpoint 00000000-0000-0000-0000-000000000000 does not exist in organisation default'),
  ('one key with two contents',
    '[{"type": "a", "payload": 1, "idempotency_key": "k"}, {"type": "b", "payload": 1},
      {"type": "a", "payload": 2, "idempotency_key": "k"}]',
    'OH003 events[2]: idempotency_key was used within 24 hours for an event with other content');
select plan(17);

select is(refusal(format('select outbox.publish_many(%L)', r.events)), r.expected, 'publish_many() refuses ' || r.what)
from refused r;
select is_empty(
  'select id from outbox.event union all select event_id from outbox.unrouted
   union all select event_id from outbox.idempotency_key',
  'publish_many() stores none when one element is refused');

select * from finish();
rollback;
