-- Who wants to hear nothing more, and who does again: words, buttons, preferences, in whatever order they come.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
\ir ../../_callbacks.sql
select plan(43);

create temporary table made as select channel() as a, template() as code, template('promo', 'MARKETING') as promo;
create function says(p_text text, p_after integer default 0, p_more jsonb default '{}') returns jsonb language sql as $$
  select update_of('message', jsonb_build_object('wamid', 'wamid.' || md5(p_text || p_after || p_more::text), 'status', 'text', 'wa_id', '12025550111',
    'at', extract(epoch from outbox.clock())::bigint + p_after, 'data', jsonb_build_object('text', jsonb_build_object('body', p_text))) || p_more)
$$;
create function chooses(p_data jsonb, p_after integer default 0) returns jsonb language sql as $$ select says(p_data::text, p_after, jsonb_build_object('data', p_data)) $$;
create function prefers(p_value text, p_after integer default 0, p_more jsonb default '{}') returns jsonb language sql as $$
  select update_of('preference', jsonb_build_object('field', 'user_preferences', 'status', p_value, 'wa_id', '12025550111',
    'at', extract(epoch from outbox.clock())::bigint + p_after, 'data', '{"category": "marketing_messages"}'::jsonb) || p_more)
$$;
create function wants(p_recipient text default '+12025550111') returns text language sql stable as $$
  select coalesce(string_agg(purpose, ' ' order by purpose), 'everything') from outbox.opt_out where person_id = outbox.find_person('default', p_recipient) and not lifted
$$;

-- The words, exactly.
select is(outbox.plain_word(x), w, coalesce(w, 'nothing') || ' is the word in ' || x) from (values ('STOP', 'stop'), ('  Stop! ', 'stop'), ('Arrêt.', 'arret'), ('SE DÉSABONNER', 'se desabonner'),
  ('"s’abonner"', 's’abonner'), (' … ', null), (repeat('stop ', 30), null)) v (x, w);
select receive(says('Please stop the noise', 1));
select is(wants(), 'everything', 'a sentence that holds a word is for a person to read');
select receive(says(' Stop !', 2));
select is(wants(), 'ALL', 'STOP stops everything');
select is(message() ->> 'code', 'opted_out', 'no message is taken');
select is((select meaning from (select body::jsonb ->> 'meaning' as meaning from outbox.event where type = 'whatsapp.message.received') x where meaning is not null), 'STOP', 'the event tells what it meant');
select results_eq('select source, words, wamid, said_at from outbox.opt_out', $$select 'inbound STOP', ' Stop !', wamid, happened_at from outbox.whatsapp_update where data #>> '{text,body}' = ' Stop !'$$, 'what was said, and when, is kept');
select is((select trail('PERSON', id::text) from outbox.person), array['OPTED_OUT WHATSAPP ALL: inbound STOP'], 'and audited under the person');
select is_empty($$select from outbox.audit_event where details like '%12025550111%'$$, 'without a number');
select receive(says('START', 3));
select is(wants(), 'everything', 'START starts it');
select is(message() ->> 'outcome', 'created', 'and messages are taken');

-- In whatever order.
select receive(says('desabonner', 1));
select is(wants(), 'everything', 'a STOP that comes late is not the last word');
select receive(says('start', 10), says('ARRÊT', 11), says('reprendre', 9));
select is(wants(), 'ALL', 'of several at once the last one counts');
select receive(says('Start', 20), says('STOP', 20));
select is(wants(), 'ALL', 'at the same second the one that asks for less');
select receive(says('Start', 30));

-- A message that waits is not sent.
select time_passes('10 seconds');
select take_all();
create temporary table waiting as select message_id(message()) as id;
select receive(says('unsubscribe', 40));
select time_passes('10 seconds');
select is(take_all(), 0, 'what waits for that person');
select is((row_of(id)).status || ' ' || (row_of(id)).error_code, 'FAILED opted_out', 'is not sent') from waiting;
select receive(says('start', 50));

-- Buttons.
select receive(chooses('{"button": {"payload": "STOP", "text": "Plus de messages"}}', 60));
select is(wants(), 'ALL', 'a quick reply with the payload STOP');
select receive(chooses('{"button": {"payload": "x-17", "text": "Start"}}', 61));
select is(wants(), 'everything', 'or with the word as its text');
select receive(chooses('{"interactive": {"type": "button_reply", "button_reply": {"id": "stop", "title": "No thanks"}}}', 62));
select is(wants(), 'ALL', 'a reply button');
select receive(chooses('{"interactive": {"type": "list_reply", "list_reply": {"id": "start", "title": "Yes"}}}', 63));
select is(wants(), 'everything', 'an item of a list');

-- An organisation's own words.
select is(outbox.put_reply_word('default', 'en', 'Quit!', 'NONE') ->> 'word', 'quit', 'an organisation says that a word means nothing');
select outbox.put_reply_word('default', 'fr', 'Fini', 'STOP', 'Zoé');
select receive(says('quit', 70));
select is(wants(), 'everything', 'it means nothing to it');
select receive(says('fini', 71));
select is(wants(), 'ALL', 'or that another does');
select is((select outbox.list_reply_words('default') -> 'data' @> '[{"word": "fini", "action": "STOP", "own": true}, {"word": "quit", "action": "NONE", "own": true}, {"word": "stop", "own": false}]'), true, 'its words are listed');
select is(jsonb_path_query_array(outbox.list_reply_words('default'), '$.data[*] ? (@.word == "quit")'), '[{"own": true, "word": "quit", "action": "NONE", "language": "en"}]', 'each as it counts');
select is(outbox.reply_action('other', '{"text": {"body": "Quit"}}') || coalesce(outbox.reply_action('other', '{"text": {"body": "fini"}}'), ''), 'STOP', 'another organisation''s are its own');
select is(refusal($$select outbox.put_reply_word('default', 'French', 'fini', 'STOP')$$), 'OH001 language is not a language code', 'a language has a code');
select receive(says('start', 72));

-- Preferences: marketing alone, by their own time.
select receive(prefers('resume', 90), prefers('stop', 80));
select is(wants(), 'everything', 'of stop and resume the later counts, whichever comes first');
select receive(prefers('stop', 100));
select is(wants(), 'MARKETING', 'stop stops marketing');
select is(message(p_template => 'promo') ->> 'code', 'opted_out', 'and nothing else');
select receive(prefers('resume', 95));
select is(wants(), 'MARKETING', 'an older resume comes too late');
select receive(prefers('signup', 110));
select is(wants(), 'everything', 'signup is a resume');
select receive(prefers('stop', 120, '{"data": {"category": "other"}}'), prefers('perhaps', 121), prefers('stop', 122, '{"wa_id": null}'));
select results_eq('select distinct reason from outbox.whatsapp_update where kind = ''preference'' and update_status = ''skipped'' order by 1', $$values ('not_used'), ('unknown_person'), ('unknown_status')$$, 'what is not understood does nothing');

-- By hand; a person who hides their number; a number that changes hands.
select outbox.opt_out_recipient('default', '+12025550111', 'phone call');
select is(wants(), 'ALL', 'what is written down by hand counts');
select receive(says('start', -60));
select is(wants(), 'ALL', 'before what was said earlier');
select outbox.opt_in_recipient('default', '+12025550111');
select receive(says('stop', -1));
select is(wants(), 'everything', 'and so when it is taken back');
select receive(says('stop', 130, '{"wa_id": null, "user_id": "US.7"}'));
select is(wants('US.7'), 'ALL', 'a person without a number can stop, too');
select receive(update_of('message', '{"wamid": "wamid.SYS", "status": "system", "wa_id": "12025550155", "data": {"system": {"type": "user_changed_number", "wa_id": "12025550156"}}}'));
select is(wants('+12025550155') || ' ' || wants('+12025550156'), 'ALL everything', 'a number that was given up is written to no more');

select * from finish();
rollback;
