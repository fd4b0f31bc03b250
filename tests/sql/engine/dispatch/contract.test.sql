-- Modules: api
-- dispatch() and functions of another version: a call names the contracts that it supports. Without a common
-- contract the call is only refused, and every health check shows the refusal.
begin;
\ir ../../_helpers.sql
select plan(47);

create sequence numbers;
create function called(p_contract jsonb, p_results jsonb default '[]', p_kind text default 'worker') returns jsonb language sql as $$
  select outbox.dispatch('00000000-0000-7000-8000-000000000009', nextval('numbers'), p_results, 10, p_kind, p_contract => p_contract)::jsonb
$$;
create function results_of(p_answer jsonb) returns jsonb language sql as $$
  select jsonb_agg(d || '{"outcome": "delivered", "status": 200, "duration_ms": 1}') from jsonb_array_elements(p_answer -> 'deliveries') d
$$;
do $$ begin perform endpoint(p_max_in_flight => 1, p_quantum => 1), events(6); end $$;

select is(outbox.contracts(), '{"oldest": 1, "newest": 1}', 'the contracts of this database');
select is(outbox.agreed_contract(c.speaks), c.agreed, 'agreed_contract(' || coalesce(c.speaks::text, 'null') || ')')
from (values
  (null::jsonb, 1), ('{"oldest": 1, "newest": 1}', 1), ('{"oldest": 1, "newest": 2}', 1),
  ('{"oldest": 2, "newest": 2}', null), ('{"oldest": 2, "newest": 3}', null)
) c (speaks, agreed);
select is(refusal(format('select outbox.agreed_contract(%L)', c.speaks)), 'OH001 contract is not an object with two whole numbers from 1', 'no range of contracts: ' || c.speaks)
from (values ('{}'), ('[]'), ('null'), ('7'), ('{"oldest": 1}'), ('{"oldest": "a", "newest": 1}'), ('{"oldest": 0, "newest": 1}'), ('{"oldest": 1.5, "newest": 2}'), ('{"oldest": 1, "newest": 99999999999}')) c (speaks);

-- Newer functions, whose contracts this database does not have.
create temporary table refused as select called('{"oldest": 2, "newest": 3}') as a;
select is(a - '{settings,refused,error}'::text[],
  '{"contracts": {"oldest": 1, "newest": 1}, "applied": 0, "stale": 0, "routed": 0, "repeat": false, "stop": "contract", "retries": null, "renewed": null, "deliveries": [], "events": {}, "endpoints": {}}',
  'the refusal hands out nothing') from refused;
select is(a -> 'refused', jsonb_build_object('update', 'database', 'message',
  'The functions support contract 2 to 3 and the database supports contract 1: update the database: push the migrations of the version of the functions'),
  'and says what to update') from refused;
select is(a -> 'error' ->> 'claim', a -> 'refused' ->> 'message', 'as an error too, which functions of contract 1 log') from refused;
select results_eq('select in_flight, depth from outbox.gate', 'values (0, 0::bigint)', 'no gate has heard of it');
select is((select count(*)::integer from outbox.unrouted), 6, 'nothing is routed');
select is_empty('select from outbox.delivery where attempt > 0', 'no attempt is counted');
select is_empty('select from outbox.run', 'and no run is alive');
select is((select sum(n) from outbox.counter_change where metric = 'runs' and labels = '{worker,contract}'), 1::numeric, 'the run is counted as refused');
create temporary table noted as select ctid as place from outbox.contract_refusal;
do $$ begin perform called('{"oldest": 2, "newest": 3}'); end $$;
select is((select r.ctid = place from outbox.contract_refusal r, noted), true, 'another of the same second is not noted again');
do $$ begin perform called('{"oldest": 5, "newest": 5}'); end $$;
select is((select speaks ->> 'newest' from outbox.contract_refusal), '5', 'one of another version is');
do $$ begin perform time_passes('2 s'), called('{"oldest": 2, "newest": 3}'); end $$;
select results_eq('select speaks, at from outbox.contract_refusal', $$values ('{"oldest": 2, "newest": 3}'::jsonb, outbox.clock())$$, 'and the next after a second');
select is((select problems[1] from outbox.queue_health), 'a run of kind worker was refused: ' || (select a -> 'refused' ->> 'message' from refused), 'queue_health tells it');
select is(outbox.get_health() ->> 'status', 'degraded', 'the health of the API too');
select alike(outbox.configure('https://project.supabase.co/functions/v1', repeat('s', 40)) -> 'problems' ->> 0, '%update the database%', 'and configure()');
select time_passes('301 s');
select is(outbox.kick('tick'), true, 'the refusal of a worker stops no kick');
select unalike((select problems::text from outbox.queue_health), '%refused%', 'until no such run has come for five minutes');

-- Functions with a common contract work, and so do functions that name none.
create temporary table claimed as select called('{"oldest": 1, "newest": 2}') as a;
select is(jsonb_array_length(a -> 'deliveries'), 1, 'a neighbour claims') from claimed;
create temporary table held as select called(null, results_of(a)) as a from claimed;
select is(a ->> 'applied', '1', 'and functions without a contract record and claim') from held;

-- The other way round: this database is newer than the functions, in the middle of a run.
do $$ begin perform time_passes('1 s'); end $$;
create or replace function outbox.contracts() returns jsonb language sql stable as $$ select '{"oldest": 3, "newest": 4}'::jsonb $$;
-- Its requests were sent, so its results count, whatever the contract.
create temporary table reported as select called(null, results_of(a), 'edge') as r, a from held;
select is(jsonb_array_length(a -> 'deliveries'), 1, 'a run holds a delivery') from reported;
select is(r ->> 'applied', '1', 'a refused run still records its results') from reported;
select is_empty($$select from outbox.delivery d, reported where d.event_id = (a -> 'deliveries' -> 0 ->> 'event')::uuid$$, 'the delivery is not sent again');
select is(called(null, '[{"outcome": "renew"}, 7, {"event": "x", "outcome": "delivered"}]', 'edge') ->> 'applied', '0', 'what is no result is passed over');
update refused set a = called(null, p_kind => 'edge') where true;
select is(a -> 'refused' ->> 'message', 'The functions support contract 1 and the database supports contract 3 to 4: update the functions: deploy them and restart workers from the version of the migrations', 'functions without a contract are told to be updated') from refused;
select results_eq('select ended_at from outbox.run', 'select outbox.clock()', 'a run that was refused in its middle has ended');
select is((select problems[1] from outbox.queue_health), 'a run of kind edge was refused: ' || (select a -> 'refused' ->> 'message' from refused), 'queue_health says so');

-- Kicks would only be refused, so they are few.
select is(outbox.kick('tick'), false, 'after the function was refused there is no kick');
do $$ begin perform time_passes('29 s'); end $$;
select is(outbox.kick('tick'), false, 'for 30 s');
do $$ begin perform time_passes('1 s'); end $$;
select is(outbox.kick('tick'), true, 'then one asks again');
do $$ begin perform called(null, p_kind => 'edge'); end $$;
select is(outbox.kick('tick'), false, 'and if it is refused, the next one waits too');
do $$ begin perform time_passes('-20 s'); end $$;
select is(outbox.kick('tick'), true, 'a refusal in the future, from a clock that was ahead, stops none');
do $$ begin perform time_passes('20 s'); end $$;

-- Once the two have a contract in common, nothing is left to do.
create or replace function outbox.contracts() returns jsonb language sql stable as $$ select '{"oldest": 1, "newest": 4}'::jsonb $$;
select is(outbox.contract_problem(outbox.clock()), null, 'an update ends the problem at once');
select is(outbox.kick('tick'), true, 'and the next kick is sent at once');

select * from finish();
rollback;
