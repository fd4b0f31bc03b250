-- What people write: kept once, whoever they are known as, the window opened, published to the organisation.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
\ir ../../_callbacks.sql
select plan(38);

create temporary table made as select channel() as a, channel('other', '100000000000002') as b, template() as code;
create function inbound(p_wamid text, p_type text default 'text', p_data jsonb default '{"text": {"body": "Hello"}}', p_more jsonb default '{}') returns jsonb language sql as $$
  select update_of('message', jsonb_build_object('wamid', p_wamid, 'status', p_type, 'wa_id', '12025550111', 'data', p_data || jsonb_build_object('id', p_wamid, 'type', p_type)) || p_more)
$$;
create function received() returns setof jsonb language sql stable as $$
  select e.body::jsonb from outbox.event e where e.type = 'whatsapp.message.received' order by e.id
$$;

-- One text.
create temporary table m as select sent('A') as id;
select is(receive(inbound('wamid.I1', 'text', '{"text": {"body": "Merci"}, "context": {"id": "wamid.A"}, "contact": {"profile": {"name": "Zoé"}, "wa_id": "12025550111"}}')) ->> 'applied', '1', 'a message is taken');
select results_eq('select org_id, channel_id, type, text, reply_to, payload ? ''contact'' from outbox.inbound_message', 'select ''default'', a, ''text'', ''Merci'', id, false from made, m', 'and kept, with what it answers');
select results_eq('select org_id, outbox.recipients_json(id), name from outbox.person', $$values ('default', '["+12025550111"]'::jsonb, 'Zoé')$$, 'its sender is a person');
select is((select expires_at - outbox.clock() from outbox.conversation_window), interval '24 hours', 'the window is open for 24 hours');
select is(message(p_template => null, p_payload => '{"type": "text", "text": "Bonjour"}') ->> 'outcome', 'created', 'so that no template is needed');
select results_eq('select x - ''message'' - ''inboundMessageId'' - ''personId'' - ''channelId'' - ''sentAt'' from received() x', $$select jsonb_build_object('from', '+12025550111', 'userId', null, 'name', 'Zoé', 'type', 'text',
  'text', 'Merci', 'replyTo', id::text, 'meaning', null) from m$$, 'it is published');
select is((select x -> 'message' ->> 'id' from received() x), 'wamid.I1', 'with WhatsApp''s own form of it');
select results_eq('select e.org_id, e.partition_key = outbox.person_key(''+12025550111''), u.event_id is not null from outbox.event e left join outbox.unrouted u on u.event_id = e.id where e.type = ''whatsapp.message.received''',
  $$values ('default', true, true)$$, 'to be routed, in order for each person');

-- Once; but what WhatsApp could not show at first.
select is(receive(inbound('wamid.I1')) ->> 'skipped', '1', 'the same id in another form is the same message');
select is((select text from outbox.inbound_message), 'Merci', 'and changes nothing');
select receive(inbound('wamid.I2', 'unsupported', '{"errors": [{"code": 131060}]}'));
select receive(inbound('wamid.I2', 'text', '{"text": {"body": "The real text"}}'));
select results_eq('select type, text from outbox.inbound_message where wamid = ''wamid.I2''', $$values ('text', 'The real text')$$, 'what could not be shown is replaced by what can');
select receive(inbound('wamid.I2', 'unsupported', '{}', '{"key": "later"}'));
select is((select type from outbox.inbound_message where wamid = 'wamid.I2'), 'text', 'and not the other way round');
select is((select count(*) from received() x where x ->> 'type' in ('text', 'unsupported')), 3::bigint, 'both are published');

-- Who hides their number, and who shows it later.
select receive(inbound('wamid.I3', p_more => '{"wa_id": null, "user_id": "US.1"}'));
select is(outbox.get_person('default', 'US.1') -> 'recipients', '["US.1"]', 'a person may have no number');
select results_eq('select x ->> ''from'', x ->> ''userId'' from received() x where x ->> ''userId'' is not null', $$values (null, 'US.1')$$, 'and published as such');
select receive(inbound('wamid.I4', p_more => '{"user_id": "US.1"}'));
select results_eq('select outbox.recipients_json(id) from outbox.person', $$values ('["+12025550111", "US.1"]'::jsonb)$$, 'two people who turn out to be one are one');
select is((select count(distinct person_id) from outbox.inbound_message), 1::bigint, 'and their messages are that one''s');
select receive(inbound('wamid.I5', p_more => '{"user_id": "US.2"}'));
select results_eq('select outbox.recipients_json(id) from outbox.person', $$values ('["+12025550111", "US.1", "US.2"]'::jsonb)$$, 'a number with another user id joins its owners, so that no wish is lost');
select is(receive(inbound('wamid.I6', p_more => '{"wa_id": null}')) ->> 'applied', '1', 'a message of nobody is kept all the same');

-- Other kinds.
select receive(inbound('wamid.K1', 'image', '{"image": {"id": "1", "caption": "Voilà"}}'), inbound('wamid.K2', 'interactive', '{"interactive": {"type": "list_reply", "list_reply": {"id": "x", "title": "Tuesday"}}}'),
  inbound('wamid.K3', 'reaction', '{"reaction": {"message_id": "wamid.A", "emoji": "👍"}}'), inbound('wamid.K4', 'location', '{"location": {"latitude": 1}}'));
select results_eq('select type, text, reply_to is not null from outbox.inbound_message where wamid like ''wamid.K%'' order by wamid',
  $$values ('image', 'Voilà', false), ('interactive', 'Tuesday', false), ('reaction', '👍', true), ('location', null, false)$$, 'what a person reads of each kind');
select receive(inbound('wamid.K5', 'text', '{"text": {"body": 7}, "context": "none"}'), inbound('wamid.K6', 'text', '{"text": "none"}'));
select is((select count(*) from outbox.inbound_message where wamid in ('wamid.K5', 'wamid.K6')), 2::bigint, 'odd forms are kept');

-- The window is of one number and only grows.
select is((select count(*) from outbox.conversation_window where channel_id = (select b from made)), 0::bigint, 'another number has no window');
select time_passes('1 hour');
select receive(inbound('wamid.W1', p_more => jsonb_build_object('at', extract(epoch from outbox.clock())::bigint - 7200)));
select is((select expires_at - outbox.clock() from outbox.conversation_window where person_id = outbox.find_person('default', '+12025550111')), interval '23 hours', 'an older message does not shorten it');
select receive(inbound('wamid.D1', 'unsupported', '{}', jsonb_build_object('wa_id', '12025550178', 'at', extract(epoch from outbox.clock())::bigint - 7200)));
select receive(inbound('wamid.D1', 'text', '{"text": {"body": "Hi"}}', '{"wa_id": "12025550178"}'));
select is((select expires_at - outbox.clock() from outbox.conversation_window where person_id = outbox.find_person('default', '+12025550178')), interval '22 hours', 'the time of the stored message opens it, and not that of its repeat');
select receive(inbound('wamid.W2', 'system', '{"system": {"type": "other"}}', '{"wa_id": "12025550177"}'));
select is((select count(*) from outbox.conversation_window where person_id = outbox.find_person('default', '+12025550177')), 0::bigint, 'what the system says opens none');

-- A number that WhatsApp writes otherwise.
select send('delivered', '{"status": 200, "provider_id": "wamid.open"}');
create temporary table br as select message_id(message('+5511987654321')) as id;
select send('delivered', '{"status": 200, "provider_id": "wamid.BR", "provider": {"wa_id": "551187654321"}}');
select receive(inbound('wamid.BR1', p_more => '{"wa_id": "551187654321"}'));
select is((select count(*) from outbox.conversation_window where person_id = outbox.find_person('default', outbox.identifier_of('551187654321'))), 1::bigint, 'the window is open for both forms of a number');

-- Organisations.
select outbox.receive_callbacks('900000000000001', null, jsonb_build_array(inbound('wamid.O1', p_more => '{"phone_number_id": "100000000000002"}')));
select results_eq('select org_id, count(*) from outbox.person_identifier where value = ''+12025550111'' group by 1 order by 1', $$values ('default', 1::bigint), ('other', 1::bigint)$$, 'each organisation has its own people');
select is((select count(*) from outbox.event where type = 'whatsapp.message.received' and org_id = 'other'), 1::bigint, 'and hears of its own');

-- Too large to publish.
select outbox.set_setting('publish.max_body_bytes', '1024');
select receive(inbound('wamid.L1', 'text', jsonb_build_object('text', jsonb_build_object('body', 'short'), 'more', repeat('x', 3000)), '{"wa_id": "12025550188"}'));
select results_eq('select x -> ''message'', x ->> ''text'' from received() x where x ->> ''from'' = ''+12025550188''', $$values ('null'::jsonb, 'short')$$, 'one that is too large comes without WhatsApp''s form of it');

-- Erased after its time.
select is((select count(*) from outbox.inbound_message where payload <> '{}'), 18::bigint, 'messages are there');
select time_passes('31 days');
create temporary table cleaned as select outbox.cleanup() as answer;
select is_empty('select from outbox.whatsapp_update', 'updates are kept for 30 days');
select time_passes('365 days');
update cleaned set answer = outbox.cleanup() where true;
select is(answer ->> 'inbound', '18', 'messages for a year') from cleaned;
select is_empty($$select from outbox.inbound_message where payload <> '{}' or text is not null or wamid is not null or person_id is not null$$, 'then nothing is left of what they were');
select is_empty('select from outbox.person', 'and who wrote them is forgotten');
select is(outbox.cleanup() ->> 'inbound', '0', 'twice is as good as once');
select is_empty('select * from miscounts()', 'the counters are right');

-- The trace of the callback goes on with what it publishes.
select time_passes('10 seconds'), sent('TRACED');
set local outhook.traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
select receive(inbound('wamid.traced', 'text', '{"text": {"body": "Traced"}}'), status('wamid.TRACED', 'delivered', 1));
select results_eq($$select distinct e.type, e.traceparent from outbox.event e where e.type like 'whatsapp.message.%' and e.traceparent is not null order by 1$$,
  $$select t, current_setting('outhook.traceparent') from unnest(array['whatsapp.message.received', 'whatsapp.message.status']) t$$, 'what a callback publishes belongs to its trace');
set local outhook.traceparent = '';
select receive(inbound('wamid.untraced', 'text', '{"text": {"body": "Untraced"}}'));
select is((select e.traceparent from outbox.event e where e.type = 'whatsapp.message.received' and e.body::jsonb ->> 'text' = 'Untraced'), null, 'and without one to none');

select * from finish();
rollback;
