-- Modules: api, brokers, messages
-- A new endpoint takes what the settings say when it is made, and keeps it; what it is given goes first.
begin;
\ir ../../_helpers.sql
select plan(20);

create temporary table given (name text, value jsonb, member text);
insert into given values
  ('endpoint.timeout_ms', '7000', 'timeout_ms'), ('endpoint.max_in_flight', '9', 'max_in_flight'), ('endpoint.quantum', '4', 'quantum'),
  ('endpoint.rate_burst', '3', 'rate_burst'), ('breaker.enabled', 'false', 'breaker_enabled'), ('breaker.threshold', '2', 'breaker_threshold'),
  ('breaker.open_ms', '45000', 'breaker_open_ms');
create temporary table before as select (outbox.create_endpoint('https://example.com') ->> 'id')::uuid as id;
select outbox.set_setting(name, value) from given;
create temporary table after as select (outbox.create_endpoint('https://example.com', p_rate_per_second => 5) ->> 'id')::uuid as id;

select is(to_jsonb(e) -> g.member, case g.member when 'breaker_enabled' then 'true' when 'timeout_ms' then '15000' when 'max_in_flight' then '50' when 'quantum' then '25'
  when 'rate_burst' then '10' when 'breaker_threshold' then '5' else '30000' end::jsonb, format('an endpoint that exists keeps its %s', g.member))
from given g, before join outbox.endpoint e using (id);
select is(to_jsonb(e) -> g.member, g.value, format('a new one takes its %s from %s', g.member, g.name)) from given g, after join outbox.endpoint e using (id);

create temporary table told as select (outbox.create_endpoint('https://example.com', p_timeout_ms => 600, p_max_in_flight => 1, p_quantum => 2) ->> 'id')::uuid as id;
select is((select row(e.timeout_ms, e.max_in_flight, e.quantum)::text from outbox.endpoint e join told using (id)), '(600,1,2)', 'what create_endpoint() is given goes first');
select is((select a - 'id' - 'secret' from outbox.create_org_endpoint('org-1', '{"url": "https://example.com", "breaker": {"openMs": 2000}}') a) #> '{breaker,openMs}', '2000', 'over HTTP too');
select is((select jsonb_build_array(a -> 'timeoutMs', a -> 'maxInFlight', a -> 'quantum', a -> 'rateBurst', a #> '{breaker,threshold}')
  from outbox.create_org_endpoint('org-1', '{"url": "https://example.com"}') a), '[7000, 9, 4, 3, 2]', 'an endpoint made over HTTP takes the rest from the settings');
create temporary table slack as select (outbox.create_slack_endpoint('https://hooks.example.com/services/x') ->> 'id')::uuid as id;
select is((select row(e.timeout_ms, e.max_in_flight, e.quantum, e.rate_burst, e.breaker_open_ms)::text from outbox.endpoint e join slack using (id)), '(7000,2,4,5,45000)',
  'another kind takes what it does not fix itself');

-- What the settings say is what the endpoint does.
update outbox.endpoint e set status = 'paused' where e.id not in (select id from after);
update outbox.endpoint e set rate_per_second = null where true;
select events(12);
create temporary table answer as select step(100) as a;
select is((select count(*) from answer, jsonb_array_elements(a -> 'deliveries')), 9::bigint, 'so many are in flight at a time');
select is((select distinct d -> 'lease_ms' from answer, jsonb_array_elements(a -> 'deliveries') d), '12000', 'its lease follows its timeout');

select * from finish();
rollback;
