-- What the check of a channel is given: the token of this channel alone, and the templates of its organisation.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
select plan(8);

create temporary table made as
  select channel() as a, channel('other', '100000000000002') as b, template() as code, template('theirs', 'MARKETING', 'other') as their_code;
select is(outbox.get_channel_access('default', a) - '{egress,appKey}'::text[], jsonb_build_object('channelId', a,
  'graphUrl', 'https://graph.facebook.com', 'graphVersion', 'v25.0', 'phoneNumberId', '100000000000001',
  'wabaId', '200000000000001', 'appId', '900000000000001', 'accessToken', 'token-100000000000001',
  'templates', '[{"code": "reminder", "name": "appointment_reminder", "language": "fr", "category": "UTILITY", "parameterFormat": "POSITIONAL"}]'::jsonb),
  'the channel with its token, and the templates of its organisation') from made;
select is(outbox.get_channel_access('default', null) ->> 'channelId', a::text, 'without an id it is the default channel') from made;
select is(outbox.get_channel_access('default', a) -> 'egress', outbox.run_settings(), 'with the settings that say which addresses may be reached') from made;
select is(outbox.get_channel_access('default', a) ->> 'appKey', outbox.get_whatsapp_app('900000000000001') ->> 'appKey', 'and the key of the callback address') from made;
select throws_ok(format('select outbox.get_channel_access(%L, %L)', 'default', b), 'OH002', null, 'the channel of another organisation does not exist') from made;
select outbox.update_channel('default', a, '{"graphVersion": "v26.0"}') from made;
select is(outbox.get_channel_access('default', a) ->> 'graphVersion', 'v26.0', 'the version of the channel goes before the setting') from made;
delete from vault.secrets where id in (select token_vault_id from outbox.whatsapp_channel);
select is(outbox.get_channel_access('default', a) -> 'accessToken', 'null', 'a token that Vault has lost is null') from made;
select ok(not has_function_privilege(r, 'outbox.get_channel_access(text, uuid)', 'execute'), r || ' may not call it')
from unnest(array['authenticated']) r;

select * from finish();
rollback;
