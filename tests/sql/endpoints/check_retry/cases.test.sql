-- Modules: brokers, messages
-- Which retry policies an endpoint may have. What is accepted must also be usable by calculate_delay().
begin;
\ir ../../_helpers.sql
select plan(65);

select is(refusal(format('select outbox.check_retry(%L)', c.policy)), 'OH001 ' || c.problem, 'check_retry() refuses ' || c.policy)
from (values
  ('5', 'retry.strategy is NULL'),
  ('[]', 'retry.strategy is NULL'),
  ('{}', 'retry.strategy is NULL'),
  ('{"strategy": null}', 'retry.strategy is NULL'),
  ('{"strategy": "random"}', $$retry.strategy is 'random'$$),
  ('{"strategy": "fixed", "base_delay": 1, "retries": 5}', 'retry.retries is not a field of a retry policy'),
  ('{"strategy": "schedule"}', 'retry.delays is not a list of 1 to 50 numbers from 0 to 604800'),
  ('{"strategy": "schedule", "delays": [1], "base_delay": "soon"}', 'retry.base_delay is not a number from 0 to 604800'),
  ('{"strategy": "schedule", "delays": [1, 1e-400]}', 'retry.delays is not a list of 1 to 50 numbers from 0 to 604800'),
  ('{"strategy": "fixed", "base_delay": 1e-400}', 'retry.base_delay is not a number from 0 to 604800'),
  ('{"strategy": "fixed", "base_delay": 1, "max_delay": 1e-400}', 'retry.max_delay is out of range'),
  ('{"strategy": "schedule", "delays": []}', 'retry.delays is not a list of 1 to 50 numbers from 0 to 604800'),
  ('{"strategy": "schedule", "delays": 5}', 'retry.delays is not a list of 1 to 50 numbers from 0 to 604800'),
  ('{"strategy": "schedule", "delays": [1, -1]}', 'retry.delays is not a list of 1 to 50 numbers from 0 to 604800'),
  ('{"strategy": "schedule", "delays": [1, 604801]}', 'retry.delays is not a list of 1 to 50 numbers from 0 to 604800'),
  ('{"strategy": "schedule", "delays": [1, "5"]}', 'retry.delays is not a list of 1 to 50 numbers from 0 to 604800'),
  ('{"strategy": "schedule", "delays": [1, null]}', 'retry.delays is not a list of 1 to 50 numbers from 0 to 604800'),
  ('{"strategy": "schedule", "delays": [[1], [5]]}', 'retry.delays is not a list of 1 to 50 numbers from 0 to 604800'),
  ('{"strategy": "fixed"}', 'retry.base_delay is not a number from 0 to 604800'),
  ('{"strategy": "linear", "base_delay": "1"}', 'retry.base_delay is not a number from 0 to 604800'),
  ('{"strategy": "linear", "base_delay": [1]}', 'retry.base_delay is not a number from 0 to 604800'),
  ('{"strategy": "linear", "base_delay": null}', 'retry.base_delay is not a number from 0 to 604800'),
  ('{"strategy": "exponential", "base_delay": -1}', 'retry.base_delay is not a number from 0 to 604800'),
  ('{"strategy": "exponential", "base_delay": 604801}', 'retry.base_delay is not a number from 0 to 604800'),
  ('{"strategy": "exponential", "base_delay": 1, "factor": 0.5}', 'retry.factor is out of range'),
  ('{"strategy": "exponential", "base_delay": 1, "factor": 101}', 'retry.factor is out of range'),
  ('{"strategy": "exponential", "base_delay": 1, "factor": [2]}', 'retry.factor is out of range'),
  ('{"strategy": "exponential", "base_delay": 1, "factor": null}', 'retry.factor is out of range'),
  ('{"strategy": "fixed", "base_delay": 1, "max_delay": -1}', 'retry.max_delay is out of range'),
  ('{"strategy": "fixed", "base_delay": 1, "max_delay": 604801}', 'retry.max_delay is out of range'),
  ('{"strategy": "fixed", "base_delay": 1, "max_delay": [5]}', 'retry.max_delay is out of range'),
  ('{"strategy": "exponential", "base_delay": 10, "max_delay": 9.999}', 'retry.max_delay is 9.999 s, less than the shortest delay, 10 s'),
  ('{"strategy": "linear", "base_delay": 0.001, "max_delay": 0}', 'retry.max_delay is 0 s, less than the shortest delay, 0.001 s'),
  ('{"strategy": "fixed", "base_delay": 604800, "max_delay": 1}', 'retry.max_delay is 1 s, less than the shortest delay, 604800 s'),
  ('{"strategy": "schedule", "delays": [30, 10, 60], "max_delay": 9}', 'retry.max_delay is 9 s, less than the shortest delay, 10 s'),
  ('{"strategy": "fixed", "base_delay": 1, "max_retries": -1}', 'retry.max_retries is out of range'),
  ('{"strategy": "fixed", "base_delay": 1, "max_retries": 51}', 'retry.max_retries is out of range'),
  ('{"strategy": "fixed", "base_delay": 1, "max_retries": 1.5}', 'retry.max_retries is out of range'),
  ('{"strategy": "fixed", "base_delay": 1, "max_retries": 5.0}', 'retry.max_retries is out of range'),
  ('{"strategy": "fixed", "base_delay": 1, "max_retries": "5"}', 'retry.max_retries is out of range'),
  ('{"strategy": "fixed", "base_delay": 1, "max_retries": [5]}', 'retry.max_retries is out of range'),
  ('{"strategy": "fixed", "base_delay": 1, "jitter": "yes"}', 'retry.jitter is not true or false'),
  ('{"strategy": "fixed", "base_delay": 1, "jitter": null}', 'retry.jitter is not true or false')
) c (policy, problem);

select is(refusal('select outbox.check_retry(null)'), 'accepted', 'check_retry() accepts null: the preset of the kind');

create temporary table accepted (policy text);
insert into accepted values
  ('{"strategy": "schedule", "delays": [0]}'),
  ('{"strategy": "schedule", "delays": [1, 5.5, 604800], "max_retries": 0}'),
  ('{"strategy": "fixed", "base_delay": 0, "max_retries": 50}'),
  ('{"strategy": "linear", "base_delay": 0.1, "max_delay": 604800, "jitter": true}'),
  ('{"strategy": "exponential", "base_delay": 604800, "factor": 100}'),
  ('{"strategy": "exponential", "base_delay": 0, "factor": 1, "max_delay": 0, "jitter": false, "max_retries": 1e1}'),
  ('{"strategy": "exponential", "base_delay": 10, "max_delay": 10}'),
  -- The base delay of a schedule has no effect.
  ('{"strategy": "schedule", "delays": [30, 10, 60], "max_delay": 10, "base_delay": 20}');
insert into accepted select outbox.retry_preset(k) from unnest(array['webhook', 'whatsapp']) k;
select is(refusal(format('select outbox.check_retry(%L)', a.policy)), 'accepted', 'check_retry() accepts ' || a.policy) from accepted a;
select ok(outbox.calculate_delay(a.policy::jsonb, 51) between '0 s' and '604800 s', 'calculate_delay() takes ' || a.policy) from accepted a;

select endpoint() as id \gset
select is(refusal(format('update outbox.endpoint set retry = ''{"strategy": "fixed", "base_delay": "soon"}'' where id = %L', :'id')),
  'OH001 retry.base_delay is not a number from 0 to 604800', 'and so is an UPDATE at the console');

select * from finish();
rollback;
