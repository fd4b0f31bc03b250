-- A message is judged from all its attempts: what the first says counts before, during and after the second.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
\ir ../../_callbacks.sql
select plan(37);

create temporary table made as select channel() as channel_id, template() as code;
create function of_try(p_id bigint, p_no integer) returns jsonb language sql as $$
  select jsonb_build_object('callback_data', format('ob1:%s:%s', p_id, p_no))
$$;
create function state_of(p_id bigint) returns text language sql as $$
  select concat_ws(' ', (row_of(p_id)).status, coalesce((row_of(p_id)).provider_message_id, '-'), (row_of(p_id)).error_code)
$$;
-- A message whose first attempt got no response, and whose second one is under way.
create temporary table claim (answer jsonb);
create function retried(p_to text) returns bigint language plpgsql as $$
declare
  v_id bigint := message_id(message(p_to));
begin
  perform send('failed', '{"error_class": "timeout", "error": "No answer"}');
  perform time_passes('10 minutes');
  delete from claim where true;
  insert into claim select step();
  return v_id;
end
$$;
create function respond(p_outcome text, p_more jsonb) returns void language sql as $$
  select step(0, results(answer, p_outcome, p_more)) from claim
$$;
create function open_deliveries() returns bigint language sql as $$ select count(*) from outbox.delivery $$;

-- The second attempt never reached WhatsApp; then the first one's statuses come.
create temporary table a as select retried('+12025550101') as id;
select respond('failed', '{"error_class": "connect", "error": "No connection"}');
select is(state_of(id), 'QUEUED - connect', 'after two attempts without a response it waits for the third') from a;
select receive(status('wamid.A', 'sent', 1, of_try(id, 1))) from a;
select is(state_of(id), 'SENT wamid.A', 'sent of the first makes it SENT') from a;
select is(open_deliveries(), 0::bigint, 'and the third is not made');
select receive(status('wamid.A', 'delivered', 2));
select is(state_of(id), 'DELIVERED wamid.A', 'delivered of the first makes it DELIVERED') from a;
select receive(status('wamid.A', 'read', 3));
select is((row_of(id)).read_at - (row_of(id)).delivered_at, interval '1 second', 'and read is kept') from a;

-- delivered of the first comes while the second is under way, which is then refused.
create temporary table b as select retried('+12025550102') as id;
select receive(status('wamid.B', 'delivered', 1, of_try(id, 1))) from b;
select is(state_of(id), 'DELIVERED wamid.B', 'delivered of the first makes it DELIVERED while the second is under way') from b;
select respond('failed', '{"status": 400, "code": "131026"}');
select is(state_of(id), 'DELIVERED wamid.B', 'and so it stays when the second is refused') from b;
select is((select count(*) from outbox.dead_letter where discarded_at is null), 0::bigint, 'without a dead letter to mend');

-- The same with a second one that is refused for now.
create temporary table c as select retried('+12025550103') as id;
select receive(status('wamid.C', 'delivered', 1, of_try(id, 1))) from c;
select respond('failed', '{"status": 500, "code": "131016"}');
select is(state_of(id), 'DELIVERED wamid.C', 'a second one that may be retried') from c;
select is(open_deliveries(), 0::bigint, 'is not retried');

-- The first was sent and then failed, while the second is under way, before and after its response.
create temporary table d as select retried('+12025550104') as id;
select receive(status('wamid.D', 'sent', 1, of_try(id, 1))) from d;
select is(state_of(id), 'SENT wamid.D', 'sent while the second is under way') from d;
select receive(failure('wamid.D', '131026', 2));
select is((row_of(id)).status, 'SENDING', 'its failure leaves the second one under way') from d;
select respond('delivered', '{"status": 200, "provider_id": "wamid.D2"}');
select is(state_of(id), 'SENT wamid.D2', 'which is accepted') from d;
create temporary table e as select retried('+12025550105') as id;
select receive(status('wamid.E', 'sent', 1, of_try(id, 1))) from e;
select respond('failed', '{"status": 500, "code": "131016"}');
select receive(failure('wamid.E', '131026', 2));
select is((row_of(id)).status, 'FAILED', 'a message whose first was sent and failed and whose second was refused has FAILED') from e;
select is(open_deliveries(), 0::bigint, 'and is not retried');

-- All attempts fail without a response; the dead letter goes when one turns out to have arrived.
create temporary table f as select message_id(message('+12025550106')) as id;
do $$ begin
  for i in 1 .. 6 loop
    perform send('failed', '{"error_class": "timeout", "error": "No answer"}'), time_passes('6 hours');
  end loop;
end $$;
select is(state_of(id), 'FAILED - timeout', 'six attempts without a response') from f;
select is((select count(*) from outbox.dead_letter where discarded_at is null), 1::bigint, 'make a dead letter');
select receive(status('wamid.F3', 'sent', 1, of_try(id, 3))) from f;
select is(state_of(id), 'SENT wamid.F3', 'until the third turns out to have been accepted') from f;
select is((select note from outbox.dead_letter where discarded_at is not null order by failed_at desc limit 1), 'the message is SENT', 'its dead letter is discarded');
select receive(failure('wamid.F2', '131049', 1, of_try(id, 2))) from f;
select is(state_of(id), 'SENT wamid.F3', 'that the second failed changes nothing') from f;
select receive(status('wamid.F3', 'delivered', 1));
select is(state_of(id), 'DELIVERED wamid.F3', 'and the third arrives') from f;

-- Both arrive: the first arrival counts.
create temporary table g as select retried('+12025550107') as id;
select respond('delivered', '{"status": 200, "provider_id": "wamid.G2"}');
select receive(status('wamid.G2', 'delivered', 9), status('wamid.G1', 'delivered', 3, of_try(id, 1))) from g;
select is(state_of(id), 'DELIVERED wamid.G1', 'of two that arrived the message has the id of the earlier') from g;

-- Sent again by a person: what the attempts of before say now.
create temporary table h as select message_id(message('+12025550108')) as id;
do $$ begin
  for i in 1 .. 6 loop
    perform send('failed', '{"error_class": "timeout", "error": "No answer"}'), time_passes('6 hours');
  end loop;
end $$;
select outbox.resend_message('default', id::text, 'Zoé') from h;
select receive(failure('wamid.H1', '131049', 1, of_try(id, 1))) from h;
select is((row_of(id)).status, 'QUEUED', 'that an attempt before the resend failed does not end the resend') from h;
select step(0);
select receive(status('wamid.H2', 'delivered', 1, of_try(id, 2))) from h;
select is(state_of(id), 'DELIVERED wamid.H2', 'that one arrived does') from h;
select is(open_deliveries(), 0::bigint, 'and nothing is sent again');
select time_passes('1 day');
select is(claimed(step()), 0, 'then or later');

-- What arrived although the message is cancelled, has failed, or has arrived before.
create function notes(p_id bigint) returns text[] language sql as $$
  select array(select details from outbox.audit_event where entity_type = 'OUTBOUND_MESSAGE' and entity_id = p_id::text and details like 'Attempt %' order by id)
$$;
create function arrivals(p_id bigint) returns text language sql as $$ select concat_ws(' ', (row_of(p_id)).status, (row_of(p_id)).delivered_at is not null, (row_of(p_id)).copies) $$;
select is((row_of(id)).copies, 2, 'the message says that it arrived twice') from g;
select is(notes(id), '{"Attempt 2 was delivered too: the recipient has the message twice"}', 'and its trail') from g;
select outbox.grant_consent('default', 'dossier-1', '{UTILITY}', 'web form');
create temporary table i as select message_id(message('+12025550109', p_dossier => 'dossier-1')) as id;
select send('failed', '{"error_class": "timeout", "error": "No answer"}');
select outbox.cancel_message('default', id::text) from i;
select receive(status('wamid.I', 'delivered', 1, of_try(id, 1)), status('wamid.I', 'read', 2, of_try(id, 1))) from i;
select is(arrivals(id), 'CANCELLED t 1', 'a cancelled message that arrived says so') from i;
select is(notes(id), '{"Attempt 1 was delivered although the message is cancelled"}', 'as does its trail, once') from i;
select is((select metadata ->> 'note' from outbox.activity where type = 'MESSAGE_STATUS_UPDATE' and metadata ->> 'messageId' = i.id::text), 'Attempt 1 was delivered although the message is cancelled', 'and its timeline') from i;
select time_passes('1 hour');
create temporary table j as select sent('J', '+12025550110') as id;
select receive(failure('wamid.J', '131026', 1));
select receive(status('wamid.J', 'delivered', 2), status('wamid.J', 'read', 3));
select is(arrivals(id), 'FAILED t 1', 'a failed message that arrived says so') from j;
select is(notes(id), '{"Attempt 1 was delivered although WhatsApp reported it as failed"}', 'as does its trail') from j;
select is(refusal(format('select outbox.resend_message(%L, %L)', 'default', id)), format('OH004 message %s was delivered, although it is FAILED', id), 'and is not sent again') from j;
select is(outbox.resend_message('default', id::text, p_force => true) ->> 'status', 'QUEUED', 'unless somebody insists') from j;

select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'everything open will be looked at again');
select * from finish();
rollback;
