-- Whose callbacks come to an address: the app with its key, or the app of the shared address, with the secrets that
-- count and can be read.
begin;
\ir ../../_helpers.sql
select plan(13);

select outbox.put_whatsapp_app('1', 'first-secret'), outbox.put_whatsapp_app('2', 'second-secret', p_allow_unsigned => true);
create function key_of(p_app text) returns text language sql as $$ select app_key from outbox.whatsapp_app where app_id = p_app $$;
create function secrets_of(p_app text) returns jsonb language sql as $$ select outbox.callback_app(key_of(p_app)) -> 'app' -> 'secrets' $$;

select is(outbox.callback_app(key_of('1')), '{"app": {"id": "1", "secrets": ["first-secret"], "allow_unsigned": false}}', 'an app is found by its key');
select is(outbox.callback_app(key_of('2')), '{"app": {"id": "2", "secrets": ["second-secret"], "allow_unsigned": true}}', 'and no other');
select is(outbox.callback_app(repeat('0', 32)), '{"app": null}', 'an unknown key is of nobody');
select is(outbox.callback_app(), '{"app": null}', 'the shared address is of nobody');
select outbox.set_setting('whatsapp.shared_app', '"2"');
select is(outbox.callback_app() -> 'app' ->> 'id', '2', 'until the setting names its app');
select is(outbox.callback_app(key_of('1')) -> 'app' ->> 'id', '1', 'which changes nothing for the others');
select is(outbox.callback_app(repeat('0', 32)), '{"app": null}', 'nor makes an unknown key known');

select outbox.put_whatsapp_app('1', 'newer-secret', p_overlap => '1 hour');
select is(secrets_of('1'), '["newer-secret", "first-secret"]', 'two secrets count while one replaces the other, the newer first');
select time_passes('59 min 59 s');
select is(jsonb_array_length(secrets_of('1')), 2, 'to the last second');
select time_passes('1 s');
select is(secrets_of('1'), '["newer-secret"]', 'and then the newer alone');
select outbox.put_whatsapp_app('1', 'newest-secret', p_overlap => '1 hour');
delete from vault.secrets where id = (select secret_vault_id from outbox.whatsapp_app where app_id = '1');
select is(secrets_of('1'), '["newer-secret"]', 'one that is lost is left out');
select is(secrets_of('2'), '["second-secret"]', 'and costs no other app anything');

select outbox.put_whatsapp_app('2', 'third-secret'), outbox.put_whatsapp_app('2', 'fourth-secret', p_overlap => '0');
select is(secrets_of('2'), '["fourth-secret"]', 'with an overlap of 0 no earlier secret counts');

select * from finish();
rollback;
