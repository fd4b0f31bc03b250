-- calculate_delay() has no answer to what is no policy, and says which field is wrong.
begin;
\ir ../_helpers.sql
select plan(7);
select throws_like($$select outbox.calculate_delay('{}', 1)$$, 'retry.strategy is %', 'calculate_delay() refuses a policy without a strategy');
select throws_like($$select outbox.calculate_delay('{"strategy": "schedule"}', 1)$$, 'retry.delays is not %', 'a schedule without delays');
select throws_like($$select outbox.calculate_delay('{"strategy": "linear"}', 1)$$, 'retry.base_delay is not %', 'and a line without a base');
select throws_like($$select outbox.calculate_delay('{"strategy": "linear", "base_delay": "soon"}', 1)$$, 'retry.base_delay is not %', 'a base that is no number');
select throws_like($$select outbox.calculate_delay('{"strategy": "schedule", "delays": 5}', 1)$$, 'retry.delays is not %', 'delays that are no list');
select throws_like($$select outbox.calculate_delay('{"strategy": "fixed", "base_delay": 1, "max_delay": "never"}', 1)$$, 'retry.max_delay is out of range%', 'a cap that is no number');
select throws_like($$select outbox.calculate_delay('[1]', 1)$$, 'retry.strategy is %', 'and what is no object');
select * from finish();
rollback;
