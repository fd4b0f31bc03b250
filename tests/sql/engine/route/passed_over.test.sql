-- New events pass over the organisations that wait for a turn, but not for long.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(18);

create temporary table ours as
select endpoint(p_org_id => 'wide') as id from generate_series(1, 60);
create temporary table small as select endpoint(p_org_id => 'small') as id;
create function routed_of(p_org_id text) returns bigint language sql as $$
  select count(*) from outbox.delivery d
  where d.endpoint_id in (select w.id from ours w where p_org_id = 'wide' union all select s.id from small s where p_org_id = 'small')
$$;
-- What one call creates for each after an event of "small".
create function call_with_new(p_events integer default 1) returns text language plpgsql as $$
declare
  v_wide bigint := routed_of('wide');
  v_small bigint := routed_of('small');
begin
  if p_events > 0 then
    perform events(p_events, p_org_id => 'small');
  end if;
  perform step(0), time_passes('10 ms');
  return format('wide %s, small %s', routed_of('wide') - v_wide, routed_of('small') - v_small);
end
$$;
do $$ begin
  perform events(200, p_org_id => 'wide'), time_passes('1 s');
  perform events(1, p_org_id => 'small'), step(0), time_passes('10 ms');
end $$;
select ok(outbox.is_shared(r, outbox.clock()) and exists (select from outbox.waiting_part where org_id = 'wide'), 'one waits while the other publishes') from outbox.router r;
do $$ begin perform setval('outbox.passed_pairs', 0); end $$;

select is(array(select call_with_new() from generate_series(1, 10)),
  '{"wide 0, small 1","wide 0, small 1","wide 0, small 1","wide 0, small 1","wide 249, small 1","wide 0, small 1","wide 0, small 1","wide 0, small 1","wide 0, small 1","wide 249, small 1"}'::text[],
  'four calls pass over it, and the fifth one is its turn, with all that a call may have');
select is(call_with_new(0), 'wide 100, small 0', 'a call without new events is always a turn');
select is(array(select call_with_new(60) from generate_series(1, 4)), '{"wide 0, small 60","wide 0, small 60","wide 190, small 60","wide 0, small 60"}'::text[],
  'many new events pass over it less often: what they create is counted');

-- Turns without new events count as turns.
do $$ begin perform setval('outbox.passed_pairs', 100); end $$;
select is(array[call_with_new(0), call_with_new()], '{"wide 250, small 0","wide 0, small 1"}'::text[], 'after a turn without new events the next one passes again');

-- A turn that fails is not repeated at once, also if it took longer than organisations count as waiting for each other.
do $$ begin perform setval('outbox.passed_pairs', 100); end $$;
create function failing_turn() returns text language plpgsql as $$
begin
  perform events(1, p_org_id => 'small');
  begin
    perform outbox.read_unrouted();
    raise exception 'somebody holds a gate' using errcode = 'P0099';
  exception when sqlstate 'P0099' then
    perform time_passes('6 s');
    return 'failed';
  end;
end
$$;
select is(failing_turn(), 'failed', 'a turn fails');
select is(array(select call_with_new() from generate_series(1, 5)),
  '{"wide 0, small 2","wide 0, small 1","wide 0, small 1","wide 0, small 1","wide 249, small 1"}'::text[], 'and the next four calls go on with the new events');

-- The order of an organisation stays: what it publishes while it waits comes after what waits.
create temporary table late_one as select outbox.publish('late', '{}', 'wide') as id;
do $$ begin perform setval('outbox.passed_pairs', 0); end $$;
select is(call_with_new(), 'wide 0, small 1', 'a call with new events passes over it');
select is((select count(*) from outbox.delivery d, late_one l where d.event_id = l.id), 0::bigint, 'and does not route its new event');

-- Filters count, too: an event of "picky" needs as much work as a call has.
select endpoint('{*}', p_org_id => 'picky', p_filter => '$[*] in (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)');
do $$ begin
  perform setval('outbox.passed_pairs', 0), outbox.publish_raw('a', '[' || repeat('1234567,', 6000) || '16]', 'picky'), step(0), time_passes('10 ms');
end $$;
select is((select count(*) from outbox.delivery d join outbox.event e on e.id = d.event_id where e.org_id = 'picky'), 1::bigint, 'an event with an expensive filter passes over it');
select is(call_with_new(), 'wide 249, small 1', 'once');

-- After a timeout the next event must be known.
update outbox.router set batch = 8 where true;
do $$ begin perform setval('outbox.passed_pairs', 0); end $$;
select isnt(call_with_new(), 'wide 0, small 1', 'a batch that has shrunk passes over nothing');
update outbox.router set batch = 1000 where true;

-- New events that a call cannot finish wait, too, and take no turn of another organisation.
do $$ begin perform setval('outbox.passed_pairs', 0); end $$;
create temporary table turn as select r.last_org from outbox.router r;
select is(call_with_new(150), 'wide 0, small 100', 'of many new events of one organisation, 100 pass');
select is((select r.last_org from outbox.router r), last_org, 'and the next turn is that of the same organisation as before') from turn;

do $$ begin
  for v_n in 1 .. 1000 loop
    exit when not outbox.has_unrouted();
    perform case when v_n % 3 = 0 then events(1, p_org_id => 'small') end, step(0), time_passes('10 ms');
  end loop;
end $$;
select ok(not outbox.has_unrouted(), 'all is routed in the end');
select is(routed_of('wide'), 201 * 60::bigint, 'once');
select is_empty('select * from miscounts()', 'the counters are right');
select is((select count(*) from outbox.waiting_part), 0::bigint, 'and nobody waits');
select * from finish();
rollback;
