-- The deleted endpoints of one organisation hold up those of no other.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(6);

create temporary table noisy as select endpoint('{a}', p_org_id => 'noisy') as id from generate_series(1, 40);
create temporary table quiet as select endpoint('{a}', p_org_id => 'quiet') as id;
select events(10, 'a', p_org_id => 'noisy'), events(10, 'a', p_org_id => 'quiet');
select step(0);
select outbox.delete_endpoint(id) from noisy;
select outbox.delete_endpoint(id) from quiet;
create function open_of(p_org_id text) returns bigint language sql as $$
  select count(*) from outbox.delivery d join outbox.endpoint e on e.id = d.endpoint_id where e.org_id = p_org_id
$$;
select is(open_of('noisy'), 400::bigint, 'the deliveries of 40 deleted endpoints are open');
select is(outbox.purge_deleted(50), 50, 'a call removes as many as it may');
select is(open_of('quiet'), 5::bigint, 'each of ten endpoints has its share, and one is of the other organisation');
select is(open_of('noisy'), 355::bigint, 'the others share the rest');

-- Ten deleted endpoints with a delivery in flight, and one more.
create temporary table busy as select endpoint('{b}', p_org_id => 'busy') as id from generate_series(1, 11);
create temporary table free as select max(id::text)::uuid as id from busy;
select events(1, 'b', p_org_id => 'busy');
do $$ begin perform step(0), step(100); end $$;
update outbox.delivery set leased_until = null where endpoint_id in (select id from free);
select outbox.delete_endpoint(id) from busy;
do $$ begin
  for v_n in 1 .. 200 loop
    perform outbox.purge_deleted(1000);
    exit when not exists (select from outbox.gate g join free f on g.endpoint_id = f.id);
  end loop;
end $$;
select is(open_of('busy'), 10::bigint, 'the deliveries in flight stay');
select is_empty('select from outbox.gate g join free f on g.endpoint_id = f.id', 'and keep no other endpoint from its end');

select * from finish();
rollback;
