-- A filter that cannot be asked costs its own delivery and nothing else, and the receipt says why.
begin;
\ir ../_helpers.sql
\ir ../_engine.sql
select plan(21);

create temporary table made as select endpoint(p_filter => 'strict $.total') as strict, endpoint(p_filter => '$.total.double() ? (@ > 1)') as double,
  endpoint() as plain, endpoint(p_filter => '$.country == "DE"') as other;
create temporary table event as select outbox.publish_raw('a', '{"country": "DE"}') as missing, outbox.publish_raw('a', '{"total": "much"}') as text,
  outbox.publish_raw('a', '{"s": "\u0000", "country": "DE"}') as odd, outbox.publish_raw('a', '{"total": 5}') as good;
create temporary table answer as select step() as a;
select is(a -> 'error', 'null', 'routing goes on') from answer;
select is(claimed(a, plain), 4, 'an endpoint without a filter gets all four') from answer, made;
select set_eq('select unnest(claimed_events(a, strict)) from answer, made', 'select unnest(array[text, good]) from event', 'strict $.total cannot be asked of what has none');
select set_eq('select unnest(claimed_events(a, double)) from answer, made', 'select good from event', 'double() cannot be asked of a text');
select set_eq('select unnest(claimed_events(a, other)) from answer, made', 'select missing from event', 'nor anything of what jsonb cannot hold, though it matches');

select results_eq($$select outcome, kind, attempt, error from outbox.attempt join event on event_id = missing join made on endpoint_id = strict$$,
  $$values ('filter_error', 'close', 0, 'filter: JSON object does not contain key "total"')$$, 'the receipt of a missing key');
select results_eq($$select error from outbox.attempt join event on event_id = text join made on endpoint_id = double$$,
  case when current_setting('server_version_num')::integer < 170000
    then $$values ('filter: string argument of jsonpath item method .double() is not a valid representation of a double precision number')$$
    else $$values ('filter: argument "much" of jsonpath item method .double() is invalid for type double precision')$$
  end, 'the receipt of a text');
select results_eq($$select error from outbox.attempt join event on event_id = odd join made on endpoint_id = other$$,
  $$values ('filter: unsupported Unicode escape sequence')$$, 'the receipt of a null character');
select is((select count(*) from outbox.attempt a join event on event_id = odd), 3::bigint, 'every filter fails on what jsonb cannot hold');
select is((select held_because from outbox.delivery_status join event on event_id = missing join made on endpoint_id = strict), 'filter: JSON object does not contain key "total"',
  'delivery_status says why');
select is((select status from outbox.delivery_status join event on event_id = missing join made on endpoint_id = strict), 'filter_error', 'and what it is');
select is((select count(*) from outbox.unrouted), 0::bigint, 'nothing stays unrouted');
select is((select count(*) from outbox.unroutable), 0::bigint, 'or is set aside');
select is((select count(*) from outbox.attempt where outcome = 'no_subscriber'), 0::bigint, 'no event lacks a subscriber');

-- Of several subscriptions of one endpoint one that matches is enough, whatever becomes of the others.
create temporary table two as select endpoint('{b.*}', p_filter => 'strict $.total') as id;
select outbox.subscribe(id, '{b.paid}', '$.country == "DE"') from two;
create temporary table b as select outbox.publish('b.paid', '{"country": "DE"}') as matched, outbox.publish('b.paid', '{"country": "FR"}') as failed,
  outbox.publish('b.due', '{"total": 1}') as found;
update answer set a = step() where true;
select set_eq('select unnest(claimed_events(a, id)) from answer, two', 'select unnest(array[matched, found]) from b', 'an endpoint gets an event once, if one of its filters lets it through');
select is((select outcome from outbox.attempt join two on endpoint_id = id join b on event_id = failed), 'filter_error', 'and a receipt if none does and one failed');
select is((select count(*) from outbox.attempt join two on endpoint_id = id where kind = 'close'), 1::bigint, 'and no other');

-- Mended, the filter lets through what is published then; what failed can be replayed.
select outbox.subscribe(strict, '{*}', '$.total') from made;
select is(outbox.replay(missing, strict) -> 'replaced', 'false', 'what failed can be replayed') from event, made;
select is(claimed_events(step(), strict), array[missing], 'and is sent') from event, made;
select is(refusal(format('select outbox.subscribe(%L, ''{*}'', ''$.a ==='')', id)),
  'OH001 filter is not a jsonpath: syntax error at or near "=" of jsonpath input', 'what is no jsonpath is refused from the start') from two;
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
