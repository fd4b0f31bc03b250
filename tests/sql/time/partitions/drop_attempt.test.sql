-- Attempts are kept for attempt.retention_days after their day, and no longer.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(8);

select time_is('2020-02-10 12:00:00+00');
do $$ begin for n in 1 .. 100 loop exit when outbox.add_partitions() -> 'late' = '[]'; end loop; end $$;
create temporary table made as select endpoint() as id;
create temporary table event as select (events(1))[1] as id;
select send();
create function kept() returns text language sql stable as $$
  select string_agg(right(c.relname, 4), ' ' order by c.relname) from pg_inherits i join pg_class c on c.oid = i.inhrelid
  where i.inhparent = 'outbox.attempt'::regclass and c.relname ~ '202002'
$$;
select is(kept(), '0210 0211 0212 0213 0214 0215 0216 0217', 'eight days');
select time_is('2020-02-18 23:59:59+00');
select outbox.drop_partitions();
select is(kept(), '0210 0211 0212 0213 0214 0215 0216 0217', 'the eighth day after, all are there');
select time_is('2020-02-19 00:00:00+00');
select is(outbox.drop_partitions() -> 'dropped', '1', 'the ninth');
select is(kept(), '0211 0212 0213 0214 0215 0216 0217', 'the first goes');
select is(outbox.drop_partitions() -> 'dropped', '0', 'once');
select is((select count(*) from outbox.attempt join event on event_id = id), 0::bigint, 'with its attempts');
select outbox.set_setting('attempt.retention_days', '10');
select time_is('2020-02-26 12:00:00+00');
select outbox.drop_partitions();
select is(kept(), '0216 0217', 'how many days is a setting');
select is((select count(*) from outbox.endpoint join made using (id)), 1::bigint, 'nothing else goes with them');

select * from finish();
rollback;
