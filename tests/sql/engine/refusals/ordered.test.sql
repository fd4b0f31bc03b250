-- A delivery of an ordered key that is set aside: its key goes on, or stands still, as behind a dead letter.
begin;
\ir ../../_helpers.sql
select plan(9);

create function poison() returns trigger language plpgsql as $$
begin
  raise exception 'no such attempt';
end
$$;
create trigger poison before insert on outbox.attempt for each row when (new.response = 'POISON') execute function poison();
create temporary table made as select endpoint('{goes}', p_ordering => 'partition') as goes, endpoint('{stops}', p_ordering => 'partition') as stops;
update outbox.endpoint set on_dead_letter = case when id = (select stops from made) then 'halt' else 'continue' end where true;
create temporary table event as select events(2, 'goes', 'key') as goes, events(2, 'stops', 'key') as stops;

create temporary table answer as select '{}'::jsonb as a;
create function round() returns void language plpgsql as $$
begin
  update answer set a = step() where true;
  perform step(0, (
    select jsonb_agg(r || case when r -> 'event' in (to_jsonb((select goes[1] from event)), to_jsonb((select stops[1] from event)))
      then '{"outcome": "delivered", "response": "POISON"}'::jsonb else '{}' end)
    from answer, jsonb_array_elements(results(a, 'released')) r));
  perform time_passes('10 s');
end
$$;
select round();
select is((select count(*)::integer from outbox.delivery where due_at = 'infinity'), 0, 'after one refusal nothing is set aside');
select is((select count(*)::integer from outbox.lane where ordered and next_at between outbox.clock() - interval '9 s' and outbox.clock() - interval '9 s'), 2, 'both keys wait for a second, as after a failure');
select round(), round();
select results_eq('select event_id from outbox.delivery where due_at = ''infinity'' order by event_id', 'select unnest(array[goes[1], stops[1]]) from event order by 1', 'the third sets the first of each key aside');
update answer set a = step() where true;
select is(claimed_events(a, m.goes), array[e.goes[2]], 'where dead letters are passed over the key goes on') from answer, made m, event e;
select is(claimed(a, m.stops), 0, 'where they halt it stands still') from answer, made m;
select is((select halted from outbox.lane l join outbox.gate g on g.id = l.gate_id join made on stops = endpoint_id where l.ordered), true, 'and is halted');
select is_empty('select * from miscounts()', 'the counters are right');
do $$ begin perform step(0, results(a, 'delivered')) from answer; end $$;
select is((select count(*)::integer from outbox.lane l join outbox.gate g on g.id = l.gate_id join made on goes = endpoint_id where l.ordered), 0, 'a key that has nothing left is gone');
select is_empty('select * from miscounts()', 'the counters are right at the end');

select * from finish();
rollback;
