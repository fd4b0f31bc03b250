-- Rows that cleanup and expiry keep although they look as old or as empty as those that they remove.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(8);

-- What a deleted endpoint has left is cancelled by purge_deleted(), and is nobody's to replay.
create temporary table made as select endpoint('{a}') as id;
select events(1, 'a');
select step(0), time_passes('31 d');
select outbox.delete_endpoint(id) from made;
select is(outbox.expire_deliveries(100), 0, 'what a deleted endpoint has left does not expire');
select is((select count(*) from outbox.dead_letter), 0::bigint, 'and becomes no dead letter');

-- Of two deliveries of one endpoint, as old as each other, the one that was replayed has its time anew.
create temporary table twin as select endpoint('{c}') as id;
create temporary table pair as select events(2, 'c') as ids;
create temporary table pair_answer as select step() as a;
select step(0, (results(a, 'delivered') - 1) || (results(a, 'released') - 0)) from pair_answer;
select outbox.pause_endpoint(id) from twin;
select time_passes('31 d');
select outbox.replay(p.ids[1], b.id) from pair p, twin b;
select is(outbox.expire_deliveries(100), 1, 'what was never sent expires');
select is((select array_agg(d.event_id) from outbox.delivery d join twin on d.endpoint_id = twin.id), ids[1:1], 'and what was replayed beside it does not') from pair;

-- A key that stopped behind its last delivery has an empty lane, which remembers that.
create temporary table halting as select endpoint('{b}', p_ordering => 'partition') as id;
update outbox.endpoint e set on_dead_letter = 'halt' from halting where e.id = halting.id;
select events(1, 'b', 'k');
select fail(404);
select time_passes('2 d'), outbox.cleanup();
select is((select count(*) from outbox.lane l where l.halted and l.depth = 0), 1::bigint, 'a key that stands still is not forgotten');
select events(1, 'b', 'k');
select is(claimed(step(), id), 0, 'what comes for it waits') from halting;

-- A day that was clean for some nights, and then was not, without anybody's replay.
select time_is('2020-02-10 12:00:00+00'), outbox.add_partitions();
create temporary table event as select (events(1, 'nobody.wants'))[1] as id;
select step(0), time_is('2020-02-11 00:00:00+00');
create function nights() returns integer language sql stable as $$ select clean_nights from outbox.partition_check where name = 'event_p20200210' $$;
do $$ begin
  for n in 1 .. 3 loop
    perform outbox.drop_partitions(), time_passes('1 d');
  end loop;
end $$;
select is(nights(), 3, 'three nights without anything open');
insert into outbox.unroutable (event_id, org_id, error, set_aside_at) select id, 'default', 'a test', outbox.clock() from event;
do $$ begin perform outbox.drop_partitions(), time_passes('1 d'); end $$;
delete from outbox.unroutable u where true;
do $$ begin perform outbox.drop_partitions(), time_passes('1 d'); end $$;
select is(nights(), 1, 'do not count behind one with something open');

select * from finish();
rollback;
