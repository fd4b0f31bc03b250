-- An isolated delivery whose attempt failed waits for its retry: until then no run drains for it.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(8);

create function call(p_run integer, p_held integer) returns jsonb language sql as $$
  select outbox.dispatch(('00000000-0000-7000-8000-00000000000' || p_run)::uuid, nextval('helper.seq'), '[]', 100, p_held => p_held)::jsonb
$$;
create temporary table made as select endpoint('{poison}', p_retry => '{"strategy": "fixed", "base_delay": 60, "max_retries": 3}') as poison, endpoint('{other}') as other;
create temporary table event as select events(1, p_type => 'poison') as ids;
-- Two runs in a row die with it. The first attempt of a run alone fails.
do $$ begin
  for v_time in 1 .. 2 loop
    perform call(1, 0), time_passes('20 s'), call(1, 1), time_passes('1 s');
  end loop;
end $$;
select is((select l.isolated from outbox.delivery d join outbox.lane l on l.id = d.lane_id), true, 'it is isolated');
create temporary table alone as select call(2, 0) as a;
select is(claimed_events(a), ids, 'and sent alone') from alone, event;
do $$ begin perform step(0, results(a, 'failed', '{"status": 500}')) from alone; end $$;
select ok((select d.due_at > outbox.clock() + interval '40 s' from outbox.delivery d), 'its retry is in a minute');

-- Its lease would have ended, and the run that is busy has more to do.
select time_passes('30 s');
create temporary table next as select events(1, p_type => 'other') as ids;
create temporary table busy as select call(3, 1) as a;
select is(claimed_events(a), ids, 'a run that holds others gets what is due') from busy, next;
select is_empty('select from outbox.isolation where drains_from is not null', 'and does not drain');
select ok(not outbox.has_isolated(outbox.clock()), 'nothing isolated is due');
do $$ begin perform step(0, results(a, 'delivered')) from busy; end $$;
select time_passes('40 s');
select is(claimed_events(call(4, 0)), ids, 'the delivery is sent again after its delay') from event;
select is_empty('select * from asleep()', 'nothing is asleep for ever');

select * from finish();
rollback;
