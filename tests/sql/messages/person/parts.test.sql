-- People who were joined by mistake are parted; erased ones keep their opt-outs; joined ones keep one pace.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
\ir ../../_callbacks.sql
\ir _person.sql
select plan(44);

create temporary table made as select channel() as a, template() as code, template('promo', 'MARKETING') as promo;

-- A number that was given to somebody else.
select receive(says('STOP', '{"wa_id": "12025550111", "user_id": "US.1"}'));
select receive(prefers('stop', '{"wa_id": "12025550111", "user_id": "US.2"}', 1));
select receive(says('Hi', '{"wa_id": "12025550111", "user_id": "US.2"}', 2));
select is(known_as('US.1'), '+12025550111 US.1 US.2', 'a number that comes with another user id joins both');
select outbox.open_window(a, link('US.1'), outbox.clock()) from made;
create temporary table parted as select outbox.part_person('default', '{12025550111,US.2}', 'anna') as r;
select is(r #> '{parted,recipients}', '["+12025550111", "US.2"]', 'an operator parts them') from parted;
select is(r #> '{person,recipients}', '["US.1"]', 'the other keeps the rest') from parted;
select is(wants('US.1') || ', ' || wants('US.2') || ', ' || wants('+12025550111'), 'ALL MARKETING, ALL MARKETING, ALL MARKETING', 'both keep every wish');
select is((select count(*) from outbox.conversation_window), 0::bigint, 'and the windows of both are closed');
select is((select o.words from outbox.opt_out o where o.person_id = outbox.find_person('default', 'US.2') and o.purpose = 'ALL'), 'STOP', 'with the evidence');
select is(trail('PERSON', r #>> '{parted,id}'), array[format('PARTED Parted from person %s', r #>> '{person,id}')], 'both are audited') from parted;
select is((trail('PERSON', r #>> '{person,id}'))[array_upper(trail('PERSON', r #>> '{person,id}'), 1)], format('PARTED Parted from person %s', r #>> '{parted,id}'), 'the one that stays, too') from parted;
select is((select actor from outbox.audit_event where action = 'PARTED' limit 1), 'anna', 'with who did it');
select outbox.opt_in_recipient('default', 'US.2');
select is(outcome('+12025550111') || ' ' || wants('US.1'), 'created ALL MARKETING', 'what one lifts is lifted for that one alone');
select is(refusal($$select outbox.part_person('default', '{US.1}')$$), 'OH004 the person has no other recipients', 'the last identifier stays');
select is(refusal($$select outbox.part_person('default', '{US.1,US.2}')$$), 'OH004 the recipients are not one person', 'identifiers of two people are not parted at once');
select is(refusal($$select outbox.part_person('default', '{US.9}')$$), 'OH002 the person does not exist', 'an unknown person is not found');
select is(refusal($$select outbox.part_person('default', '{}')$$), 'OH001 recipients is empty', 'nothing is no person');
select is(refusal($$select outbox.part_person('default', '{nobody}')$$), 'OH001 recipient is not a number, a wa_id or a user id of WhatsApp', 'an identifier is checked');
select is(refusal($$select outbox.part_person('other', '{US.1}')$$), 'OH002 the person does not exist', 'each organisation has its own people');
select receive(says('Hi', '{"wa_id": "12025550111", "user_id": "US.1"}', 3));
select is(are_one('US.1', 'US.2', '+12025550111'), true, 'WhatsApp may link them again');
select is(wants('US.2'), 'ALL MARKETING', 'with the stricter wish');

-- A message whose number and wa_id were parted is refused if either has opted out.
select answered('+541112867091', 'wamid.P', '5491112867091');
select outbox.part_person('default', '{+5491112867091}'), outbox.opt_out_recipient('default', '5491112867091', 'x');
select is(outcome('+541112867091'), 'created', 'after a part each has an own wish');

-- Erasing.
select link('+12025550121', 'US.121'), link('+12025550122', 'US.122');
select receive(says('STOP', '{"user_id": "US.121"}', 5));
create temporary table before as select known_as('US.121') as names;
select time_passes('366 days');
select step(0, '[]');
select outbox.cleanup(), outbox.cleanup();
select is((select count(*) from outbox.person p join outbox.person_identifier i on i.person_id = p.id where i.value not like '#%'), 0::bigint, 'after the retention no identifier is left');
select is((select count(*) from outbox.person_identifier where value ~ '20255501|US[.]'), 0::bigint, 'of anybody');
select is_empty('select p.id from outbox.person p where not exists (select from outbox.opt_out o where o.person_id = p.id)', 'who has opted out of nothing is deleted');
select is((select count(*) from outbox.opt_out where wamid ~ 'wamid'), 0::bigint, 'the id of the evidence, which has the number, is a hash');
select is((select words from outbox.opt_out where person_id = outbox.find_person('default', 'US.121')), 'STOP', 'the words stay');
select is(outcome('+12025550121'), 'opted_out', 'the number of an erased person is still refused');
select is(outbox.list_opt_outs('default', 'US.121') #> '{data,0,recipients}', '[]', 'the list finds the opt-out by the id and shows no name');
select is(outbox.list_opt_outs('default', 'US.121') #>> '{data,0,recipient}', null, 'nor number');
select is(outcome('+12025550122'), 'created', 'another is not');
select receive(says('Hello again', '{"user_id": "US.121"}', 6));
select is(known_as('US.121') ~ '^#[0-9a-f]{64} US.121$', true, 'who writes again is the same person');
select is(outcome('+12025550121'), 'opted_out', 'the wish holds');
select receive(says('START', '{"wa_id": "12025550121"}', 7));
select is(known_as('US.121') || ' ' || outcome('+12025550121'), '+12025550121 US.121 created', 'and is lifted by the number');
-- Erased while a message waits.
create temporary table held as select message_id(message('+12025550125')) as id;
select outbox.opt_out_recipient('default', '+12025550125', 'letter');
update outbox.person set last_seen_at = '2020-01-01' where id = outbox.find_person('default', '+12025550125');
select outbox.erase_people(outbox.clock(), 10);
select is(known_as('+12025550125') like '#%', true, 'a person is erased while a message waits');
select step(), time_passes('1 minute'), step();
select is((row_of(id)).error_code, 'opted_out', 'which is not sent') from held;

-- Erased and parted: all of the identifiers that are named move.
select link('+12025550126', 'US.126'), link('+12025550126', 'US.127'), outbox.opt_out_recipient('default', 'US.126', 'letter');
update outbox.person set last_seen_at = '2020-01-01' where id = outbox.find_person('default', 'US.126');
select outbox.erase_people(outbox.clock(), 10);
create temporary table erased as select outbox.part_person('default', '{+12025550126,US.127}') as r;
select is(r #> '{parted,recipients}', '["+12025550126", "US.127"]', 'all identifiers of an erased person that are named are parted') from erased;
select is(r #> '{person,recipients}', '[]', 'the person that stays is still erased') from erased;
select is(wants('US.126') || ' ' || wants('US.127'), 'ALL ALL', 'both keep the opt-out');

-- One pace: messages that were queued before a join wait for each other.
select time_passes('1 hour');
select step(0, '[]'), take_all(), time_passes('1 hour'), take_all();
select message('+541140000001'), message('+5491140000001'), message('+541140000001'), message('+5491140000001');
select is((select count(*) from outbox.lane l join outbox.gate g on g.id = l.gate_id, made where g.endpoint_id = a and l.depth > 0), 0::bigint, 'nothing is routed yet');
create temporary table routed as select claimed(step(0)) as n;
select link('+541140000001', '5491140000001');
select is(take_all(), 1, 'of two lanes of one person one sends');
select is(take_all(), 0, 'the other waits');
select time_passes('6 seconds');
select is(take_all(), 1, 'for the pace');
select time_passes('6 seconds');
select is(take_all(), 1, 'one by one');
select time_passes('6 seconds');
select is(take_all(), 1, 'until all are sent');
create temporary table later as select message_id(message('+5491140000001')) as one, message_id(message('+541140000001')) as two;
select is((select count(distinct e.partition_key) from outbox.event e join later l on true join outbox.outbound_message m on m.id in (l.one, l.two) and m.event_id = e.id), 1::bigint, 'new messages have one lane');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
