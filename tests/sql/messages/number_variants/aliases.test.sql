-- A Brazilian or Mexican number is one person in both of its spellings.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
select plan(21);

select is(outbox.number_variants(n), s, format('%s: %s', n, s))
from (values
  ('+5511987654321', array['+5511987654321', '+551187654321']),
  ('+551187654321', array['+5511987654321', '+551187654321']),
  ('+551133334444', array['+551133334444']),
  ('+5215512345678', array['+525512345678', '+5215512345678']),
  ('+525512345678', array['+525512345678', '+5215512345678']),
  ('+12025550111', array['+12025550111']),
  ('+33612345678', array['+33612345678'])) v (n, s);

select is(outbox.person_key('+551187654321'), outbox.person_key('+5511987654321'), 'one person has one key');
select isnt(outbox.person_key('+551187654322'), outbox.person_key('+5511987654321'), 'another has another');
select isnt(outbox.person_key('+12025550111'), encode(sha256('+12025550111'), 'hex'), 'which cannot be computed from the number alone');
select is(length(outbox.person_key('+12025550111')), 64, 'and has the length of a hash');

-- An opt-out.
create temporary table made as select channel() as channel_id, template() as code;
select outbox.opt_out_recipient('default', '+551187654321', 'letter');
select is(message('+5511987654321') ->> 'code', 'opted_out', 'an opt-out of one spelling holds for the other');
select is(message('+551187654321') ->> 'code', 'opted_out', 'and for itself');
select is(message('+5511987654322') ->> 'outcome', 'created', 'and for nobody else');
select is(outbox.opt_in_recipient('default', '+5511987654321') -> 'isNew', 'true', 'taken back by the other spelling');
select is(message('+551187654321') ->> 'outcome', 'created', 'it is gone');

-- The window of 24 hours.
select is(message('+525512345678', p_template => null, p_payload => '{"type": "text", "text": "Hola"}') ->> 'code', 'outside_window', 'nobody wrote');
select outbox.open_window(channel_id, outbox.save_person('default', array[outbox.identifier_of('+5215512345678')], outbox.clock()), outbox.clock()) from made;
select is(message('+525512345678', p_template => null, p_payload => '{"type": "text", "text": "Hola"}') ->> 'outcome', 'created', 'the window of one spelling is open for the other');

-- The order of messages.
select take_all();
select time_passes('1 hour');
select take_all();
select time_passes('1 hour');
select message('+5215512345678'), message('+525512345678');
select is(take_all(), 1, 'both spellings wait in one lane');
select time_passes('6 seconds');
select is(take_all(), 1, 'one after the other');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
