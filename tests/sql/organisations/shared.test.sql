-- Organisations may share an app and an account at WhatsApp, and may have the same number one after the other. An
-- update about one of them slows, holds or changes only its own channels and messages.
begin;
\ir ../_helpers.sql
\ir ../_engine.sql
\ir ../_messages.sql
\ir ../_callbacks.sql
select plan(52);

-- Two apps, and three accounts: each number is another organisation's.
create temporary table number (name text primary key, phone text, waba text, app text, id uuid, message bigint);
insert into number (name, phone, waba, app) values
  ('one', '100000000000001', '200000000000001', '900000000000001'), ('same-account', '100000000000002', '200000000000001', '900000000000001'),
  ('same-app', '100000000000003', '200000000000002', '900000000000001'), ('another', '100000000000004', '200000000000003', '900000000000002');
select outbox.put_whatsapp_app(a, 'app-secret') from unnest(array['900000000000001', '900000000000002']) a;
update number set id = (outbox.create_channel('org-' || name, phone, waba, app, 'token') ->> 'id')::uuid where true;
select template(p_org_id => 'org-' || name) from number;
select outbox.update_channel('org-' || name, id, '{"pairSeconds": 0}') from number;

-- Every number has one message taken and one that waits, for the same person.
create function all_send() returns void language plpgsql as $$
begin
  update number set message = helper.message_id(helper.message(p_org_id => 'org-' || name)) where true;
  perform helper.time_passes('10 seconds'), helper.take_all();
end
$$;
create function waiting_numbers() returns text language sql stable as $$
  select coalesce(string_agg(n.name, ', ' order by n.phone), 'none') from number n join outbox.gate g on g.endpoint_id = n.id where g.not_before > outbox.clock() and isfinite(g.not_before)
$$;
create function resting_lanes() returns text language sql stable as $$
  select coalesce(string_agg(n.name, ', ' order by n.phone), 'none') from number n join outbox.gate g on g.endpoint_id = n.id join outbox.lane l on l.gate_id = g.id where l.not_before > outbox.clock() and isfinite(l.not_before)
$$;
create function held_numbers() returns text language sql stable as $$
  select coalesce(string_agg(n.name, ', ' order by n.phone), 'none') from number n join outbox.endpoint e on e.id = n.id where e.status = 'paused'
$$;
create function nothing_waits() returns void language plpgsql as $$
begin
  perform helper.time_passes('2 hours');
  perform outbox.cancel_message(m.org_id, m.id::text) from outbox.outbound_message m where m.status = 'QUEUED';
  perform helper.take_all();
end
$$;
-- The first number's message is refused with a code: by the answer to the call, or by a callback after it.
create function refused_at_once(p_code text) returns void language plpgsql as $$
declare
  v_answer jsonb;
begin
  perform nothing_waits(), helper.message(p_org_id => 'org-one');
  perform helper.time_passes('10 seconds');
  v_answer := helper.step();
  perform helper.step(0, helper.results(v_answer, 'failed', jsonb_build_object('status', 400, 'code', p_code, 'error', 'refused')));
end
$$;
create function refused_later(p_code text) returns void language plpgsql as $$
begin
  perform nothing_waits(), all_send();
  perform helper.message(p_org_id => 'org-' || name) from number;
  perform helper.step(0);
  perform helper.receive(helper.failure((helper.row_of(message)).provider_message_id, p_code)) from number where name = 'one';
end
$$;
create function all_go_on() returns void language plpgsql as $$
begin
  perform helper.time_passes('2 hours');
  perform outbox.resume_channel('org-' || name, id) from number;
  perform helper.step(0);
end
$$;

select all_send();
select results_eq('select (row_of(message)).status from number', $$values ('SENT'), ('SENT'), ('SENT'), ('SENT')$$, 'four organisations have sent');

select is((select count(*) from outbox.whatsapp_channel where is_default), 4::bigint, 'the first channel of each is its default, whatever the others have');

-- A throttle slows what it is about.
select refused_at_once('130429');
select is(waiting_numbers(), 'one', 'a number that is too fast waits alone');
select refused_at_once('80007');
select is(waiting_numbers(), 'one, same-account', 'an account''s limit slows the numbers of the account, and not every number of the app');
select refused_at_once('4');
select is(waiting_numbers(), 'one, same-account, same-app', 'an app''s limit slows the numbers of the app');
select refused_at_once('131056');
select is(waiting_numbers(), 'none', 'a person''s limit slows no number');
select is(resting_lanes(), 'one', 'and that person at one number alone');
select refused_later('130429');

select is(waiting_numbers(), 'one', 'a callback says the same: a number alone');
select refused_later('80007');
select is(waiting_numbers(), 'one, same-account', 'an account');
select refused_later('4');
select is(waiting_numbers(), 'one, same-account, same-app', 'an app');
select refused_later('131056');
select is(waiting_numbers() || ', ' || resting_lanes(), 'none, one', 'a person at one number');

-- A hold is one number's.
select refused_at_once('190');
select is(held_numbers(), 'one', 'a token that is refused holds its own channel');
select is((select array_agg(distinct body::jsonb ->> 'endpointId') from outbox.event where type = 'outhook.channel.held'), array[id::text], 'which is announced of it alone') from number where name = 'one';
select all_go_on(), refused_later('131031');
select is(held_numbers(), 'one', 'a locked account holds the channel whose message it failed');
select all_go_on();
select is(held_numbers(), 'none', 'and lifting it lets it go on');
-- Two numbers of two organisations, each refused for a reason of its own.
select nothing_waits(), message(p_org_id => 'org-one'), message(p_org_id => 'org-another'), time_passes('10 seconds');
create temporary table claim as select step() as answer;
select step(0, results_of(answer, a.id, 'failed', '{"status": 400, "code": "190", "error": "x"}') || results_of(answer, b.id, 'failed', '{"status": 400, "code": "131031", "error": "x"}'))
from claim, number a, number b where a.name = 'one' and b.name = 'another';
select results_eq('select split_part(e.status_reason, chr(32), 2) from outbox.endpoint e join number n using (id) where e.status = ''paused'' order by n.phone',
  $$ values ('190'), ('131031') $$, 'each channel is held for its own reason');
select all_go_on();
select is((select array_agg(distinct org_id) from outbox.audit_event where entity_type = 'CHANNEL' and action in ('HELD', 'RESUMED')), array['org-another', 'org-one'], 'the trail of nobody else tells of it');

-- A wish is heard by the organisation that it was sent to.
create function at_number(p_name text) returns jsonb language sql stable as $$
  select jsonb_build_object('phone_number_id', phone, 'waba_id', waba) from number where name = p_name
$$;
create function says(p_name text, p_text text, p_wamid text, p_after integer default 0, p_more jsonb default '{}') returns jsonb language sql as $$
  select helper.update_of('message', at_number(p_name) || jsonb_build_object('wamid', p_wamid, 'wa_id', '12025550111', 'at', extract(epoch from outbox.clock())::bigint + p_after,
    'data', jsonb_build_object('type', 'text', 'text', jsonb_build_object('body', p_text)) || p_more))
$$;
create function opted_out() returns text language sql stable as $$
  select coalesce(string_agg(o.org_id || ' ' || i.value, ', ' order by o.org_id, i.value), 'nobody') from outbox.opt_out o join outbox.person_identifier i on i.person_id = o.person_id where not o.lifted
$$;
-- The other organisation has written to this person under another spelling of the number.
update outbox.outbound_message set to_recipient = '+1 202 555 0111', wa_id = '12025550111' where org_id = 'org-same-account';
select receive(says('one', 'STOP', 'wamid.stop'));
select is(opted_out(), 'org-one +12025550111', 'who says STOP to one organisation has said it to no other');
select is((select array_agg(distinct org_id) from outbox.audit_event where action = 'OPTED_OUT'), array['org-one'], 'nor does another''s trail say so');
select receive(says('same-app', 'STOP', 'wamid.stop2'), says('one', 'START', 'wamid.start', 1));
select is(opted_out(), 'org-same-app +12025550111', 'two that come together are told apart');
select set_eq($$ select distinct org_id || ' ' || action from outbox.audit_event where action like 'OPTED%' $$,
  array['org-one OPTED_OUT', 'org-one OPTED_IN', 'org-same-app OPTED_OUT'], 'in the trail, too');
create temporary table line as select max(id) as last from outbox.audit_event;
select receive(says('same-app', 'STOP', 'wamid.stop3', -3600), says('one', 'STOP', 'wamid.stop4', 2));
select is((select array_agg(org_id || ' ' || action) from outbox.audit_event, line where id > last), array['org-one OPTED_OUT'], 'a word that is not the last is told by nobody''s trail');
select receive(says('one', 'START', 'wamid.start4', 3));
select is((select count(*) from outbox.person_identifier where value = '+12025550111'), 2::bigint, 'a person is one of each organisation');
-- WhatsApp's id of a person is the same for all.
select receive(says(n, 'hello', 'wamid.user.' || n) || '{"user_id": "US.1"}') from unnest(array['one', 'same-app']) n;
select receive(says('one', 'hello', 'wamid.user.2') || '{"user_id": "US.2"}');
select results_eq($$ select p.org_id, outbox.recipients_json(p.id)::text from outbox.person p where p.org_id in ('org-one', 'org-same-app')
    and exists (select from outbox.person_identifier i where i.person_id = p.id and i.value like 'US.%') order by 1 $$,
  $$ values ('org-one', '["+12025550111", "US.1", "US.2"]'), ('org-same-app', '["+12025550111", "US.1"]') $$,
  'what links two of them is told to one organisation');
select receive(says('same-app', 'STOP', 'wamid.user.3', 4) || '{"user_id": "US.1", "wa_id": null}');
select is(opted_out(), 'org-same-app +12025550111, org-same-app US.1', 'who is known by that id is looked up with the organisation that they wrote to');
select receive(says('one', 'STOP', 'wamid.user.4', 5) || '{"user_id": "US.1", "wa_id": null}');
select is(opted_out(), 'org-one +12025550111, org-one US.1, org-one US.2, org-same-app +12025550111, org-same-app US.1', 'each has its own of them');
delete from outbox.person_identifier where value like 'US.%';
delete from outbox.opt_out where org_id = 'org-one';
select refused_later('131050');
select is(opted_out(), 'org-one +12025550111, org-same-app +12025550111', 'a code that means STOP is one organisation''s as well');
select is((select purpose from outbox.opt_out where org_id = 'org-one' and not lifted), 'MARKETING', 'and for marketing');
delete from outbox.opt_out where true;
select refused_at_once('131050');
select is(opted_out(), 'org-one +12025550111', 'whether an answer brings it or a callback');
delete from outbox.opt_out where true;

-- A number goes from one organisation to another.
select nothing_waits(), all_send(), receive(says('one', '', 'wamid.unshown') || '{"status": "unsupported"}');
create temporary table old as select message as id, (row_of(message)).provider_message_id as wamid, phone from number where name = 'one';
select message(p_org_id => 'org-one'), time_passes('10 seconds');
update claim set answer = step() where true;
create temporary table lost as select m.id from outbox.outbound_message m where m.org_id = 'org-one' and m.status = 'SENDING';
select step(0, results(answer, 'failed', '{"error_class": "timeout"}')) from claim;
create function old_state() returns text language sql stable as $$
  select jsonb_agg(x order by x)::text from (
    select to_jsonb(m) as x from outbox.outbound_message m where org_id = 'org-one'
    union all select to_jsonb(a) from outbox.message_attempt a join outbox.outbound_message m on m.id = a.message_id where m.org_id = 'org-one'
    union all select to_jsonb(v) from outbox.audit_event v where org_id = 'org-one'
    union all select to_jsonb(v) from outbox.activity v where org_id = 'org-one'
    union all select to_jsonb(v) from outbox.inbound_message v where org_id = 'org-one'
    union all select to_jsonb(v) from outbox.person v where org_id = 'org-one'
    union all select to_jsonb(v) from outbox.opt_out v where org_id = 'org-one'
    union all select to_jsonb(v) from outbox.event v where org_id = 'org-one') y
$$;
select outbox.delete_channel('org-one', id) from number where name = 'one';
select time_passes('1 minute'), outbox.purge_deleted(100) from generate_series(1, 5);
select is_empty('select from outbox.whatsapp_channel w join old on w.phone_number_id = old.phone', 'a deleted channel frees its number');
create temporary table fresh as select (outbox.create_channel('org-new', '100000000000001', '200000000000001', '900000000000001', 'token') ->> 'id')::uuid as id, template(p_org_id => 'org-new') as t;
create temporary table before as select old_state() as state;
select is(receive(status(wamid, 'read', 5)) ->> 'kept', '1', 'a status of a message of the number''s previous organisation waits for a message of the new one') from old;
select is((row_of(id)).status, 'SENT', 'and does not move that one') from old;
select is(receive(status('wamid.unheard', 'delivered', 6, jsonb_build_object('callback_data', format('ob1:%s:1', id)))) ->> 'kept', '1', 'nor by the name that its attempt carried') from lost;
select is(receive(failure(wamid, '131050', 7)) ->> 'kept', '1', 'nor does a failure mean anything for it') from old;
select is((receive(says('one', 'thank you', 'wamid.answer', p_more => jsonb_build_object('context', jsonb_build_object('id', wamid))))) ->> 'applied', '1', 'an answer goes to the new organisation') from old;
select is((select org_id || ' ' || coalesce(reply_to::text, 'to nothing') from outbox.inbound_message where wamid = 'wamid.answer'), 'org-new to nothing', 'and answers none of its messages');
select is((receive(says('one', 'x', 'wamid.react', p_more => jsonb_build_object('type', 'reaction', 'reaction', jsonb_build_object('message_id', wamid, 'emoji', 'x'))))) ->> 'applied', '1', 'a reaction as well') from old;
select is((select array_agg(distinct org_id) from outbox.inbound_message where wamid in ('wamid.answer', 'wamid.react') and reply_to is not null), null, 'without a message that it would be to');
select is((receive(says('one', 'again', 'wamid.start'))) ->> 'skipped', '1', 'what the previous organisation got under an id is not given anew') from old;
select receive(says('one', 'now shown', 'wamid.unshown') || '{"status": "text"}');
select is((select org_id || ' ' || type from outbox.inbound_message where wamid = 'wamid.unshown'), 'org-one unsupported', 'nor is what it could not read');
select is(opted_out(), 'nobody', 'nobody has opted out');
select is(old_state(), state, 'and nothing of the previous organisation is otherwise than it was') from before;
-- What came before its message had an id.
select receive(status('wamid.later', 'delivered', 8));
create temporary table mine as select message_id(message(p_org_id => 'org-new')) as id;
select time_passes('10 seconds');
update claim set answer = step() where true;
select step(0, (select jsonb_agg(r || '{"status": 200, "provider_id": "wamid.later"}'::jsonb) from jsonb_array_elements(results(answer, 'delivered')) r)) from claim;
select is((row_of(id)).status, 'DELIVERED', 'a status that waited is applied to the new organisation''s own message') from mine;
select is(old_state(), state, 'and to no other''s') from before;

-- Consent and opt-outs are what one organisation was told.
select outbox.grant_consent('org-same-app', 'd9', '{UTILITY}', 'x'), outbox.opt_out_recipient('org-same-app', '+12025550160', 'x');
select is(outbox.create_message('org-another', '+12025550160', '{"parameters": ["Anna"]}', 'reminder', 'd9') ->> 'code', 'consent_required',
  'consent given to one organisation is given to no other');
select is(outbox.create_message('org-another', '+12025550160', '{"parameters": ["Anna"]}', 'reminder') ->> 'outcome', 'created',
  'who wants nothing of one may be written to by another');
select outbox.delete_template('org-another', 'reminder'), time_passes('10 seconds'), take_all();
select is((select status || ' ' || error_code from outbox.outbound_message where org_id = 'org-another' order by id desc limit 1), 'FAILED template_missing',
  'a template that is gone is not replaced by another''s of that name');

-- A job that names another organisation's endpoint finds none of its letters.
create temporary table e as select endpoint('{x.y}', p_retry => plain_retry(0), p_org_id => 'org-victim') as id;
select events(1, 'x.y', p_org_id => 'org-victim'), step(0), fail(500);
select outbox.replay_many('org-one', id), outbox.work_replay_jobs(outbox.clock()) from e;
select is((select count(*) from outbox.dead_letter where org_id = 'org-victim' and replayed_at is null), 1::bigint, 'a replay job of one organisation leaves the letters of another');
select is_empty($$ select from outbox.delivery d join e on e.id = d.endpoint_id $$, 'none of them is sent again');
select is((select status || ' ' || replayed from outbox.replay_job order by id desc limit 1), 'done 0', 'and it ends with none');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'everything open will be looked at again');

select * from finish();
rollback;
