-- One key, one message: within its organisation, for the same content, for as long as the message lives.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
select plan(22);

create temporary table made as select channel() as channel_id, template() as code;
create temporary table first as select message(p_key => 'key-456') as answer;
select is(message(p_key => 'key-456') ->> 'outcome', 'existing', 'the same again is the same message');
select is(message_id(message(p_key => 'key-456')), message_id(answer), 'under its id') from first;
select take_all();
select is(message(p_key => 'key-456') -> 'message' ->> 'status', 'SENT', 'as it is now');
select is(refusal($$select message('+12025550112', p_key => 'key-456')$$), 'OH003 Idempotency-Key was used for a message with other content', 'another recipient is refused');
select is(refusal($$select message(p_key => 'key-456', p_payload => '{"parameters": ["Zoé"]}')$$), 'OH003 Idempotency-Key was used for a message with other content', 'another payload, too');
select is(message(p_key => 'key-456', p_payload => '{"parameters":["Anna"]}') ->> 'outcome', 'existing', 'white space is no content');
create temporary table other as select channel('other', '100000000000002') as channel_id, template(p_org_id => 'other') as code;
select is(message(p_key => 'key-456', p_org_id => 'other') ->> 'outcome', 'created', 'the key of another organisation is another');
-- Idempotency comes before consent.
select outbox.opt_out_recipient('default', '+12025550111', 'STOP');
select is(message(p_key => 'key-456') ->> 'outcome', 'existing', 'what exists is returned, whatever may be sent now');
select isnt(message('+12025550113') -> 'message' ->> 'idempotencyKey', null, 'a message without a key gets one');
select is((select count(*) from outbox.outbound_message where org_id = 'default'), 2::bigint, 'two messages were made');
select is((select count(*) from outbox.audit_event where action = 'CREATED' and entity_type = 'OUTBOUND_MESSAGE'), 3::bigint, 'each audited once');
select time_passes('400 days');
select is(message(p_key => 'key-456') ->> 'outcome', 'existing', 'a key lives as long as its message');

-- Whatever has changed since: the default channel, the template, the channel itself.
create temporary table asked as select message('+12025550114', p_key => 'key-default') as answer, message('+12025550115', p_key => 'key-named', p_channel_id => channel_id) as named from made;
create function repeats() returns text[] language sql as $$
  select array_agg(case when message_id(again) is not distinct from message_id(first) then again ->> 'outcome' else 'another' end order by n) from asked,
    lateral (values (1, answer, message('+12025550114', p_key => 'key-default')), (2, named, message('+12025550115', p_key => 'key-named', p_channel_id => (select channel_id from made)))) v (n, first, again)
$$;
create temporary table second as select channel(p_number_id => '100000000000003') as channel_id;
select outbox.set_default_channel('default', channel_id) from second;
select is(repeats(), '{existing,existing}', 'another default channel makes no other message');
select is(refusal(format($$select message('+12025550114', p_key => 'key-default', p_channel_id => %L)$$, channel_id)), 'OH003 Idempotency-Key was used for a message with other content',
  'to ask for a channel is not to ask for the default one') from made;
select outbox.delete_template('default', 'reminder');
select is(repeats(), '{existing,existing}', 'nor does a deleted template');
select outbox.delete_channel('default', channel_id) from made;
select is(repeats(), '{existing,existing}', 'nor a deleted channel');
select outbox.delete_channel('default', channel_id) from second;
select is(repeats(), '{existing,existing}', 'nor the last one');
select channel(p_number_id => '100000000000004'), template();

-- What is not valid is named.
select is(refusal($$select message('0612345678')$$), 'OH001 to is not a number in E.164 form', 'a number without + is refused, and not shown');
select is(refusal($$select message(p_template => 'nothing')$$), 'OH001 templateCode is not a template of this organisation', 'an unknown template');
select is(refusal($$select message(p_payload => '[]')$$), 'OH001 payloadJson is not a JSON object', 'a payload that is no object');
select is(refusal($$select message(p_template => null, p_payload => '{}')$$), 'OH001 payloadJson.type is missing', 'a message of no kind');
select is(refusal(format('select message(p_channel_id => %L)', channel_id)), format('OH002 channel %s does not exist', channel_id), 'a channel of another organisation does not exist') from other;

select * from finish();
rollback;
