-- Modules: brokers, messages
-- A failure that the endpoint or the delivery did not cause does not count against it.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(4);

create temporary table made as select endpoint('{a}') as id;
select events(1, 'a');
do $$ begin perform step(), time_passes('20 s'), step(0); end $$;
select is((select error_class from outbox.attempt), null, 'nobody has looked yet');
do $$ begin perform step(); end $$;
select is((select error_class from outbox.attempt), 'lease_expired', 'a run that died');
select is((gate_of(id)).first_failure_at, null, 'does not make the endpoint one that fails') from made;

-- A broker that is away: the delivery waits for a try as behind a first failure.
create temporary table broker as select (outbox.create_broker_endpoint('kafka', '{"brokers": ["kafka.example.com:9093"]}', p_event_types => '{b}', p_ordering => 'none') ->> 'id')::uuid as id;
update outbox.endpoint e set retry = plain_retry(), breaker_enabled = false from broker where e.id = broker.id;
select events(1, 'b');
select send('failed', '{"error_class": "connect"}');
select is((select d.due_at - t.at from outbox.delivery d join broker on broker.id = d.endpoint_id, outbox.test_clock t), interval '1 s',
  'a delivery that waits for its broker is tried again after the first delay');

select * from finish();
rollback;
