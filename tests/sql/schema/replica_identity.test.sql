-- A publication for all tables lets nobody update or delete rows of a table without a replica identity.
begin;
\ir ../_helpers.sql
select plan(4);

create function without_identity() returns table (name text) language sql as $$
  select c.relname::text from pg_class c
  where c.relnamespace = 'outbox'::regnamespace and c.relkind in ('r', 'p') and c.relpersistence = 'p'
    and not (c.relreplident = 'f'
      or c.relreplident = 'd' and exists (select from pg_index i where i.indrelid = c.oid and i.indisprimary and i.indisvalid)
      or c.relreplident = 'i' and exists (select from pg_index i where i.indrelid = c.oid and i.indisreplident and i.indisvalid))
$$;
select is_empty('select * from without_identity()', 'every table has an identity');
select time_is('2020-02-28 12:00:00+00');
select is(outbox.add_partitions() -> 'made', '16', 'partitions that are made later');
select is_empty('select * from without_identity()', 'have one too');
select set_eq($$select relname::text from pg_class where relnamespace = 'outbox'::regnamespace and relreplident = 'f' and not relispartition$$,
  '{attempt,counter_change}'::text[], 'two tables have one of all columns, because no index of theirs is unique');

select * from finish();
rollback;
