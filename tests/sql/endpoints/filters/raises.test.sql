-- Evaluating a filter that subscribe() took raises nothing. A filter that came into the table otherwise may, and
-- then costs the deliveries of its endpoint alone.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(6);

create temporary table made as select endpoint(p_filter => '$.total') as odd, endpoint(p_filter => '$.total == 1') as other, endpoint() as plain;
update outbox.subscription set filter = '$x == 1' from made where endpoint_id = odd;
create temporary table event as select outbox.publish('a', '{"total": 1}') as first, outbox.publish('a', '{"total": 1}', 'other') as second;
create temporary table answer as select step() as a;
select is(a -> 'error', 'null', 'routing goes on') from answer;
select is(claimed_events(a, plain), array[first], 'who has no filter gets the event') from answer, made, event;
select is(claimed_events(a, other), array[first], 'and so does who has another filter') from answer, made, event;
select results_eq($$select event_id, outcome, kind, error from outbox.attempt join made on endpoint_id = odd$$,
  $$select first, 'filter_error', 'close', 'filter: could not find jsonpath variable "x"' from event$$, 'the attempt says why');
select is((select count(*) from outbox.unrouted), 0::bigint, 'nothing stays unrouted');
select is((select count(*) from outbox.unroutable), 0::bigint, 'or is set aside');

select * from finish();
rollback;
