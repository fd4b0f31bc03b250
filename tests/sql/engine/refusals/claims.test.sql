-- Modules: api
-- A delivery that cannot be leased keeps no other delivery of its endpoint. After three refusals it is set
-- aside, where people see it, until retry_now().
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(46);

create table bad (event_id uuid, always boolean);
create function refuse() returns trigger language plpgsql as $$
begin
  if exists (select from helper.bad b where b.event_id = new.event_id and (b.always or new.leased_until is not null)) then
    raise exception 'no lease';
  end if;
  return new;
end
$$;
create trigger refuse before update on outbox.delivery for each row execute function refuse();
create temporary table made as select endpoint('{a}') as a, endpoint('{b}') as b, endpoint('{goes}', 'partition') as goes, endpoint('{stops}', 'partition') as stops;
update outbox.endpoint set on_dead_letter = case when id = (select stops from made) then 'halt' else 'continue' end where true;
create temporary table answer as select '{}'::jsonb as a;
create function turn(p_wait interval default '1 min') returns void language plpgsql as $$
begin
  update answer set a = step() where true;
  perform step(0, results(a, 'delivered', '{"status": 200}')) from answer;
  perform time_passes(p_wait);
end
$$;
create function refused() returns text language sql as $$
  select string_agg(r.step || ' ' || r.failures || ' ' || r.sqlstate || ' ' || r.error, ', ' order by r.event_id) from outbox.refusal r
$$;

-- A row that may be changed, but not leased; and one that may not be changed at all.
create temporary table event as select events(5, 'a') as a, events(5, 'b') as b;
insert into bad select a[2], false from event;
insert into bad select b[1], true from event;
select turn('0.5 s');
select is(claimed(a.a, m.a), 4, 'of five deliveries the other four are sent at once') from answer a, made m;
select is(claimed(a.a, m.b), 4, 'also where the row cannot be changed at all') from answer a, made m;
select is(refused(), 'claim 1 P0001 no lease, claim 1 P0001 no lease', 'the refusal of each is recorded');
select is_empty('select from outbox.endpoint_refusal', 'no endpoint is left out');
select is_empty('select * from miscounts()', 'the counters are right');
select is((select count(*)::integer from outbox.delivery d where d.attempt > 0), 0, 'no attempt is spent');
select turn('0.4 s');
select is(refused(), 'claim 1 P0001 no lease, claim 1 P0001 no lease', 'each waits as after a failed attempt');
select turn('1 min');
select turn('1 min');
select is(refused(), 'claim 2 P0001 no lease, claim 2 P0001 no lease', 'then it is tried again');
select turn('1 min');
select is(refused(), 'claim 3 P0001 no lease, claim 3 P0001 no lease', 'and a third time');
select results_eq('select distinct s.status, s.held_because from outbox.delivery_status s where s.open',
  $$values ('held', 'set aside: P0001 no lease')$$, 'then it is set aside, with the SQLSTATE and the text');
select is((select count(*)::integer from outbox.delivery_status s where s.open and s.next_attempt_at is null), 2, 'without a next attempt');
select results_eq('select set_aside, set_aside_error from outbox.queue_health', $$values (2::bigint, 'P0001 no lease')$$, 'queue_health shows it');
select is((select string_agg(s.set_aside || ' ' || s.set_aside_error, ', ') from outbox.endpoint_status s join made on s.id in (a, b)), '1 P0001 no lease, 1 P0001 no lease', 'and endpoint_status');
select is((select jsonb_array_length(outbox.list_deliveries('default', 'held', m.b) -> 'data') from made m), 1, 'and the list of held deliveries');
select turn('1 hour'), turn('1 hour');
select is(refused(), 'claim 3 P0001 no lease, claim 3 P0001 no lease', 'it is not tried again');
select is(outbox.has_due(outbox.clock()), false, 'and starts no run');
do $$ begin perform events(2, 'a'), events(2, 'b'), turn(); end $$;
select is(claimed(a.a), 4, 'what comes later is sent') from answer a;
select is_empty('select * from miscounts()', 'the counters are right');

-- Retried while the cause is there, it is refused three times again.
select is(refusal(format('select outbox.retry_now(%L, %L)', e.b[1], m.b)), 'P0001 no lease (without a hint)', 'retry_now() shows why the row cannot be changed') from event e, made m;
select outbox.retry_now(e.a[2], m.a) from event e, made m;
select turn();
select is((select failures from outbox.refusal r join made m on r.endpoint_id = m.a), 1, 'a delivery that a person retries begins with its first refusal');
truncate bad;
select outbox.retry_now(e.a[2], m.a), outbox.retry_now(e.b[1], m.b) from event e, made m;
select turn();
select is(claimed(a.a), 2, 'once the cause is removed, retry_now() sends both') from answer a;
select is_empty('select from outbox.refusal', 'nothing is left of the refusals');
select is_empty('select * from miscounts()', 'the counters are right');

-- Ordered keys.
create temporary table key as select events(3, 'goes', 'k') as goes, events(3, 'stops', 'k') as stops, events(1, 'goes', 'other') as other;
insert into bad select goes[1], true from key;
insert into bad select stops[1], true from key;
select turn('0.5 s');
select is(claimed_events(a.a), k.other, 'behind a refused delivery its key waits, and no other key does') from answer a, key k;
select turn('1 min'), turn('1 min'), turn('1 min');
select is((select string_agg(distinct r.failures::text, ' ') from outbox.refusal r), '3', 'after the third refusal');
create temporary table sent as select count(*)::integer as n from outbox.attempt a join key k on a.event_id = any (k.goes);
select is(n, 2, 'where dead letters are passed over the key goes on') from sent;
select is((select count(*)::integer from outbox.attempt a join key k on a.event_id = any (k.stops)), 0, 'where they halt it stands still');
select is((select halted from outbox.lane l join outbox.gate g on g.id = l.gate_id join made on stops = endpoint_id where l.ordered), true, 'and is halted');
create temporary table later as select events(1, 'goes', 'k') as goes;
select turn();
select is(claimed_events(a.a), l.goes, 'what the key gets later is sent, although the delivery is still in its lane') from answer a, later l;
select is_empty('select * from miscounts()', 'the counters are right');
truncate bad;
select outbox.retry_now(k.goes[1], m.goes), outbox.retry_now(k.stops[1], m.stops), outbox.resume_lane(m.stops, 'k') from key k, made m;
select turn(), turn();
select is_empty('select from outbox.delivery', 'once the cause is removed, all are sent');
select is_empty('select * from miscounts()', 'the counters are right');

-- A person retries the second delivery of a key whose first one is refused and waits.
create temporary table pair as select events(2, 'goes', 'pair') as ids;
insert into bad select ids[1], true from pair;
select turn('0.5 s');
select outbox.retry_now(p.ids[2], m.goes) from pair p, made m;
select turn('0.5 s');
select is(claimed(a.a), 0, 'a retry of the second does not overtake a refused first') from answer a;
select is((select r.failures from outbox.refusal r join pair p on r.event_id = p.ids[1]), 2, 'which is tried and refused again');
select is_empty('select from outbox.endpoint_refusal', 'and is the cause, not its endpoint');
truncate bad;
select outbox.retry_now(p.ids[2], m.goes) from pair p, made m;
select turn('0.5 s');
select is(claimed_events(a.a), p.ids, 'once it can be leased, it is sent first') from answer a, pair p;
select is_empty('select from outbox.refusal', 'nothing is left of its refusals');
select is_empty('select * from miscounts()', 'the counters are right');

-- If no delivery can be leased, the cause is not one of them.
create temporary table many as select events(10, 'a') as ids;
insert into bad select unnest(ids), true from many;
select turn();
select is_empty('select from outbox.refusal', 'if none of ten can be leased, none is taken for the cause');
select is((select e.failures from outbox.endpoint_refusal e join made m on m.a = e.endpoint_id), 1, 'and the endpoint is left out');
truncate bad;
select turn();
select is(claimed(a.a), 10, 'so that all are sent without retry_now()') from answer a;

-- A claimed delivery whose event is gone, and whose end cannot be stored.
create function no_end() returns trigger language plpgsql as $$
begin
  raise exception 'no end';
end
$$;
create trigger no_end before insert on outbox.attempt for each row when (new.kind = 'close') execute function no_end();
create temporary table gone as select events(1, 'a') as a, events(2, 'b') as b;
select step(0);
delete from outbox.event v using gone g where v.id = g.a[1];
select turn();
select is(claimed_events(a.a, m.b), g.b, 'a delivery whose end cannot be stored keeps no other delivery') from answer a, gone g, made m;
select turn(), turn();
select is(refused(), 'result 3 P0001 no end', 'after three refusals it is set aside');
select is_empty('select * from miscounts()', 'the counters are right');
drop trigger no_end on outbox.attempt;

-- An isolated delivery.
create temporary table alone as select events(2, 'a') as ids;
do $$
begin
  for v_time in 1 .. 4 loop
    perform outbox.dispatch('00000000-0000-7000-8000-000000000003', nextval('helper.seq'), '[]', 100, p_held => 0), time_passes('1 min');
  end loop;
end
$$;
insert into bad select ids[1], true from alone;
create function alone() returns uuid[] language sql as $$
  select claimed_events(outbox.dispatch('00000000-0000-7000-8000-000000000004', nextval('helper.seq'), '[]', 100, p_held => 0)::jsonb)
$$;
select is(alone(), ids[2:2], 'an isolated delivery that cannot be leased keeps no other isolated one') from alone;
select is((select r.step || ' ' || r.failures from outbox.refusal r join alone i on r.event_id = i.ids[1]), 'claim 1', 'and is refused');

select * from finish();
rollback;
