-- mark_delivered(): what was due until some time is ended with a recorded reason, and nothing else.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(44);

-- Steps until there is none; how many.
create function work() returns integer language plpgsql as $$
declare
  v_n integer := 0;
begin
  while outbox.work_delivered_marks(outbox.clock()) loop
    v_n := v_n + 1;
  end loop;
  return v_n;
end
$$;
-- The last job: how many it has marked, and whether it has ended.
create function marked() returns text language sql stable as $$
  select marked || case when finished_at is null then ' goes on' else ' done' end from outbox.delivered_mark order by id desc limit 1
$$;
create function open_of(p_endpoint_id uuid) returns integer language sql stable as $$
  select count(*)::integer from outbox.delivery where endpoint_id = p_endpoint_id
$$;

create temporary table e as
select endpoint('{a}') as a, endpoint('{a}') as b, endpoint('{o}', 'partition') as o, endpoint('{gone}') as gone;
grant select on e to public;

-- Arguments.
select is(refusal('select outbox.mark_delivered(null)'), 'OH001 until is null', 'a time is needed');
select is(refusal($$select outbox.mark_delivered('infinity')$$), 'OH001 until is infinity', 'a finite one');
select alike(refusal($$select outbox.mark_delivered(outbox.clock() + interval '1 s')$$), 'OH001 until is 2026-%', 'in the past');
select is(refusal(format('select outbox.mark_delivered(outbox.clock(), p_why => %L)', w)), 'OH001 why is missing or longer than 200 characters', 'with a reason')
from unnest(array[null, '', repeat('x', 201)]) w;
select alike(refusal($$select outbox.mark_delivered(outbox.clock(), p_endpoint_id => '01900000-0000-7000-8000-000000000000')$$), 'OH002 %', 'of an endpoint that exists');
select alike(refusal(format('select outbox.mark_delivered(outbox.clock(), %L, %L)', 'another', e.a)), 'OH002 %', 'of this organisation') from e;
select is(refusal($$select outbox.mark_delivered(outbox.clock(), 'nobody')$$), 'OH002 organisation nobody has no endpoint', 'of an organisation that has endpoints');
select is_empty('select from outbox.delivered_mark', 'none of this starts a job');
select is(work(), 0, 'and there is no step without one');

-- Before the backup: an event for later, one that is not routed, two keys of an ordered endpoint.
create temporary table early as select (events(2, 'a'))[1] as first;
do $$ begin
  perform step(0), outbox.publish('a', '{}', p_deliver_at => outbox.clock() + interval '2 hours'), events(1, 'gone');
end $$;
create temporary table keyed as select (events(1, 'o', 'retry'))[1] as retry, (events(1, 'o', 'retry'))[1] as behind, (events(1, 'o', 'free'))[1] as free;
do $$ begin perform outbox.delete_endpoint(gone) from e; end $$;

-- Half a second before the failure an ordered key fails, whose retry is due after the failure. One delivery is in flight.
do $$ begin perform time_passes('59500 ms'); end $$;
create temporary table claimed as select step(100) as a;
do $$ begin
  perform step(0, (
    select jsonb_agg(case when (r ->> 'event')::uuid = k.retry then r || '{"outcome": "failed", "status": 500}' else r end)
    from keyed k, early, e, jsonb_array_elements(results(claimed.a, 'released')) r
    where (r ->> 'event')::uuid <> first or (r ->> 'endpoint')::uuid <> e.a)) from claimed;
end $$;
select is((select count(*)::integer from outbox.delivery where leased_until is not null), 1, 'one is in flight when the backup is made');
do $$ begin perform time_passes('500 ms'); end $$;
create temporary table failure as select outbox.clock() as at;
do $$ begin perform time_passes('1 s'); perform events(2, 'a'); perform time_passes('1 minute'); end $$;

-- One endpoint.
select is(outbox.mark_delivered(at, p_endpoint_id => b) - 'id', '{"enabled": true, "replay_jobs": 0}', 'a job says whether runs deliver meanwhile') from e, failure;
select is(marked(), '0 goes on', 'the call itself marks nothing');
select cmp_ok(work(), '>', 2, 'the job works in steps');
select is(marked(), '2 done', 'it ends what the endpoint had to get');
select is_empty('select from outbox.unrouted', 'it routes first');
select is(open_of(b), 3, 'one for later stays, and what came after the failure') from e;
select is(open_of(a), 5, 'another endpoint keeps its own') from e;
select is((select string_agg(distinct outcome || ': ' || error, ', ') from outbox.attempt where kind = 'close' and endpoint_id = b), (select format('cancelled: marked as delivered, job %s: delivered before a restore', id) from outbox.delivered_mark), 'each has an end with the reason') from e;
select is((select (until_at = at, org_id, endpoint_id = b, started_by = session_user)::text from outbox.delivered_mark), '(t,,t,t)', 'the job keeps what it was for, and who started it') from e, failure;
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'no gate sleeps');
select is((select sum((c ->> 2)::integer)::integer from jsonb_array_elements(outbox.counters()) c where c ->> 0 = 'deliveries' and c -> 1 ->> 1 = 'cancelled'), 2, 'the metrics count them as cancelled');

-- All, while delivery is switched off.
do $$ begin perform outbox.set_setting('worker.enabled', 'false'); end $$;
select is(outbox.mark_delivered(at, p_why => 'restored to Monday') -> 'enabled', 'false', 'the rest, while delivery is switched off') from failure;
do $$ begin perform work(), outbox.set_setting('worker.enabled', 'true'); end $$;
select is(marked(), '3 done', 'those of the other endpoint and the free key');
select is(open_of(a), 3, 'of the other endpoint the same are left') from e;
select is(status_of(free, o), 'cancelled', 'the free key was due') from keyed, e;
select is(status_of(retry, o), 'retrying', 'the retry was due later') from keyed, e;
select is(status_of(behind, o), 'pending', 'and what waits behind it') from keyed, e;
select is_empty($$select from outbox.attempt where error_class = 'lease_expired'$$, 'what was in flight has no failure');
select is_empty('select from outbox.delivery where leased_until is not null', 'nothing is in flight');
select is_empty('select from outbox.dead_letter', 'nothing became a dead letter');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'no gate sleeps');
do $$ begin perform time_passes('1 s'); end $$;
create temporary table sent as select step(100) as a;
select is(claimed(a), 6, 'a run gets what came after the failure, the late retry, and what waited behind it') from sent;

-- Undone by replay.
select is(outbox.replay(first, b) ->> 'replaced', 'false', 'one of them can be sent again') from early, e;
select is(claimed_events(step(100), b), array[first], 'and is') from early, e;

-- What was replayed after that time is sent, also if it was never attempted.
do $$ begin perform outbox.mark_delivered(at), work() from failure; end $$;
select is(status_of(first, b), 'processing', 'it is left, because a run holds it') from early, e;
create temporary table never as select (events(1, 'a'))[1] as id, outbox.clock() as at;
do $$ begin perform time_passes('1 s'), outbox.mark_delivered(at, p_endpoint_id => a) from never, e; end $$;
do $$ begin perform work(), outbox.replay(id, a) from never, e; end $$;
do $$ begin perform outbox.mark_delivered(at, p_endpoint_id => a), work() from never, e; end $$;
select is(split_part(marked(), ' ', 1) || ' ' || status_of(id, a), '0 pending', 'a replay of what was never attempted') from never, e;

-- Who started it.
grant select on failure to service_role;
set local role service_role;
do $$ begin perform outbox.mark_delivered(at) from pg_temp.failure; end $$;
reset role;
select is((select started_by from outbox.delivered_mark order by id desc limit 1), 'service_role', 'the role of the caller is recorded, not the login role');

-- What else may send something again.
do $$ begin perform outbox.replay_many(p_org_id => 'other'), outbox.replay_many(p_org_id => 'default'), outbox.replay_many(); end $$;
select is(outbox.mark_delivered(at) ->> 'replay_jobs', '3', 'the running replay jobs are counted') from failure;
select is(outbox.mark_delivered(at, 'default') ->> 'replay_jobs', '2', 'those of one organisation, and of all') from failure;
select is(outbox.mark_delivered(at, p_endpoint_id => b) ->> 'replay_jobs', '2', 'or of the organisation of the endpoint') from failure, e;

select * from finish();
rollback;
