-- Statuses in the order in which they mean something, and in none: what becomes of the message, its try and the trail.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
\ir ../../_callbacks.sql
select plan(41);

create temporary table made as select channel() as channel_id, template() as code;
select outbox.grant_consent('default', 'dossier-1', '{UTILITY}', 'web form');

-- sent, delivered, read.
create temporary table m as select sent('A', p_dossier => 'dossier-1') as id;
create temporary table first as select receive(status('wamid.A', 'sent', 1)) as answer;
select is(answer, '{"stored": 1, "duplicates": 0, "applied": 1, "skipped": 0, "kept": 0, "warnings": []}', 'a status is stored and applied') from first;
select is((row_of(id)).status, 'SENT', 'sent leaves the message SENT') from m;
select receive(status('wamid.A', 'delivered', 4), status('wamid.A', 'read', 9));
select results_eq('select (r).status, (r).delivered_at - (r).sent_at, (r).read_at - (r).sent_at from (select row_of(id) as r from m) x',
  $$values ('DELIVERED', interval '4 seconds', interval '9 seconds')$$, 'delivered and read make it DELIVERED, with their times');
select is(trail('OUTBOUND_MESSAGE', id::text), array['CREATED Message created', 'SENT Message sent successfully', 'UPDATED Delivery status updated to: sent',
  'UPDATED Delivery status updated to: delivered', 'UPDATED Delivery status updated to: read'], 'the audit trail is in the words of the specification') from m;
select results_eq('select type, metadata ->> ''deliveryStatus'', metadata ->> ''messageId'' from outbox.activity order by id',
  $$select v.type, v.said, id::text from m, (values (1, 'MESSAGE_SENT', null), (2, 'MESSAGE_STATUS_UPDATE', 'sent'), (3, 'MESSAGE_STATUS_UPDATE', 'delivered'), (4, 'MESSAGE_STATUS_UPDATE', 'read')) v (n, type, said) order by n$$,
  'and the dossier''s timeline has each');
select results_eq('select body::jsonb ->> ''status'', body::jsonb ->> ''messageStatus'', org_id from outbox.event where type = ''whatsapp.message.status'' order by 1',
  $$values ('delivered', 'DELIVERED', 'default'), ('read', 'DELIVERED', 'default'), ('sent', 'SENT', 'default')$$, 'each is published to the organisation');
select is_empty($$select from outbox.event where type = 'whatsapp.message.status' and (body like '%wamid%' or body like '%12025550111%')$$, 'without number and id of WhatsApp');
select is((select count(*) from outbox.unrouted u join outbox.event e on e.id = u.event_id where e.type like 'whatsapp.%'), 3::bigint, 'to be routed');

-- The same again, together with something new.
select is(receive(status('wamid.A', 'sent', -9), status('wamid.A', 'sent', -9)) - 'warnings', '{"stored": 1, "duplicates": 1, "applied": 0, "skipped": 1, "kept": 0}', 'one key is stored once, even in one call');
select is(verdict_of(status('wamid.A', 'sent', -9)), 'skipped: already', 'a status of another time is a word that was known');
select is((row_of(id)).status, 'DELIVERED', 'and lowers nothing') from m;
create temporary table before as select row_of(id)::text as message, (select count(*) from outbox.audit_event) as lines from m;
select is(receive(status('wamid.A', 'read', 9 - 0)) ->> 'duplicates', '1', 'a repeat is a duplicate');
select results_eq('select row_of(id)::text, (select count(*) from outbox.audit_event) from m', 'select * from before', 'which changes nothing');

-- Read first, the others late.
select time_passes('10 seconds');
create temporary table late as select sent('B') as id;
select receive(status('wamid.B', 'read', 9));
select is((row_of(id)).status, 'DELIVERED', 'read alone makes it DELIVERED') from late;
select receive(status('wamid.B', 'delivered', 4));
select receive(status('wamid.B', 'sent', 1));
select results_eq('select verdict_of(status(''wamid.B'', s, n)) from (values (''delivered'', 4), (''sent'', 1)) v (s, n)',
  $$values ('skipped: behind'), ('skipped: behind')$$, 'what comes late is behind');
select results_eq('select (r).status, (r).delivered_at - (r).sent_at, (r).read_at - (r).sent_at from (select row_of(id) as r from late) x',
  $$values ('DELIVERED', interval '4 seconds', interval '9 seconds')$$, 'and its time is kept');
select is((select array_agg(details order by id) from outbox.audit_event where action = 'UPDATED' and entity_id = id_of.id::text), array['Delivery status updated to: read'], 'the trail tells of what was new') from late id_of;

-- Failed.
select time_passes('10 seconds');
create temporary table failed as select sent('C', p_dossier => 'dossier-1') as id;
select receive(failure('wamid.C', '131026', 3));
select results_eq('select (r).status, (r).error_code, (r).error_message from (select row_of(id) as r from failed) x',
  $$values ('FAILED', '131026', 'Title of 131026: Details of 131026')$$, 'failed makes it FAILED, with code, title and details');
select results_eq('select status, error_code, provider_response ->> ''title'', provider_response ->> ''details'' from outbox.message_attempt, failed where message_id = failed.id',
  $$values ('FAILED', '131026', 'Title of 131026', 'Details of 131026')$$, 'so is its try');
select results_eq('select type, metadata ->> ''errorCode'' from outbox.activity, failed where metadata ->> ''messageId'' = failed.id::text order by activity.id',
  $$values ('MESSAGE_SENT', null), ('MESSAGE_FAILED', '131026'), ('MESSAGE_STATUS_UPDATE', '131026')$$, 'the timeline has the status and the failure');
select is((trail('OUTBOUND_MESSAGE', id::text))[3:], array['FAILED Message failed: 131026 Title of 131026: Details of 131026', 'UPDATED Delivery status updated to: failed'],
  'the trail has the failure with code, title and details, and the status') from failed;
select is_empty('select from outbox.dead_letter', 'it is no dead letter');
select is_empty('select from outbox.delivery', 'nor is it tried again');
select receive(status('wamid.C', 'delivered', 4), status('wamid.C', 'sent', 1), failure('wamid.C', '131049', 5));
select results_eq('select verdict_of(x) from (values (1, status(''wamid.C'', ''delivered'', 4)), (2, status(''wamid.C'', ''sent'', 1)), (3, failure(''wamid.C'', ''131049'', 5))) v (n, x) order by n',
  $$values ('skipped: after_failed'), ('skipped: message_failed'), ('skipped: already')$$, 'FAILED is final');
select is((row_of(id)).status || ' ' || (row_of(id)).error_code, 'FAILED 131026', 'the first error stays') from failed;
select receive(failure('wamid.A', '131026', 30));
select is((select reason from outbox.whatsapp_update order by id desc limit 1), 'after_delivered', 'what was delivered does not fail');
select is((row_of(id)).status, 'DELIVERED', 'and stays DELIVERED') from m;
select is((select sum(n) from outbox.callback_count where reason in ('after_failed', 'after_delivered')), 2::numeric, 'both contradictions are counted');

-- Both in one call: the earlier word stands.
select time_passes('10 seconds');
create temporary table both_ as select sent('D') as d, sent('E') as e;
select receive(failure('wamid.D', '131026', 5), status('wamid.D', 'delivered', 4), failure('wamid.E', '131026', 4), status('wamid.E', 'delivered', 5));
select results_eq('select (row_of(d)).status, (row_of(e)).status from both_', $$values ('DELIVERED', 'FAILED')$$, 'of failed and delivered in one call the earlier stands');

-- Unknown words, and what belongs to no message.
select receive(status('wamid.A', 'warning', 40), status('wamid.A', 'played', 41));
select results_eq('select status, reason from outbox.whatsapp_update where status in (''played'', ''warning'') order by 1', $$values ('played', 'already'), ('warning', 'unknown_status')$$, 'played counts as read, an unknown word as nothing');
select is(receive(status('wamid.of.somebody.else', 'delivered', 2)) ->> 'kept', '1', 'a status of no message is kept');
select results_eq($$select n from outbox.callback_count where update_status = 'kept'$$, 'values (1::bigint)', 'and counted');

-- One that gave no error, and one whose errors are no list.
select time_passes('10 seconds');
create temporary table odd as select sent('F') as f, sent('G') as g;
select receive(status('wamid.F', 'failed', 1), status('wamid.G', 'failed', 1, '{"data": {"errors": "none"}}'));
select results_eq('select (row_of(f)).error_code, (row_of(g)).error_message from odd', $$values ('failed', 'failed')$$, 'a failure without an error is a failure');
select receive(status('wamid.F', 'sent', 0, '{"at": null}'), status('wamid.G', 'sent', 0, '{"at": 99999999999999}'));
select is((select count(*) from outbox.whatsapp_update where happened_at = received_at and reason = 'message_failed'), 2::bigint, 'an absurd time is the time of arrival');

-- What cannot be stored as it is.
select is(receive('7', '{}', status('wamid.A', 'sent', 50, jsonb_build_object('wamid', repeat('x', 3000))), update_of('status', '{"problem": "no id"}')) - 'warnings',
  '{"stored": 4, "duplicates": 0, "applied": 0, "skipped": 4, "kept": 0}', 'what is not understood is stored and skipped');
select is((select count(*) from outbox.whatsapp_update where reason = 'not_understood'), 4::bigint, 'with its reason');
select is(refusal($$select outbox.receive_callbacks('1', null, '[]')$$), 'OH002 Meta app ''1'' does not exist', 'an unknown app is refused');
select is(refusal($$select outbox.receive_callbacks('900000000000001', null, '{}')$$), 'OH001 updates is not an array', 'and what is no list');
select is(outbox.receive_callbacks('900000000000001', null, '[]'), '{"stored": 0, "duplicates": 0, "applied": 0, "skipped": 0, "kept": 0, "warnings": []}', 'an empty callback does nothing');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'everything open will be looked at again');

select * from finish();
rollback;
