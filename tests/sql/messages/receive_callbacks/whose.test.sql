-- Whose message a status may move, and what it may say: the number's organisation of today, that number's
-- own attempts, a time that can be.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
\ir ../../_callbacks.sql
select plan(24);

create temporary table made as select channel() as a, channel(p_number_id => '100000000000002') as b, template() as code;
create function state_of(p_id bigint) returns text language sql as $$
  select concat_ws(' ', (row_of(p_id)).status, coalesce((row_of(p_id)).provider_message_id, '-'))
$$;
create function attempt_of(p_id bigint) returns outbox.message_attempt language sql as $$
  select a from outbox.message_attempt a where a.message_id = p_id order by a.attempt_no desc limit 1
$$;

-- A message of one number, named under another number of the same organisation.
create temporary table named as select message_id(message()) as id;
create temporary table claim as select step() as answer;
create temporary table wrong as select status('wamid.W', 'delivered', 1, jsonb_build_object('phone_number_id', '100000000000002', 'callback_data', format('ob1:%s:1', id))) as u from named;
select receive(u) from wrong;
select is(verdict_of(u), 'kept: unknown_message', 'an attempt of another number is none of this one') from wrong;
select is(state_of(id), 'SENDING -', 'and does not move') from named;
select step(0, results(answer, 'delivered', '{"status": 200, "provider_id": "wamid.N"}')) from claim;

-- The number goes to another organisation, and a late status of before comes.
create temporary table before as select sent('B', '+12025550101') as id;
update outbox.whatsapp_channel w set org_id = 'other' from made where w.endpoint_id = made.a;
create temporary table late as select status('wamid.B', 'delivered', 1) as u;
select receive(u) from late;
select is(verdict_of(u), 'kept: unknown_message', 'the number''s new organisation has no such message') from late;
select is(state_of(id), 'SENT wamid.B', 'and that of before is not moved in its name') from before;
update outbox.whatsapp_channel w set org_id = 'default' from made where w.endpoint_id = made.a;

-- When it was: what cannot be is taken as now.
select is(outbox.callback_time(to_jsonb(extract(epoch from t.at + c.by)::bigint), t.at) - t.at, c.told, format('%s from now', c.by))
from outbox.test_clock t, (values (interval '0', interval '0'), ('1 day', '1 day'), ('1 day 1 s', '0'), ('-60 days', '-60 days'), ('-60 days -1 s', '0')) c (by, told);
select is(outbox.callback_time(v, t.at), t.at, format('a time that is %s', v)) from outbox.test_clock t, (values ('null'::jsonb), ('"soon"'), ('"1772366400"'), ('{}'), ('-1'), ('1e30')) x (v);

-- The same twice in one call, and failed behind delivered.
create temporary table twice as select sent('T', '+12025550102') as id;
create temporary table told as select status('wamid.T', 'delivered', 1) as one, status('wamid.T', 'delivered', 2) as two, failure('wamid.T', '131026', 3) as failed;
select receive(one, two, failed) from told;
select is(verdict_of(one) || ', ' || verdict_of(two) || ', ' || verdict_of(failed), 'applied, skipped: already, skipped: after_delivered', 'each is told once, and the first word stands') from told;
select is((attempt_of(id)).failed_at, null, 'what arrived has not failed') from twice;
select is((attempt_of(id)).status, 'SUCCESS', 'the attempt is as it was') from twice;
select is((select count(*) from outbox.event where type = 'whatsapp.message.status' and body::jsonb ->> 'messageId' = twice.id::text), 1::bigint, 'one event tells of it') from twice;

-- A message whose content was erased.
create temporary table erased as select sent('X', '+12025550103') as id;
update outbox.outbound_message x set erased_at = outbox.clock() from erased where x.id = erased.id;
create temporary table of_erased as select status('wamid.X', 'read', 1) as u;
select receive(u) from of_erased;
select is(verdict_of(u), 'skipped: erased', 'a status of an erased message says nothing') from of_erased;
select is((row_of(id)).status, 'SENT', 'and does not write to it') from erased;

-- An attempt whose answer was lost waits for its retry, until a status says that it arrived.
create temporary table lost as select message_id(message('+12025550104')) as id;
select send('failed', '{"error_class": "timeout"}');
select isnt((attempt_of(id)).next_retry_at, null, 'a lost answer will be tried again') from lost;
select receive(status('wamid.L', 'delivered', 1, jsonb_build_object('callback_data', format('ob1:%s:1', id)))) from lost;
select is((attempt_of(id)).next_retry_at, null, 'and what arrived will not') from lost;
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
