-- The version of the endpoint that a run used is stored with its attempt, whatever came of it.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(4);

create function noted() returns text language sql as $$
  select string_agg(a.kind || ' ' || a.outcome || ' ' || coalesce(a.endpoint_version::text, 'null'), ', ' order by a.at, a.attempt, a.kind) from outbox.attempt a
$$;

create temporary table e as select endpoint(array['a'], p_retry => plain_retry(1)) as a;
do $$ begin perform events(1, 'a'); end $$;
select is(send('delivered', '{"status": 200, "endpoint_version": 7}'), 1, 'one is delivered');
select is(noted(), 'attempt delivered 7', 'with the version that the run used, not the present one');

do $$ begin perform events(1, 'a'), fail(500, '{"endpoint_version": 8}'), time_passes('1 h'), fail(500); end $$;
select is(noted(), 'attempt delivered 7, attempt failed 8, attempt failed null, close dead_letter null', 'so is that of a failure; a run of an older version says none, and an end has none');

select is((select count(*) from outbox.attempt a where a.endpoint_version = (select version from outbox.endpoint)), 0::bigint, 'none is that of the endpoint now');
select * from finish();
rollback;
