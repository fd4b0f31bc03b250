-- The refusal of a lane that has nothing open any more is removed.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(5);

create function refuse() returns trigger language plpgsql as $$
begin
  raise exception 'this lane stays';
end
$$;
create temporary table made as select endpoint('{a}', 'partition') as a;
create temporary table event as select events(1, 'a', 'k') as k;
do $$ begin
  perform step(0);
  execute format('create trigger refuse before update on outbox.lane for each row when (new.id = %s) execute function helper.refuse()',
    (select d.lane_id from outbox.delivery d));
  perform step();
end $$;
drop trigger refuse on outbox.lane;
select is((select count(*)::integer from outbox.lane_refusal), 1, 'the lane is refused');
select is((select reason from outbox.endpoint_status s join made on s.id = a), 'claiming from 1 of its lanes is refused: P0001 this lane stays', 'endpoint_status says so');
select outbox.cancel_delivery(k[1], a, 'why') from event, made;
do $$ begin perform step(0), outbox.tick(), step(0); end $$;
select is((select reason from outbox.endpoint_status s join made on s.id = a), null, 'no more after its delivery was cancelled');
do $$ begin perform time_passes('1 min'), outbox.cleanup(); end $$;
select is((select count(*)::integer from outbox.delivery), 0, 'nothing is open');
select is((select count(*)::integer from outbox.lane_refusal), 0, 'the cleanup removes the refusal');

select * from finish();
rollback;
