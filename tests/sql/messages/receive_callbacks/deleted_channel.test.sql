-- After a channel is deleted, the statuses of its messages still count, and nothing else of its number.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
\ir ../../_callbacks.sql
select plan(13);

create temporary table made as select channel() as channel_id, channel('other', '100000000000002') as other, template() as code;
create temporary table m as select sent('A') as a, sent('B', '+12025550112') as b;
create temporary table lost as select message_id(message('+12025550113')) as id;
select send('failed', '{"error_class": "timeout", "error": "No answer"}');
select outbox.delete_channel('default', channel_id) from made;
select outbox.purge_deleted(100), outbox.purge_deleted(100), outbox.purge_deleted(100);
select is_empty('select from outbox.whatsapp_channel w join made on made.channel_id = w.endpoint_id', 'the channel is gone');
select is((row_of(id)).status || ' ' || (row_of(id)).error_code, 'FAILED channel_deleted', 'what was unsent has failed') from lost;
select is(receive(status('wamid.A', 'delivered', 1), failure('wamid.B', '131026', 1)) ->> 'applied', '2', 'statuses of its messages are applied');
select results_eq('select (row_of(a)).status, (row_of(b)).status from m', $$values ('DELIVERED', 'FAILED')$$, 'as if it were there');
select receive(status('wamid.L', 'delivered', 1, jsonb_build_object('callback_data', format('ob1:%s:1', id)))) from lost;
select is((row_of(id)).status, 'DELIVERED', 'also for one whose response was lost') from lost;
select is(receive(update_of('message', '{"wamid": "wamid.IN", "status": "text", "wa_id": "12025550111"}')) ->> 'warnings', '["1 updates skipped: unknown_number"]', 'a message to its number is nobody''s');
select is(receive(status('wamid.A', 'read', 2, '{"waba_id": "9"}')) ->> 'warnings', '["1 updates skipped: wrong_account"]', 'another account is not believed');
select outbox.put_whatsapp_app('900000000000002', 'app-secret');
select is(outbox.receive_callbacks('900000000000002', null, jsonb_build_array(status('wamid.A', 'read', 3))) ->> 'warnings', '["1 updates skipped: unknown_number"]', 'nor another app');

-- The number gets a new channel.
select channel() is not null;
select is(receive(status('wamid.A', 'read', 4)) ->> 'applied', '1', 'of a number with a new channel, the messages of before still get their statuses');
select is((row_of(a)).read_at is not null, true, 'and are read') from m;

select is((select count(*) from outbox.deleted_channel), 1::bigint, 'the ids are kept');
select time_passes('61 days');
select outbox.forget_updates(outbox.clock(), 100);
select is_empty('select from outbox.deleted_channel', 'for 60 days');
select is_empty('select * from miscounts()', 'the counters are right');
select * from finish();
rollback;
