-- Modules: api
-- A Slack endpoint: its URL is in Vault and goes to the sender alone; what Slack's words mean.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(23);

create temporary table made as
select outbox.create_slack_endpoint('https://hooks.slack.com/services/T0/B0/xyz', '{order.*}', 'org-1',
  p_description => 'Alerts', p_headers => '{"x-key": "k"}') as a;
create temporary table ours as select (a ->> 'id')::uuid as id from made;
select set_eq('select jsonb_object_keys(a) from made', array['id'], 'it returns the id, and no secret');
select ok((select to_jsonb(e) @> '{"org_id": "org-1", "kind": "slack", "url": "https://hooks.slack.com/…", "description": "Alerts",
  "header_names": ["x-key"], "ordering": "none", "rate_per_second": 1, "status": "enabled"}'::jsonb from outbox.endpoint e join ours using (id)),
  'the row shows the URL without its path');
select is((select outbox.retry_preset('slack')), outbox.retry_preset('webhook'), 'it retries as webhooks do');
select is((select count(*) from outbox.endpoint_secret s join ours on endpoint_id = ours.id), 0::bigint, 'it has no signing secret');
select unalike((select to_jsonb(e)::text || outbox.get_org_endpoint('org-1', id)::text from outbox.endpoint e join ours using (id)), '%xyz%',
  'neither the row nor the API has the path');

select events(1, 'order.paid', p_org_id => 'org-1');
create temporary table answer as select step() as a;
select is(a -> 'endpoints' -> ours.id::text -> 'credentials', '{"url": "https://hooks.slack.com/services/T0/B0/xyz"}'::jsonb,
  'the claim hands the URL to the sender') from answer, ours;
select is(a -> 'endpoints' -> ours.id::text ->> 'kind', 'slack', 'with the kind') from answer, ours;
select step(0, results(a, 'failed', '{"status": 404, "error_class": "status", "code": "no_service"}')) from answer;
select is((select e.status || ' ' || e.status_reason from outbox.endpoint e join ours using (id)), 'disabled failure_rule', 'a webhook that is gone holds the endpoint, by a rule for its code');
select is((select count(*) from outbox.delivery d join ours on endpoint_id = ours.id), 1::bigint, 'and its delivery waits');

select is((outbox.failure_rule_of('slack', c.status, 'status', c.code)).action, c.action, format('%s %s: %s', c.status, c.code, c.action))
from (values (404, 'channel_not_found', 'hold'), (400, 'invalid_payload', 'fail'), (500, 'rollup_error', 'retry'), (404, null, 'hold'),
  (429, null, 'throttle'), (400, 'user_not_found', 'fail')) c (status, code, action);

select is(outbox.set_slack_url(id, 'https://hooks.slack.com/services/T0/B0/new') - 'id', '{"url": "https://hooks.slack.com/…"}'::jsonb,
  'set_slack_url() changes it, and does not show it') from ours;
select is((select array_agg(v.decrypted_secret) from vault.decrypted_secrets v where v.name like 'outhook_endpoint_credentials_%'),
  array['{"url": "https://hooks.slack.com/services/T0/B0/new"}'], 'the old one is gone');
select is(refusal(format('select outbox.set_slack_url(%L, %L)', endpoint(), 'https://a.example/')) ~ '^OH004 endpoint .* is not of kind slack$', true,
  'of Slack endpoints alone');
select alike(refusal(format('select outbox.rotate_secret(%L)', id)), 'OH004 endpoint % is of kind slack, which has no signing secret',
  'there is no secret to rotate') from ours;
select alike(refusal(format('select outbox.read_secret(%L)', id)), 'OH004 endpoint % is of kind slack, which has no signing secret',
  'nor to read') from ours;
select is(refusal($$select outbox.create_slack_endpoint('https://u:xyz@hooks.slack.com/')$$), 'OH001 url carries credentials', 'the URL is checked');
select is(refusal($$select outbox.create_slack_endpoint('https://10.0.0.1/xyz')$$), 'OH001 url has a host that is not allowed', 'and its host');

select outbox.delete_endpoint(id) from ours;
select outbox.purge_deleted(100), outbox.purge_deleted(100);
select is((select count(*) from vault.secrets v where v.name like 'outhook_endpoint_credentials_%'), 0::bigint, 'a deleted one leaves nothing in Vault');

select * from finish();
rollback;
