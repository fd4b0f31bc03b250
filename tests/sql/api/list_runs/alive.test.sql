-- list_runs() shows the live runs of the function beside the workers.
begin;
\ir ../../_helpers.sql
select plan(7);

select time_is(now());
create function call(p_run integer, p_kind text, p_ended boolean default false) returns jsonb language sql as $$
  select outbox.dispatch(('00000000-0000-7000-8000-0000000000a' || p_run)::uuid, nextval('helper.seq'), '[]', 0, p_kind, p_ended,
    p_contract => jsonb_build_object('oldest', 1, 'newest', 1, 'worker',
      jsonb_build_object('host', 'a', 'pid', 7, 'version', '1.2.3', 'in_flight', 3, 'delivered', 40)))::jsonb
$$;
select is(outbox.list_runs() - 'time', '{"alive": {"runs": 0, "workers": 0}, "data": [], "problems": []}', 'nothing is alive');
do $$ begin perform call(1, 'edge'), call(2, 'worker'), call(3, 'edge'); end $$;
select is(outbox.list_runs() -> 'alive', '{"runs": 2, "workers": 1}', 'each kind is counted');
select is(outbox.list_runs() -> 'data' -> 0, jsonb_build_object('id', '00000000-0000-7000-8000-0000000000a2', 'kind', 'worker', 'host', 'a', 'pid', '7', 'version', '1.2.3',
  'startedAt', outbox.iso_time(outbox.clock()), 'seenAt', outbox.iso_time(outbox.clock()), 'inFlight', 3, 'delivered', 40, 'status', 'live'), 'a worker comes first, with what it said');
select is(outbox.list_runs() -> 'data' -> 1, jsonb_build_object('id', '00000000-0000-7000-8000-0000000000a1', 'kind', 'edge', 'host', null, 'pid', null, 'version', null,
  'startedAt', outbox.iso_time(outbox.clock()), 'seenAt', outbox.iso_time(outbox.clock()), 'inFlight', null, 'delivered', null, 'status', 'live'), 'a run says no more than when it was seen');
do $$ begin perform call(1, 'edge', true); end $$;
select is(outbox.list_runs() -> 'alive', '{"runs": 1, "workers": 1}', 'a run that has ended is not alive');
select time_passes('10 s');
select is(outbox.list_runs() -> 'alive', '{"runs": 0, "workers": 0}', 'nor one that has not called');
select is(outbox.list_runs() #>> '{data,0,status}', 'silent', 'a silent worker is still shown');
select * from finish();
rollback;
