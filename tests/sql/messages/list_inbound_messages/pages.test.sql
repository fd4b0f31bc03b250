-- Inbound messages as the API lists them: newest first, page by page, of one person or of one channel.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
\ir ../../_callbacks.sql
select plan(11);

create temporary table made as select channel() as a, channel('other', '100000000000002') as b;
create function inbound(p_n integer, p_from text, p_number text default '100000000000001') returns jsonb language sql as $$
  select update_of('message', jsonb_build_object('wamid', 'wamid.I' || p_n, 'status', 'text', 'wa_id', p_from, 'phone_number_id', p_number,
    'data', jsonb_build_object('id', 'wamid.I' || p_n, 'type', 'text', 'text', jsonb_build_object('body', 'Text ' || p_n))))
$$;
select receive(inbound(n, case when n % 2 = 0 then '12025550111' else '12025550112' end)) is not null from generate_series(1, 5) n;
select receive(inbound(6, '12025550111', '100000000000002'));
create function texts(p_page jsonb) returns jsonb language sql as $$ select jsonb_path_query_array(p_page, '$.data[*].text') $$;

select is(texts(outbox.list_inbound_messages('default')), '["Text 5", "Text 4", "Text 3", "Text 2", "Text 1"]', 'newest first');
select is(texts(outbox.list_inbound_messages('other')), '["Text 6"]', 'of one''s own organisation');
create temporary table page as select outbox.list_inbound_messages('default', p_limit => 2) as p;
select is(texts(p), '["Text 5", "Text 4"]', 'a page') from page;
select is(texts(outbox.list_inbound_messages('default', p ->> 'nextCursor', 2)), '["Text 3", "Text 2"]', 'and the next one') from page;
select is(outbox.list_inbound_messages('default') -> 'nextCursor', 'null', 'the last one says so');
select is(texts(outbox.list_inbound_messages('default', p_recipient => '+12025550111')), '["Text 4", "Text 2"]', 'of one person, by the number');
select is(texts(outbox.list_inbound_messages('default', p_recipient => '12025550112')), '["Text 5", "Text 3", "Text 1"]', 'or by the wa_id');
select is(texts(outbox.list_inbound_messages('default', p_recipient => '+12025550199')), '[]', 'of nobody');
select is(texts(outbox.list_inbound_messages('default', p_channel_id => b)), '[]', 'another organisation''s channel has none of them') from made;
select is(jsonb_array_length(outbox.list_inbound_messages('default', p_channel_id => a) -> 'data'), 5, 'of one channel') from made;
select is((outbox.list_inbound_messages('default', p_limit => 1) #> '{data,0}') - array['id', 'personId', 'channelId', 'sentAt', 'receivedAt'],
  '{"senders": ["+12025550112"], "type": "text", "text": "Text 5", "replyTo": null, "erasedAt": null}', 'with its sender and its text');

select * from finish();
rollback;
