-- A message from its creation until it is sent: its statuses, attempts, audit trail and activity.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
select plan(30);

create temporary table made as select channel() as channel_id, template() as code;
select outbox.grant_consent('default', 'dossier-1', '{UTILITY}', 'web form', 'form 12', 'tester');
create temporary table sent as select message(p_dossier => 'dossier-1', p_key => 'key-1') as answer;
create temporary table m as select message_id(answer) as id from sent;
select is(answer ->> 'outcome', 'created', 'the message is created') from sent;
select is(answer -> 'message' ->> 'status', 'QUEUED', 'as QUEUED') from sent;
select is((row_of(id)).attempt_count, 0, 'without an attempt') from m;
select is((row_of(id)).max_attempts, 6, 'of six') from m;
select is(trail('OUTBOUND_MESSAGE', id::text), array['CREATED Message created'], 'its creation is audited') from m;
select is((select body::jsonb from outbox.event where type = 'outhook.message'), jsonb_build_object('messageId', id::text), 'its event carries the id alone') from m;

create temporary table claim as select step() as answer;
select is(claimed(answer), 1, 'it is claimed') from claim;
select is(answer -> 'events' -> (row_of(id)).event_id::text -> 'message', jsonb_build_object('id', id::text,
  'callback_data', format('ob1:%s:1', id), 'to', '+12025550111', 'wait_ms', 0,
  'template', '{"name": "appointment_reminder", "language": "fr", "parameter_format": "POSITIONAL"}'::jsonb,
  'payload', '{"parameters": ["Anna"]}'::jsonb), 'with all that the sender needs of it') from claim, m;
select is(answer -> 'endpoints' -> channel_id::text -> 'channel', '{"graph_url": "https://graph.facebook.com", "graph_version": "v25.0",
  "phone_number_id": "100000000000001", "spacing_ms": 12.88659793814433, "access_token": "token-100000000000001"}', 'and of its channel') from claim, made;
select is((row_of(id)).status, 'SENDING', 'it is SENDING') from m;
select is((row_of(id)).attempt_count, 1, 'which counts the attempt') from m;
select results_eq('select outbound_message_id, attempt_no, status, error_code, next_retry_at from outbox.outbound_attempt',
  'select id, 1, ''TRYING'', null::text, null::timestamptz from m', 'the attempt is TRYING');

-- Given back unsent: as if nothing had been.
select step(0, results(answer, 'released')) from claim;
select is((row_of(id)).status, 'QUEUED', 'a claim that was given back makes it QUEUED') from m;
select is((row_of(id)).attempt_count, 0, 'and costs no attempt') from m;
select is_empty('select from outbox.outbound_attempt', 'nor leaves one');

-- A failure, and then WhatsApp takes it.
select is(fail(500, '{"code": "131000", "error": "Something went wrong", "provider": {"title": "Something went wrong"}}'), 1, 'a try fails');
select is((row_of(id)).status, 'QUEUED', 'it is QUEUED again') from m;
select is((row_of(id)).error_code, '131000', 'with the provider''s code') from m;
select results_eq('select status, error_code, error_message, provider_response ->> ''title'', next_retry_at - created_at from outbox.outbound_attempt',
  'select ''FAILED'', ''131000'', ''Something went wrong'', ''Something went wrong'', interval ''1 minute''', 'the attempt says why, and when the next follows');
select is(take_all(), 0, 'it waits');
select time_passes('1 minute');
select is(take_all(), 1, 'and is sent after a minute');
select is((row_of(id)).status, 'SENT', 'it is SENT') from m;
select matches((row_of(id)).provider_message_id, '^wamid\.', 'under the provider''s id') from m;
select is((row_of(id)).error_code, null, 'without an error') from m;
select results_eq('select attempt_no, status from outbox.outbound_attempt order by 1', 'values (1, ''FAILED''), (2, ''SUCCESS'')', 'both attempts are kept');
select is(trail('OUTBOUND_MESSAGE', id::text), array['CREATED Message created', 'SENT Message sent successfully'], 'the audit trail is in the words of the specification') from m;
select results_eq('select type, dossier_id, metadata ->> ''messageId'', (metadata -> ''attempt'')::integer from outbox.activity',
  'select ''MESSAGE_SENT'', ''dossier-1'', id::text, 2 from m', 'and the dossier''s timeline has it');
select is_empty('select from outbox.delivery', 'nothing is left open');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'everything open will be looked at again');

select * from finish();
rollback;
