-- A filter applies to events that are newer than its subscription, and a new filter replaces it.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(5);

create temporary table before as select outbox.publish('a', '{"n": 1}') as id;
select time_passes('1 ms');
create temporary table made as select endpoint('{a}', p_filter => '$.n == 1') as id;
select is(claimed(step()), 0, 'an event that was published before the subscription does not pass its filter');
select outbox.publish('a', '{"n": 1}');
select is(claimed(step()), 1, 'one that is published after it does');

select is(outbox.subscribe(id, '{a}', '$.n == 2') -> 'event_types', '["a"]', 'the same type with another filter') from made;
create temporary table after as select outbox.publish('a', '{"n": 1}') as one, outbox.publish('a', '{"n": 2}') as two;
select is(claimed_events(step()), array[two], 'has the new filter alone') from after;
select is(refusal(format('select outbox.subscribe(%L, ''{a}'', ''$.a[*] ? (@ == $.b[*])'')', id)),
  'OH001 filter at character 16: a path cannot be compared with a path', 'a filter that compares two paths is refused') from made;

select * from finish();
rollback;
