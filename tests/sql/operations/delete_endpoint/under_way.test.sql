-- What a run holds when its endpoint is deleted ends as it ends; the purge waits for it, and for a run that
-- died as long as the lease lasts.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(19);

create temporary table made as select endpoint() as id;
create temporary table event as select events(6) as ids;
create temporary table answer as select step(4) as a;
select outbox.delete_endpoint(id) from made;
select outbox.tick();
select is((select array_agg(event_id order by event_id) from outbox.delivery), ids[1:4], 'what nobody holds is cancelled, what is under way stays') from event;
select is((gate_of(id)).depth, 4::bigint, 'the gate stays with it') from made;
select isnt((select jsonb_array_length(outbox.active_secrets(array[id], outbox.clock()) -> id::text)), 0, 'and the secrets') from made;
select results_eq('select open, in_flight from outbox.endpoint_status', $$values (4::bigint, 4)$$, 'endpoint_status counts it');

select step(0, jsonb_build_array((results(a, 'delivered', '{"status": 200}') -> 0), (results(a, 'failed', '{"status": 500}') -> 1), (results(a, 'released') -> 2))) from answer;
select is(attempts(ids[1], id), '1 delivered', 'a success that was under way is a success') from event, made;
select is(status_of(ids[1], id), 'delivered', 'and is shown as one') from event, made;
select is(attempts(ids[2], id), '1 failed', 'a failure is a failure') from event, made;
select is(claimed(step()), 0, 'nothing is claimed again');
select outbox.tick();
select is(attempts(ids[2], id), '1 failed, 1 closed as cancelled', 'and is cancelled then') from event, made;
select is(attempts(ids[3], id), '1 closed as cancelled', 'so is what was given back') from event, made;
select is((select array_agg(event_id) from outbox.delivery), ids[4:4], 'the last is with a run that died') from event;
select time_passes('19.999 s');
select outbox.tick();
select is((select count(*) from outbox.delivery), 1::bigint, 'it is waited for while the lease lasts');
select time_passes('1 ms');
select outbox.tick();
select is((select count(*) from outbox.delivery), 0::bigint, 'and no longer');
select is(attempts(ids[4], id), '1 closed as cancelled', 'it is cancelled') from event, made;
select is((gate_of(id)).in_flight, 0, 'the gate counts nothing under way') from made;
select is(step(0, jsonb_build_array(results(a, 'delivered') -> 3)) -> 'stale', '1', 'its result, if it comes, is stale') from answer;
select outbox.tick();
select is((select count(*) from outbox.gate), 0::bigint, 'then the gate goes');
select is((select count(*) from vault.secrets where name like 'outhook_endpoint%'), 0::bigint, 'and the secret');
-- The result of an endpoint whose gate has gone.
select is(step(0, jsonb_build_array(results(a, 'delivered') -> 3)) -> 'error', 'null', 'even a result after that is no error') from answer;

select * from finish();
rollback;
