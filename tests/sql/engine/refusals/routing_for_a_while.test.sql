-- Routing that fails each time with an error that is usually temporary. At the third failure the other endpoints of the event
-- have their deliveries. The refused one is created again for half an hour, and is then set aside. An event whose only delivery
-- is refused is routed again for as long.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(6 * 5 + 2 + 4 + 12 + 7);

create temporary table made as select endpoint() as good, endpoint() as bad;
create temporary table error (sqlstate text, may_stay boolean);
insert into error values ('40001', true), ('40P01', true), ('55P03', true), ('55006', true), ('53100', false), ('25006', false);
create table raised (sqlstate text, event uuid, endpoint uuid);
create function no_delivery() returns trigger language plpgsql as $$
declare
  v_state text := (select r.sqlstate from helper.raised r where r.event = new.event_id and r.endpoint = new.endpoint_id);
begin
  if v_state is not null then
    raise exception using errcode = v_state, message = 'not now';
  end if;
  return new;
end
$$;
create trigger no_delivery before insert on outbox.delivery for each row execute function helper.no_delivery();

create temporary table came (sqlstate text, neighbours integer, others integer, aside text, failures integer, unrouted bigint);
do $$
declare
  e record;
  v_ids uuid[];
begin
  for e in select * from error loop
    v_ids := events(3);
    delete from helper.raised where true;
    insert into helper.raised select e.sqlstate, v_ids[2], bad from made;
    perform step(0);
    insert into came select e.sqlstate, (select count(*) from outbox.delivery d where d.event_id in (v_ids[1], v_ids[3]));
    perform step(0), step(0);
    update came c set
      others = (select count(*) from outbox.delivery d where d.event_id = v_ids[2]),
      aside = (select format('%s, again in %s s', f.error, extract(epoch from f.again_at - outbox.clock())::integer) from outbox.refusal f where f.event_id = v_ids[2]),
      failures = (select u.failures from outbox.unrouted u where u.event_id = v_ids[2]),
      unrouted = (select count(*) from outbox.unrouted)
    where c.sqlstate = e.sqlstate;
    delete from helper.raised where true;
    perform time_passes('1 min'), outbox.create_waiting(outbox.clock(), 100);
    while exists (select from outbox.unrouted) loop perform step(0); end loop;
  end loop;
end $$;
select is(c.neighbours, case when e.may_stay then 4 else 0 end, format('%s: its neighbours are routed at once', sqlstate)) from came c join error e using (sqlstate);
select is(c.others, case when e.may_stay then 1 else 0 end, format('%s: the third time its other endpoint has it', sqlstate)) from came c join error e using (sqlstate);
select is(c.aside, case when e.may_stay then 'not now, again in 60 s' end, format('%s: and the refused delivery is set aside for a minute', sqlstate)) from came c join error e using (sqlstate);
select is(c.failures, case when e.may_stay then null else 0 end, format('%s: errors of the server do not count', sqlstate)) from came c join error e using (sqlstate);
select is(c.unrouted, case when e.may_stay then 0 else 3 end::bigint, format('%s: nothing else waits', sqlstate)) from came c join error e using (sqlstate);
select is_empty('select from outbox.refusal', 'after that minute each delivery is created');
select is_empty('select * from miscounts()', 'the counters are right');

-- A trigger that raises query_canceled: each statement here takes less than 1 s.
create temporary table cancelled as select (events(1))[1] as id;
insert into raised select '57014', id, bad from cancelled, made;
select is(step(0) ->> 'error' like '%not now%', true, '57014: the event fails as a whole');
select is(step(0) ->> 'error' like '%not now%', true, '57014: and again');
select is(step(0) ->> 'routed', '1', '57014: the third time its other endpoint has it');
select results_eq('select r.sqlstate, r.again_at - outbox.clock() from outbox.refusal r', $$values ('57014', interval '1 min')$$, '57014: the refused delivery is set aside for a minute');
delete from raised where true;
do $$ begin perform time_passes('1 min'), outbox.create_waiting(outbox.clock(), 100); end $$;

-- It is created again after 1, 2, 4, 8 and 16 minutes, and each failure sets it aside again.
create temporary table event as select (events(1))[1] as id;
insert into raised select '40P01', id, bad from event, made;
do $$ begin perform step(0), step(0), step(0); end $$;
select results_eq('select d.endpoint_id from outbox.delivery d join event e on e.id = d.event_id', 'select good from made', 'the good endpoint has its delivery');
select is(s.status || ' ' || s.held_because, 'held set aside: 40P01 not now', 'the list shows the other one') from outbox.delivery_status s, event, made where s.event_id = id and s.endpoint_id = bad;
create temporary table waited (n integer generated always as identity, by interval);
do $$ begin
  for v_round in 1..5 loop
    insert into waited (by) select r.again_at - outbox.clock() from outbox.refusal r;
    perform time_is((select r.again_at - interval '1 microsecond' from outbox.refusal r)), outbox.create_waiting(outbox.clock(), 100);
    if (select r.failures from outbox.refusal r) > v_round then raise 'too early'; end if;
    perform time_passes('1 microsecond'), outbox.create_waiting(outbox.clock(), 100);
  end loop;
end $$;
select results_eq('select by from waited order by n', $$values (interval '1 min'), ('2 min'), ('4 min'), ('8 min'), ('16 min')$$, 'how long it is set aside each time');
select results_eq('select r.endpoint_id, r.sqlstate, r.again_at from outbox.refusal r join event e on e.id = r.event_id',
  $$select bad, '40P01', 'infinity'::timestamptz from made$$, 'then it is set aside until retry_now()');
select is((select set_aside from outbox.queue_health), 1::bigint, 'queue_health counts it');
select is(outbox.create_waiting('2100-01-01', 100), 0, 'nothing creates it by itself');

-- One that is refused each time keeps no other from being created, and an error of the server counts for none.
create temporary table three as select events(3) as ids;
insert into raised select '55P03', i, bad from three, unnest(ids) i, made;
do $$ begin perform step(0), step(0), step(0), time_passes('1 min'); end $$;
delete from raised r using three where r.event <> ids[2] and r.event = any (ids);
update raised set sqlstate = '53100' where event in (select ids[2] from three);
select throws_ok('select outbox.create_waiting(outbox.clock(), 100)', '53100', 'not now', 'an error of the server ends the step');
select is((select max(r.failures) from outbox.refusal r, three where r.event_id = any (ids)), 1, 'and is no refusal');
update raised set sqlstate = '55P03' where event in (select ids[2] from three);
select is(outbox.create_waiting(outbox.clock(), 100), 2, 'two of three are created');
select results_eq('select r.event_id, r.failures from outbox.refusal r, three where r.event_id = any (ids)', 'select ids[2], 2 from three', 'and the third waits again');
delete from raised where true;
select is(outbox.retry_now(ids[2], bad) ->> 'event_id', ids[2]::text, 'retry_now() creates it before its time') from three, made;
select is(outbox.create_waiting(outbox.clock() + interval '1 hour', 100), 0, 'and nothing creates it twice');

-- With one endpoint the whole event is set aside in the end, until route_again().
create temporary table alone as select endpoint('{only.me}', p_org_id => 'alone') as id, null::uuid as event;
update alone set event = (events(1, 'only.me', p_org_id => 'alone'))[1] where true;
insert into raised select '55P03', event, id from alone;
do $$ begin
  perform step(0), step(0), step(0);
  for v_round in 1..5 loop
    perform time_is((select u.again_at from outbox.unroutable u)), outbox.route_waiting(outbox.clock(), 100), step(0);
  end loop;
end $$;
select results_eq('select u.event_id, u.org_id, u.again_at, u.failures::integer from outbox.unroutable u', $$select event, 'alone', 'infinity'::timestamptz, 8 from alone$$, 'set aside until route_again()');
select is((select unroutable from outbox.queue_health), 1::bigint, 'queue_health shows it');
select is(outbox.route_waiting('2100-01-01', 100), 0, 'nothing routes it by itself');
delete from raised where true;
select is(outbox.route_again(event) ->> 'unrouted', 'true', 'a person does') from alone;
select is(claimed(step(), id), 1, 'and it is delivered') from alone;
select is_empty('select from outbox.unroutable', 'nothing is set aside');
select is_empty('select * from miscounts()', 'the counters are right in the end');

select * from finish();
rollback;
