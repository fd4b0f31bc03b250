-- Whose update it is: the number's organisation, and only where the app that signed it has the number.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
\ir ../../_callbacks.sql
select plan(42);

create temporary table made as select channel() as a, channel('other', '100000000000002') as b, channel('third', '100000000000003', '900000000000002') as c,
  template() as t1, template(p_org_id => 'other') as t2, template(p_org_id => 'third') as t3;
create function receive_as(p_app text, p_org text, variadic p_updates jsonb[]) returns jsonb language sql as $$
  select outbox.receive_callbacks(p_app, p_org, to_jsonb(p_updates))
$$;
create function at_number(p_id text) returns jsonb language sql as $$ select jsonb_build_object('phone_number_id', p_id) $$;
create temporary table m as select message_id(message()) as id, message_id(message('+12025550112', p_org_id => 'other')) as other, message_id(message('+12025550113', p_org_id => 'third')) as third;
create temporary table claim as select step() as answer;
select step(0, (select jsonb_agg(r || jsonb_build_object('status', 200, 'provider_id', 'wamid.' || w.org_id))
  from jsonb_array_elements(results(answer, 'delivered')) r join outbox.whatsapp_channel w on w.endpoint_id = (r ->> 'endpoint')::uuid)) from claim;
select results_eq('select provider_message_id from outbox.outbound_message order by id', $$values ('wamid.default'), ('wamid.other'), ('wamid.third')$$, 'three organisations have sent a message each');

-- One body of two organisations of one app.
select is(receive(status('wamid.default', 'delivered', 1), status('wamid.other', 'read', 1, at_number('100000000000002'))) ->> 'applied', '2', 'one callback may hold updates of several organisations');
select results_eq('select (row_of(id)).status, (row_of(other)).status from m', $$values ('DELIVERED', 'DELIVERED')$$, 'each is applied to its own');
select results_eq('select org_id from outbox.whatsapp_update order by org_id', $$values ('default'), ('other')$$, 'and filed under it');

-- A number of another app: its secret proves nothing.
select is(receive_as('900000000000001', null, status('wamid.third', 'delivered', 1, at_number('100000000000003'))) ->> 'warnings', '["1 updates skipped: unknown_number"]', 'the secret of one app says nothing of another''s number');
select is((row_of(third)).status, 'SENT', 'whose message stays') from m;
select is((select org_id from outbox.whatsapp_update where wamid = 'wamid.third'), null, 'nor is it filed under its organisation');
select is(receive_as('900000000000002', null, status('wamid.third', 'delivered', 1, at_number('100000000000003'))) ->> 'applied', '1', 'its own app''s is taken, though the other''s was there first');
select is((row_of(third)).status, 'DELIVERED', 'and moves it') from m;

-- The id or the name of another organisation's message under a number of one's own.
create temporary table next as select message_id(message('+12025550114')) as id, message_id(message('+12025550115', p_org_id => 'other')) as other;
update claim set answer = step() where true;
select receive(status('wamid.F1', 'delivered', 1, at_number('100000000000001') || jsonb_build_object('callback_data', format('ob1:%s:1', other))),
  failure('wamid.F2', '131026', 1, at_number('100000000000002') || jsonb_build_object('callback_data', format('ob1:%s:1', id)))) from next;
select results_eq('select update_status, reason from outbox.whatsapp_update where wamid like ''wamid.F%''', $$values ('kept', 'unknown_message'), ('kept', 'unknown_message')$$, 'a message of another organisation is none');
select results_eq('select (row_of(id)).status, (row_of(other)).status from next', $$values ('SENDING', 'SENDING')$$, 'and is not touched');
select receive(status('wamid.other', 'sent', 5));
select is((select reason from outbox.whatsapp_update where wamid = 'wamid.other' order by id desc limit 1), 'unknown_message', 'nor by its id');

-- The organisation that the caller names only narrows.
select is(receive_as('900000000000001', 'other', status('wamid.N1', 'sent', 2), status('wamid.N2', 'sent', 2, at_number('100000000000002'))) - 'warnings',
  '{"stored": 2, "duplicates": 0, "applied": 0, "skipped": 1, "kept": 1}', 'a caller that names an organisation is heard for it alone');
select is((select reason from outbox.whatsapp_update where wamid = 'wamid.N1'), 'org_mismatch', 'the rest is skipped, with the reason');
select is(receive_as('900000000000001', 'nobody', status('wamid.N3', 'sent', 2)) ->> 'warnings', '["1 updates skipped: org_mismatch"]', 'and a warning');
select is(receive(status('wamid.N4', 'sent', 2, '{"waba_id": "200000000000009"}')) ->> 'warnings', '["1 updates skipped: wrong_account"]', 'a number under another account is not believed');

-- What concerns an account.
create function template_status(p_event text, p_after integer, p_more jsonb default '{}') returns jsonb language sql as $$
  select update_of('template', jsonb_build_object('field', 'message_template_status_update', 'phone_number_id', null, 'status', p_event,
    'at', extract(epoch from outbox.clock())::bigint + p_after, 'data', '{"message_template_name": "appointment_reminder", "message_template_language": "fr"}'::jsonb) || p_more)
$$;
select is(receive_as('900000000000002', 'other', template_status('PAUSED', 1)) ->> 'warnings', '["1 updates skipped: org_mismatch"]', 'an account''s update is narrowed as well');
select is(receive_as('900000000000002', null, template_status('PAUSED', 2)) ->> 'applied', '1', 'one app says that a template is paused');
select is(outbox.is_template_held(row_of(third)), true, 'which holds it for the channels of that app') from m;
select is(outbox.is_template_held(row_of(id)), false, 'and not for those of another, though the account is the same') from m;
select is((select array_agg(body::jsonb ->> 'orgId') from outbox.event where type = 'outhook.template.held'), array['third'], 'only whose channel it is hears of it');
select is(receive(template_status('PAUSED', 3, '{"waba_id": "1"}')) ->> 'warnings', '["1 updates skipped: unknown_account"]', 'an account without a channel concerns nobody');
select receive(template_status('PAUSED', 4));
select results_eq('select distinct body::jsonb ->> ''orgId'' from outbox.event where type = ''outhook.template.held'' order by 1', $$values ('default'), ('other'), ('third')$$, 'every organisation of the account is told');

-- What could not be applied is applied when it comes again and can be.
select receive(template_status('APPROVED', 5));
create temporary table again as select sent('R1', '+12025550131') as id, sent('R2', '+12025550132') as other;
create temporary table late as select status('wamid.R1', 'delivered', 1) as u, status('wamid.R2', 'delivered', 1) as e;
select is(receive_as('900000000000001', 'other', u) - 'warnings', '{"stored": 1, "duplicates": 0, "applied": 0, "skipped": 1, "kept": 0}', 'under another organisation a status is stored and skipped') from late;
select is(receive_as('900000000000001', 'other', u) ->> 'duplicates', '1', 'once for that organisation') from late;
select is(receive_as('900000000000001', 'nobody', u) ->> 'stored', '1', 'and once for each other') from late;
select is(receive(u) ->> 'applied', '1', 'the same without the header is applied') from late;
select is((row_of(id)).status, 'DELIVERED', 'and reaches its message') from again;
select is(receive(u) ->> 'duplicates', '1', 'once') from late;
select is(receive_as('900000000000001', '', e) ->> 'applied', '1', 'an empty header is none') from late;
create temporary table stop as select update_of('message', jsonb_build_object('wamid', 'wamid.STOP', 'status', 'text', 'wa_id', '12025550133', 'phone_number_id', '100000000000009',
  'data', '{"type": "text", "text": {"body": "STOP"}}'::jsonb)) as u;
select is(receive(u) ->> 'warnings', '["1 updates skipped: unknown_number"]', 'a STOP to a number without a channel is skipped') from stop;
select channel('default', '100000000000009');
select is(receive(u) ->> 'applied', '1', 'and applied when it comes again after its channel was created') from stop;
select is(receive_as('900000000000001', 'default', template_status('PAUSED', 9)) ->> 'warnings', '["1 updates skipped: org_mismatch"]', 'the header of one organisation holds no template of another in its account');

-- Apps: keys, secrets and their rotation.
create temporary table app_key as select outbox.get_whatsapp_app('900000000000001') ->> 'appKey' as key;
select is(outbox.callback_app(key), '{"app": {"id": "900000000000001", "secrets": ["app-secret"], "allow_unsigned": false}}', 'a key finds its app') from app_key;
select is(outbox.callback_app('900000000000001'), '{"app": null}', 'another text finds none');
select is(outbox.callback_app(), '{"app": null}', 'the shared address belongs to no app');
select outbox.set_setting('whatsapp.shared_app', '"900000000000002"');
select is(outbox.callback_app() #>> '{app,id}', '900000000000002', 'or to the one that the setting names');
select is(refusal('select outbox.set_setting(''whatsapp.shared_app'', ''"my app"'')'), 'OH005 setting whatsapp.shared_app must be empty or the id of a Meta app (digits)', 'which is checked');
select outbox.put_whatsapp_app('900000000000001', 'new-secret', p_overlap => '1 hour');
select is(outbox.callback_app(key) #> '{app,secrets}', '["new-secret", "app-secret"]', 'after a rotation both secrets count')
from app_key, (select outbox.put_whatsapp_app('900000000000001')) x;
select time_passes('1 hour');
select is(outbox.callback_app(key) #> '{app,secrets}', '["new-secret"]', 'then the new one alone') from app_key;
select is(outbox.forget_app_secrets(outbox.clock()), 1, 'and the old one is forgotten');
select is((select count(*) from vault.decrypted_secrets where decrypted_secret = 'app-secret'), 1::bigint, 'that is, that app''s');

select * from finish();
rollback;
