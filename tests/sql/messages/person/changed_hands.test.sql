-- A number that is given to somebody else: what was said of it before links nobody, and a wish is of the person who said it.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
\ir ../../_callbacks.sql
\ir _person.sql
select plan(41);

create temporary table made as select channel() as a, template() as code, template('promo', 'MARKETING') as promo;
create function ids(p_number text, p_user text default null) returns jsonb language sql as $$
  select jsonb_strip_nulls(jsonb_build_object('wa_id', p_number, 'user_id', p_user))
$$;
create function changes(p_old text, p_new text, p_after integer, p_user text default null) returns jsonb language sql as $$
  select says('', ids(p_old, p_user) || '{"status": "system"}', p_after, jsonb_build_object('system', jsonb_build_object('type', 'user_changed_number', 'wa_id', p_new)))
$$;

-- Old messages to a number that its owner has left.
create temporary table old as select answered('+12025550110', 'wamid.O') as id;
select receive(says('Hi', ids('12025550110', 'US.110'), 1));
select receive(changes('12025550110', '12025550111', 5));
select is(known_as('US.110') || ', ' || known_as('+12025550110'), '+12025550111 US.110, +12025550110', 'a person changes the number');
select receive(status('wamid.O', 'read', 6, ids('12025550110', 'US.110')));
select is(are_one('+12025550110', 'US.110'), false, 'a status of a message from before the change does not join the old number again');
select receive(says('Thanks', ids('12025550111', 'US.110'), 7, '{"context": {"id": "wamid.O"}}'));
select is(are_one('+12025550110', 'US.110'), false, 'nor does a reply to such a message');
select receive(says('Late', ids('12025550110', 'US.110'), 2));
select is(are_one('+12025550110', 'US.110'), false, 'nor an inbound message from before the change');
select is((select outbox.find_person('default', 'US.110') = m.person_id from outbox.inbound_message m where m.text = 'Late'), true, 'which is of the person who has changed the number');
select is(wants('US.110'), 'everything', 'that person still wants messages');
select receive(says('STOP', ids('12025550110', 'US.110'), 3));
select is(wants('US.110'), 'ALL', 'a STOP from before the change is of that person, too');
select receive(says('START', ids('12025550111', 'US.110'), 8));
select is(wants('US.110') || ' ' || wants('+12025550110'), 'everything ALL', 'the old number has not agreed to messages');
select receive(says('Hello', ids('12025550110', 'US.119'), 9), says('START', ids('12025550110', 'US.119'), 10));
select is(known_as('US.119') || ' ' || wants('US.119'), '+12025550110 US.119 everything', 'until its next owner does');
select receive(says('Me again', ids('12025550110', 'US.110'), 11));
select is(are_one('+12025550110', 'US.110'), true, 'what is said later joins them');

-- A change that each channel reports.
select receive(says('Hi', ids('12025550120', 'US.120'), 1));
select receive(changes('12025550120', '12025550121', 5));
select receive(changes('12025550120', '12025550121', 6, 'US.120'));
select is(known_as('US.120') || ' ' || wants('US.120'), '+12025550121 US.120 everything', 'a second report of a change changes nothing');
select receive(changes('12025550120', '12025550122', 7));
select is(known_as('US.120') || ', ' || known_as('+12025550122'), '+12025550121 US.120, +12025550122', 'another change is another one');

-- A change back within the day is no repeat.
select receive(says('Hi', ids('12025550310', 'US.310'), 1));
select receive(changes('12025550310', '12025550311', 5));
select receive(changes('12025550311', '12025550310', 9));
select is(known_as('US.310') || ', ' || known_as('+12025550311'), '+12025550310 US.310, +12025550311', 'a person who changes back has the first number again');
select receive(changes('12025550311', '12025550310', 10));
select is(known_as('US.310'), '+12025550310 US.310', 'a second report of that changes nothing');
select receive(changes('12025550310', '12025550311', 6));
select is(known_as('US.310'), '+12025550310 US.310', 'nor does a late report of the first change');
select receive(changes('12025550310', '12025550311', 12));
select is(known_as('US.310') || ', ' || known_as('+12025550310'), '+12025550311 US.310, +12025550310', 'a third change is one');
select receive(changes('12025550310', '12025550311', 13));
select is(known_as('US.310'), '+12025550311 US.310', 'and is made once');
select is(outcome('+12025550310'), 'opted_out', 'the number that was left is not written to');

-- Both ways to write a number go.
select receive(says('Hi', ids('5491112867099', 'US.99'), 1)), link('+541112867099', '5491112867099');
select receive(changes('5491112867099', '5491112867098', 5));
select is(known_as('US.99') || ', ' || known_as('+541112867099'), '+5491112867098 US.99, +541112867099 +5491112867099', 'all ways to write the old number leave the person');
select is(outcome('+541112867099'), 'opted_out', 'and none is written to');

-- A response that comes after an operator has parted.
select link('+541112867097', '+5491112867097'), message('+541112867097'), time_passes('1 minute');
create temporary table claim as select step() as answer;
select time_passes('1 second');
select outbox.part_person('default', '{+5491112867097}');
select step(0, results(answer, 'delivered', '{"status": 200, "provider_id": "wamid.F", "provider": {"wa_id": "5491112867097"}}')) from claim;
select is((select status from outbox.outbound_message where provider_message_id = 'wamid.F'), 'SENT', 'a message is sent that was under way when its people were parted');
select is(are_one('+541112867097', '+5491112867097'), false, 'its response does not join them again');
select time_passes('1 minute'), answered('+541112867097', 'wamid.F2', '5491112867097');
select is(are_one('+541112867097', '+5491112867097'), true, 'that of a later message does');
select time_passes('10 seconds'), message('+12025550191');
select send('delivered', '{"status": 200, "provider_id": "wamid.U2", "provider": {"user_id": "US.191"}}');
select is(known_as('US.191'), '+12025550191 US.191', 'a response with a user id links it to the number');

-- Two owners of one number, whom nobody has parted.
select receive(says('STOP', ids('12025550130', 'US.130'), 1));
select receive(says('START', ids('12025550130', 'US.131'), 2));
select is(wants('US.130') || ' ' || outcome('+12025550130'), 'ALL opted_out', 'START of the new owner does not lift the STOP of the old one');
select is(array(select regexp_replace(t, '[0-9]+$', 'n') from unnest(trail('PERSON', outbox.find_person('default', 'US.130')::text)) t),
  array['OPTED_OUT WHATSAPP ALL: inbound STOP', 'JOINED Joined with person n', 'OPT_IN_IGNORED WHATSAPP ALL: inbound START, but another user id opted out', 'OPTED_IN WHATSAPP MARKETING: inbound START'], 'and the trail says why');
select receive(says('START', ids('12025550130', 'US.130'), 3));
select is(wants('US.130'), 'everything', 'a START of the old one does');
select receive(says('START', ids('12025550140', 'US.141'), 2));
select receive(says('STOP', ids('12025550140', 'US.140'), 1));
select is(wants('US.140'), 'ALL', 'a STOP that comes after the START of somebody else holds');
select receive(says('STOP', ids('12025550150', 'US.150'), 1), says('START', ids('12025550150', 'US.151'), 2), says('STOP', ids('12025550150', 'US.151'), 3));
select is(wants('US.150'), 'ALL', 'as in one call');
select receive(says('STOP', ids('12025550260', 'US.260'), 1)), receive(says('STOP', ids('12025550260', 'US.261'), 2));
select receive(says('START', ids('12025550260'), 3));
select is(wants('US.260'), 'ALL', 'a START whose user id is not known lifts nothing of two owners');
select receive(says('Hi', ids('12025550270', 'US.270'), 1), says('Hi', ids('12025550270', 'US.271'), 1));
select receive(says('STOP', ids('12025550270'), 2), says('START', ids('12025550270'), 3));
select is(wants('US.270'), 'ALL', 'nor in the same call');
select receive(says('Hi', ids('12025550280', 'US.280'), 1), says('Hi', ids('12025550280', 'US.281'), 1));
select receive(says('START', ids('12025550280'), 3));
select receive(says('STOP', ids('12025550280'), 2));
select is(wants('US.280'), 'ALL', 'and a STOP that comes after it holds');
select outbox.opt_in_recipient('default', 'US.280');
select receive(says('STOP', ids('12025550280'), 2));
select is(wants('US.280'), 'everything', 'but an operator speaks for all');
select receive(says('START', ids('12025550150', 'US.151'), 4));
select is(wants('US.150'), 'ALL', 'of two who have said STOP, one lifts nothing');
select outbox.part_person('default', '{12025550150,US.151}');
select receive(says('START', ids('12025550150', 'US.151'), 5));
select is(wants('US.150') || ' ' || wants('US.151'), 'ALL everything', 'until they are parted');
select receive(says('Hi', ids('12025550160', 'US.160'), 1));
select receive(says('STOP', ids('12025550160'), 2));
select receive(says('START', ids('12025550160', 'US.161'), 3));
select is(wants('US.160'), 'ALL', 'a STOP without a user id is of the only one that is known');
select receive(says('START', ids('12025550160'), 4));
select is(wants('US.160'), 'ALL', 'a START without one lifts it no more than that of another');
select time_passes('1 minute');
select is((outbox.opt_in_recipient('default', '12025550160') -> 'isNew')::text || wants('US.160'), 'trueeverything', 'an operator lifts it');
select receive(says('STOP', ids('12025550160', 'US.160'), -30));
select is(wants('US.160'), 'everything', 'for good');
select receive(prefers('stop', ids('12025550170', 'US.170'), 1), prefers('resume', ids('12025550170', 'US.171'), 2));
select is(wants('US.170'), 'MARKETING', 'the same goes for the button of WhatsApp');
select is_empty('select said_by from outbox.opt_out where said_by !~ ''^#[0-9a-f]{64}$''', 'who said it is stored as a hash');

select * from finish();
rollback;
