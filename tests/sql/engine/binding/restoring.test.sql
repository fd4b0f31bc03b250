-- While a restore has loaded data but no primary keys, no run and no job touches the data.
begin;
\ir ../../_helpers.sql
select plan(17);

do $$ begin perform endpoint(), events(3); end $$;
create sequence numbers;
create function called(p_results jsonb default '[]') returns text language sql as $$
  select refusal(format(
    'select outbox.dispatch(%L, %s, %L, 1, ''worker'', p_contract => ''{"oldest": 1, "newest": 1, "project": "shop"}'')',
    '00000000-0000-7000-8000-000000000001', nextval('numbers'), p_results))
$$;
create function being_restored(p_table text) returns text language sql as $$
  select format('57P03 the database is being restored: table outbox.%s has no primary key yet', p_table)
$$;

select is(outbox.unrestored_table(), null, 'each table has its primary key after an installation');
select is(outbox.is_restoring(), false, 'which is no restore');
select is(called(), 'accepted', 'a run works');

-- pg_restore with one job: no table has its key before all data is there.
savepoint complete;
alter table outbox.binding drop constraint binding_pkey;
select is(outbox.is_restoring(), true, 'without the key of the binding it is a restore');
select is(called(), being_restored('binding'), 'a run gets a temporary error, and keeps running');
select ok(outbox.is_passing('57P03'), 'which is one that passes');
select is(called('[{"event": "00000000-0000-7000-8000-000000000009", "endpoint": "00000000-0000-7000-8000-000000000009", "attempt": 1, "outcome": "delivered"}]'),
  being_restored('binding'), 'it keeps its results for later, too');
select is(outbox.tick(), '{"kicked": false, "restoring": true}', 'the tick does nothing');
select is(refusal('select outbox.cleanup_next()'), being_restored('binding'), 'cleanup_next() deletes nothing');
select is(refusal('select outbox.cleanup()'), being_restored('binding'), 'cleanup() deletes nothing');
select is(refusal('select outbox.add_partitions()'), being_restored('binding'), 'add_partitions() creates none that the backup has');
select is(refusal('select outbox.drop_partitions()'), being_restored('binding'), 'drop_partitions() drops none whose deliveries are not loaded');
rollback to savepoint complete;

-- pg_restore with several jobs: the key of a small table is there before the data of a large one.
alter table outbox.lane drop constraint lane_pkey cascade;
select is(outbox.unrestored_table(), 'lane', 'unrestored_table() names the table');
select is(called(), 'accepted', 'a run of the database that the outbox is bound to works');
update outbox.binding set database = '1/1';
select is(called(), being_restored('lane'), 'a run that meets another database waits for all keys');
select is(refusal('select outbox.drop_partitions()'), being_restored('lane'), 'so does drop_partitions()');
delete from outbox.binding;
select is(called(), being_restored('lane'), 'so does a run that would bind the outbox');

select * from finish();
rollback;
