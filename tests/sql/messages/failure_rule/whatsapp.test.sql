-- What WhatsApp's codes mean, whatever status they come with.
begin;
\ir ../../_helpers.sql
select plan(80);

-- The specification's own lists.
select is(outbox.is_retryable('whatsapp', s, 'status', c), false, format('%s (%s) is not retried', c, s))
from unnest(array['131047', '133000', '133004', '133006', '131031']) c, unnest(array[400, 500, 503]) s;
select is(outbox.is_retryable('whatsapp', null, c), true, c || ' is retried') from unnest(array['dns', 'connect', 'tls', 'timeout', 'reset', 'protocol', 'lease_expired']) c;
select is(outbox.is_retryable('whatsapp', s, 'status', '999999'), true, format('an unknown code (%s) is retried', s)) from unnest(array[400, 401, 403, 404, 408, 410, 422, 429, 500, 503]) s;
select is(outbox.is_retryable('whatsapp', s, 'status'), true, format('%s without a code is retried', s)) from unnest(array[302, 400, 404, 410, 429, 500, 502]) s;

-- By action and scope.
select is((f.rule).action || ' ' || (f.rule).scope, c.what, c.code || ': ' || c.what)
from (values ('0', 'hold endpoint'), ('1', 'retry endpoint'), ('2', 'retry endpoint'), ('4', 'throttle app'), ('10', 'hold endpoint'), ('17', 'throttle app'),
  ('33', 'hold endpoint'), ('100', 'fail endpoint'), ('190', 'hold endpoint'), ('200', 'hold endpoint'), ('299', 'hold endpoint'), ('368', 'hold endpoint'),
  ('80007', 'throttle account'), ('130429', 'throttle endpoint'), ('130497', 'fail endpoint'), ('131000', 'retry endpoint'), ('131008', 'fail endpoint'),
  ('131009', 'fail endpoint'), ('131026', 'fail endpoint'), ('131031', 'fail_hold endpoint'), ('131042', 'hold endpoint'), ('131048', 'throttle endpoint'),
  ('131050', 'fail endpoint'), ('131053', 'retry endpoint'), ('131056', 'throttle lane'), ('131057', 'throttle endpoint'), ('131201', 'fail endpoint'),
  ('131208', 'throttle endpoint'), ('132001', 'fail endpoint'), ('132015', 'fail endpoint'), ('132016', 'fail endpoint'), ('133010', 'hold endpoint'),
  ('invalid_payload', 'fail endpoint'), ('invalid_token', 'hold endpoint')) c (code, what)
cross join lateral (select outbox.failure_rule_of('whatsapp', 400, 'status', c.code) as rule) f;

select is((outbox.failure_rule_of('whatsapp', null, 'timeout', null)).min_delay_s, 600::float8, 'what may have been sent waits for ten minutes');
select is((outbox.retry_if_transient(outbox.failure_rule_of('whatsapp', 400, 'status', '100'), '{"is_transient": true}')).action, 'retry', 'is_transient makes a retry of a failure');
select is((outbox.retry_if_transient(outbox.failure_rule_of('whatsapp', 400, 'status', '100'), null)).action, 'fail', 'and its absence does not');
select is((outbox.retry_if_transient(outbox.failure_rule_of('whatsapp', 400, 'status', '133004'), '{"is_transient": true}')).action, 'fail', 'nor does it with a firm rule');
select is((select array_agg(code order by code) from outbox.failure_rule where firm), array['131031', '131047', '133000', '133004', '133006'], 'the five of the specification are firm');

-- Nothing of it touches webhooks.
select is((outbox.failure_rule_of('webhook', 400, 'status', '100')).action, 'fail', 'a webhook''s 400 is what it was');
select is((outbox.failure_rule_of('webhook', null, 'timeout', null)).min_delay_s, 0::float8, 'and so is its timeout');

select * from finish();
rollback;
