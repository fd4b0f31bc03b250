-- A column that a watch leaves out is left out of what was before the change, too.
begin;
\ir ../../_helpers.sql
select plan(4);
-- The real clock, or the ids of one moment would have no order.
delete from outbox.test_clock t where true;

create schema shop;
create table shop.orders (id integer primary key, total numeric, secret text);
create function pg_temp.olds(p_change text) returns text language plpgsql as $$
begin
  delete from outbox.event e where true;
  execute p_change;
  return (select string_agg(coalesce(e.body::jsonb ->> 'old_record', 'none'), '; ' order by e.id) from outbox.event e);
end
$$;
select outbox.watch_table('shop.orders', p_columns => '{id,total}');
insert into shop.orders values (1, 1, 'sesame');
select is(pg_temp.olds('update shop.orders set total = 2'), '{"id": 1, "total": 1}', 'of an update the columns that were chosen');
select is(pg_temp.olds('delete from shop.orders'), '{"id": 1, "total": 2}', 'and of a deletion');
select outbox.watch_table('shop.orders', p_except => '{secret}', p_per_statement => true);
insert into shop.orders values (1, 1, 'sesame'), (2, 1, 'sesame');
select is(pg_temp.olds('update shop.orders set total = 2'), '{"id": 1, "total": 1}; {"id": 2, "total": 1}', 'all but those that were excepted, for each statement too');
select is(pg_temp.olds('delete from shop.orders where id = 1'), '{"id": 1, "total": 2}', 'and of its deletion');

select * from finish();
rollback;
