-- Every setting has a type and bounds, and set_setting() keeps to both.
begin;
\ir ../../_helpers.sql
select plan(47);
create temporary table before as select * from outbox.setting;

select is(refusal(format('select outbox.set_setting(%L, %L)', c.name, c.value)), 'OH005 setting ' || c.name || ' ' || c.problem,
  format('set_setting() refuses %s for %s', coalesce(c.value, 'null'), c.name))
from (values
  ('worker.enabled', '1', 'must be true or false'),
  ('worker.enabled', '"true"', 'must be true or false'),
  ('worker.enabled', 'null', 'must be true or false'),
  ('worker.enabled', null, 'must be true or false'),
  ('worker.batch_size', '0', 'must be between 1 and 1000'),
  ('worker.batch_size', '1001', 'must be between 1 and 1000'),
  ('worker.batch_size', '-1', 'must be between 1 and 1000'),
  ('worker.batch_size', '1.5', 'must be a whole number'),
  ('worker.batch_size', '10.0', 'must be a whole number'),
  ('worker.batch_size', '1e30', 'must be a whole number'),
  ('worker.batch_size', '"10"', 'must be a whole number'),
  ('worker.batch_size', 'true', 'must be a whole number'),
  ('worker.batch_size', '[10]', 'must be a whole number'),
  ('worker.batch_size', null, 'must be a whole number'),
  ('worker.poll_interval_ms', '24', 'must be between 25 and 60000'),
  ('worker.poll_interval_ms', '60001', 'must be between 25 and 60000'),
  ('publish.max_body_bytes', '1048577', 'must be between 1024 and 1048576'),
  ('event.retention_days', '0', 'must be between 1 and 365'),
  ('egress.allow_cidrs', '"10.0.0.0/8"', 'must be an array of strings'),
  ('egress.allow_cidrs', '[10]', 'must be an array of strings'),
  ('egress.allow_cidrs', 'null', 'must be an array of strings'),
  ('egress.allow_cidrs', null, 'must be an array of strings'),
  ('egress.allow_cidrs', '["::1/128", "inside"]', $$holds 'inside', which is not a network such as 10.0.0.0/8 or fd00::/8$$),
  ('egress.allow_cidrs', '["10.0.0.1"]', $$holds '10.0.0.1', which is not a network such as 10.0.0.0/8 or fd00::/8$$),
  ('egress.allow_cidrs', '["10/8"]', $$holds '10/8', which is not a network such as 10.0.0.0/8 or fd00::/8$$),
  ('egress.allow_cidrs', '["10.0.0.0/33"]', $$holds '10.0.0.0/33', which is not a network such as 10.0.0.0/8 or fd00::/8$$),
  ('egress.allow_cidrs', '["fd00::1/8"]', $$holds 'fd00::1/8', which is not a network such as 10.0.0.0/8 or fd00::/8$$)
) c (name, value, problem);

select is(refusal($$select outbox.set_setting('worker.size', '5')$$), $$OH002 setting 'worker.size' does not exist$$,
  'set_setting() refuses a name that is not there');
select is(refusal('select outbox.set_setting(null, ''5'')'), 'OH002 setting NULL does not exist', 'set_setting() refuses null for a name');
select set_eq('select * from outbox.setting', 'select * from before',
  'set_setting() changes nothing when it refuses');

select is(outbox.set_setting(c.name, c.value::jsonb) -> 'value', c.value::jsonb, format('set_setting() accepts %s for %s', c.value, c.name))
from (values
  ('worker.enabled', 'false'), ('worker.batch_size', '1'), ('worker.batch_size', '1000'), ('worker.batch_size', '1e2'),
  ('egress.allow_http', 'true'), ('egress.allow_cidrs', '[]'),
  ('egress.allow_cidrs', '["10.0.0.0/8", "127.0.0.1/32", "fd00::/8", "::1/128", "0.0.0.0/0"]')
) c (name, value);

select is(outbox.set_setting('worker.max_runs', '7'), '{"name": "worker.max_runs", "value": 7, "was": 4}'::jsonb,
  'set_setting() returns the value and what it was');
select is(outbox.setting_int('worker.max_runs'), 7, 'setting_int() reads it');
select is(outbox.setting_on('worker.enabled'), false, 'setting_on() reads it');
select is(outbox.setting_value('egress.allow_http'), 'true'::jsonb, 'setting_value() reads it');
select is(outbox.setting_value('nothing'), null, 'setting_value() of an unknown name is null');

-- Spec 2's interval and batch, spec 1's and spec 4's.
select is(refusal(format('select outbox.set_setting(%L, %L)', c.name, c.value)), 'accepted', format('the specs'' %s of %s is allowed', c.name, c.value))
from (values ('worker.poll_interval_ms', 10000), ('worker.poll_interval_ms', 5000), ('worker.batch_size', 10), ('worker.batch_size', 100)) c (name, value);

select is_empty('select name from outbox.setting s where outbox.setting_problem(s, s.value) is not null or s.description = ''''',
  'every setting has a description and a value that it would accept');

select * from finish();
rollback;
