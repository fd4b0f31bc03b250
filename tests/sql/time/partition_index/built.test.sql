-- An index on the parent only is built on each partition that nobody writes to, and attached.
begin;
\ir ../../_helpers.sql
select plan(12);

create function missing() returns bigint language sql as $$ select count(*) from outbox.missing_indexes(outbox.clock()) $$;
create function parts() returns bigint language sql as $$ select count(*) from pg_inherits where inhparent = 'outbox.attempt'::regclass $$;
create function is_valid() returns boolean language sql as $$ select indisvalid from pg_index where indexrelid = to_regclass('outbox.attempt_failures') $$;

do $$ begin perform outbox.add_partitions(); end $$;
select is(missing(), 0::bigint, 'no index is missing at first');
select is(outbox.build_index(outbox.clock(), 1), 0, 'so nothing is built');

create index attempt_failures on only outbox.attempt (error_class, at desc) where outcome = 'failed';
select is(is_valid(), false, 'the index of the parent alone is not valid');
select is(missing(), parts() - 1, 'all partitions lack it, and that of today is left out');
select is((select bool_or(m.part = p.part) from outbox.missing_indexes(outbox.clock()) m,
  outbox.partitions('attempt') p where p.since <= outbox.clock() and p.until > outbox.clock()), false, 'because it is written');

select is(outbox.build_index(outbox.clock(), 1), 1, 'one partition at a time');
select is(missing(), parts() - 2, 'its index is attached');
select time_passes('1 d');
do $$ begin while outbox.cleanup_next() loop end loop; end $$;
select is(is_valid(), false, 'the cleanup of the next night leaves out the day that has begun');
select is((select string_agg(error, ', ') from outbox.cleanup_progress where name = 'built_indexes'), null, 'without an error');
select time_passes('1 d');
do $$ begin while outbox.cleanup_next() loop end loop; end $$;
select is(missing(), 0::bigint, 'a night later all partitions have it');
select is(is_valid(), true, 'and the index of the parent is valid');
select is((select count(*) from pg_indexes where schemaname = 'outbox' and indexname like 'attempt\_default%error\_class%' and indexdef like '%WHERE (outcome = ''failed''::text)%'),
  1::bigint, 'with the same columns and the same condition');

select * from finish();
rollback;
