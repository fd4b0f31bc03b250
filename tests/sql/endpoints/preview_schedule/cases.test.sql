-- Modules: brokers, messages
-- What a policy means before it is used: every delay, with jitter the least and the most, and the sum.
begin;
\ir ../../_helpers.sql
select plan(17);

create function previewed(p_policy jsonb, p_field text) returns float8[] language sql as $$
  select coalesce(array_agg((d ->> p_field)::float8 order by (d ->> 'failure')::integer), '{}') from jsonb_array_elements(outbox.preview_schedule(p_policy)) d
$$;
select is(previewed(outbox.retry_preset('webhook'), 'delay_s'), '{1,5,15,60,300}', 'webhook');
select is(previewed(outbox.retry_preset('webhook'), 'least_s'), '{0.5,2.5,7.5,30,150}', 'with jitter half at least');
select is(previewed(outbox.retry_preset('webhook'), 'most_s'), '{1.5,7.5,22.5,90,450}', 'and one and a half at most');
select is(previewed(outbox.retry_preset('webhook'), 'after_s'), '{1,6,21,81,381}', 'the sum since the first try');
select is(previewed(outbox.retry_preset('whatsapp'), 'delay_s'), '{60,300,900,3600,21600}', 'message');
select is(previewed(outbox.retry_preset('whatsapp'), 'most_s'), '{60,300,900,3600,21600}', 'without jitter the delay itself');
select is(previewed(outbox.retry_preset('whatsapp'), 'least_s'), '{60,300,900,3600,21600}', 'which is the least as well');
select is(previewed(outbox.retry_preset('kafka'), 'delay_s'), '{1,2,4,8,16}', 'relay');
select is(previewed(outbox.retry_preset('kafka') || '{"max_retries": 7}', 'delay_s'), '{1,2,4,8,16,30,30}', 'the cap');
select is(previewed(outbox.retry_preset('kafka') || '{"max_retries": 7}', 'most_s'), '{1.5,3,6,12,24,30,30}', 'holds after jitter');
select is(previewed('{"strategy": "linear", "base_delay": 2, "max_retries": 3}', 'after_s'), '{2,6,12}', 'linear');
select is(previewed('{"strategy": "fixed", "base_delay": 2}', 'delay_s'), '{2,2,2,2,2}', 'five retries where nothing is said');
select is(outbox.preview_schedule('{"strategy": "fixed", "base_delay": 2, "max_retries": 0}'), '[]', 'no retry');
select is(jsonb_array_length(outbox.preview_schedule('{"strategy": "exponential", "base_delay": 1, "factor": 100, "max_retries": 50}')), 50, 'fifty retries');
select is(outbox.preview_schedule('{"strategy": "fixed", "base_delay": 2, "max_retries": 1}'),
  '[{"failure": 1, "delay_s": 2, "least_s": 2, "most_s": 2, "after_s": 2}]', 'the fields of one');
select is(refusal($$select outbox.preview_schedule('{"strategy": "never"}')$$), $$OH001 retry.strategy is 'never'$$, 'a policy that is not valid is refused');
select is(refusal($$select outbox.preview_schedule('{"strategy": "fixed", "base_delay": 1, "max_retries": 51}')$$), 'OH001 retry.max_retries is out of range', 'field by field');

select * from finish();
rollback;
