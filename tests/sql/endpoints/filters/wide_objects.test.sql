-- To read an object as jsonb may take the square of its number of members, in an order of names that is made for
-- it: a call routes no more of such payloads than it has time for, whatever that order is.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(6);

select isnt(endpoint(p_types => '{a}', p_filter => '$.k1 == 1'), null, 'an endpoint with a filter');
create temporary table wide as
select '{' || string_agg(format('"k%s":1', n), ',') || '}' as body from generate_series(1, 20000) n;
create temporary table flat as
select '[' || string_agg(format('"k%s:1"', n), ',') || ']' as body from generate_series(1, 2000) n;

create temporary table event as select outbox.publish_raw('a', body) as id from wide, generate_series(1, 3);
select step(0);
select is((select count(*) from outbox.unrouted), 2::bigint, 'the first call reads one payload of 20,000 members');
select step(0);
select step(0);
select is((select count(*) from outbox.unrouted), 0::bigint, 'each call that follows reads another');
select is((select count(*) from outbox.delivery join event on id = event_id), 3::bigint, 'all of them are delivered');

-- What an event costs is counted once, however many endpoints ask its filters.
select endpoint(p_types => '{a}', p_filter => '$.k2 == 1') from generate_series(1, 20);
create temporary table again as
select outbox.publish_raw('a', '{' || string_agg(format('"%s":1', to_hex(n)), ',') || '}') as id from generate_series(1, 28000) n;
select step(0);
select is((select count(*) from outbox.unrouted), 0::bigint, 'an event is read once for all endpoints that ask');

create temporary table plain as select outbox.publish_raw('a', body) as id from flat, generate_series(1, 10);
select step(0);
select is((select count(*) from outbox.unrouted), 0::bigint, 'ten payloads of another form go into one call');

select * from finish();
rollback;
