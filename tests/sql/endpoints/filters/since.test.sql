-- A subscription with a filter applies to events that are not older than it, as one without a filter does: to an
-- event of the same time, but not to one that is a microsecond older.
begin;
\ir ../../_helpers.sql
select plan(8);

create function got(p_event uuid, p_endpoint uuid) returns boolean language sql as $$
  select exists (select from outbox.delivery d where d.event_id = p_event and d.endpoint_id = p_endpoint)
$$;

create temporary table made as select endpoint('{}') as younger, endpoint('{}') as as_old, endpoint('{}') as mixed, endpoint('{}') as plain, endpoint('{}') as twice, endpoint('{}') as open;
select outbox.subscribe(as_old, '{thing.done}', '$.n == 1'), outbox.subscribe(mixed, '{thing.*}', '$.n == 2'), outbox.subscribe(twice, '{thing.*}', '$.n == 1'),
  outbox.subscribe(open, '{thing.*}'), outbox.subscribe(open, '{thing.done}', '$.nothing') from made;
create temporary table event as select outbox.publish('thing.done', '{"n": 1}') as id;
select time_passes('1 microsecond');
select outbox.subscribe(younger, '{thing.done}', '$.n == 1'), outbox.subscribe(mixed, '{thing.done}', '$.n == 1'), outbox.subscribe(plain, '{thing.done}'),
  outbox.subscribe(twice, '{thing.done}', '$.nothing') from made;
select step(0);
select is(got(id, as_old), true, 'a filtered subscription of the same microsecond receives the event') from event, made;
select is(got(id, younger), false, 'one that is a microsecond younger does not') from event, made;
select is(got(id, mixed), false, 'nor when an older one of its endpoint refuses the event') from event, made;
select is(got(id, plain), false, 'nor does one without a filter') from event, made;
select is(got(id, open), true, 'a subscription without a filter receives it, whatever the filter of another one of its endpoint says') from event, made;
select is(got(id, twice), true, 'the older of two receives it, though the younger would not') from event, made;

create temporary table next as select outbox.publish('thing.done', '{"n": 1}') as id;
select step(0);
select is(array[got(id, younger), got(id, mixed), got(id, plain)], '{t,t,t}', 'all receive the next event') from next, made;
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
