-- What is read of sagas: the definitions, for tokens only those that tokens may execute, and the log of an execution.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(15);

create schema shop;
create function shop.one(p jsonb) returns jsonb language sql as $$ select '{"one": 1}'::jsonb $$;
-- The test's clock stands still otherwise, and ids of one microsecond have no order.
create function shop.two(p jsonb) returns jsonb language sql as $$ update outbox.test_clock set at = at + '1 ms' where only_row; select '{"two": 2}'::jsonb $$;
select outbox.define_saga('open', '[{"function": "shop.one", "event_type": "one.done"}, {"function": "shop.two", "event_type": "two.done"}]', p_by_tokens => true);
select outbox.define_saga('inner', '[{"function": "shop.one", "event_type": "one.done"}]');

select is(jsonb_path_query_array(outbox.list_sagas(), '$.data[*].name'), '["inner", "open"]', 'all sagas by name');
select is(jsonb_path_query_array(outbox.list_sagas(p_by_token => true), '$.data[*].name'), '["open"]', 'for a token only those that tokens may execute');
select is(outbox.get_saga('open') - 'definedAt', '{"name": "open", "byTokens": true, "steps": [{"function": "shop.one", "eventType": "one.done"}, {"function": "shop.two", "eventType": "two.done"}]}',
  'a saga with its steps in order');
select is(outbox.get_saga('inner') ->> 'byTokens', 'false', 'whatever it allows');
select is(refusal($$select outbox.get_saga('inner', true)$$), 'OH002 saga ''inner'' does not exist', 'which a token does not learn');
select is(refusal($$select outbox.get_saga('none')$$), 'OH002 saga ''none'' does not exist', 'an unknown saga');

create temporary table ours as select endpoint('{one.*}', p_org_id => 'org-1') as id;
create temporary table ran as select (outbox.execute_saga('open', '{}', 'org-1') ->> 'id')::uuid as id;
select outbox.publish('one.done', '{}', 'org-1', p_correlation_id => id::text) from ran;
create function log() returns jsonb language sql as $$ select outbox.get_saga_execution('org-1', id) from ran $$;

select is(jsonb_path_query_array(log(), '$.steps[*].eventType'), '["one.done", "two.done"]', 'the steps in their order, and no other event with this correlation id');
select is(jsonb_path_query_array(log(), '$.steps[*].deliveries'), '[[], []]', 'without deliveries before they are routed');
select is(log() ->> 'id', id::text, 'the id') from ran;
select is(log() ->> 'executedAt', outbox.iso_time(outbox.uuid_v7_time(id)), 'the time') from ran;
select fail(500);
select is(log() #>> '{steps,0,deliveries,0,status}', 'retrying', 'a delivery that failed');
select is(log() #>> '{steps,0,deliveries,0,endpointId}', id::text, 'with its endpoint') from ours;
select is(log() #> '{steps,1,deliveries,0}' -> 'endpointId', 'null', 'an event that nobody wanted has no endpoint');
select is(refusal(format('select outbox.get_saga_execution(%L, %L)', 'org-2', id)), format('OH002 execution ''%s'' does not exist', id), 'another organisation finds nothing') from ran;
select is(refusal(format('select outbox.get_saga_execution(%L, %L)', 'org-1', '01900000-0000-7000-8000-000000000000')),
  'OH002 execution ''01900000-0000-7000-8000-000000000000'' does not exist', 'nor does anybody by another id');

select * from finish();
rollback;
