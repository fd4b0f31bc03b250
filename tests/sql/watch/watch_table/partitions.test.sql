-- Watched partitioned tables: a row that moves between partitions is one update, and the table is
-- the one that is watched.
begin;
\ir ../../_helpers.sql
select plan(24);
-- The real clock, or the ids of one moment would have no order.
delete from outbox.test_clock t where true;

create schema shop;
create table shop.orders (id integer, region text, note text, primary key (id, region)) partition by list (region);
create table shop.orders_eu partition of shop.orders for values in ('eu', 'uk');
-- With other numbers of columns than the partitioned table.
create table shop.orders_us (junk integer, note text, region text not null, more integer, id integer not null);
alter table shop.orders_us drop column junk, drop column more;
alter table shop.orders attach partition shop.orders_us for values in ('us');
create function pg_temp.published(p_statement text) returns text language plpgsql as $$
begin
  delete from outbox.event e where true;
  delete from outbox.unrouted u where true;
  execute p_statement;
  return (select string_agg(concat_ws(' ', e.type, e.body::json ->> 'table', e.body::json ->> 'type',
    e.body::jsonb ->> 'old_record', e.body::jsonb ->> 'record'), '; ' order by e.body::jsonb -> 'record' ->> 'id', e.id) from outbox.event e);
end
$$;
create temporary table results (n serial, line text);
create procedure pg_temp.partitioned(p_per_statement boolean) language plpgsql as $$
declare
  v_how text := case when p_per_statement then ' (statement)' else ' (row)' end;
begin
  perform outbox.watch_table('shop.orders', p_per_statement => p_per_statement);
  insert into results (line) select is(pg_temp.published('insert into shop.orders values (1, ''eu''), (2, ''us'')'),
    'orders.inserted orders INSERT {"id": 1, "note": null, "region": "eu"}; orders.inserted orders INSERT {"id": 2, "note": null, "region": "us"}', 'inserted rows' || v_how);
  insert into results (line) select is(pg_temp.published('update shop.orders set region = ''us'' where id = 1'),
    'orders.updated orders UPDATE {"id": 1, "note": null, "region": "eu"} {"id": 1, "note": null, "region": "us"}', 'a row that moves is one update' || v_how);
  insert into results (line) select is((select count(*) from outbox.unrouted), (select count(*) from outbox.event), 'and routed once' || v_how);
  insert into results (line) select is(pg_temp.published('update shop.orders set region = case id when 1 then ''eu'' else ''us'' end, note = ''n'''),
    'orders.updated orders UPDATE {"id": 1, "note": null, "region": "us"} {"id": 1, "note": "n", "region": "eu"}; '
    'orders.updated orders UPDATE {"id": 2, "note": null, "region": "us"} {"id": 2, "note": "n", "region": "us"}', 'rows that move and rows that stay' || v_how);
  insert into results (line) select is(pg_temp.published('update shop.orders set region = ''uk'' where id = 1'),
    'orders.updated orders UPDATE {"id": 1, "note": "n", "region": "eu"} {"id": 1, "note": "n", "region": "uk"}', 'the key of partitions changes within a partition' || v_how);
  create table shop.orders_new partition of shop.orders for values in ('new');
  insert into results (line) select is(pg_temp.published('update shop.orders set region = ''new'''),
    'orders.updated orders UPDATE {"id": 1, "note": "n", "region": "uk"} {"id": 1, "note": "n", "region": "new"}; '
    'orders.updated orders UPDATE {"id": 2, "note": "n", "region": "us"} {"id": 2, "note": "n", "region": "new"}', 'into a partition that is new' || v_how);
  insert into results (line) select is(pg_temp.published('delete from shop.orders'),
    'orders.deleted orders DELETE {"id": 1, "note": "n", "region": "new"}; orders.deleted orders DELETE {"id": 2, "note": "n", "region": "new"}', 'deleted rows' || v_how);
  alter table shop.orders detach partition shop.orders_new;
  insert into results (line) select is(pg_temp.published('insert into shop.orders_new values (1, ''new'')'), null, 'a detached partition is not watched' || v_how);
  drop table shop.orders_new;
end
$$;
set local search_path = helper, extensions, pg_temp;
call pg_temp.partitioned(false);
call pg_temp.partitioned(true);
select line from results order by n;

select outbox.watch_table('shop.orders', p_columns => '{note}', p_changed => '{note}');
select is(pg_temp.published($$insert into shop.orders_us (id, region) values (3, 'us')$$), 'orders.inserted orders INSERT {"note": null}', 'a row that is written to a partition');
select is(pg_temp.published($$update shop.orders set region = 'eu'$$), null, 'a move that changes no column of p_changed');
insert into shop.orders values (4, 'us'), (5, 'us');
select is(pg_temp.published($$update shop.orders set region = case id when 4 then 'eu' else 'us' end, note = 'm' where id > 3$$),
  'orders.updated orders UPDATE {"note": null} {"note": "m"}; orders.updated orders UPDATE {"note": null} {"note": "m"}', 'rows that are published alike');
select outbox.watch_table('shop.orders', p_operations => '{delete}');
select is(pg_temp.published($$update shop.orders set region = 'us'$$), null, 'a move is no deletion');
delete from shop.orders;
insert into shop.orders values (1, 'eu'), (2, 'eu');
create function shop.skip() returns trigger language plpgsql as $$ begin return case when new.id = 1 then null else new end; end $$;
create trigger skip before insert on shop.orders_us for each row execute function shop.skip();
select outbox.watch_table('shop.orders', p_per_statement => true);
select matches(pg_temp.published($$update shop.orders set region = 'us'$$), 'orders.inserted orders INSERT {"id": 2, .*orders.deleted orders DELETE {"id": 1, ',
  'a row that a trigger suppresses while it moves is deleted');
select matches(refusal($$select outbox.watch_table('shop.orders_us')$$), '^OH001 table is a partition of the same table as shop.orders, which is watched', 'a partition of a watched table');
select outbox.unwatch_table('shop.orders');
select is(refusal($$select outbox.watch_table('shop.orders', p_operations => '{update}')$$), 'OH001 operations has update without insert and delete', 'moves need all operations');
select is((select count(*) from pg_trigger t where t.tgrelid::regclass::text like 'shop.%' and not t.tgisinternal and t.tgname like 'outhook%'), 0::bigint, 'nothing is left behind');

select * from finish();
rollback;
