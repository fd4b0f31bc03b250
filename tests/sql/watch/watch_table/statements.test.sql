-- The per-statement variant, for tables that are written in bulk.
begin;
\ir ../../_helpers.sql
select plan(10);
-- The real clock, or the ids of one moment would have no order.
delete from outbox.test_clock t where true;

create schema shop;
create table shop.orders (id integer primary key, customer text, total numeric);
create function pg_temp.published() returns setof text language sql as $$
  select e.type || ' ' || coalesce(e.body::jsonb #>> '{old_record,total}', '-') || ' ' || coalesce(e.body::jsonb #>> '{record,total}', '-')
  from outbox.event e order by e.id
$$;

select is(outbox.watch_table('shop.orders', p_partition_column => 'customer', p_changed => '{total}', p_per_statement => true) -> 'per_statement', 'true', 'watched by statement');
insert into shop.orders select n, 'c', n from generate_series(1, 3) n;
select results_eq('select * from pg_temp.published()', array['orders.inserted - 1', 'orders.inserted - 2', 'orders.inserted - 3'], 'each inserted row has its event');
select is((select count(distinct id) from outbox.event), 3::bigint, 'with an id of its own');
update shop.orders set total = total * 10 where id > 1;
select results_eq('select * from pg_temp.published() offset 3', array['orders.updated 2 20', 'orders.updated 3 30'], 'each updated row, before and after');
update shop.orders set customer = 'd';
select is((select count(*) from outbox.event), 5::bigint, 'an update of other columns is not published');
update shop.orders set id = 9 where id = 1;
select is((select count(*) from outbox.event), 5::bigint, 'also if it changes the key');
update shop.orders set id = 10 - id, total = total + 1;
select set_eq('select * from pg_temp.published() offset 5', array['orders.updated 1 2', 'orders.updated 20 21', 'orders.updated 30 31'], 'rows whose keys change are updated');
delete from shop.orders;
select is((select count(*) from pg_temp.published() p where p like 'orders.deleted%'), 3::bigint, 'each deleted row');
insert into shop.orders select n, 'c', n from generate_series(1, 3) n where false;
select is((select count(*) from outbox.event), 11::bigint, 'a statement without rows has no event');

create table shop.keyless (a integer);
insert into shop.keyless values (1), (1), (2);
select outbox.watch_table('shop.keyless', 'keyless', p_per_statement => true);
update shop.keyless set a = a + 1;
select is((select array_agg((e.body::json #>> '{old_record,a}') || (e.body::json #>> '{record,a}') order by e.id) from outbox.event e where e.type = 'keyless'),
  '{12,12,23}', 'a table without a primary key');

select * from finish();
rollback;
