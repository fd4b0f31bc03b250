-- Who may be sent what: consent, opt-outs and the window of 24 hours, at creation and at every claim.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
select plan(36);

create temporary table made as select channel() as channel_id, template() as code, template('offer', 'MARKETING') as offer;

-- Consent.
select is(message(p_dossier => 'd-1', p_key => 'key-1'), '{"outcome": "blocked", "code": "consent_required", "reason": "Consent required"}', 'without consent nothing is created');
select is(trail('DOSSIER', 'd-1'), array['BLOCKED_BY_POLICY Consent required'], 'the refusal is audited');
select is_empty('select from outbox.outbound_message', 'no message is left');
select is_empty('select from outbox.event where type = ''outhook.message''', 'nor an event');
select outbox.grant_consent('default', 'd-1', '{UTILITY}', 'phone call', null, 'tester');
create temporary table m as select message_id(message(p_dossier => 'd-1', p_key => 'key-1')) as id;
select isnt(id, null, 'with consent the same key works') from m;
select is(message(p_dossier => 'd-1', p_template => 'offer') ->> 'code', 'consent_required', 'consent to utility is none to marketing');
select is(message(p_dossier => 'd-1', p_org_id => 'other', p_channel_id => channel('other', '100000000000002'), p_template => template(p_org_id => 'other')) ->> 'code',
  'consent_required', 'nor does it hold for another organisation');

-- Taken back before it is sent.
select outbox.revoke_consent('default', 'd-1', '{UTILITY}', 'letter', null, 'tester');
select is(claimed(step()), 0, 'the claim asks again, and sends nothing');
select results_eq('select (r).status, (r).error_code, (r).error_message, (r).attempt_count from (select row_of(id) as r from m) x',
  $$values ('FAILED', 'consent_revoked', 'Consent required', 0)$$, 'the message is FAILED, without an attempt');
select is((trail('DOSSIER', 'd-1'))[4], 'BLOCKED_BY_POLICY Consent required', 'with the same audit') from m;
select is(trail('OUTBOUND_MESSAGE', id::text), array['CREATED Message created', 'FAILED Message failed: Consent required'], 'and its own') from m;
select results_eq('select type, metadata ->> ''errorCode'' from outbox.activity', $$values ('MESSAGE_FAILED', 'consent_revoked')$$, 'and in the timeline');
select results_eq('select kind, outcome, error from outbox.attempt', $$values ('close', 'cancelled', 'consent_revoked')$$, 'its delivery is closed');
select is_empty('select from outbox.dead_letter', 'as no dead letter');
select is((select count(*) from jsonb_array_elements(outbox.list_consents('default', 'd-1') -> 'data')), 2::bigint, 'each change of consent is kept');

-- A retry is asked again, too.
select outbox.grant_consent('default', 'd-1', '{UTILITY,MARKETING}', 'letter');
create temporary table again as select message_id(message(p_dossier => 'd-1', p_template => 'offer')) as id;
select is(fail(500), 1, 'a try fails');
select outbox.revoke_consent('default', 'd-1', '{MARKETING}', 'letter');
select time_passes('1 minute');
select is(claimed(step()), 0, 'the retry is not made');
select is((row_of(id)).error_code, 'consent_revoked', 'since consent is gone') from again;

-- Opt-outs belong to the number, whether a dossier is given or not.
select is(outbox.opt_out_recipient('default', '+12025550199', 'STOP', 'MARKETING'), '{"optedOut": true, "purpose": "MARKETING", "isNew": true}', 'a number opts out of marketing');
select is(message('+12025550199', p_template => 'offer') ->> 'code', 'opted_out', 'marketing is refused');
select is(message('+12025550199') ->> 'outcome', 'created', 'anything else is not');
select outbox.opt_out_recipient('default', '+12025550199', 'STOP');
select is(message('+12025550199') ->> 'code', 'opted_out', 'until it opts out of all');
select is(claimed(step()), 0, 'what waits is not sent');
select is((select status || ' ' || error_code from outbox.outbound_message where to_recipient = '+12025550199'), 'FAILED opted_out', 'but FAILED');

-- Without a template: within 24 hours of what they wrote.
select is(message(p_template => null, p_payload => '{"type": "text", "text": "Hello"}') ->> 'code', 'outside_window', 'a text to somebody who has not written is refused');
select outbox.open_window(channel_id, outbox.save_person('default', '{+12025550111}', outbox.clock()), outbox.clock()) from made;
create temporary table note as select message_id(message(p_template => null, p_payload => '{"type": "text", "text": "Hello"}')) as id;
select isnt(id, null, 'to somebody who has it is not') from note;
select time_passes('23 hours 55 minutes');
select is(claimed(step()), 0, 'when the window is about to close nothing is sent');
select is((row_of(id)).error_code, 'outside_window', 'and the message says why') from note;
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'everything open will be looked at again');

-- The organisation of the operational events has no messages.
select is(refusal(r.statement), 'OH001 org_id is outhook, which is the system''s own', r.name)
from (values
  ('a message', $$select message(p_org_id => 'outhook')$$),
  ('a channel', $$select channel('outhook', '100000000000009')$$),
  ('a template', $$select template(p_org_id => 'outhook')$$),
  ('consent', $$select outbox.grant_consent('outhook', 'd-1', '{UTILITY}', 'phone call', null, 'tester')$$),
  ('an opt-out', $$select outbox.opt_out_recipient('outhook', '+491700000000', 'by hand')$$),
  ('a reply word', $$select outbox.put_reply_word('outhook', 'en', 'stop', 'STOP')$$)
) r (name, statement);

select * from finish();
rollback;
