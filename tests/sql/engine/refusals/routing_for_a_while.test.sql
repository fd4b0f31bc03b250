-- An event whose routing fails each time with an error that is usually temporary is routed again for half an hour, and is
-- then set aside. Meanwhile it costs no other event anything.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(6 * 4 + 3 + 11);

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

create temporary table came (sqlstate text, neighbours integer, aside text, failures integer, unrouted bigint);
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
      aside = (select format('%s %s', u.error, u.again_at - outbox.clock()) from outbox.unroutable u where u.event_id = v_ids[2]),
      failures = (select u.failures from outbox.unrouted u where u.event_id = v_ids[2]),
      unrouted = (select count(*) from outbox.unrouted)
    where c.sqlstate = e.sqlstate;
    delete from helper.raised where true;
    delete from outbox.unroutable where true;
    while exists (select from outbox.unrouted) loop perform step(0); end loop;
  end loop;
end $$;
select is(c.neighbours, case when e.may_stay then 4 else 0 end, format('%s: its neighbours are routed at once', sqlstate)) from came c join error e using (sqlstate);
select is(c.aside, case when e.may_stay then 'not now 00:01:00' end, format('%s: the third time it is set aside for a minute', sqlstate)) from came c join error e using (sqlstate);
select is(c.failures, case when e.may_stay then null else 0 end, format('%s: errors of the server do not count', sqlstate)) from came c join error e using (sqlstate);
select is(c.unrouted, case when e.may_stay then 0 else 3 end::bigint, format('%s: nothing else waits', sqlstate)) from came c join error e using (sqlstate);
select is((select count(*) from outbox.refusal), 0::bigint, 'no delivery is set aside for good');
select is(outbox.route_waiting(outbox.clock(), 100), 0, 'there is nothing to route again');
select is_empty('select * from miscounts()', 'the counters are right');

-- It is routed again after 1, 2, 4, 8 and 16 minutes, and each failure sets it aside again.
create temporary table event as select (events(1))[1] as id;
insert into raised select '40P01', id, bad from event, made;
do $$ begin perform step(0), step(0), step(0); end $$;
create temporary table waited (n integer generated always as identity, by interval);
do $$ begin
  for v_round in 1..5 loop
    insert into waited (by) select u.again_at - outbox.clock() from outbox.unroutable u;
    perform time_is((select u.again_at - interval '1 microsecond' from outbox.unroutable u));
    if outbox.route_waiting(outbox.clock(), 100) > 0 then raise 'too early'; end if;
    perform time_passes('1 microsecond'), outbox.route_waiting(outbox.clock(), 100), step(0);
  end loop;
end $$;
select results_eq('select by from waited order by n', $$values (interval '1 min'), ('2 min'), ('4 min'), ('8 min'), ('16 min')$$, 'how long it is set aside each time');
select is_empty('select from outbox.unroutable', 'then it is routed to all endpoints that can have it');
select results_eq('select d.endpoint_id from outbox.delivery d join event e on e.id = d.event_id', 'select good from made', 'the good one');
select results_eq('select r.endpoint_id, r.sqlstate, r.again_at from outbox.refusal r join event e on e.id = r.event_id',
  $$select bad, '40P01', 'infinity'::timestamptz from made$$, 'the other delivery is set aside until retry_now()');

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
