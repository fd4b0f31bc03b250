-- Modules: api
-- A search finds messages with their audit trail; the lists find by action, type, recipient and key.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
select plan(13);

select channel('org-1'), template('reminder', p_org_id => 'org-1');
select outbox.grant_consent('org-1', 'dossier-1', '{UTILITY}', 'test');
create temporary table made as
select message_id(message('+12025550111', 'key-1', 'dossier-1', 'org-1')) as first, message_id(message('+12025550112', 'key-2', 'dossier-1', 'org-1')) as second;
select time_passes('10 seconds'), take_all();

select is(found #>> '{messages,0,id}', first::text, 'a message is found by its idempotency key') from made, outbox.search_org('org-1', p_idempotency_key => 'key-1') found;
select is(jsonb_array_length(found -> 'messages'), 1, 'and no other') from outbox.search_org('org-1', p_idempotency_key => 'key-1') found;
select ok(jsonb_array_length(found -> 'auditEvents') >= 2, 'with its audit trail') from outbox.search_org('org-1', p_idempotency_key => 'key-1') found;
select ok(bool_and(a ->> 'entityId' = first::text), 'of this message alone')
from made, jsonb_array_elements(outbox.search_org('org-1', p_idempotency_key => 'key-1') -> 'auditEvents') a;
select is(found #>> '{messages,0,id}', first::text, 'and by the correlation id of its event')
from made, outbox.outbound_message m, outbox.search_org('org-1', m.event_id::text) found where m.id = made.first;
select is(jsonb_array_length(outbox.search_org('org-2', p_idempotency_key => 'key-1') -> 'messages'), 0, 'another organisation finds nothing');

select is(jsonb_path_query_array(outbox.list_messages('org-1', p_recipient => '+12025550112'), '$.data[*].id'), jsonb_build_array(second::text), 'messages by recipient') from made;
select is(jsonb_path_query_array(outbox.list_messages('org-1', p_idempotency_key => 'key-2'), '$.data[*].id'), jsonb_build_array(second::text), 'messages by idempotency key') from made;
select is((select count(distinct a ->> 'action') from jsonb_array_elements(outbox.list_audit_events('org-1', p_audit_action => 'CREATED') -> 'data') a), 1::bigint, 'audit by action');
select is((select count(*) from jsonb_array_elements(outbox.list_audit_events('org-1', p_audit_action => 'SENT') -> 'data') a), 2::bigint, 'each message was sent');
select is(jsonb_array_length(outbox.list_activity('org-1', p_activity_type => 'MESSAGE_SENT') -> 'data'), 2, 'activity by type, of all dossiers');
select is(jsonb_array_length(outbox.list_activity('org-1', p_activity_type => 'MESSAGE_FAILED') -> 'data'), 0, 'and none of another type');
select is(jsonb_array_length(outbox.list_activity('org-1', 'dossier-2') -> 'data'), 0, 'nor of another dossier');

select * from finish();
rollback;
