-- What watch_table() refuses, before it changes anything.
begin;
\ir ../../_helpers.sql
grant usage on schema helper, extensions to service_role, authenticated;
select plan(14);

create schema shop;
create table shop.orders (id integer primary key, org text);
create view shop.view as select 1 as id;
create function pg_temp.refused(p_arguments text) returns text language sql as $$
  select helper.refusal(format('select outbox.watch_table(%s)', p_arguments))
$$;

select is(pg_temp.refused($$'shop.view'$$), 'OH001 table is shop.view', 'a view');
select is(pg_temp.refused($$'outbox.event'$$), 'OH001 table is outbox.event', 'a table of the outbox');
select is(pg_temp.refused($$'pg_class'$$), 'OH001 table is pg_class', 'the catalog');
select is(pg_temp.refused('null'), 'OH001 table is null', 'no table');
select is(pg_temp.refused($$'shop.orders', 'a b'$$), $$OH001 type is 'a b'$$, 'a type that is none');
select is(pg_temp.refused($$'shop.orders', p_org_id => 'a b'$$), $$OH001 org_id is 'a b'$$, 'an organisation that is none');
select is(pg_temp.refused($$'shop.orders', p_org_column => 'nope'$$), $$OH001 org_column has 'nope', which is not a column of shop.orders$$, 'a column that is not there');
select is(pg_temp.refused($$'shop.orders', p_partition_column => 'ctid'$$), $$OH001 partition_column has 'ctid', which is not a column of shop.orders$$, 'a system column');
select is(pg_temp.refused($$'shop.orders', p_columns => '{id,nope}'$$), $$OH001 columns has 'nope', which is not a column of shop.orders$$, 'one of the columns');
select is(pg_temp.refused($$'shop.orders', p_columns => '{id}', p_except => '{org}'$$), 'OH001 except cannot be combined with columns', 'columns and except');
select is(pg_temp.refused($$'shop.orders', p_changed => '{}'$$), 'OH001 changed is an empty list', 'a list without a column');
select is(pg_temp.refused($$'shop.orders', p_operations => '{truncate}'$$), 'OH001 operations is {truncate}', 'an operation that is not one of the three');
select is(pg_temp.refused($$'shop.orders', p_operations => '{}'$$), 'OH001 operations is {}', 'no operation');
set local role service_role;
select matches(helper.refusal($$select outbox.watch_table('shop.orders')$$), '^42501', 'only the owner of the schema may');
reset role;

select * from finish();
rollback;
