-- A watched table publishes each change of a row, in the transaction that makes it.
begin;
\ir ../../_helpers.sql
grant usage on schema helper, extensions to service_role, authenticated;
select plan(21);
-- The real clock, or the ids of one moment would have no order.
delete from outbox.test_clock t where true;

create schema shop;
create table shop.orders (id integer primary key, org text, customer text, total numeric, secret text default 's');
create function pg_temp.published() returns setof text language sql as $$
  select e.type || ' ' || e.body from outbox.event e order by e.id
$$;
create function pg_temp.forget() returns void language sql as $$
  delete from outbox.event e where true; delete from outbox.unrouted u where true;
$$;

select is(outbox.watch_table('shop.orders'), '{"type": "orders.{op}", "org_id": "default", "table": "shop.orders",
  "operations": ["insert", "update", "delete"], "per_statement": false}'::jsonb, 'watch_table() tells what is in force');
insert into shop.orders values (1, 'org-1', 'c-1', 1.50);
update shop.orders set total = 2.50;
delete from shop.orders;
select results_eq('select * from pg_temp.published()', array[
  'orders.inserted {"type" : "INSERT", "table" : "orders", "schema" : "shop", "record" : {"id":1,"org":"org-1","customer":"c-1","total":1.50,"secret":"s"}, "old_record" : null}',
  'orders.updated {"type" : "UPDATE", "table" : "orders", "schema" : "shop", "record" : {"id":1,"org":"org-1","customer":"c-1","total":2.50,"secret":"s"}, "old_record" : {"id":1,"org":"org-1","customer":"c-1","total":1.50,"secret":"s"}}',
  'orders.deleted {"type" : "DELETE", "table" : "orders", "schema" : "shop", "record" : null, "old_record" : {"id":1,"org":"org-1","customer":"c-1","total":2.50,"secret":"s"}}'],
  'insert, update and delete are published with the row before and after');
select is((select count(*) from outbox.unrouted), 3::bigint, 'and wait to be routed');
select pg_temp.forget();

savepoint undone;
insert into shop.orders values (2, 'org-1', 'c-1', 1);
rollback to undone;
select is_empty('select * from pg_temp.published()', 'what is rolled back was never published');

select outbox.watch_table('shop.orders', 'order.changed', p_org_column => 'org', p_partition_column => 'customer',
  p_columns => '{id,total}', p_changed => '{total}', p_operations => '{insert,update}');
insert into shop.orders values (1, 'org-1', 'c-1', 1.50);
select results_eq('select org_id, partition_key, type, body from outbox.event', $$values ('org-1', 'c-1', 'order.changed',
  '{"type" : "INSERT", "table" : "orders", "schema" : "shop", "record" : {"id":1,"total":1.50}, "old_record" : null}')$$,
  'watched anew: organisation and key from columns, and some columns alone');
update shop.orders set secret = 'other', customer = 'c-2';
select is((select count(*) from outbox.event), 1::bigint, 'an update of other columns is not published');
update shop.orders set total = null;
select is((select count(*) from outbox.event), 2::bigint, 'one of that column is, also to null');
update shop.orders set total = total;
select is((select count(*) from outbox.event), 2::bigint, 'one that changes nothing is not');
delete from shop.orders;
select is((select count(*) from outbox.event), 2::bigint, 'nor is a deletion, which was not asked for');
select pg_temp.forget();

select outbox.watch_table('shop.orders', p_except => '{secret,org}');
insert into shop.orders values (1, 'org-1', 'c-1', 1.50);
select is((select (body::jsonb) -> 'record' from outbox.event), '{"id": 1, "total": 1.50, "customer": "c-1"}', 'all but some columns');
select pg_temp.forget();

-- A writer without any right on the outbox, under row level security.
select outbox.watch_table('shop.orders', p_org_column => 'org');
alter table shop.orders enable row level security;
create policy own on shop.orders to authenticated using (customer = 'c-1') with check (customer = 'c-1');
grant usage on schema shop to authenticated;
grant select, insert, update, delete on shop.orders to authenticated;
insert into shop.orders values (5, 'org-1', 'c-2', 1);
select pg_temp.forget();
set local role authenticated;
insert into shop.orders values (2, 'org-1', 'c-1', 1);
update shop.orders set total = 9;
reset role;
select results_eq($$select type, (body::jsonb) -> 'record' ->> 'id' from outbox.event order by id$$,
  $$values ('orders.inserted', '2'), ('orders.updated', '1'), ('orders.updated', '2')$$,
  'authenticated publishes what it may write, and nothing else');
set local role authenticated;
select matches(helper.refusal($$select outbox.publish('a', '{}')$$), '^42501', 'and may not publish by itself');
reset role;

select is(refusal($$insert into shop.orders values (3, null, 'c', 1)$$), 'OH001 the change of shop.orders cannot be published: org_id is NULL',
  'a row that cannot be published is refused, by name');
select is(refusal($$insert into shop.orders values (3, 'a b', 'c', 1)$$), $$OH001 the change of shop.orders cannot be published: org_id is 'a b'$$,
  'with its value');
select is((select count(*) from shop.orders where id = 3), 0::bigint, 'and not stored');

select is(outbox.unwatch_table('shop.orders'), '{"table": "shop.orders", "watched": false, "was_watched": true}', 'unwatched');
select is(outbox.unwatch_table('shop.orders'), '{"table": "shop.orders", "watched": false, "was_watched": false}', 'twice');
select pg_temp.forget();
insert into shop.orders values (4, 'org-1', 'c', 1);
select is_empty('select * from pg_temp.published()', 'it publishes no more');

-- Partitioned tables, and odd names.
create table shop."Odd ""table""" ("the id" integer, day date, primary key ("the id", day)) partition by range (day);
create table shop.odd_1 partition of shop."Odd ""table""" for values from ('2026-01-01') to ('2027-01-01');
select outbox.watch_table('shop."Odd ""table"""', 'odd.{op}', p_partition_column => 'the id');
insert into shop."Odd ""table""" values (7, '2026-01-05');
select is((select type || ' ' || partition_key from outbox.event), 'odd.inserted 7', 'a partitioned table with odd names is watched as a whole');
select is(outbox.unwatch_table('shop."Odd ""table"""') -> 'was_watched', 'true', 'and unwatched');
select is((select count(*) from pg_trigger where tgfoid = 'outbox.publish_row()'::regprocedure), 0::bigint, 'nothing is left behind');

select * from finish();
rollback;
