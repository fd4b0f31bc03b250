-- A payload on which no filter can be evaluated fails only its own deliveries, and their attempts have the reason.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(20);

create temporary table made as select endpoint(p_filter => '$.total') as total, endpoint() as plain, endpoint(p_filter => '$.country == "DE"') as other;
create temporary table event as select outbox.publish_raw('a', '{"country": "DE"}') as missing, outbox.publish_raw('a', '{"total": "much"}') as text,
  outbox.publish_raw('a', '{"s": "\u0000", "country": "DE"}') as odd, outbox.publish_raw('a', '{"total": 1e200000}') as huge;
create temporary table answer as select step() as a;
select is(a -> 'error', 'null', 'routing goes on') from answer;
select is(claimed(a, plain), 4, 'an endpoint without a filter gets all four') from answer, made;
select set_eq('select unnest(claimed_events(a, total)) from answer, made', 'select text from event', 'a missing member is found nowhere, which is no error');
select set_eq('select unnest(claimed_events(a, other)) from answer, made', 'select missing from event', 'what jsonb cannot hold passes no filter, though it matches');

select results_eq($$select outcome, kind, attempt, error from outbox.attempt join event on event_id = odd join made on endpoint_id = other$$,
  $$values ('filter_error', 'close', 0, 'filter: unsupported Unicode escape sequence')$$, 'the attempt of a null character');
select results_eq($$select error from outbox.attempt join event on event_id = huge join made on endpoint_id = total$$,
  $$values ('filter: value overflows numeric format')$$, 'the attempt of a number that is too large');
select is((select count(*) from outbox.attempt a join event on event_id = odd), 2::bigint, 'every filter fails on it');
select is((select held_because from outbox.delivery_status join event on event_id = odd join made on endpoint_id = total), 'filter: unsupported Unicode escape sequence',
  'delivery_status says why');
select is((select status from outbox.delivery_status join event on event_id = odd join made on endpoint_id = total), 'filter_error', 'and what it is');
select is((select count(*) from outbox.unrouted), 0::bigint, 'nothing stays unrouted');
select is((select count(*) from outbox.unroutable), 0::bigint, 'or is set aside');
select is((select count(*) from outbox.attempt where outcome = 'no_subscriber'), 0::bigint, 'no event lacks a subscriber');

-- An event goes through if one of several subscriptions of the endpoint lets it through.
create temporary table two as select endpoint('{b.*}', p_filter => '$.total > 0') as id;
select outbox.subscribe(id, '{b.paid}', '$.country == "DE"') from two;
create temporary table b as select outbox.publish('b.paid', '{"country": "DE"}') as matched, outbox.publish('b.paid', '{"country": "FR"}') as neither,
  outbox.publish('b.due', '{"total": 1}') as found;
update answer set a = step() where true;
select set_eq('select unnest(claimed_events(a, id)) from answer, two', 'select unnest(array[matched, found]) from b', 'an endpoint gets an event once, if one of its filters lets it through');
select is_empty('select from outbox.attempt join two on endpoint_id = id where kind = ''close''', 'and no attempt of what it does not want');

-- What failed can be replayed.
select is(outbox.replay(odd, total) -> 'replaced', 'false', 'what failed can be replayed') from event, made;
select is(claimed_events(step(), total), array[odd], 'and is sent') from event, made;

-- One event may need all filters of an endpoint, so their number is limited.
select lives_ok(format('select outbox.subscribe(%L, array[%L], %L)', id, 'c' || n, '$.n == ' || n), 'filter ' || n + 2) from two, generate_series(1, 2) n;
select is(refusal(format('select outbox.subscribe(%L, ''{d}'', ''$.n == 3'')', id)), 'OH001 filter is too many: the endpoint has 4 different filters', 'a fifth is refused') from two;
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
