-- publish_raw() keeps the caller's text, byte for byte, from the event to the batch that a run gets.
begin;
\ir ../../_helpers.sql
create temporary table body (what text, body text, id uuid);
insert into body values
  ('a big integer', '{"n":123456789012345678901234567890}'),
  ('a trailing zero', '{"price":1.10}'),
  ('an exponent', '{"n":1E+2}'),
  ('non-ASCII text', '{"name":"Zoë 日本 🎉"}'),
  ('odd spacing', E' {  "a" :\t1 ,\r\n"b":2}\n'),
  ('key order', '{"z":1,"a":2,"m":3}'),
  ('keys given twice', '{"a":1,"a":2}'),
  ('escapes', '{"s":"\u00e9\/\b\u2028\\\""}'),
  ('a null character, escaped', '{"s":"\u0000"}'),
  ('a bare string', '"text"'),
  ('a bare number', '-0.0'),
  ('an empty array', '[]');
select plan(38);

select endpoint();
-- Twelve failures at once would open the breaker, and the next try would be a probe.
update outbox.endpoint set breaker_enabled = false where true;
update body set id = outbox.publish_raw('raw.event', body) where true;
select is(e.body, b.body, 'publish_raw() stores ' || b.what || ' as it is') from body b join outbox.event e using (id);

create temporary table answer as select step() as a;
select is(a.a -> 'events' -> b.id::text ->> 'body', b.body, 'dispatch() returns ' || b.what || ' as it is')
from body b, answer a;

select time_passes('2 s');
update answer set a = step(p_results => results(a, 'failed', '{"status": 500}')) where true;
select time_passes('2 s');
update answer set a = step() where true;
select is((select claimed(a) from answer), (select count(*)::integer from body), 'dispatch() claims them all again');
select is(a.a -> 'events' -> b.id::text ->> 'body', b.body, 'dispatch() returns ' || b.what || ' the same on the next try')
from body b, answer a;
select is_empty('select * from miscounts()', 'dispatch() counts right');

select * from finish();
rollback;
