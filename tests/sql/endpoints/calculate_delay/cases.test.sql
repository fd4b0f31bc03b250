-- Modules: brokers, messages
-- The delays of the specs, and each strategy with its bounds.
begin;
\ir ../../_helpers.sql
select plan(29);

-- The presets without their jitter.
create function delays(p_policy jsonb, p_from integer, p_to integer) returns interval[] language sql as $$
  select array_agg(outbox.calculate_delay(p_policy || '{"jitter": false}', n) order by n) from generate_series(p_from, p_to) n
$$;

select is(delays(outbox.retry_preset('webhook'), 1, 5), '{1 s,5 s,15 s,60 s,300 s}'::interval[],
  'specs 1 and 5: a webhook is tried again after 1, 5, 15, 60 and 300 seconds');
select is(delays(outbox.retry_preset('whatsapp'), 1, 5), '{1 min,5 min,15 min,60 min,360 min}'::interval[],
  'spec 2: a message is tried again after 1, 5, 15, 60 and 360 minutes');
select is(delays(outbox.retry_preset('rabbitmq'), 1, 7), '{1 s,2 s,4 s,8 s,16 s,30 s,30 s}'::interval[],
  'spec 4: a relay waits 1, 2, 4, 8, 16 and at most 30 seconds');
select is(outbox.retry_preset('kafka'), outbox.retry_preset('rabbitmq'), 'retry_preset() is the same for each broker');
select is((outbox.retry_preset(c.kind) ->> 'max_retries')::integer, 5, 'retry_preset() of ' || c.kind || ' has five retries')
from (values ('webhook'), ('whatsapp'), ('kafka')) c (kind);
select is((outbox.retry_preset(c.kind) ->> 'jitter')::boolean, c.jitter, 'retry_preset() of ' || c.kind || ' has jitter: ' || c.jitter)
from (values ('webhook', true), ('whatsapp', false), ('kafka', true)) c (kind, jitter);

select is(outbox.calculate_delay(c.policy::jsonb, c.attempt), c.delay::interval, format('calculate_delay() of %s after failure %s', c.policy, c.attempt))
from (values
  ('{"strategy": "schedule", "delays": [1, 5, 15]}', 3, '15 s'),
  ('{"strategy": "schedule", "delays": [1, 5, 15]}', 4, '15 s'),
  ('{"strategy": "schedule", "delays": [1, 5, 15]}', 50, '15 s'),
  ('{"strategy": "schedule", "delays": [0, 0.25]}', 1, '0 s'),
  ('{"strategy": "schedule", "delays": [0, 0.25]}', 2, '250 ms'),
  ('{"strategy": "schedule", "delays": [5, 60], "max_delay": 10}', 2, '10 s'),
  ('{"strategy": "exponential", "base_delay": 2}', 1, '2 s'),
  ('{"strategy": "exponential", "base_delay": 2}', 4, '16 s'),
  ('{"strategy": "exponential", "base_delay": 1, "factor": 3}', 4, '27 s'),
  ('{"strategy": "exponential", "base_delay": 5, "factor": 1}', 9, '5 s'),
  ('{"strategy": "exponential", "base_delay": 604800, "factor": 100}', 51, '604800 s'),
  ('{"strategy": "linear", "base_delay": 10}', 3, '30 s'),
  ('{"strategy": "linear", "base_delay": 10, "max_delay": 25}', 3, '25 s'),
  ('{"strategy": "fixed", "base_delay": 7}', 1, '7 s'),
  ('{"strategy": "fixed", "base_delay": 7}', 6, '7 s'),
  ('{"strategy": "linear", "base_delay": 10}', 0, '10 s')
) c (policy, attempt, delay);

-- A thousand draws, the same ones each time.
do $$ begin perform setseed(0.5); end $$;
create temporary table draw as
select outbox.calculate_delay('{"strategy": "fixed", "base_delay": 10, "jitter": true}', 1) as free,
  outbox.calculate_delay('{"strategy": "fixed", "base_delay": 10, "jitter": true, "max_delay": 10}', 1) as capped
from generate_series(1, 1000);
select ok((select min(free) >= interval '5 s' and max(free) <= interval '15 s' from draw), 'jitter multiplies by 0.5 to 1.5');
select ok((select min(free) < interval '5.1 s' and max(free) > interval '14.9 s'
             and avg(extract(epoch from free)) between 9.7 and 10.3 from draw), 'jitter is spread over all of it');
select ok((select min(capped) < interval '5.1 s' and max(capped) = interval '10 s'
             and count(*) filter (where capped = interval '10 s') between 400 and 600 from draw), 'max_delay holds after jitter');

select * from finish();
rollback;
