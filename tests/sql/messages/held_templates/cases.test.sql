-- The gauge of held templates: one that an organisation has, with a channel of the account, for as long as it is held.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
\ir ../../_callbacks.sql
select plan(12);

create function held() returns double precision language sql as $$
  select (g ->> 2)::double precision from jsonb_array_elements(outbox.get_metrics() -> 'gauges') g where g ->> 0 = 'templates_held'
$$;
create function notice(p_event text, p_after integer, p_name text default 'appointment_reminder', p_language text default 'fr') returns jsonb language sql as $$
  select receive(helper.update_of('template', jsonb_build_object('field', 'message_template_status_update', 'phone_number_id', null, 'status', p_event,
    'at', extract(epoch from outbox.clock())::bigint + p_after, 'data', jsonb_build_object('message_template_name', p_name, 'message_template_language', p_language))))
$$;

select is(held(), 0::double precision, 'no template is held');
create temporary table made as select channel() as id, template() as code;
select is(held(), 0::double precision, 'nor after one is created');
select notice('PAUSED', 1);
select is(held(), 1::double precision, 'a paused template is held');
select time_passes('3 days');
select is(held(), 1::double precision, 'and still is days later');
select notice('DISABLED', 2, 'another');
select is(held(), 1::double precision, 'one that no organisation has does not count');
select notice('PAUSED', 3, p_language => 'en_US');
select is(held(), 1::double precision, 'nor another language of it');
select template('again');
select is(held(), 2::double precision, 'each code of an organisation counts');
select outbox.delete_template('default', 'again') is null as gone;
select is(held(), 1::double precision, 'until it is deleted');
select outbox.put_whatsapp_app('900000000000002', 'app-secret');
select channel('org-2', '100000000000002', '900000000000002'), template(p_org_id => 'org-2');
select is(held(), 1::double precision, 'a hold is only of the app that reported it');
select notice('APPROVED', 4);
select is(held(), 0::double precision, 'it is over once the template is approved');
select notice('REJECTED', 5);
select is(held(), 1::double precision, 'a rejected template is held');
select time_passes('1 minute'), outbox.delete_channel('default', id) is null as gone, outbox.purge_deleted(100), outbox.purge_deleted(100) from made;
select is(held(), 0::double precision, 'until the last channel of the account is deleted');

select * from finish();
rollback;
