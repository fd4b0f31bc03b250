-- Modules: brokers, messages
-- Endpoints of a broker by the API, with the names of the API, and what a channel is not: an endpoint to delete.
begin;
\ir ../../_helpers.sql
\ir ../../_messages.sql
select plan(9);

create temporary table broker as select '{"url": "amqps://mq.example", "exchange": "orders", "routingKey": "o.{type}", "dlqExchange": "dead", "dlqRoutingKey": "d"}'::jsonb as settings;
create temporary table made as
select (outbox.create_org_endpoint('org-1', jsonb_build_object('kind', 'rabbitmq', 'broker', settings, 'credentials', '{"username": "u", "password": "p"}'::jsonb,
  'retry', '{"strategy": "fixed", "baseDelay": 7, "maxRetries": 2}'::jsonb, 'eventTypes', '["a"]'::jsonb)) ->> 'id')::uuid as id from broker;
select is((outbox.get_org_endpoint('org-1', id) -> 'broker') @> (settings - 'url'), true, 'the settings of a broker come back by the names of the API') from made, broker;
select is(outbox.get_org_endpoint('org-1', id) -> 'config', 'null', 'and once alone') from made;
select is(outbox.get_retry_config('org-1', id) -> 'policy', '{"strategy": "fixed", "baseDelay": 7, "maxRetries": 2}', 'with the policy that was given') from made;

-- The policy.
select is(refusal(format('select outbox.set_retry_config(%L, %L, %L)', 'org-1', id, '{"strategy": "fixed", "baseDelay": -1}')) like 'OH001 %', true, 'a policy without delays is refused')
from made;
select is(outbox.set_retry_config('org-1', id, '{"strategy": "exponential", "baseDelay": 2, "maxDelay": 9, "maxRetries": 3}', 1) -> 'version', '2', 'another is a new version') from made;
select is(refusal(format('select outbox.set_retry_config(%L, %L, %L, 1)', 'org-1', id, '{"strategy": "fixed", "baseDelay": 1}')) like 'OH008 %', true, 'which the next change must name') from made;

-- The status.
select is(outbox.pause_org_endpoint('org-1', id, 'moves') ->> 'statusReason', 'moves', 'a pause has the reason of who asked for it') from made;
select is(refusal(format('select outbox.delete_org_endpoint(%L, %L)', 'default', c.id)) like 'OH004 endpoint % is %', true, 'a channel is not deleted as an endpoint')
from (select channel() as id) c;
select is((select status from outbox.endpoint where kind = 'whatsapp'), 'enabled', 'and stays');

select * from finish();
rollback;
