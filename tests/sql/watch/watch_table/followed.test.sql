-- A watch follows what happens to the columns that it names: per row and per statement.
begin;
\ir ../../_helpers.sql
select plan(54);
-- The real clock, or the ids of one moment would have no order.
delete from outbox.test_clock t where true;

create schema shop;
create function pg_temp.made(p_name text, p_per_statement boolean) returns void language plpgsql as $$
begin
  execute format('create table shop.%I (id integer primary key, org text default ''org-1'', customer text default ''c-1'',
    total numeric default 1, secret text default ''sesame'', note text default ''n'')', p_name);
  perform outbox.watch_table(format('shop.%I', p_name)::regclass, 'order.{op}', p_org_column => 'org', p_partition_column => 'customer',
    p_except => '{secret}', p_changed => '{total}', p_per_statement => p_per_statement);
end
$$;
-- What a statement publishes: organisation, key, table and the rows.
create function pg_temp.published(p_statement text) returns text language plpgsql as $$
begin
  delete from outbox.event e where true;
  execute p_statement;
  return (select string_agg(concat_ws(' ', e.org_id, coalesce(e.partition_key, '-'), e.body::json ->> 'table', e.body::json ->> 'type',
    e.body::json ->> 'old_record', e.body::json ->> 'record'), '; ' order by e.id) from outbox.event e);
end
$$;

create procedure pg_temp.follow(p_per_statement boolean) language plpgsql as $$
declare
  v_how text := case when p_per_statement then ' (statement)' else ' (row)' end;
begin
  perform pg_temp.made('orders', p_per_statement);
  insert into shop.orders values (1), (2);
  alter table shop.orders rename id to number;
  perform pg_temp.collect(is(pg_temp.published('update shop.orders set total = 2 where number = 1'),
    'org-1 c-1 orders UPDATE {"number":1,"org":"org-1","customer":"c-1","total":1,"note":"n"} {"number":1,"org":"org-1","customer":"c-1","total":2,"note":"n"}',
    'a renamed primary key' || v_how));
  alter table shop.orders rename total to sum;
  perform pg_temp.collect(is(pg_temp.published('update shop.orders set sum = 3 where number = 1'),
    'org-1 c-1 orders UPDATE {"number":1,"org":"org-1","customer":"c-1","sum":2,"note":"n"} {"number":1,"org":"org-1","customer":"c-1","sum":3,"note":"n"}',
    'a renamed column of p_changed' || v_how));
  perform pg_temp.collect(is(pg_temp.published('update shop.orders set note = ''m'' where number = 1'), null, 'an update of other columns is not published' || v_how));
  alter table shop.orders rename org to tenant;
  alter table shop.orders rename customer to buyer;
  perform pg_temp.collect(is(pg_temp.published('insert into shop.orders values (3, ''org-2'', ''c-2'')'),
    'org-2 c-2 orders INSERT {"number":3,"tenant":"org-2","buyer":"c-2","sum":1,"note":"n"}', 'renamed columns of the organisation and of the key' || v_how));
  -- secret and note change their names.
  alter table shop.orders rename secret to other;
  alter table shop.orders rename note to secret;
  alter table shop.orders rename other to note;
  perform pg_temp.collect(is(pg_temp.published('insert into shop.orders values (4)'),
    'org-1 c-1 orders INSERT {"number":4,"tenant":"org-1","buyer":"c-1","sum":1,"secret":"n"}', 'an excluded column that swaps its name with another' || v_how));
  alter table shop.orders add column added integer default 7;
  perform pg_temp.collect(is(pg_temp.published('delete from shop.orders where number = 4'),
    'org-1 c-1 orders DELETE {"number":4,"tenant":"org-1","buyer":"c-1","sum":1,"secret":"n","added":7}', 'a new column is published' || v_how));
  alter table shop.orders alter column added type text;
  perform pg_temp.collect(is(pg_temp.published('delete from shop.orders where number = 3'),
    'org-2 c-2 orders DELETE {"number":3,"tenant":"org-2","buyer":"c-2","sum":1,"secret":"n","added":"7"}', 'with its new type' || v_how));
  alter table shop.orders drop column added;
  alter table shop.orders drop constraint orders_pkey;
  perform pg_temp.collect(is(pg_temp.published('update shop.orders set sum = 5'),
    'org-1 c-1 orders UPDATE {"number":2,"tenant":"org-1","buyer":"c-1","sum":1,"secret":"n"} {"number":2,"tenant":"org-1","buyer":"c-1","sum":5,"secret":"n"}; '
    'org-1 c-1 orders UPDATE {"number":1,"tenant":"org-1","buyer":"c-1","sum":3,"secret":"m"} {"number":1,"tenant":"org-1","buyer":"c-1","sum":5,"secret":"m"}',
    'without a primary key each row is paired with itself' || v_how));
  alter table shop.orders rename to purchases;
  alter schema shop rename to store;
  perform pg_temp.collect(is(pg_temp.published('delete from store.purchases where number = 1'),
    'org-1 c-1 purchases DELETE {"number":1,"tenant":"org-1","buyer":"c-1","sum":5,"secret":"m"}', 'a renamed table' || v_how));
  perform pg_temp.collect(is((select body::json ->> 'schema' from outbox.event), 'store', 'in a renamed schema' || v_how));
  alter schema store rename to shop;
  drop table shop.purchases;
end
$$;
create temporary table results (n serial, line text);
create function pg_temp.collect(p_line text) returns void language sql as $$ insert into results (line) values (p_line) $$;
set local search_path = helper, extensions, pg_temp;
call pg_temp.follow(false);
call pg_temp.follow(true);

-- Every column that a watch names can neither be dropped nor get another type.
create procedure pg_temp.refuse(p_per_statement boolean) language plpgsql as $$
declare
  v_argument text;
  v_columns text;
begin
  create table shop.goods (id integer primary key, a text default 'o', b integer default 1);
  for v_argument, v_columns in values ('p_org_column', '''a'''), ('p_partition_column', '''a'''), ('p_columns', '''{id,a}'''), ('p_except', '''{a}'''),
    ('p_changed', '''{a}''')
  loop
    execute format('select outbox.watch_table(''shop.goods'', p_per_statement => %L, %s => %s)', p_per_statement, v_argument, v_columns);
    perform pg_temp.collect(matches(refusal('alter table shop.goods drop column a'), '^2BP01 cannot drop column a of table shop.goods because other objects depend on it',
      v_argument || ' keeps its column'));
    perform pg_temp.collect(matches(refusal('alter table shop.goods alter column a type char(10)'), '^0A000 cannot alter type of a column used in a trigger definition',
      v_argument || ' keeps the type of its column'));
    alter table shop.goods alter column b type bigint;
    alter table shop.goods alter column b type integer;
    delete from shop.goods;
    delete from outbox.event e where true;
    insert into shop.goods values (1);
    update shop.goods set a = 'p';
    delete from outbox.event e where true;
  end loop;
  alter table shop.goods drop column a cascade;
  perform outbox.unwatch_table('shop.goods');
  drop table shop.goods;
end
$$;
call pg_temp.refuse(false);
call pg_temp.refuse(true);
select line from results order by n;

-- DROP COLUMN ... CASCADE ends the watch, visibly.
create table shop.goods (id integer primary key, a text, secret text default 'sesame', b text);
select outbox.watch_table('shop.goods', p_except => '{secret,b}', p_changed => '{b}');
select is_empty('select * from outbox.broken_watch', 'a watch with all its columns is not broken');
alter table shop.goods drop column b cascade;
set local client_min_messages = error;
select is(pg_temp.published('insert into shop.goods values (1, ''x'')'), null, 'of a broken watch nothing is published');
reset client_min_messages;
select set_eq('select * from outbox.broken_watch', $$values ('shop.goods'::regclass,
  'changes of shop.goods are not published: a column of p_changed, p_except was dropped', 'select outbox.watch_table(''shop.goods'', …);')$$,
  'and the view says so');
select is((select problems[cardinality(problems)] from outbox.queue_health), 'changes of shop.goods are not published: a column of p_changed, p_except was dropped',
  'and the health of the queue');
select outbox.watch_table('shop.goods', p_except => '{secret}');
select is(pg_temp.published('insert into shop.goods values (2, ''x'')'), 'default - goods INSERT {"id":2,"a":"x"}', 'watched again, it is published');
select is_empty('select * from outbox.broken_watch', 'and not broken');
alter table shop.goods disable trigger outhook_row;
select set_eq('select problem, command from outbox.broken_watch', $$values ('changes of shop.goods are not published: its trigger is disabled',
  'alter table shop.goods enable trigger outhook_row;')$$, 'a disabled trigger is a problem');

-- Every column, a name with quotes, and a table without columns.
create table shop."a ""b""" ("x ""%s y" integer, "n" integer, r text, v text, "outhook row" text);
select outbox.watch_table('shop."a ""b"""', 't', p_except => '{n}', p_partition_column => 'x "%s y', p_per_statement => true);
select is(pg_temp.published('insert into shop."a ""b""" values (1, 2, ''r'', ''v'', ''o'')'), 'default 1 a "b" INSERT {"x \"%s y":1,"r":"r","v":"v","outhook row":"o"}', 'names with quotes');
select outbox.watch_table('shop."a ""b"""', 't', p_columns => '{r}');
select is(pg_temp.published('update shop."a ""b""" set r = null'), 'default - a "b" UPDATE {"r":"r"} {"r":null}', 'a null value');
create table shop.nothing ();
select outbox.watch_table('shop.nothing', p_per_statement => true);
select is(pg_temp.published('insert into shop.nothing default values'), 'default - nothing INSERT {}', 'a table without columns');
create table shop.secrets (id integer, a text);
select outbox.watch_table('shop.secrets', p_except => '{id,a}');
select is(pg_temp.published('insert into shop.secrets values (1)'), 'default - secrets INSERT {}', 'a table whose columns are all excluded');
create table shop.generated (id integer, twice integer generated always as (id * 2) stored);
select outbox.watch_table('shop.generated', p_changed => '{twice}', p_columns => '{twice}');
insert into shop.generated values (1);
select is(pg_temp.published('update shop.generated set id = 2'), 'default - generated UPDATE {"twice":2} {"twice":4}', 'a generated column');
create table shop.parent (id integer, note text);
create table shop.child (extra text) inherits (shop.parent);
select outbox.watch_table('shop.parent');
select is(pg_temp.published('insert into shop.child values (1)'), null, 'a table that inherits is watched by itself');
select is(pg_temp.published('insert into shop.parent values (1)'), 'default - parent INSERT {"id":1,"note":null}', 'and its parent too');

select * from finish();
rollback;
