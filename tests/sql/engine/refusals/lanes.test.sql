-- A lane whose row cannot be changed stops nothing but itself: the other keys of its endpoint are sent, also those that
-- begin later, and also if the lane holds all the requests that the endpoint may have in flight.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(24);

create table bad (lane_id bigint);
create function refuse() returns trigger language plpgsql as $$
begin
  if exists (select from helper.bad b where b.lane_id = new.id) then
    raise exception 'this lane stays';
  end if;
  return new;
end
$$;
create trigger refuse before update on outbox.lane for each row execute function refuse();
create temporary table made as select endpoint('{a}', 'partition') as a, endpoint('{b}', 'partition', p_max_in_flight => 1) as b, endpoint('{c}') as c,
  endpoint('{other}') as other;
create temporary table answer as select '{}'::jsonb as a;
create function turn(p_wait interval default '1 min') returns integer language plpgsql as $$
begin
  update answer set a = step() where true;
  perform step(0, results(a, 'delivered', '{"status": 200}')) from answer;
  perform time_passes(p_wait);
  return claimed(a) from answer;
end
$$;
create function lane_of(p_event uuid) returns bigint language sql as $$
  select d.lane_id from outbox.delivery d where d.event_id = p_event
$$;
create function refused() returns text language sql as $$
  select string_agg(r.failures || ' ' || r.sqlstate || ' ' || r.error || ' ' || extract(epoch from r.again_at - r.at)::integer, ', ' order by r.lane_id) from outbox.lane_refusal r
$$;

create temporary table event as select events(2, 'a', 'k') as k, events(2, 'a', 'l') as l, events(1, 'other') as other;
do $$ begin perform step(0); insert into bad select lane_of(k[1]) from event; end $$;
select is(turn('5 s'), 3, 'of two keys the other one is sent at once, and all other endpoints');
select is(refused(), '1 P0001 this lane stays 10', 'the lane is left out for 10 s');
select is_empty('select from outbox.endpoint_refusal', 'and its endpoint is not');
select is_empty('select from outbox.refusal', 'nor is a delivery');
select is((select reason from outbox.endpoint_status s join made on s.id = a), 'claiming from 1 of its lanes is refused: P0001 this lane stays', 'endpoint_status says it');
select is(outbox.has_due(outbox.clock()), false, 'meanwhile it starts no run');
do $$ begin perform events(1, 'a', 'new'); end $$;
select is(turn('5 s'), 1, 'a key that begins later is sent at once');
select is(turn('1 s'), 0, 'after 10 s it is tried again');
select is(refused(), '2 P0001 this lane stays 20', 'and left out for twice as long');
do $$ begin for n in 1 .. 9 loop perform time_passes('5 min'), turn(); end loop; end $$;
select alike(refused(), '% P0001 this lane stays 300', 'up to 5 minutes');
truncate bad;
do $$ begin perform time_passes('5 min'); end $$;
select is(turn(), 2, 'once the cause is removed, its deliveries are sent');
select is_empty('select from outbox.lane_refusal', 'nothing is left of the refusal');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'and nothing sleeps');

-- In flight when it can no longer be changed: it has the only request that the endpoint may have.
create temporary table held as select events(1, 'b', 'k') as k;
update answer set a = step() where true;
do $$ begin insert into bad select lane_of(k[1]) from held; end $$;
do $$ begin perform step(0, results(a, 'delivered')) from answer; perform events(1, 'b', 'l'), time_passes('1 min'); end $$;
do $$ begin for n in 1 .. 3 loop perform turn('2 s'); end loop; end $$;
select is((select count(*)::integer from outbox.delivery d join made on d.endpoint_id = b), 1, 'a lost lease of a lane that cannot be changed does not use up max_in_flight');
truncate bad;
do $$ begin for n in 1 .. 4 loop perform time_passes('5 min'), turn(); end loop; end $$;
select is((select count(*)::integer from outbox.delivery d join made on d.endpoint_id = b), 0, 'once the cause is removed, its delivery is sent');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select from outbox.lane_refusal', 'nothing is left of the refusal');

-- An unordered endpoint has one lane for new deliveries, and others for replays.
create temporary table plain as select events(1, 'c') as ids;
do $$ begin perform step(0); insert into bad select lane_of(ids[1]) from plain; end $$;
select is(turn('5 s'), 0, 'of an unordered endpoint nothing is sent');
select is(refused(), '1 P0001 this lane stays 10', 'because of its lane');
truncate bad;
do $$ begin perform time_passes('10 s'); end $$;
select is(turn(), 1, 'and is sent after the cause');

-- Every lane of an endpoint: then the endpoint is left out.
drop trigger refuse on outbox.lane;
create function refuse_all() returns trigger language plpgsql as $$ begin raise exception 'no lane'; end $$;
do $$ begin
  execute format('create trigger refuse before update on outbox.lane for each row when (new.gate_id = %s and new.leased > 0) execute function helper.refuse_all()',
    (select g.id from outbox.gate g join made on g.endpoint_id = a));
end $$;
do $$ begin perform events(1, 'a', 'k'), events(1, 'a', 'l'), turn(); end $$;
select is((select sqlstate || ' ' || error from outbox.endpoint_refusal r join made on r.endpoint_id = a), 'P0001 no lane', 'if no lane can be changed, a new one neither, the endpoint is left out');
select is_empty('select from outbox.lane_refusal', 'and no lane');
drop trigger refuse on outbox.lane;
do $$ begin for n in 1 .. 3 loop perform time_passes('5 min'), turn(); end loop; end $$;
select is((select count(*)::integer from outbox.delivery), 0, 'once the cause is removed, all are sent');

select * from finish();
rollback;
