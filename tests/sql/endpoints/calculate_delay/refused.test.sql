-- calculate_delay() has no answer to what is no policy, and says which field is wrong.
begin;
\ir ../../_helpers.sql
select plan(6);
select throws_like($$select outbox.calculate_delay('{}', 1)$$, 'retry.strategy is %', 'calculate_delay() refuses a policy without a strategy');
select throws_like($$select outbox.calculate_delay('{"strategy": "schedule"}', 1)$$, 'retry.delays is not %', 'a schedule without delays');
select throws_like($$select outbox.calculate_delay('{"strategy": "linear"}', 1)$$, 'retry.base_delay is not %', 'and a line without a base');
select throws_like($$select outbox.calculate_delay('{"strategy": "fixed", "base_delay": "soon"}', 1)$$, 'retry.base_delay is not %', 'a base that is no number');
select throws_like($$select outbox.calculate_delay('{"strategy": "schedule", "delays": {"1": 5}}', 1)$$, 'retry.delays is not %', 'delays that are no list');
select throws_like($$select outbox.calculate_delay('{"strategy": "fixed", "base_delay": 1, "jitter": "much"}', 1)$$, 'retry.jitter is not %', 'and a jitter that is neither on nor off');
select * from finish();
rollback;
