-- A filter whose cost grew with the square of the payload took all the time of routing, for all organisations, for ever.
-- Now each call asks filters up to a known amount of work, and an event that takes all the time all the same counts as
-- failed. tests/property/filters.test.ts has the filters that are refused.
begin;
\ir ../../_helpers.sql
select plan(7 + 9);

-- What filters may cost is added up before they are asked: a call stops where its share ends, and the next goes on.
create temporary table busy as select endpoint('{busy}', p_org_id => 'busy', p_filter => '$[*] in (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)') as id from generate_series(1, 4);
create temporary table large as select outbox.publish_raw('busy', '[' || repeat('1234567,', 6000) || '16]', 'busy') as id;
create temporary table small as select outbox.publish('busy', '[1]', 'busy') as id;
select is(step(0) -> 'routed', '2', 'two of four askings of 6,001 values are the share of one call');
select is((select routed_to from outbox.unrouted join large on id = event_id), (select id from busy order by id offset 1 limit 1), 'the event goes on behind the last that was asked');
select is(step(0) -> 'routed', '2', 'the next call asks the others');
select is((select count(*) from outbox.unrouted), 0::bigint, 'and the events behind it');
select is((select outcome from outbox.attempt join small on id = event_id), 'no_subscriber', 'which none of them wants');
create temporary table twice as select endpoint('{*,a.*,a.b}', p_org_id => 'twice', p_filter => '$[*] in (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)') as id;
select outbox.publish_raw('a.b', '[' || repeat('1,', 6000) || '16]', 'twice');
select step(0);
select is((select count(*) from outbox.delivery join twice on endpoint_id = id), 1::bigint, 'the same filter of three patterns is evaluated, and counts, once');
update outbox.setting set value = '1048576' where name = 'publish.max_body_bytes';
select is((select count(*) from outbox.attempt a join large on a.event_id = large.id), 0::bigint, 'each pair of it has a delivery');
create temporary table larger as select outbox.publish_raw('busy', '[' || repeat('1,', 300000) || '16]', 'busy') as id;
select is(step(0) -> 'error', 'null', 'a payload that has too many values for a filter stops nothing');
select is((select count(*) from outbox.attempt join larger on id = event_id where outcome = 'filter_error'), 4::bigint, 'and each pair has its attempt after one call, because refusing costs nothing');
select is((select max(error) from outbox.attempt join larger on id = event_id), 'filter: takes up to 4800032 steps for this payload, and at most 100000 are allowed', 'which says why');
select is((select count(*) from outbox.unrouted), 0::bigint, 'nothing is left');

create temporary table plain as select endpoint() as id;
create temporary table late as select (events(2))[1] as id;
update outbox.router set batch = 1 where true;
select outbox.shrink_routing(null, 'canceling statement due to statement timeout', outbox.clock());
select is((select failures from outbox.unrouted join late on id = event_id), 1::smallint, 'the event at the head, alone, has failed once');
select outbox.shrink_routing(null, 'canceling statement due to statement timeout', outbox.clock());
select outbox.shrink_routing(null, 'canceling statement due to statement timeout', outbox.clock());
select is((select error from outbox.unroutable join late on id = event_id), 'canceling statement due to statement timeout', 'the third time it is set aside, with the reason');
select is((select count(*) from outbox.unrouted), 1::bigint, 'the next one is at the head');
select is(claimed(step(), id), 1, 'and is routed') from plain;
update outbox.router set batch = 1000 where true;
select events(1);
select outbox.shrink_routing(null, 'canceling statement due to statement timeout', outbox.clock());
select is((select max(failures) from outbox.unrouted), 0::smallint, 'of many nobody knows which it was: a smaller batch first');
select * from finish();
rollback;
