-- Values of every kind: no value of a column refuses the write, and the settings of the session
-- determine no byte of an event.
begin;
\ir ../../_helpers.sql
select plan(21);
-- The real clock, or the ids of one moment would have no order.
delete from outbox.test_clock t where true;

create schema shop;
create type shop.mood as enum ('sad', 'ok');
create type shop.address as (street text, number integer, since date);
create domain shop.cents as integer;
create domain shop.code as bit(4);
create type shop.span as range (subtype = date);

create table shop.plain (id integer, t timestamptz default '2026-01-31 12:00:00.5+02', l timestamp default '2026-01-31 12:00:00', d date default '2026-01-31',
  i interval default '1 mon 2 days 03:04:05', b bytea default '\xdead', f float8 default 0.1, r real default 1e-10, ts tstzrange default '[2026-01-01 00:00+00,2026-02-01 00:00+00)',
  ta timestamptz[] default '{2026-01-31 12:00:00+02}', c regclass default 'pg_catalog.pg_class', x xml default '<a>1</a>', n numeric default 1.50,
  o boolean default true, tz timetz default '12:00:00+02');
create table shop.typed (like shop.plain including defaults, m money default 12.5, ms money[] default '{1}', mood shop.mood default 'ok',
  moods shop.mood[] default '{ok,NULL,sad}', cents shop.cents default 5, list shop.cents[] default '{1,2}', code shop.code default '1010',
  a shop.address default row('x "y', 1, '2026-01-31'), s shop.span default '[2026-01-01,2026-02-01)', aa shop.address[] default array[row('a,b', 1, null)::shop.address],
  w char(3) default 'a', j json default '{"a": 1,  "b": 2}');

create function pg_temp.published(p_statement text) returns text language plpgsql as $$
begin
  delete from outbox.event e where true;
  execute p_statement;
  return (select string_agg(coalesce(e.partition_key, '-') || ' ' || e.body, '; ' order by e.id) from outbox.event e);
end
$$;
-- The settings that a session may have, ten at a time.
create function pg_temp.under_settings(p_statement text) returns setof text language plpgsql as $$
declare
  v_settings text[];
begin
  foreach v_settings slice 1 in array array[
    ['UTC', 'ISO, MDY', 'postgres', 'hex', '1', 'off', 'C'], ['Asia/Shanghai', 'ISO, MDY', 'postgres', 'hex', '1', 'off', 'C'],
    ['UTC', 'SQL, DMY', 'postgres', 'hex', '1', 'off', 'C'], ['UTC', 'German', 'iso_8601', 'hex', '1', 'off', 'C'],
    ['America/St_Johns', 'Postgres, DMY', 'postgres_verbose', 'escape', '3', 'on', 'C'], ['UTC', 'ISO, MDY', 'sql_standard', 'hex', '1', 'off', 'C'],
    ['UTC', 'ISO, MDY', 'postgres', 'escape', '1', 'off', 'C'], ['UTC', 'ISO, MDY', 'postgres', 'hex', '-15', 'off', 'C'],
    ['UTC', 'ISO, MDY', 'postgres', 'hex', '1', 'on', 'C'], ['Pacific/Apia', 'ISO, YMD', 'postgres', 'hex', '0', 'off', 'C']]
  loop
    perform set_config('timezone', v_settings[1], true), set_config('datestyle', v_settings[2], true), set_config('intervalstyle', v_settings[3], true),
      set_config('bytea_output', v_settings[4], true), set_config('extra_float_digits', v_settings[5], true),
      set_config('quote_all_identifiers', v_settings[6], true), set_config('lc_monetary', v_settings[7], true);
    return next pg_temp.published(p_statement);
    if (current_setting('timezone'), current_setting('bytea_output'), current_setting('intervalstyle'), current_setting('extra_float_digits'))
      is distinct from (v_settings[1], v_settings[4], v_settings[3], v_settings[5])
    then
      return next 'the settings of the session have changed';
    end if;
  end loop;
end
$$;

select outbox.watch_table('shop.plain', p_partition_column => 't');
select results_eq($$select distinct p from pg_temp.under_settings('insert into shop.plain (id) values (1)') p$$, array[
  '2026-01-31T10:00:00.5+00:00 {"type" : "INSERT", "table" : "plain", "schema" : "shop", "record" : {"id":1,"t":"2026-01-31T10:00:00.5+00:00","l":"2026-01-31T12:00:00","d":"2026-01-31","i":"1 mon 2 days 03:04:05","b":"\\xdead","f":0.1,"r":1e-10,"ts":"[\"2026-01-01 00:00:00+00\",\"2026-02-01 00:00:00+00\")","ta":["2026-01-31T10:00:00+00:00"],"c":"pg_class","x":"<a>1</a>","n":1.50,"o":true,"tz":"12:00:00+02"}, "old_record" : null}'],
  'a table with types of Postgres has one body and one key under ten sets of settings');
delete from shop.plain;
insert into shop.plain (id) values (1);
select outbox.watch_table('shop.plain', p_changed => '{id}', p_partition_column => 'f');
select outbox.watch_table('shop.plain', p_partition_column => 't', p_per_statement => true);
select is((select count(distinct p) from pg_temp.under_settings('insert into shop.plain (id) values (1)') p), 1::bigint, 'and for each statement');
select outbox.watch_table('shop.typed', p_partition_column => 't');
create temporary table bodies as select distinct p from pg_temp.under_settings('insert into shop.typed (id) values (1)') p;
select is((select count(*) from bodies), 1::bigint, 'one with types of its own too');
select is((select p::text ~ '"m":".?12.50","ms":\[".?1.00"\],"mood":"ok","moods":\["ok",null,"sad"\],"cents":5,"list":\[1,2\],"code":"1010","a":\{"street":"x \\"y","number":1,"since":"2026-01-31"\},"s":"\[2026-01-01,2026-02-01\)","aa":\["\(\\"a,b\\",1,\)"\],"w":"a  ","j":\{"a": 1,  "b": 2\}\}' from bodies), true,
  'enums, domains, arrays of them, composites, ranges and money');
select outbox.watch_table('shop.typed', p_partition_column => 'mood', p_per_statement => true, p_changed => '{mood}');
select is((select count(distinct p) from pg_temp.under_settings('insert into shop.typed (id) values (1)') p), 1::bigint, 'for each statement too');
select is((select left(p, 3) from pg_temp.under_settings('insert into shop.typed (id) values (1)') p limit 1), 'ok ', 'an enum may be the partition key');

-- What to_jsonb() refuses.
set local timezone = 'UTC';
create table shop.documents (id integer, secret json, document json);
create function pg_temp.kept(p_json text) returns setof text language plpgsql as $$
begin
  perform outbox.watch_table('shop.documents');
  return next substring(pg_temp.published(format('insert into shop.documents values (1, null, %L)', p_json)) from '"document":(.*)}, "old_record"');
  perform outbox.watch_table('shop.documents', p_except => '{secret}', p_changed => '{document}', p_partition_column => 'id');
  return next substring(pg_temp.published(format('insert into shop.documents values (1, %1$L, %1$L)', p_json)) from '"document":(.*)}, "old_record"');
  perform outbox.watch_table('shop.documents', p_columns => '{document}', p_changed => '{document,secret}', p_per_statement => true);
  return next substring(pg_temp.published(format('insert into shop.documents values (1, %1$L, %1$L)', p_json)) from '"document":(.*)}, "old_record"');
end
$$;
select is((select array_agg(distinct k) from pg_temp.kept(j) k), array[j], j || ' is kept as it is')
from unnest(array['{"a": "\u0000"}', '"\ud800"', '{"a":  1e200000,"a" : 2}', '[1.0, -0]', 'null']) j;
select outbox.watch_table('shop.documents', p_changed => '{document}');
insert into shop.documents values (9, null, '"\u0000"');
select matches(pg_temp.published($$update shop.documents set document = '{"b": "\u0000"}' where id = 9$$), '"old_record" : \{"id":9,"secret":null,"document":"\\u0000"\}', 'an update of such a column');

create table shop.extremes (n numeric, f float8, d date, t timestamptz, ts timestamp, i int4range, e text, b bytea);
select outbox.watch_table('shop.extremes', p_partition_column => 'n');
select is(substring(pg_temp.published($$insert into shop.extremes values ('NaN', '-Infinity', 'infinity', '-infinity', '0044-03-15 BC', 'empty', '', '')$$) from '^.*}, '),
  'NaN {"type" : "INSERT", "table" : "extremes", "schema" : "shop", "record" : {"n":"NaN","f":"-Infinity","d":"infinity","t":"-infinity","ts":"0044-03-15T00:00:00 BC","i":"empty","e":"","b":"\\x"}, ',
  'infinity, NaN, BC and empty values');

create table shop.keyed (k text);
select outbox.watch_table('shop.keyed', p_partition_column => 'k');
select is((select length(split_part(pg_temp.published(format('insert into shop.keyed values (repeat(''k'', %s))', n)), ' ', 1))), least(n, 256) - case n when 257 then 192 else 0 end,
  'a partition key of ' || n || ' characters') from unnest(array[256, 257]) n;
select is((select partition_key from outbox.event), encode(sha256(convert_to(repeat('k', 257), 'UTF8')), 'hex'), 'is its hash if it has more than 256');

-- What a watched table refuses.
select matches(refusal($$insert into shop.keyed values (repeat('x', 300000))$$), '^OH001 the change of shop.keyed cannot be published: payload has 300[0-9]{3} bytes, more than 262144', 'a payload that is too large');
select outbox.watch_table('shop.keyed', p_org_column => 'k');
select matches(refusal($$insert into shop.keyed values ('outhook')$$), '^OH001 the change of shop.keyed cannot be published: org_id is outhook', 'the organisation of the system');
select matches(refusal($$insert into shop.keyed values (null)$$), '^OH001 the change of shop.keyed cannot be published: org_id is NULL', 'a row without organisation');
select outbox.set_setting('limit.event_mib_per_day', '1');
insert into outbox.event_bytes values ('org-1', outbox.day_of(now()), 1048576, 'infinity');
select is(refusal($$insert into shop.keyed values ('org-1')$$), 'OH011 the change of shop.keyed cannot be published: organisation org-1 may publish at most 1 MiB of events a day (limit.event_mib_per_day)', 'an organisation at its limit of the day');

-- With array_nulls off, '{null}' is the word null.
set local array_nulls = off;
select is(outbox.watch_table('shop.keyed'), outbox.watch_table('shop.keyed', p_org_column => null, p_partition_column => null), 'a call without lists does not depend on array_nulls');

select * from finish();
rollback;
