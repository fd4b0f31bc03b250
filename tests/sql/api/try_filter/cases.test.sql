-- A filter that is tried on stored events: the result, the bounds, and nobody else's events.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(19);

create function try_on(p_filter text, p_types text[] default '{*}', p_limit integer default 100) returns jsonb language sql as $$
  select outbox.try_filter('org-1', p_filter, p_types, p_limit)
$$;
create function result(p_trial jsonb) returns text language sql as $$
  select string_agg(case when (e -> 'matches')::boolean then e ->> 'type' else '-' end || coalesce(e ->> 'problem', ''), ' ' order by o)
  from jsonb_array_elements(p_trial -> 'data') with ordinality d (e, o)
$$;

select is(try_on('$.total > 10') - 'work', '{"tried": 0, "matched": 0, "failed": 0, "isWhole": true, "data": [], "rows": 0}', 'without events there is no result');
select outbox.publish('order.paid', '{"total": 5}', 'org-1');
select time_passes('1 s');
select outbox.publish('order.paid', '{"total": 50}', 'org-1');
select time_passes('1 s');
select outbox.publish('order.sent', '{"total": 70}', 'org-1');
select time_passes('1 s');
select outbox.publish('invoice.sent', '{"total": "much"}', 'org-1');
select outbox.publish('order.paid', '{"total": 99}', 'org-2');
create temporary table own as select endpoint('{x.y}', p_org_id => 'org-1') as id;
select time_passes('1 s');
select outbox.publish('order.paid', '{"total": 80}', 'org-1', p_endpoint_id => id) from own;

select is(result(try_on('$.total > 10')), '- order.sent order.paid -', 'each event of the organisation that is for all, newest first');
select is(try_on('$.total > 10') - '{data,work,rows}'::text[], '{"tried": 4, "matched": 2, "failed": 0, "isWhole": true}', 'with its numbers');
select is(result(try_on('$.total > 10', '{order.*}')), 'order.sent order.paid -', 'by the prefix of a type');
select is(result(try_on('$.total > 10', '{order.paid,invoice.sent}')), '- order.paid -', 'by types');
select is(try_on('$.total > 10', '{nothing}') -> 'tried', '0', 'of no such type');
select is(try_on('$.total > 10', p_limit => 2) - '{data,work}'::text[], '{"tried": 2, "matched": 1, "failed": 0, "isWhole": false, "rows": 3}', 'no more than asked for');
select is(outbox.try_filter('org-3', 'exists($.total)') -> 'tried', '0', 'nothing of others');

select is(refusal($$select outbox.try_filter('org-1', '$.total >')$$), 'OH001 filter at character 10: expected a literal, not the end', 'a filter that cannot be saved');
select is(refusal($$select outbox.try_filter('org-1', '$.a == 1', '{a b}')$$), $$OH001 event_types contains 'a b'$$, 'a type that is none');
select is(left(refusal($$select outbox.try_filter('org-1', '$.a == 1', p_limit => 0)$$), 11), 'OH001 limit', 'a limit out of bounds');

-- What would take too long is said, as routing would.
select outbox.publish('wide.list', jsonb_build_object('list', (select jsonb_agg(n) from generate_series(1, 35000) n)), 'org-1');
select is(try_on('$.list[*] == 1 || $.list[*] == 2', '{wide.*}') - '{data,work,rows}'::text[], '{"tried": 1, "matched": 0, "failed": 1, "isWhole": true}', 'an event on which the filter fails');
select alike(try_on('$.list[*] == 1 || $.list[*] == 2', '{wide.*}') #>> '{data,0,problem}', 'filter: takes up to % steps%', 'says why');
select ok((try_on('$.list[*] == 1 || $.list[*] == 2', '{wide.*}') -> 'work')::bigint between 100000 and 400000, 'and it counts as work');
select outbox.publish('wide.list', jsonb_build_object('list', (select jsonb_agg(n) from generate_series(1, 35000) n)), 'org-1') from generate_series(1, 8);
select is(try_on('$.list[*] == -1', '{wide.*}') - '{data,work,rows,tried}'::text[], '{"matched": 0, "failed": 0, "isWhole": false}', 'many large payloads end the trial');
select ok((try_on('$.list[*] == -1', '{wide.*}') -> 'tried')::integer between 2 and 8, 'after some of them');

select outbox.publish('colons.made', jsonb_build_object('a', repeat(':', 200000)), 'org-1');
select is(try_on('$.a == "b"', '{colons.*}') - '{data,work,rows}'::text[], '{"tried": 1, "matched": 0, "failed": 1, "isWhole": true}', 'a payload that alone takes too long is not read');
select cmp_ok((try_on('$.a == "b"', '{colons.*}') -> 'work')::bigint, '<=', 400000::bigint, 'so the work stays below its limit');

select events(5001, 'other.made', p_org_id => 'org-4');
select is(outbox.try_filter('org-4', '$.a == 1', '{none}') - 'work', '{"tried": 0, "matched": 0, "failed": 0, "isWhole": false, "data": [], "rows": 5000}', 'and so do many events of other types');

select * from finish();
rollback;
