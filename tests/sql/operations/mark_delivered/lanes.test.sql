-- mark_delivered() in lanes: keys that are longer than a step, and what was in flight at their head.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(20);

-- Steps until there is none; how many.
create function work() returns integer language plpgsql as $$
declare
  v_n integer := 0;
begin
  while outbox.work_delivered_marks(outbox.clock()) loop
    v_n := v_n + 1;
    if v_n > 200 then
      raise 'the job does not end';
    end if;
  end loop;
  return v_n;
end
$$;
create function marked() returns text language sql stable as $$
  select marked || case when finished_at is null then ' goes on' else ' done' end from outbox.delivered_mark order by id desc limit 1
$$;

create temporary table e as select endpoint('{o}', 'partition') as o, endpoint('{h}', 'partition') as h, endpoint('{i}') as i, endpoint('{p}') as p;
do $$ begin
  update outbox.endpoint set on_dead_letter = 'halt' where id in (select h from e);
  perform outbox.set_setting('delivery.max_lost_leases', '3');
end $$;

-- An ordered key of more than two steps, and two short ones, whose heads are in flight when the backup is made.
create temporary table keyed as select (events(450, 'o', 'long'))[1] as head, events(30, 'o', 'b') as b, events(1, 'o', 'c') as c;
do $$ begin perform step(100); end $$;
select cmp_ok((select count(*)::integer from outbox.delivery where leased_until is not null), '>', 3, 'the heads of the keys are in flight');
do $$ begin perform time_passes('3 minutes'); end $$;
create temporary table failure as select outbox.clock() as at;
do $$ begin perform time_passes('1 s'); end $$;
create temporary table later as select (events(1, 'o', 'long'))[1] as id;
do $$ begin perform time_passes('1 minute'); perform outbox.mark_delivered(at) from failure; perform work(); end $$;
select is(marked(), '481 done', 'a lost head does not keep back what is behind it');
select is((select array_agg(event_id) from outbox.delivery), array[id], 'only what came after the failure is left') from later;
select is_empty($$select from outbox.attempt where kind = 'attempt'$$, 'no failure is recorded');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'no gate sleeps');
select is(claimed_events(step(100)), array[id], 'a run gets it at once') from later;
do $$ begin perform time_passes('5 minutes'), send(), time_passes('5 minutes'), send(); end $$;

-- A lease that is the last one: no dead letter, and its key does not halt.
do $$ begin
  perform events(3, 'h', 'k');
  for n in 1 .. 3 loop
    perform step(1), time_passes('3 minutes');
    -- The lost lease is recorded, and its retry is due 1 s later.
    perform step(1) where n < 3;
    perform time_passes('2 s');
  end loop;
end $$;
select is((select max(lost_leases) from outbox.delivery where leased_until is not null), 2, 'a delivery has its last lease');
do $$ begin perform outbox.mark_delivered(outbox.clock()), work(); end $$;
select is(marked(), '3 done', 'a lease that was the last one');
select is_empty('select from outbox.dead_letter', 'makes no dead letter');
select is_empty('select from outbox.lane where halted', 'and halts no key');

-- A halted key, and a paused endpoint.
do $$ begin perform events(3, 'h', 'k'), send('failed', '{"status": 400}', 1); end $$;
select is((select count(*)::integer from outbox.lane where halted), 1, 'a key is halted');
do $$ begin perform events(2, 'p'), step(0), outbox.pause_endpoint(p), time_passes('1 s') from e; end $$;
create temporary table left_open as select count(*)::text as n from outbox.delivery;
do $$ begin perform outbox.mark_delivered(outbox.clock()), work(); end $$;
select is(marked(), n || ' done', 'what waits behind it is marked, and what a paused endpoint had to get') from left_open;
select is((select count(*)::integer from outbox.lane where halted), 1, 'the key stays halted');
select is_empty('select * from miscounts()', 'the counters are right');

-- The isolated lane.
do $$ begin perform events(2, 'i'), step(100), time_passes('3 minutes'), step(100), time_passes('2 s'), step(100), time_passes('3 minutes'), step(100); end $$;
do $$ begin perform time_passes('3 minutes'); end $$;
select cmp_ok((select count(*)::integer from outbox.delivery d join outbox.lane l on l.id = d.lane_id where l.key_hash = -1), '>', 0, 'a delivery is isolated');
do $$ begin perform outbox.mark_delivered(outbox.clock()), work(); end $$;
select is(marked(), '2 done', 'it is marked with the others');
select is_empty('select from outbox.delivery', 'nothing is open');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'no gate sleeps');

select * from finish();
rollback;
