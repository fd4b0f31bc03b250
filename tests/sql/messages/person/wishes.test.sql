-- A wish is of a person and not of a spelling: whatever links two identifiers, before or after the wish, it holds for both.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
\ir ../../_callbacks.sql
\ir _person.sql
select plan(44);

create temporary table made as select channel() as a, template() as code, template('promo', 'MARKETING') as promo;

-- STOP of a wa_id, then an answer that names it.
select receive(says('Ola', '{"wa_id": "5491112867091"}'));
select is(outcome('+541112867091', null), 'outside_window', 'nothing links the two spellings yet');
select answered('+541112867091', 'wamid.AR', '5491112867091');
select ok(are_one('+541112867091', '5491112867091', '+5491112867091'), 'the answer links them');
select is(outcome('+541112867091', null), 'created', 'the window of one is open for the other');
select receive(says('STOP', '{"wa_id": "5491112867091"}', 1));
select is(outcome('+541112867091'), 'opted_out', 'and so is the opt-out');
select answered('+541112867092', 'wamid.AR2') from outbox.opt_in_recipient('default', '5491112867092');
select is(wants('+541112867092'), 'nothing known', 'a message alone makes no person');

-- STOP first, the link after it.
select receive(says('STOP', '{"wa_id": "5491112867093"}'));
select is(outcome('+541112867093'), 'created', 'before the link nobody knows');
select answered('+541112867093', 'wamid.AR3', '5491112867093');
select is(outcome('+541112867093'), 'opted_out', 'the opt-out from before the link holds');

-- The link known, then an opt-out by hand, of every kind of identifier.
select answered('+541112867094', 'wamid.AR4', '5491112867094');
select is(outbox.change_opt_out('default', '+5491112867094', 'ALL', true, 'letter') -> 'isNew', 'true', 'an opt-out by hand of the other spelling');
select is(outcome('+541112867094'), 'opted_out', 'holds');
select is(outbox.change_opt_out('default', '541112867094', 'ALL', false, 'letter') -> 'isNew', 'true', 'and is lifted by a wa_id');
select is(outcome('+5491112867094'), 'created', 'for both');
select link('+12025550120', 'US.120');
select is(outbox.change_opt_out('default', 'US.120', 'ALL', true, 'letter') -> 'isNew', 'true', 'by hand of a user id');
select is(outcome('+12025550120'), 'opted_out', 'holds for the number');
select is(outbox.list_opt_outs('default', 'US.120') #>> '{data,0,recipients}', '["+12025550120", "US.120"]', 'the list has all that the person is known as');
select is(outbox.list_opt_outs('default', '12025550120') #>> '{data,0,recipient}', '+12025550120', 'and finds it by wa_id');
select is(outbox.change_opt_out('default', 'US.120', 'ALL', false, 'letter') -> 'isNew', 'true', 'a user id lifts it');

-- A status with both ids, then STOP with the user id alone that quotes the message.
create temporary table q as select answered('+12025550130', 'wamid.Q') as id;
select receive(status('wamid.Q', 'delivered', 1, '{"wa_id": "12025550130", "user_id": "US.130"}'));
select ok(are_one('+12025550130', 'US.130'), 'a status links number and user id');
select receive(says('STOP', '{"user_id": "US.130"}', 2, '{"context": {"id": "wamid.Q"}}'));
select is(outcome('+12025550130'), 'opted_out', 'STOP of the user id holds for the number');
-- The quoted message alone.
create temporary table q2 as select answered('+12025550131', 'wamid.Q2') as id;
select receive(says('STOP', '{"user_id": "US.131"}', 2, '{"context": {"id": "wamid.Q2"}}'));
select is(outcome('+12025550131'), 'opted_out', 'a quoted message links its recipient and the sender');
create temporary table q3 as select answered('+12025550132', 'wamid.Q3') as id;
select receive(says('STOP', '{"user_id": "US.132"}', 2));
select is(outcome('+12025550132'), 'created', 'a user id alone links nothing');
select receive(says('nice', '{"user_id": "US.132"}', 3, '{"reaction": {"message_id": "wamid.Q3"}}'));
select is(outcome('+12025550132'), 'opted_out', 'until its owner reacts to a message');
create temporary table q4 as select answered('+12025550133', 'wamid.Q4') as id;
select receive(status('wamid.Q4', 'read', 1, '{"user_id": "US.133"}'));
select receive(prefers('stop', '{"user_id": "US.133"}', 2));
select is(outcome('+12025550133', 'promo'), 'opted_out', 'a status of a user id alone links it to the number of its message');
select is(outcome('+12025550133'), 'created', 'stop of marketing stops nothing else');

-- user_preferences by user id alone, later an inbound message with both.
select receive(prefers('stop', '{"user_id": "US.140"}'));
select is(outcome('+12025550140', 'promo'), 'created', 'nothing links the user id to the number yet');
select receive(says('Hello', '{"user_id": "US.140", "wa_id": "12025550140"}', 1));
select is(outcome('+12025550140', 'promo'), 'opted_out', 'the stop of the user id holds for the number');
select receive(prefers('resume', '{"wa_id": "12025550140"}', 2));
select is(outcome('+12025550140', 'promo'), 'created', 'and its number resumes it');

-- What waits is checked again.
select time_passes('1 minute');
select take_all(), time_passes('1 minute'), take_all();
create temporary table waiting as select message_id(message('+541112867150')) as id;
select receive(says('STOP', '{"wa_id": "5491112867150"}'));
select link('+541112867150', '5491112867150');
select time_passes('10 seconds');
select is(take_all(), 0, 'a message that waits while its recipient is joined with one who opted out');
select is((row_of(id)).status || ' ' || (row_of(id)).error_code, 'FAILED opted_out', 'is not sent') from waiting;

-- Brazil and Mexico need no link.
select receive(says('STOP', '{"wa_id": "551187654321"}'), says('STOP', '{"wa_id": "5215512345678"}'));
select is(outcome('+5511987654321') || ' ' || outcome('+525512345678') || ' ' || outcome('+551187654321') || ' ' || outcome('+5215512345678'),
  'opted_out opted_out opted_out opted_out', 'the spellings of Brazil and Mexico are one');

-- Evidence stays when the update is gone.
select is((select jsonb_build_object('s', o.source, 'w', o.words, 'id', o.wamid = says('STOP', '{"wa_id": "551187654321"}') ->> 'wamid', 'at', o.said_at = date_trunc('second', outbox.clock()))
  from outbox.opt_out o where o.person_id = outbox.find_person('default', '+5511987654321')), '{"s": "inbound STOP", "w": "STOP", "id": true, "at": true}', 'an opt-out has its words, time and id');
select time_passes('31 days'), outbox.forget_updates(outbox.clock(), 1000);
select is((select count(*) from outbox.whatsapp_update), 0::bigint, 'the updates are deleted');
select is(outbox.list_opt_outs('default', '+5511987654321') #>> '{data,0,words}', 'STOP', 'the evidence is not');
select is((select o.words from outbox.opt_out o where o.person_id = outbox.find_person('default', 'US.133')), 'User requested to stop', 'nor that of a button');

-- A number that goes to somebody else.
select receive(says('STOP', '{"wa_id": "12025550160", "user_id": "US.160"}'), says('Hi', '{"wa_id": "12025550170", "user_id": "US.170"}'));
select receive(says('', '{"wa_id": "12025550160", "status": "system"}', 1, '{"system": {"type": "user_changed_number", "wa_id": "12025550161"}}'),
  says('', '{"wa_id": "12025550170", "status": "system"}', 1, '{"system": {"type": "user_changed_number", "wa_id": "12025550171"}}'));
select is(known_as('US.160') || ', ' || known_as('+12025550160'), '+12025550161 US.160, +12025550160', 'a person who changes the number takes the user id along');
select is(outcome('+12025550161') || ' ' || outcome('+12025550160'), 'opted_out opted_out', 'and the wish, and the old number keeps it');
select is(outcome('+12025550171') || ' ' || outcome('+12025550170'), 'created opted_out', 'who wanted messages gets them at the new number, and the old one has not agreed');

select receive(says('Hi', '{"wa_id": "12025550180", "user_id": "US.180"}'));
select receive(says('STOP', '{"wa_id": "12025550180"}', 1),
  says('', '{"wa_id": "12025550180", "status": "system"}', 2, '{"system": {"type": "user_changed_number", "wa_id": "12025550181"}}'));
select is(outcome('+12025550181'), 'opted_out', 'a wish that comes in the same call as the change goes along, too');

-- Another organisation knows nothing of it.
select channel('other', '100000000000002'), template(p_org_id => 'other');
select is(message('+5511987654321', p_org_id => 'other', p_payload => '{"parameters": ["Anna"]}') ->> 'outcome', 'created', 'a wish is of one organisation');
select is((outbox.get_person('default', '+551187654321') ->> 'id') is null or refusal($$select outbox.get_person('other', '+551187654321')$$) = 'OH002 the person does not exist', true, 'and so is the person');
select throws_ok($$select outbox.list_opt_outs('default', '0202555')$$, 'OH001', 'recipient is not a number, a wa_id or a user id of WhatsApp', 'an identifier is checked');
select is((select count(*) from outbox.audit_event where entity_type <> 'WHATSAPP_APP' and details || ' ' || entity_id ~ '(^|[^-0-9a-f])[0-9]{10}|US[.]'), 0::bigint, 'the trail names no number and no id');

-- A user id that looks like a number is none.
select receive(says('STOP', '{"user_id": "+12025550199"}'));
select is(outcome('+12025550199'), 'created', 'a user id cannot opt out a number');
-- A group is no person.
create temporary table grp as select answered('+12025550190', 'wamid.G') as id;
select receive(status('wamid.G', 'delivered', 1, '{"wa_id": "12025550191", "data": {"recipient_type": "group"}}'));
select is(known_as('+12025550191'), null, 'a participant of a group is not the recipient of the message');
select is_empty('select p.id from outbox.person p where not exists (select from outbox.person_identifier i where i.person_id = p.id)
  union all select i.person_id from outbox.person_identifier i where not exists (select from outbox.person p where p.id = i.person_id and p.org_id = i.org_id)', 'every person has an identifier, and each identifier a person');

select * from finish();
rollback;
