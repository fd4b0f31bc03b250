-- A watched table runs no code of its owner or of a writer with the rights of the schema's owner.
begin;
\ir ../../_helpers.sql
select plan(9);
-- The real clock, or the ids of one moment would have no order.
delete from outbox.test_clock t where true;
delete from outbox.event e where true;

create role owner_of_shop;
grant owner_of_shop to postgres;
create schema shop authorization owner_of_shop;
grant usage on schema helper, extensions to owner_of_shop;
set local role owner_of_shop;
create table shop.loot (code text, who name);
create type shop.mood as enum ('ok');
create domain shop.mood_2 as shop.mood;
create type shop.pair as (mood shop.mood, note text);
create type shop.span as range (subtype = integer);
create table shop.orders (id integer primary key, mood shop.mood default 'ok', mood_2 shop.mood_2 default 'ok', pair shop.pair default row('ok', 'n'),
  moods shop.mood[] default '{ok}', pairs shop.pair[] default array[row('ok', 'n')::shop.pair], span shop.span default '[1,2)', plain text);
-- A cast to json and to text of each type, the row type too, and an operator = of the enum.
do $$
declare
  v_type text;
  v_target text;
begin
  foreach v_type in array '{mood,pair,span,orders}'::text[] loop
    foreach v_target in array '{json,jsonb,text}'::text[] loop
      execute format('create function shop.to_%2$s(shop.%1$s) returns %2$s language plpgsql as '
        '$f$ begin insert into shop.loot values (''%1$s to %2$s'', current_user); return ''1''; end $f$', v_type, v_target);
      execute format('create cast (shop.%1$s as %2$s) with function shop.to_%2$s(shop.%1$s) as implicit', v_type, v_target);
    end loop;
  end loop;
end
$$;
create function shop.eq(shop.mood, shop.mood) returns boolean language plpgsql as $$ begin insert into shop.loot values ('=', current_user); return false; end $$;
create operator shop.= (leftarg = shop.mood, rightarg = shop.mood, function = shop.eq);
create operator shop.<> (leftarg = shop.mood, rightarg = shop.mood, function = shop.eq);
reset role;

create function pg_temp.bodies() returns text language sql as $$ select string_agg(e.body::json ->> 'record', ' ' order by e.id) from outbox.event e $$;
create procedure pg_temp.write(p_per_statement boolean) language plpgsql as $$
begin
  perform outbox.watch_table('shop.orders', p_per_statement => p_per_statement);
  insert into shop.orders values (1);
  perform outbox.watch_table('shop.orders', p_per_statement => p_per_statement, p_org_column => 'mood', p_partition_column => 'mood_2',
    p_changed => '{mood,mood_2,pair,moods,pairs,span}', p_except => '{id}');
  set local role owner_of_shop;
  insert into shop.orders values (2);
  update shop.orders set pair = row('ok', 'm');
  delete from shop.orders;
  reset role;
end
$$;
call pg_temp.write(false);
select is_empty('select * from shop.loot', 'no cast and no operator of a type runs, for each row');
select is(substring(pg_temp.bodies() from '^[^}]*}[^}]*}'), '{"id":1,"mood":"ok","mood_2":"ok","pair":{"mood":"ok","note":"n"},"moods":["ok"],"pairs":["(ok,n)"],"span":"[1,2)","plain":null}',
  'the values are published by the output function of their type');
select is((select count(*) from outbox.event), 6::bigint, 'each change is published');
delete from outbox.event e where true;
call pg_temp.write(true);
select is_empty('select * from shop.loot', 'nor for each statement');
select is((select count(*) from outbox.event), 6::bigint, 'each change is published');

select outbox.watch_table('shop.orders', p_except => '{id}');

-- A writer with types of the same names as those that the triggers use.
create role writer;
grant writer to postgres;
grant usage on schema shop to writer;
grant all on shop.orders to writer;
grant usage on schema helper, extensions to writer;
set local role writer;
create temporary table stolen (who name);
grant insert on stolen to public;
do $$
declare
  v_type text;
begin
  foreach v_type in array '{text,jsonb,json,uuid,oid,name,timestamptz,regclass,regtype}'::text[] loop
    execute format('create function pg_temp.steal(pg_catalog.%1$I) returns boolean language plpgsql as '
      '$f$ begin insert into pg_temp.stolen values (current_user); return true; end $f$', v_type);
    execute format('create domain pg_temp.%1$I as pg_catalog.%1$I check (pg_temp.steal(value))', v_type);
  end loop;
end
$$;
insert into shop.orders (id) values (7::integer);
reset role;
select is((select count(*) from stolen), 0::bigint, 'a type in the temporary schema of the writer does not replace one of Postgres');
set local role writer;
select matches(refusal('create trigger mine after insert on shop.orders for each row execute function outbox.publish_row(''{}'')'), '^42501', 'a writer cannot use the function of the trigger');
reset role;
set local role owner_of_shop;
select matches(refusal('create trigger mine after insert on shop.orders for each row execute function outbox.publish_row(''{}'')'), '^42501', 'nor can the owner of a table');
select matches(refusal($$select outbox.publish_change('{}', 'a', 'b', 'INSERT', null)$$), '^42501', 'or publish a change of his own');
reset role;

select * from finish();
rollback;
