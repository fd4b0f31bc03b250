-- A filter whose cost grows with the square of the payload took all the time of routing, for all organisations, for
-- ever: such filters are refused, and an event that takes all the time before it is routed counts as failed.
begin;
\ir ../_helpers.sql
create temporary table filter (text text, verdict text);
insert into filter values
  ('$.total ? (@ > 100)', 'accepted'), ('$.lines[*].sku == "A"', 'accepted'), ('$.**.sku', 'accepted'), ('$.a * 2 > 3', 'accepted'),
  ('$.text == "[*] and .* and 1 to 2"', 'accepted'),
  ('strict $[*] ? (@ == $[*])', 'refused'), ('$ ? (@[*] == @[*])', 'refused'), ('$.** ? (@.** == 1)', 'refused'),
  ('$[0 to last] ? (@ == $[*])', 'refused'), ('$.*.*', 'refused'), ('"\u0000"', 'not a jsonpath'), ('1e999999999', 'not a jsonpath');
select plan(12 + 5);
select is(
  case when r like 'OH001 filter walks the payload more than once%' then 'refused' when r like 'OH001 filter is not a jsonpath%' then 'not a jsonpath' else r end,
  f.verdict, 'a filter ' || f.text)
from filter f cross join lateral refusal(format('select outbox.check_filter(%L)', f.text)) r;

select endpoint();
create temporary table late as select (events(2))[1] as id;
update outbox.router set batch = 1 where true;
select outbox.shrink_routing(null, 'canceling statement due to statement timeout', outbox.clock());
select is((select failures from outbox.unrouted join late on id = event_id), 1::smallint, 'the event at the head, alone, has failed once');
select outbox.shrink_routing(null, 'canceling statement due to statement timeout', outbox.clock());
select outbox.shrink_routing(null, 'canceling statement due to statement timeout', outbox.clock());
select is((select error from outbox.unroutable join late on id = event_id), 'canceling statement due to statement timeout', 'the third time it is set aside, with the reason');
select is((select count(*) from outbox.unrouted), 1::bigint, 'the next one is at the head');
select is(claimed(step()), 1, 'and is routed');
update outbox.router set batch = 1000 where true;
select events(1);
select outbox.shrink_routing(null, 'canceling statement due to statement timeout', outbox.clock());
select is((select max(failures) from outbox.unrouted), 0::smallint, 'of many nobody knows which it was: a smaller batch first');
select * from finish();
rollback;
