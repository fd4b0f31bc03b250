begin;
\ir ../../_helpers.sql
select plan(1);

-- Two lives may end with one attempt number: the second was cancelled before its first try.
select endpoint('{*}') as endpoint, (events(1))[1] as event \gset
create temporary table given as select step() as answer;
do $$ begin perform step(0, results(answer, 'delivered')) from given; end $$;
do $$ begin perform time_passes('1 s'); end $$;
select outbox.replay(:'event', :'endpoint'), outbox.cancel_delivery(:'event', :'endpoint');
select is((select array_agg(s.status) from outbox.delivery_status s where s.event_id = :'event'), '{cancelled}', 'the last end counts, and it alone');

select * from finish();
rollback;
