-- Every complete row of the audit trail and the timeline: the test runs each statement that writes one and compares the
-- row. A new statement that this file does not run fails the last tests.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
\ir ../../_callbacks.sql
select plan(61);

-- From where each line came: function and line, found in the stack of the insert itself.
create temporary table written (n integer generated always as identity, relation text, function text, place text, line text);
grant all on written to public;
create function pg_temp.note_line() returns trigger language plpgsql as $$
declare
  v_context text;
  v_site text[];
  v_id text;
begin
  get diagnostics v_context = pg_context;
  select m into v_site from regexp_matches(v_context, 'PL/pgSQL function outbox\.(\w+)\([^\n]*\) line (\d+)', 'g') m
  where m[1] not in ('audit', 'audit_message', 'audit_refusal', 'add_activity') limit 1;
  -- Ids that a test cannot know go by the word for what they are.
  if tg_table_name = 'audit_event' then
    v_id := case
      when new.entity_type = 'OUTBOUND_MESSAGE' and exists (select from outbox.outbound_message m where m.id::text = new.entity_id and m.org_id = new.org_id) then 'message'
      when new.entity_type = 'CHANNEL' and exists (select from outbox.whatsapp_channel w where w.endpoint_id::text = new.entity_id and w.org_id = new.org_id) then 'channel'
      when new.entity_type = 'PERSON' and new.entity_id = outbox.find_person('default', '+12025550111')::text then 'person'
      when new.entity_type = 'PERSON' and exists (select from outbox.person p where p.id::text = new.entity_id and p.org_id = new.org_id) then 'another'
      else new.entity_id end;
    insert into written (relation, function, place, line) values ('audit_event', v_site[1], v_site[2], concat_ws(' ', new.org_id, new.entity_type, v_id, new.action)
      || ': ' || regexp_replace(new.details, 'person -?\d+$', 'person n') || coalesce(' (' || new.actor || ')', ''));
  else
    insert into written (relation, function, place, line) values ('activity', v_site[1], v_site[2], concat_ws(' ', new.org_id, new.dossier_id, new.type)
      || ': ' || (new.metadata - case when exists (select from outbox.outbound_message m where m.id::text = new.metadata ->> 'messageId' and m.org_id = new.org_id and m.dossier_id = new.dossier_id)
        then '{messageId,at,correlationId}' else '{at}' end::text[])::text);
  end if;
  -- Each message of this test has the correlation id cart-7, and so has each line about one.
  if tg_table_name = 'audit_event'
    and (to_jsonb(new) ->> 'correlation_id' is not distinct from 'cart-7') <> (to_jsonb(new) ->> 'entity_type' = 'OUTBOUND_MESSAGE' or to_jsonb(new) ->> 'action' = 'BLOCKED_BY_POLICY')
  then raise exception 'a line with the wrong correlation id: %', new; end if;
  if tg_table_name = 'activity' and to_jsonb(new) #>> '{metadata,correlationId}' is distinct from 'cart-7' then raise exception 'an activity without the correlation id: %', new; end if;
  if new.created_at is distinct from outbox.clock() then raise exception 'a line of another time: %', new; end if;
  return new;
end
$$;
-- Rows with data are those of note_action(), whose test is api/audit/actions.test.sql.
create trigger note_line after insert on outbox.audit_event for each row when (new.data is null) execute function pg_temp.note_line();
create trigger note_line after insert on outbox.activity for each row execute function pg_temp.note_line();

-- What was written since the last look.
create temporary table look (n integer);
insert into look values (0);
create function lines() returns text[] language plpgsql as $$
declare
  v_lines text[] := array(select line from written where n > (select n from look) order by n);
begin
  update look set n = (select coalesce(max(w.n), 0) from written w) where true;
  return v_lines;
end
$$;
-- The same, after what the arguments do.
create function after(variadic p_ignored text[]) returns text[] language plpgsql as $$
begin
  return lines();
end
$$;

create function ref(p_name text) returns text language sql stable as $$ select current_setting('test.' || p_name) $$;
create function keep(p_name text, p_value text) returns text language sql as $$ select set_config('test.' || p_name, p_value, true) $$;
create function channel_id() returns uuid language sql stable as $$ select ref('channel')::uuid $$;
create function person() returns text language sql immutable as $$ select '+12025550111' $$;
-- A message of the dossier, due at once.
create function queue(p_more jsonb default '{}') returns bigint language plpgsql as $$
begin
  perform helper.time_passes('1 minute');
  return (outbox.create_message('default', person(), coalesce(p_more -> 'payload', '{"parameters": ["Anna"]}'), case when p_more ? 'payload' then null else 'reminder' end,
    p_more ->> 'dossier', p_actor => 'anna', p_correlation_id => 'cart-7') -> 'message' ->> 'id')::bigint;
end
$$;

-- Channels.
select is(after(outbox.put_whatsapp_app('900000000000001', 'app-secret')::text, keep('channel', outbox.create_channel('default', '100000000000001', '200000000000001', '900000000000001', 'token') ->> 'id')),
  array[format('default CHANNEL channel CREATED: Channel created (sql:%s)', session_user)], 'a channel is made');
select is(after(outbox.set_channel_token('default', channel_id(), 'new', 'anna')::text),
  array['default CHANNEL channel SECRET_ROTATED: Access token replaced (anna)'],
  'its token is replaced');
select is(after(outbox.set_default_channel('default', channel_id(), 'anna')::text),
  array['default CHANNEL channel UPDATED: Made the default (anna)'],
  'it becomes the default one');
select is(after(outbox.update_channel('default', channel_id(), '{"description": "x", "pairSeconds": 0}', 'anna')::text),
  array['default CHANNEL channel UPDATED: Channel changed: description, pairSeconds (anna)'],
  'it is changed');
select is(after(outbox.update_channel('default', channel_id(), '{"accessToken": "y", "isDefault": true}', 'anna')::text),
  array['default CHANNEL channel SECRET_ROTATED: Access token replaced (anna)',
  'default CHANNEL channel UPDATED: Made the default (anna)',
  'default CHANNEL channel UPDATED: Channel changed: accessToken, isDefault (anna)'],
  'each thing that is changed has its line');
select is(after(outbox.update_channel('default', channel_id(), '{"accessToken": "z"}', 'anna')::text),
  array['default CHANNEL channel SECRET_ROTATED: Access token replaced (anna)'],
  'a new access token alone has one');
select is(after(outbox.resume_channel('default', channel_id(), 'anna')::text), '{}', 'one that is not held is not resumed');
select is(after(outbox.pause_endpoint(channel_id(), 'lunch')::text, outbox.resume_channel('default', channel_id(), 'anna')::text),
  array['default CHANNEL channel RESUMED: Channel resumed, which was lunch (anna)'],
  'a person resumes it');

-- Templates and words.
select is(after(template()), array['default TEMPLATE reminder UPDATED: Template saved'],
  'a template is saved');
select is(after(outbox.put_template('default', 'reminder', 'appointment_reminder', 'fr', 'UTILITY', p_actor => 'anna')::text),
  array['default TEMPLATE reminder UPDATED: Template saved (anna)'],
  'and again, by somebody');
select is(after(outbox.put_reply_word('default', 'fr', 'arret', 'STOP', 'anna')::text),
  array['default REPLY_WORD arret UPDATED: arret means STOP (fr) (anna)'],
  'a word gets a meaning');
select is(after(outbox.put_reply_word('default', 'fr', 'arret', 'NONE', 'anna')::text),
  array['default REPLY_WORD arret UPDATED: arret means NONE (fr) (anna)'],
  'or loses it');

-- Consent and wishes.
select is(after(outbox.grant_consent('default', 'd1', '{UTILITY,MARKETING}', 'form', null, 'anna')::text),
  array['default DOSSIER d1 CONSENT_GRANTED: WHATSAPP: UTILITY, MARKETING (anna)'],
  'consent is given');
select is(after(outbox.revoke_consent('default', 'd1', '{MARKETING}', 'phone', null, 'anna')::text),
  array['default DOSSIER d1 CONSENT_REVOKED: WHATSAPP: MARKETING (anna)'],
  'and taken back');
select is(after(outbox.change_opt_out('default', person(), 'MARKETING', true, 'phone', null, 'anna')::text),
  array['default PERSON person OPTED_OUT: WHATSAPP MARKETING: phone (anna)'],
  'a person wants nothing more');
select is(after(outbox.change_opt_out('default', person(), 'MARKETING', true, 'phone', null, 'anna')::text), '{}', 'which is said once');
select is(after(outbox.change_opt_out('default', person(), 'MARKETING', false, null, null, 'anna')::text),
  array['default PERSON person OPTED_IN: WHATSAPP MARKETING: by hand (anna)'],
  'and wants it again');

-- The life of a message that is delivered.
select is(after(keep('m', queue('{"dossier": "d1"}')::text)),
  array['default OUTBOUND_MESSAGE message CREATED: Message created (anna)'],
  'a message is created');
select is(after(take_all()::text),
  array['default OUTBOUND_MESSAGE message SENT: Message sent successfully',
  'default d1 MESSAGE_SENT: {"status": "SENT", "attempt": 1, "channel": "WHATSAPP", "templateCode": "reminder"}'],
  'and sent');
select is(after(receive(status((row_of(ref('m')::bigint)).provider_message_id, 'delivered', 1))::text),
  array['default OUTBOUND_MESSAGE message UPDATED: Delivery status updated to: delivered',
  'default d1 MESSAGE_STATUS_UPDATE: {"status": "DELIVERED", "channel": "WHATSAPP", "templateCode": "reminder", "deliveryStatus": "delivered"}'],
  'and delivered');
select is(after(receive(status((row_of(ref('m')::bigint)).provider_message_id, 'read', 2))::text),
  array['default OUTBOUND_MESSAGE message UPDATED: Delivery status updated to: read',
  'default d1 MESSAGE_STATUS_UPDATE: {"status": "DELIVERED", "channel": "WHATSAPP", "templateCode": "reminder", "deliveryStatus": "read"}'],
  'and read');

-- The same of the provider of another channel.
select keep('m', queue('{"dossier": "d1"}')::text), take_all(), lines();
select is(after(outbox.report_status(channel_id(), (row_of(ref('m')::bigint)).provider_message_id, 'delivered')),
  array['default OUTBOUND_MESSAGE message UPDATED: Delivery status updated to: delivered',
  'default d1 MESSAGE_STATUS_UPDATE: {"status": "DELIVERED", "channel": "WHATSAPP", "templateCode": "reminder", "deliveryStatus": "delivered"}'],
  'another provider reports a message');
-- One without a dossier has no timeline.
select is(after(queue()::text, take_all()::text),
  array['default OUTBOUND_MESSAGE message CREATED: Message created (anna)',
  'default OUTBOUND_MESSAGE message SENT: Message sent successfully'],
  'without a dossier there is no timeline');
-- A status that comes before the answer.
select keep('m', queue('{"dossier": "d1"}')::text), lines(), step();
select is(after(receive(status('wamid.early', 'delivered', 1, jsonb_build_object('callback_data', format('ob1:%s:1', ref('m')))))::text), array[
  'default OUTBOUND_MESSAGE message SENT: Message sent successfully',
  'default d1 MESSAGE_SENT: {"status": "DELIVERED", "attempt": 1, "channel": "WHATSAPP", "templateCode": "reminder"}',
  'default OUTBOUND_MESSAGE message UPDATED: Delivery status updated to: delivered',
  'default d1 MESSAGE_STATUS_UPDATE: {"status": "DELIVERED", "channel": "WHATSAPP", "templateCode": "reminder", "deliveryStatus": "delivered"}'],
  'a status that comes before its answer says that the message was sent');
-- A status that says that it failed.
select step(0, '[]'), keep('m', queue('{"dossier": "d1"}')::text), take_all(), lines();
select is(after(receive(failure((row_of(ref('m')::bigint)).provider_message_id, '131026', 1))::text),
  array['default OUTBOUND_MESSAGE message FAILED: Message failed: 131026 Title of 131026: Details of 131026',
  'default d1 MESSAGE_FAILED: {"error": "Title of 131026", "status": "FAILED", "channel": "WHATSAPP", "details": "Details of 131026", "errorCode": "131026", "templateCode": "reminder"}',
  'default OUTBOUND_MESSAGE message UPDATED: Delivery status updated to: failed',
  'default d1 MESSAGE_STATUS_UPDATE: {"error": "Title of 131026", "status": "FAILED", "channel": "WHATSAPP", "details": "Details of 131026", "errorCode": "131026", "templateCode": "reminder", "deliveryStatus": "failed"}'],
  'a failure that a callback brings');
-- It arrived all the same.
select is(after(receive(status((row_of(ref('m')::bigint)).provider_message_id, 'delivered', 2))::text),
  array['default OUTBOUND_MESSAGE message UPDATED: Attempt 1 was delivered although WhatsApp reported it as failed',
  'default d1 MESSAGE_STATUS_UPDATE: {"note": "Attempt 1 was delivered although WhatsApp reported it as failed", "status": "FAILED", "channel": "WHATSAPP", "templateCode": "reminder", "deliveryStatus": "delivered"}'],
  'and arrives after all');
-- An answer that says so.
select is(after(keep('m', queue('{"dossier": "d1"}')::text), fail(400, '{"code": "131051", "error": "undeliverable"}')::text),
  array['default OUTBOUND_MESSAGE message CREATED: Message created (anna)',
  'default OUTBOUND_MESSAGE message FAILED: Message failed: undeliverable',
  'default d1 MESSAGE_FAILED: {"error": "undeliverable", "status": "FAILED", "channel": "WHATSAPP", "errorCode": "131051", "templateCode": "reminder"}'],
  'one that the answer brings');
select is(after(outbox.resend_message('default', ref('m'), 'anna')::text),
  array['default OUTBOUND_MESSAGE message UPDATED: Sent again by anna (anna)'],
  'a person sends it again');
select time_passes('1 minute');
select is(after(fail(400, '{"code": "131051", "error": "undeliverable"}')::text),
  array['default OUTBOUND_MESSAGE message FAILED: Message failed: undeliverable',
  'default d1 MESSAGE_FAILED: {"error": "undeliverable", "status": "FAILED", "channel": "WHATSAPP", "errorCode": "131051", "templateCode": "reminder"}'],
  'it fails again');
select is(after(outbox.replay((row_of(ref('m')::bigint)).event_id, channel_id())::text, take_all()::text),
  array['default OUTBOUND_MESSAGE message UPDATED: Sent again by a replay',
  'default OUTBOUND_MESSAGE message SENT: Message sent successfully',
  'default d1 MESSAGE_SENT: {"status": "SENT", "attempt": 3, "channel": "WHATSAPP", "templateCode": "reminder"}'],
  'and is sent by a replay');

-- Cancelled.
select is(after(outbox.cancel_message('default', queue('{"dossier": "d1"}')::text, 'anna', 'a mistake')::text),
  array['default OUTBOUND_MESSAGE message CREATED: Message created (anna)',
  'default OUTBOUND_MESSAGE message CANCELLED: Message cancelled: a mistake (anna)'],
  'a message is cancelled, with the reason');
select is(after(outbox.cancel_message('default', queue()::text)::text),
  array['default OUTBOUND_MESSAGE message CREATED: Message created (anna)',
  'default OUTBOUND_MESSAGE message CANCELLED: Message cancelled'],
  'or without one');
select keep('m', queue('{"dossier": "d1"}')::text), lines(), step(0);
select is(after(outbox.cancel_delivery((row_of(ref('m')::bigint)).event_id, channel_id(), 'the console')::text),
  array['default OUTBOUND_MESSAGE message CANCELLED: Message cancelled: the console'],
  'its delivery is cancelled');

-- Refused: when it is made, or when it would be sent.
select is(after(queue('{"dossier": "d2"}')::text),
  array['default DOSSIER d2 BLOCKED_BY_POLICY: Consent required (anna)'],
  'no consent');
select is(after(queue('{"payload": {"type": "text", "text": "hello"}}')::text),
  array['default CHANNEL channel BLOCKED_BY_POLICY: More than 24 hours since the recipient last wrote: only a template may be sent (anna)'],
  'no window, and no dossier');
select keep('m', queue('{"dossier": "d1"}')::text), outbox.change_opt_out('default', person(), 'ALL', true, 'phone'), lines();
select is(after(step()::text),
  array['default DOSSIER d1 BLOCKED_BY_POLICY: Recipient opted out',
  'default OUTBOUND_MESSAGE message FAILED: Message failed: Recipient opted out',
  'default d1 MESSAGE_FAILED: {"error": "Recipient opted out", "status": "FAILED", "channel": "WHATSAPP", "errorCode": "opted_out", "templateCode": "reminder"}'],
  'who opted out meanwhile is not written to');
select is(after(queue('{"dossier": "d1"}')::text),
  array['default DOSSIER d1 BLOCKED_BY_POLICY: Recipient opted out (anna)'],
  'nor is a message made');
select outbox.change_opt_out('default', person(), 'ALL', false, 'phone'), keep('m', queue('{"dossier": "d1"}')::text), outbox.revoke_consent('default', 'd1', '{UTILITY}', 'phone'), lines();
select is(after(step()::text),
  array['default DOSSIER d1 BLOCKED_BY_POLICY: Consent required',
  'default OUTBOUND_MESSAGE message FAILED: Message failed: Consent required',
  'default d1 MESSAGE_FAILED: {"error": "Consent required", "status": "FAILED", "channel": "WHATSAPP", "errorCode": "consent_revoked", "templateCode": "reminder"}'],
  'nor who took consent back');
select outbox.grant_consent('default', 'd1', '{UTILITY}', 'form'), lines();

-- What people write.
create function says(p_text text, p_wamid text) returns jsonb language sql as $$
  select helper.update_of('message', jsonb_build_object('wamid', p_wamid, 'status', 'text', 'wa_id', ltrim(person(), '+'), 'data', jsonb_build_object('type', 'text', 'text', jsonb_build_object('body', p_text))))
$$;
select is(after(outbox.save_person('default', array['US.7'], outbox.clock())::text, outbox.save_person('default', array[person(), 'US.7'], outbox.clock())::text),
  array['default PERSON person JOINED: Joined with person n'], 'two people are joined');
select is(after(outbox.part_person('default', '{US.7}', 'anna')::text),
  array['default PERSON person PARTED: Parted from person n (anna)', 'default PERSON another PARTED: Parted from person n (anna)'], 'and parted');
select is(after(receive(says('STOP', 'wamid.1'))::text),
  array['default PERSON person OPTED_OUT: WHATSAPP ALL: inbound STOP'],
  'STOP');
select time_passes('1 minute');
select is(after(receive(says('START', 'wamid.2'))::text),
  array['default PERSON person OPTED_IN: WHATSAPP ALL: inbound START',
  'default PERSON person OPTED_IN: WHATSAPP MARKETING: inbound START'],
  'START');
select receive(says('STOP', 'wamid.21') || '{"wa_id": "12025550118", "user_id": "US.8"}'), time_passes('1 minute');
select receive(says('hello', 'wamid.22') || '{"wa_id": "12025550118", "user_id": "US.9"}'), lines();
select is(after(receive(says('START', 'wamid.23') || '{"wa_id": "12025550118", "user_id": "US.9"}')::text),
  array['default PERSON another OPT_IN_IGNORED: WHATSAPP ALL: inbound START, but another user id opted out',
  'default PERSON another OPTED_IN: WHATSAPP MARKETING: inbound START'],
  'START of another user id');
select time_passes('1 minute');
select is(after(receive(says('hello', 'wamid.3'))::text), '{}', 'anything else is none of the trail''s');
select keep('m', queue('{"dossier": "d1"}')::text), take_all(), lines();
select is(after(receive(failure((row_of(ref('m')::bigint)).provider_message_id, '131050', 1))::text),
  array['default OUTBOUND_MESSAGE message FAILED: Message failed: 131050 Title of 131050: Details of 131050',
  'default d1 MESSAGE_FAILED: {"error": "Title of 131050", "status": "FAILED", "channel": "WHATSAPP", "details": "Details of 131050", "errorCode": "131050", "templateCode": "reminder"}',
  'default OUTBOUND_MESSAGE message UPDATED: Delivery status updated to: failed',
  'default d1 MESSAGE_STATUS_UPDATE: {"error": "Title of 131050", "status": "FAILED", "channel": "WHATSAPP", "details": "Details of 131050", "errorCode": "131050", "templateCode": "reminder", "deliveryStatus": "failed"}',
  'default OUTBOUND_MESSAGE message OPTED_OUT: WHATSAPP MARKETING: code 131050'],
  'a failure that means STOP');
select time_passes('1 minute'), outbox.change_opt_out('default', person(), 'MARKETING', false, 'phone'), lines();

-- A channel that is held, and goes on.
create function account(p_event text, p_after integer, p_data jsonb default '{}') returns jsonb language sql as $$
  select helper.update_of('account', jsonb_build_object('field', 'account_update', 'phone_number_id', null, 'status', p_event,
    'at', extract(epoch from outbox.clock())::bigint + p_after, 'data', p_data))
$$;
select is(after(queue()::text, fail(401, '{"code": "190", "error": "expired"}')::text),
  array['default OUTBOUND_MESSAGE message CREATED: Message created (anna)',
  'default CHANNEL channel HELD: held: 190 Access token has expired'],
  'an answer holds the channel');
select is(after(outbox.resume_channel('default', channel_id(), 'anna')::text),
  array['default CHANNEL channel RESUMED: Channel resumed, which was held: 190 Access token has expired (anna)'],
  'a person lifts that');
select time_passes('1 hour'), take_all(), queue(), take_all(), lines();
select is(after(receive(failure((select provider_message_id from outbox.outbound_message where status = 'SENT' order by id desc limit 1), '131031', 1))::text),
  array['default OUTBOUND_MESSAGE message FAILED: Message failed: 131031 Title of 131031: Details of 131031',
  'default OUTBOUND_MESSAGE message UPDATED: Delivery status updated to: failed',
  'default CHANNEL channel HELD: held: 131031 Account has been locked'],
  'a callback holds it');
select outbox.resume_channel('default', channel_id(), 'anna'), lines();
select is(after(receive(account('DISABLED_UPDATE', 10, '{"ban_info": {"waba_ban_state": "DISABLE"}}'))::text),
  array['default CHANNEL channel HELD: held: Account is disabled'],
  'an account that is disabled holds it');
select is(after(receive(account('DISABLED_UPDATE', 20, '{"ban_info": {"waba_ban_state": "REINSTATE"}}'))::text),
  array['default CHANNEL channel RESUMED: Account is reinstated'],
  'and resumes it once it is reinstated');

-- A template that is held.
create function template_status(p_event text, p_after integer) returns jsonb language sql as $$
  select helper.update_of('template', jsonb_build_object('field', 'message_template_status_update', 'phone_number_id', null, 'status', p_event,
    'at', extract(epoch from outbox.clock())::bigint + p_after, 'data', '{"message_template_name": "appointment_reminder", "message_template_language": "fr"}'::jsonb))
$$;
select is(after(receive(template_status('PAUSED', 1))::text),
  array['default TEMPLATE reminder HELD: Template is paused'],
  'a template is held');
select is(after(receive(template_status('APPROVED', 2))::text),
  array['default TEMPLATE reminder RESUMED: Template is approved'],
  'and may be sent again');
select is(after(receive(template_status('APPROVED', 3))::text), '{}', 'which is said once');

-- What is deleted.
select is(after(outbox.put_template('default', 'old', 'x', 'fr', 'UTILITY')::text, outbox.delete_template('default', 'old', 'anna')::text),
  array['default TEMPLATE old UPDATED: Template saved',
  'default TEMPLATE old DELETED: Template deleted (anna)'],
  'a template is deleted');
select queue('{"dossier": "d1"}'), lines(), step(0);
select is(after(outbox.delete_channel('default', channel_id(), 'anna')::text),
  array['default CHANNEL channel DELETED: Channel deleted (anna)'],
  'a channel is deleted');
select time_passes('1 minute');
select is(after(outbox.purge_deleted(100)::text), '{}', 'its deliveries end first');
select is(after(outbox.purge_deleted(100)::text),
  array['default OUTBOUND_MESSAGE message FAILED: Message failed: The channel was deleted',
  'default d1 MESSAGE_FAILED: {"error": "The channel was deleted", "status": "FAILED", "channel": "WHATSAPP", "errorCode": "channel_deleted", "templateCode": "reminder"}'],
  'then what it had not sent fails');

-- Every place that writes was reached: in each function as many as its text has.
create temporary view site as
  select p.proname as function, t.relation, (select count(*) from regexp_matches(p.prosrc, t.pattern, 'g')) as places
  from pg_proc p
  cross join (values ('audit_event', 'outbox\.audit(?:_message|_refusal)?\(|insert into outbox\.audit_event'), ('activity', 'outbox\.add_activity\(|insert into outbox\.activity')) t (relation, pattern)
  where p.pronamespace = 'outbox'::regnamespace and p.proname not in ('audit', 'audit_message', 'audit_refusal', 'add_activity', 'note_action') and p.prosrc ~ t.pattern;
select is_empty(
  $$ select s.function, s.relation, s.places, w.reached from site s
     left join lateral (select count(distinct place) as reached from written x where x.function = s.function and x.relation = s.relation) w on true
     where w.reached is distinct from s.places $$,
  'every place that writes a line was reached, and its line compared');
select is_empty($$ select distinct w.function, w.relation from written w where (w.function, w.relation::text) not in (select s.function::text, s.relation from site s) $$,
  'no line comes from elsewhere');
select cmp_ok((select sum(places) from site), '>', 25::numeric, 'which are more than 25');
select is_empty(
  $$ select proname from pg_proc where pronamespace = 'outbox'::regnamespace and prosrc ~ '(update|delete from|truncate) +(only +)?outbox\.(audit_event|activity)' and proname <> 'forget_actions' $$,
  'no function changes or removes a line');
select * from finish();
rollback;
