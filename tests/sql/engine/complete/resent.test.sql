-- A request that was sent twice is noted in its attempt and counted, whatever came of it.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(6);

create function resends() returns jsonb language sql as $$
  select coalesce(jsonb_agg(jsonb_build_array(c -> 1, c -> 2)), '[]') from jsonb_array_elements(outbox.counters()) c
  where c ->> 0 = 'resends'
$$;
create function noted() returns text language sql as $$
  select string_agg(a.outcome || ' ' || coalesce(a.resent::text, 'null'), ', ' order by a.at, a.attempt, a.kind) from outbox.attempt a
$$;
delete from outbox.counter where true;
delete from outbox.counter_change where true;

create temporary table e as select endpoint(array['a'], p_retry => plain_retry(1)) as a;
do $$ begin perform events(2, 'a'); end $$;
select is(send('delivered', '{"status": 200, "resent": true}'), 2, 'two are delivered by their second request');
select is(noted(), 'delivered true, delivered true', 'their attempts say so');
select is(resends(), '[[["webhook"], 2]]', 'and both are counted');

do $$ begin perform events(1, 'a'); end $$;
select is(fail(0, '{"status": null, "error_class": "reset", "resent": true}'), 1, 'one fails in its second request too');
select is(resends(), '[[["webhook"], 3]]', 'which is counted');

do $$ begin perform time_passes('1 h'), send(); end $$;
select is(noted(), 'delivered true, delivered true, failed true, delivered null', 'one that was sent once is not');
select * from finish();
rollback;
