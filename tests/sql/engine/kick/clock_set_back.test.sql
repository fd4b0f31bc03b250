-- A clock that was ahead and is set right: what was noted in the future keeps nobody quiet.
begin;
\ir ../../_helpers.sql
select plan(5);

create function kicks(p_work text) returns integer language plpgsql as $$
declare
  v_before bigint := (select count(*) from net.http_request_queue);
begin
  perform set_config('outbox.kicked', '', true);
  execute p_work;
  return (select count(*) from net.http_request_queue) - v_before;
end
$$;
create function once() returns text language sql as $$ select 'select outbox.publish(''a'', ''{}'')' $$;
select outbox.configure('https://project.supabase.co/functions/v1/', repeat('s', 40));

select is(kicks(once()), 1, 'a kick in the future');
do $$ begin perform time_passes('-3 h'); end $$;
select is(kicks(once()), 1, 'does not keep the next one off');
do $$ begin perform time_passes('3 h 1 s'), step(0), time_passes('-3 h'); end $$;
select is(kicks(once()), 1, 'nor does a run that polled there');
do $$ begin perform outbox.publish('a', '{}'), setval('outbox.last_kick', (extract(epoch from outbox.clock() + interval '3 h') * 1000)::bigint); end $$;
select is(outbox.tick(), '{"kicked": true, "runs": 0}', 'for the tick either');

-- An edge run that started before, polled there and died.
insert into outbox.run (id, kind, started_at, polled_at)
select gen_random_uuid(), 'edge', outbox.clock() - interval '1 min', outbox.clock() + interval '3 h' from generate_series(1, 4);
select is(outbox.is_crowded(row(gen_random_uuid(), 'edge', outbox.clock(), outbox.clock(), null, null, null)::outbox.run, outbox.clock()), false,
  'and it takes no place from the living');

select * from finish();
rollback;
