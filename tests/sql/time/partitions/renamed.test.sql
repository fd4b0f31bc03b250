-- A partition that somebody has renamed, or moved to another schema, is dropped as any other.
begin;
\ir ../../_helpers.sql
select plan(7);

create schema archive;
create function of_days() returns setof text language sql stable as $$
  select c.oid::regclass::text from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent in ('outbox.event'::regclass, 'outbox.attempt'::regclass) and c.relname !~ 'default' order by 1
$$;
select time_is('2020-02-10 12:00:00+00');
do $$ begin for n in 1 .. 100 loop exit when outbox.add_partitions() -> 'late' = '[]'; end loop; end $$;
alter table outbox.attempt_p20200210 rename to "A year_past";
alter table outbox.event_p20200211 rename to first_event;
alter table outbox.attempt_p20200212 set schema archive;
-- A table of the user with the name of a partition that has moved.
create table outbox.attempt_p20200212 (id integer);
select is(outbox.add_partitions(), '{"late": [], "made": 0}', 'its day has a partition');
select is((select (p ->> 'n')::bigint from jsonb_array_elements(outbox.get_metrics() #> '{engine,partitions}') p where p ->> 'table' = 'attempt'),
  (select count(*) from outbox.partitions('attempt')), 'the metrics count it');

select time_is('2021-02-10 12:00:00+00');
create temporary table dropped as select outbox.drop_partitions() as r;
select is(r -> 'failed', null, 'no partition is refused') from dropped;
select is_empty($$select d from of_days() d where d ~ '2020|year|first'$$, 'all old partitions are dropped, whatever their names and schemas are');
select has_table('outbox', 'attempt_p20200212', 'a table that only has such a name stays');
select is((select count(*) from outbox.partition_check where name ~ '2020|first'), 0::bigint, 'no check is left');
select is(outbox.drop_partitions(), '{"more": false, "dropped": 0}', 'and nothing is left for the next night');

select * from finish();
rollback;
