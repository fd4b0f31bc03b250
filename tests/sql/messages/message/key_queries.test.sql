-- The specification's key queries, word for word but for the id's placeholder, and its table's columns.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
select plan(11);

create temporary table made as select channel('org-123') as channel_id, template(p_org_id => 'org-123') as code;
create temporary table m as select message_id(message(p_key => 'key-456', p_org_id => 'org-123')) as id;
set local search_path = outbox, helper, extensions;

select columns_are('outbox', 'outbound_attempt', array['id', 'outbound_message_id', 'attempt_no', 'status', 'error_code', 'error_message',
  'provider_response', 'next_retry_at', 'created_at', 'updated_at'], 'outbound_attempt has the columns of the specification');
select is_empty($$select c from unnest(array['id', 'org_id', 'dossier_id', 'channel', 'to_recipient', 'template_code', 'payload_json', 'status',
    'provider_message_id', 'idempotency_key', 'attempt_count', 'max_attempts', 'error_code', 'error_message', 'created_at', 'updated_at']) c
  where not exists (select from information_schema.columns i where i.table_schema = 'outbox' and i.table_name = 'outbound_message' and i.column_name = c)$$,
  'outbound_message has all of them');

create temporary table pending as
SELECT * FROM outbound_message
WHERE status = 'QUEUED'
  AND attempt_count < max_attempts
ORDER BY created_at ASC
LIMIT 10;
select results_eq('select id from pending', 'select id from m', 'find pending messages');
create temporary table existing as
SELECT * FROM outbound_message
WHERE org_id = 'org-123'
  AND idempotency_key = 'key-456';
select results_eq('select id from existing', 'select id from m', 'check for an existing message');

select is(claimed(step()), 1, 'it is being sent');
-- NOW() is the real clock, and the test's stands in March.
create temporary table stale as
SELECT * FROM outbound_message
WHERE status = 'SENDING'
  AND updated_at < (NOW() - INTERVAL '10 minutes')
ORDER BY updated_at ASC
LIMIT 10;
select results_eq('select id from stale', 'select id from m', 'find stale messages');
select time_passes('1 hour');
select take_all();
select time_passes('1 hour');
select take_all();
update outbound_message set provider_message_id = 'wamid.X' where id in (select id from m);
create temporary table named as
SELECT * FROM outbound_message
WHERE provider_message_id = 'wamid.X';
select results_eq('select id from named', 'select id from m', 'find a message by the provider''s id');
create temporary table readiness as
SELECT * FROM outbound_attempt
WHERE outbound_message_id = 123
ORDER BY attempt_no DESC
LIMIT 1;
select is_empty('select * from readiness', 'check retry readiness (of no message)');
create temporary table counted as
SELECT status, COUNT(*)
FROM outbound_message
WHERE org_id = 'org-123'
GROUP BY status;
select results_eq('select status, count from counted', $$values ('SENT', 1::bigint)$$, 'count by status');
select is((select error_code from outbound_attempt where outbound_message_id = (select id from m) order by attempt_no limit 1), 'lease_expired', 'a run that died is a failed attempt');
select is((select next_retry_at - updated_at from outbound_attempt where outbound_message_id = (select id from m) order by attempt_no limit 1), interval '10 minutes',
  'whose retry waits ten minutes, since it may have been sent');

select * from finish();
rollback;
