-- Old partitions are dropped a few at a time; each start continues, and a night is counted once.
begin;
\ir ../../_helpers.sql
select plan(7);

select time_is('2020-02-10 12:00:00+00');
do $$ begin for n in 1 .. 100 loop exit when outbox.add_partitions() -> 'late' = '[]'; end loop; end $$;
select time_is('2020-04-01 00:00:00+00');
select is(outbox.drop_partitions(1), '{"more": true, "dropped": 1}', 'one of many');
select is(outbox.drop_partitions(2), '{"more": true, "dropped": 2}', 'two more');
select is(outbox.drop_partitions(), '{"more": false, "dropped": 13}', 'and the rest');
select is(outbox.drop_partitions(1), '{"more": false, "dropped": 0}', 'then nothing is left');

select outbox.add_partition('event', '2020-03-31');
create function nights() returns integer language sql stable as $$ select clean_nights from outbox.partition_check where name = 'event_p20200331' $$;
select time_is('2020-04-02 00:00:00+00'), outbox.drop_partitions(1), time_is('2020-04-02 00:55:00+00'), outbox.drop_partitions(1);
select is(nights(), 1, 'several starts of one night count one night');
-- Open at midnight, delivered before the next start.
insert into outbox.unroutable (event_id, org_id, error, set_aside_at) values (outbox.uuid_v7('2020-03-31 01:00Z'), 'default', 'a test', outbox.clock());
select time_is('2020-04-03 00:00:00+00'), outbox.drop_partitions(1);
delete from outbox.unroutable where true;
select time_is('2020-04-03 00:05:00+00'), outbox.drop_partitions(1);
select is(nights(), 0, 'a night that began with something open does not count');
select time_is('2020-04-04 00:00:00+00'), outbox.drop_partitions(1);
select is(nights(), 1, 'the next one does');

select * from finish();
rollback;
