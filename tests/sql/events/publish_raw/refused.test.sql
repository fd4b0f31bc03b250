-- publish_raw() takes JSON text and nothing else; the parser's reason is in the message.
begin;
\ir ../../_helpers.sql
create temporary table refused (what text, body text, expected text);
insert into refused values
  ('an empty text', '', 'OH001 payload is not JSON: %'),
  ('plain words', 'hello', 'OH001 payload is not JSON: %'),
  ('two values', '{} {}', 'OH001 payload is not JSON: %'),
  ('a missing brace', '{"a": 1', 'OH001 payload is not JSON: %'),
  ('single quotes', $$ {'a': 1} $$, 'OH001 payload is not JSON: %'),
  ('a trailing comma', '[1,]', 'OH001 payload is not JSON: %'),
  ('NaN', '{"a": NaN}', 'OH001 payload is not JSON: %'),
  ('a bare control character', E'"a\nb"', 'OH001 payload is not JSON: %'),
  ('a broken escape', '"\u12"', 'OH001 payload is not JSON: %'),
  ('nesting without end', repeat('[', 100000), 'OH001 payload is not JSON: %'),
  ('null', null, 'OH001 payload is null'),
  ('too many bytes', '"' || repeat('x', 262143) || '"', 'OH001 payload has 262145 bytes, more than 262144');
select plan(15);

select alike(refusal(format('select outbox.publish_raw(%L, %L)', 'a', r.body)), r.expected,
  'publish_raw() refuses ' || r.what)
from refused r;
select is_empty('select id from outbox.event union all select event_id from outbox.unrouted',
  'publish_raw() stores nothing of what it refuses');

select is(refusal($$select outbox.publish_raw('a b', '{}')$$), $$OH001 type is 'a b'$$,
  'publish_raw() checks the other fields as publish() does');
select outbox.set_setting('publish.max_body_bytes', '1024');
select is(refusal(format('select outbox.publish_raw(%L, %L)', 'a', '"' || repeat('x', 1023) || '"')),
  'OH001 payload has 1025 bytes, more than 1024', 'publish_raw() goes by the setting publish.max_body_bytes');

select * from finish();
rollback;
