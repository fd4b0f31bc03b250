-- Modules: messages
-- The tick's steps of upkeep: what goes wrong in one costs neither the others nor the kick.
begin;
\ir ../../_helpers.sql
select plan(13);

select outbox.configure('https://project.supabase.co/functions/v1/', repeat('s', 40));
create temporary table made as select endpoint() as id;
select events(5);
do $$ begin perform step(0), time_passes('10 s'); end $$;

-- The tick with one of its steps broken.
create function without(p_function regprocedure) returns text language plpgsql as $$
declare
  v_answer jsonb;
begin
  execute (select regexp_replace(pg_get_functiondef(p_function), 'AS \$function\$.*', 'AS $function$ begin raise exception ''broken''; end $function$', 's'));
  perform helper.time_passes('1 min');
  v_answer := outbox.tick();
  raise exception using errcode = 'ZZ000', message = v_answer ->> 'kicked';
exception when sqlstate 'ZZ000' then
  return sqlerrm;
end
$$;
select is(without(f), 'true', f || ' may fail')
from unnest(array['outbox.work_replay_jobs(timestamptz)', 'outbox.wake_changed(timestamptz)', 'outbox.wake_missed(timestamptz)', 'outbox.wake_refused(timestamptz)',
  'outbox.apply_callbacks(integer)', 'outbox.purge_deleted(integer)', 'outbox.expire_deliveries(integer)', 'outbox.fold_counters()']::regprocedure[]) f;

-- A paused endpoint is looked at once in a while, however often the tick comes.
do $$ begin perform outbox.pause_endpoint(id) from made; perform step(), time_passes('1 s'), outbox.tick(); end $$;
select cmp_ok((select g.next_at from outbox.gate g), '>', outbox.clock(), 'the tick wakes no gate of a paused endpoint');
do $$ begin perform outbox.resume_endpoint(id) from made; perform outbox.tick(); end $$;
select is((select g.next_at from outbox.gate g), outbox.clock(), 'but that of a resumed one');

-- A run that has not polled for ten seconds is no longer counted, though another has just polled: as in is_crowded().
create function poll(p_run integer) returns json language sql as $$
  select outbox.dispatch(('00000000-0000-7000-8000-00000000000' || p_run)::uuid, nextval('helper.seq'), '[]', 0)
$$;
do $$ begin perform outbox.set_setting('worker.max_runs', '2'), poll(1), time_passes('9 s'), poll(2), outbox.tick(); end $$;
select is(outbox.tick(), '{"runs": 2, "kicked": false}'::jsonb, 'two runs that are busy are alive, and a third would end at once');
do $$ begin perform time_passes('1.001 s'), poll(2), outbox.tick(); end $$;
select is(outbox.tick() -> 'runs', '1', 'after ten seconds one of the two is alive');
do $$ begin perform poll(2); end $$;
select is(outbox.tick() -> 'kicked', 'true', 'so that another is started for what is late');

select * from finish();
rollback;
