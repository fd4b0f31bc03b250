-- Templates, accounts and numbers that WhatsApp stops, and lets go on: held and lifted in whatever order the updates come.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
\ir ../../_callbacks.sql
select plan(46);

create temporary table made as select channel() as a, channel(p_number_id => '100000000000002') as b, template() as code,
  outbox.put_template('default', 'other', 'other_template', 'en_US', 'UTILITY') as other;
create function notice(p_kind text, p_field text, p_event text, p_after integer default 0, p_data jsonb default '{}', p_more jsonb default '{}') returns jsonb language sql as $$
  select update_of(p_kind, jsonb_build_object('field', p_field, 'phone_number_id', null, 'status', p_event,
    'at', extract(epoch from outbox.clock())::bigint + p_after, 'data', p_data) || p_more)
$$;
create function of_template(p_event text, p_after integer default 0, p_data jsonb default '{}') returns jsonb language sql as $$
  select notice('template', 'message_template_status_update', p_event, p_after,
    '{"message_template_name": "appointment_reminder", "message_template_language": "fr", "reason": "NONE"}'::jsonb || p_data)
$$;
create function of_account(p_event text, p_after integer default 0, p_data jsonb default '{}') returns jsonb language sql as $$
  select notice('account', 'account_update', p_event, p_after, p_data)
$$;
create function statuses() returns text language sql as $$
  select string_agg(e.status, ' ' order by w.phone_number_id) from outbox.endpoint e join outbox.whatsapp_channel w on w.endpoint_id = e.id
$$;

-- A template that is paused keeps its messages back, and those of other templates go on.
select receive(of_template('PAUSED', 0, '{"other_info": {"title": "FIRST_PAUSE"}}'));
select results_eq('select held, why from outbox.template_hold', $$values (true, 'Template is paused: FIRST_PAUSE')$$, 'a template is held, with the reason');
select results_eq('select x ->> ''templateCode'', x ->> ''reason'' from news(''outhook.template.held'') x', $$values ('reminder', 'Template is paused: FIRST_PAUSE')$$, 'which is announced');
select is(trail('TEMPLATE', 'reminder'), array['UPDATED Template saved', 'HELD Template is paused: FIRST_PAUSE'], 'and audited');
create temporary table m as select message_id(message('+12025550101')) as id, message_id(message('+12025550102', p_template => 'other')) as other;
select is(take_all(), 1, 'one of another template is sent');
select results_eq('select (row_of(id)).status, (row_of(id)).attempt_count, (row_of(other)).status from m', $$values ('QUEUED', 0, 'SENT')$$, 'one of this waits, and spends no try');
select is(take_all(), 0, 'it is not claimed again and again');
select time_passes('59 seconds');
select is(take_all(), 0, 'but once a minute');
select time_passes('1 second');
select is(take_all(), 0, 'and not sent while it is held');
select is(failed_attempts_of((row_of(id)).event_id, a), 0, 'which costs it nothing') from m, made;
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'it will be looked at again');
select receive(of_template('APPROVED', 30));
select is((select count(*) from news('outhook.template.resumed')), 1::bigint, 'the contrary lifts it, which is announced');
select time_passes('1 minute');
select is(take_all(), 1, 'and the message is sent');
select is((row_of(id)).status, 'SENT', 'as if nothing had been') from m;

-- In the other order; and the same word twice.
select receive(of_template('DISABLED', -35));
select is(verdict_of(of_template('DISABLED', -35)), 'skipped: behind', 'an older word that comes late changes nothing');
select is((select held from outbox.template_hold), false, 'the template stays free');
select receive(of_template('APPROVED', 40));
select is((select count(*) from news('outhook.template.resumed')), 1::bigint, 'the same word again is not announced');
select receive(of_template('PAUSED', 50), of_template('PAUSED', 51, '{"other_info": {"title": "UNPAUSE"}}'));
select is((select held from outbox.template_hold), false, 'PAUSED may mean the end of a pause');
select receive(notice('template', 'message_template_status_update', 'DISABLED', 60, '{"message_template_name": "other_template", "message_template_language": "en-US"}'));
select is((select held from outbox.template_hold where language = 'en_US'), true, 'en-US is en_US');
select receive(of_template('FLAGGED', 70));
select is((select count(*) from news('outhook.whatsapp.notice')), 2::bigint, 'a warning is announced for each channel, and holds nothing');
select receive(of_template('NEVER_HEARD', 71), notice('template', 'message_template_status_update', 'PAUSED', 72));
select results_eq('select reason from outbox.whatsapp_update where reason <> ''behind'' order by reason', $$values ('not_understood'), ('not_used')$$, 'an unknown word and one without a template do nothing');

-- An account.
select is(statuses(), 'enabled enabled', 'two channels are at work');
select receive(of_account('ACCOUNT_RESTRICTION', 10, jsonb_build_object('restriction_info', jsonb_build_array(
  jsonb_build_object('restriction_type', 'RESTRICTED_BIZ_INITIATED_MESSAGING', 'expiration', extract(epoch from outbox.clock())::bigint + 3600)))));
select is(statuses(), 'paused paused', 'a restriction of the account holds all its channels');
select is((select status_reason from outbox.endpoint, made where id = a), 'held: Account is restricted: RESTRICTED_BIZ_INITIATED_MESSAGING', 'with the reason');
select is((select count(*) from news('outhook.channel.held')), 2::bigint, 'each is announced');
select is(take_all(), 0, 'nothing is sent');
select time_passes('1 hour');
select outbox.apply_callbacks();
select is(statuses(), 'enabled enabled', 'it ends when WhatsApp said that it would');
select is((select count(*) from news('outhook.channel.resumed')), 2::bigint, 'which is announced');
select receive(of_account('ACCOUNT_RESTRICTION', 20, '{"restriction_info": [{"restriction_type": "RESTRICTED_ADD_PHONE_NUMBER_ACTION"}]}'));
select is(statuses(), 'enabled enabled', 'one that lets it go on sending holds nothing');
select receive(of_account('DISABLED_UPDATE', 30, '{"ban_info": {"waba_ban_state": "DISABLE"}}'));
select is(statuses(), 'paused paused', 'a disabled account is held');
select receive(of_account('ACCOUNT_DELETED', 32), of_account('DISABLED_UPDATE', 31, '{"ban_info": {"waba_ban_state": "REINSTATE"}}'));
select is(statuses(), 'paused paused', 'and not lifted by a word that is older than the last');
select receive(of_account('DISABLED_UPDATE', 40, '{"ban_info": {"waba_ban_state": "REINSTATE"}}'));
select is(statuses(), 'enabled enabled', 'but by the last');

-- A number: named as people read it, once a callback has shown it.
select receive(notice('quality', 'phone_number_quality_update', 'FLAGGED', 0, '{}', '{"display": "12025550100"}'));
select is(statuses(), 'paused paused', 'while numbers are not known, low quality may be of any');
select receive(notice('quality', 'phone_number_quality_update', 'UNFLAGGED', 1, '{}', '{"display": "12025550100"}'));
select is(statuses(), 'enabled enabled', 'and is lifted for all');
select receive(status('wamid.none', 'sent', 1, '{"display": "12025550100"}'), status('wamid.none', 'sent', 1, '{"display": "12025550199", "phone_number_id": "100000000000002"}'));
select results_eq('select display_digits from outbox.whatsapp_channel order by phone_number_id', $$values ('12025550100'), ('12025550199')$$, 'callbacks show the numbers');
select receive(notice('quality', 'phone_number_quality_update', 'FLAGGED', 10, '{"current_limit": "TIER_1K"}', '{"display": "12025550199"}'));
select is(statuses(), 'enabled paused', 'then one is held');
select is(outbox.get_channel('default', b) ->> 'quality', 'FLAGGED TIER_1K', 'its quality is shown') from made;

-- Two causes; and what a person has paused.
select receive(of_account('ACCOUNT_OFFBOARDED', 50));
select is(statuses(), 'paused paused', 'the account is held as well');
select receive(notice('quality', 'phone_number_quality_update', 'UNFLAGGED', 20, '{}', '{"display": "12025550199"}'));
select is(statuses(), 'paused paused', 'one cause is not lifted by the other''s end');
select receive(of_account('ACCOUNT_RECONNECTED', 60));
select is(statuses(), 'enabled enabled', 'both are');
select outbox.pause_endpoint(a, 'holiday') from made;
select receive(of_account('ACCOUNT_OFFBOARDED', 70), of_account('ACCOUNT_RECONNECTED', 80));
select is(statuses(), 'paused enabled', 'what a person paused a callback does not resume');
select receive(of_account('ACCOUNT_OFFBOARDED', 90));
select outbox.resume_endpoint(a), outbox.resume_endpoint(b) from made;
select is_empty('select from outbox.channel_hold where held', 'what a person resumes is held by nothing');
select time_passes('1 day');
select receive(notice('quality', 'phone_number_quality_update', 'FLAGGED', 0, '{}', '{"display": "12025550100"}'));
select is(statuses(), 'paused enabled', 'until the next word');
select is(outbox.list_channels('default') -> 'data' @> '[{"statusReason": "held: Quality of the number is low"}]', true, 'the list of channels shows it');
select is(trail('CHANNEL', a::text), (select array_agg(x) from unnest(trail('CHANNEL', a::text)) x where x ~ '^(CREATED|HELD|RESUMED) '), 'and the audit trail has it all') from made;
select is((select max(n) from outbox.callback_count where update_status = 'applied' and kind = 'account'), (select count(*) from outbox.whatsapp_update where update_status = 'applied' and kind = 'account'), 'as the counters');

select * from finish();
rollback;
