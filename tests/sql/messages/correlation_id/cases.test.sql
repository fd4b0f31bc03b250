-- Modules: api
-- A message keeps the correlation id of its caller: it is returned, found by index, and passed on to its events, its dead
-- letters, its audit trail and its timeline.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
\ir ../../_callbacks.sql
select plan(30);

select channel(), template(), channel('org-2', '100000000000002'), template(p_org_id => 'org-2');
select outbox.grant_consent('default', 'd1', '{UTILITY}', 'form');
create function made(p_correlation_id text, p_key text default null, p_org_id text default 'default', p_dossier text default 'd1', p_to text default '+12025550112') returns jsonb language sql as $$
  select outbox.create_message(p_org_id, p_to, '{"parameters": ["Anna"]}', 'reminder', p_dossier, p_key, p_correlation_id => p_correlation_id)
$$;
create temporary table ids as
select made('cart-7', 'key-1', p_to => '+12025550111') as answer, made('cart-7', 'key-1', 'org-2', null) as theirs, made(null, 'key-2') as plain;
create function found(p_correlation_id text default 'cart-7', p_limit integer default 50) returns jsonb language sql as $$
  select outbox.search_org('default', p_correlation_id, p_limit => p_limit)
$$;
create function first_id() returns text language sql stable as $$ select answer #>> '{message,id}' from ids $$;

-- Kept and returned.
select is(answer #>> '{message,correlationId}', 'cart-7', 'create_message() returns the correlation id') from ids;
select is(plain #> '{message,correlationId}', 'null', 'which is null if the caller gave none') from ids;
select is(outbox.get_message('default', first_id()) ->> 'correlationId', 'cart-7', 'get_message() returns it');
select is(jsonb_path_query_array(outbox.list_messages('default', p_correlation_id => 'cart-7'), '$.data[*].id'), jsonb_build_array(first_id()), 'list_messages() selects by it');
select is(made('cart-8', 'key-1', p_to => '+12025550111') #>> '{message,correlationId}', 'cart-7', 'a repeat with the same key returns the first message');
select is(refusal($$select made('two words')$$), 'OH001 correlationId is not 1 to 128 visible ASCII characters', 'a text with a space is refused');
select is(refusal($$select made(repeat('x', 129))$$), 'OH001 correlationId is not 1 to 128 visible ASCII characters', 'as is one of 129 characters');
select is(made(repeat('x', 128)) ->> 'outcome', 'created', 'one of 128 is not');

-- Passed on to the events, also of a resend and of a status.
create function event_ids() returns text[] language sql stable as $$
  select array_agg(coalesce(e.correlation_id, 'none') order by e.id) from outbox.event e
  where e.type = 'outhook.message' and e.org_id = 'default' and e.body::json ->> 'messageId' = first_id()
$$;
select is(event_ids(), '{cart-7}', 'the event of the message has it');
select time_passes('1 minute'), fail(400, '{"code": "131051", "error": "undeliverable"}');
select is((select array_agg(x.correlation_id) from outbox.dead_letter x where x.event_id = (row_of(first_id()::bigint)).event_id), '{cart-7}', 'its dead letter has it');
select is(found() #>> '{deadLetters,0,correlationId}', 'cart-7', 'and is found by it');
select is(event_ids(), '{cart-7}', 'a failure publishes no event of the message');
select is(outbox.resend_message('default', first_id()) ->> 'correlationId', 'cart-7', 'a resent message keeps it');
select is(event_ids(), '{cart-7,cart-7}', 'and so does its new event');
select time_passes('1 minute'), take_all();
select receive(status((row_of(first_id()::bigint)).provider_message_id, 'delivered', 1));
select is((select array_agg(distinct e.correlation_id) from outbox.event e where e.type = 'whatsapp.message.status' and e.body::json ->> 'messageId' = first_id()), '{cart-7}', 'the event of a status has it');
select is((select array_agg(distinct coalesce(a.metadata ->> 'correlationId', 'none')) from outbox.activity a where a.metadata ->> 'messageId' = first_id()), '{cart-7}', 'each activity has it');

-- Found.
select is(jsonb_path_query_array(found(), '$.messages[*].id'), jsonb_build_array(first_id()), 'search_org() finds the message of the organisation');
select is(jsonb_array_length(found() -> 'events'), 3, 'its two events and that of the status');
select ok(jsonb_array_length(found() -> 'deliveries') >= 2, 'their deliveries');
select set_eq($$select a ->> 'action' from jsonb_array_elements(found() -> 'auditEvents') a$$, '{CREATED,FAILED,UPDATED,SENT}'::text[], 'and its audit trail');
select is((select count(*) from jsonb_array_elements(found() -> 'auditEvents') a where a ->> 'entityId' <> first_id()), 0::bigint, 'and that of no other');
select is(made('cart-9', p_dossier => 'd2') ->> 'outcome', 'blocked', 'a message that is refused');
select is(found('cart-9') #>> '{auditEvents,0,action}', 'BLOCKED_BY_POLICY', 'leaves its correlation id in the audit trail');
select is(found('cart-9') -> 'messages', '[]', 'and no message');
select is(jsonb_path_query_array(outbox.list_audit_events('default', p_correlation_id => 'cart-9'), '$.data[*].action'), '["BLOCKED_BY_POLICY"]', 'list_audit_events() selects by it');
select is(found() -> 'moreOf', '[]', 'that is all');
select made('cart-7', 'key-3');
select is(jsonb_array_length(found(p_limit => 1) -> 'messages'), 1, 'a limit takes the newest message');
select is(found(p_limit => 1) -> 'moreOf' ?| '{messages,auditEvents}', true, 'and says that there are more');
delete from outbox.event where true;
select is(jsonb_array_length(found() -> 'messages'), 2, 'messages are found after their events are gone');
select is(outbox.search_org('org-2', 'cart-7') #>> '{messages,0,id}', theirs #>> '{message,id}', 'another organisation finds its own') from ids;

select * from finish();
rollback;
