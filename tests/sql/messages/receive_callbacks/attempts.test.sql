-- Statuses that come before the answer, instead of it, long after it, or for a try that another followed.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
\ir ../../_callbacks.sql
select plan(45);

create temporary table made as select channel() as channel_id, template() as code;
create function said(p_id bigint, p_no integer) returns jsonb language sql as $$
  select jsonb_build_object('callback_data', format('ob1:%s:%s', p_id, p_no))
$$;
create function state_of(p_id bigint) returns text language sql as $$
  select concat_ws(' ', (row_of(p_id)).status, coalesce((row_of(p_id)).provider_message_id, '-'))
$$;
-- A message whose first try got no answer.
create function lost(p_to text) returns bigint language plpgsql as $$
declare
  v_id bigint := message_id(message(p_to));
begin
  perform send('failed', '{"error_class": "timeout", "error": "No answer"}');
  return v_id;
end
$$;

-- Before the answer.
create temporary table early as select message_id(message('+12025550101')) as id;
create temporary table claim as select step() as answer;
select receive(status('wamid.E', 'sent', 1, said(id, 1)), status('wamid.E', 'delivered', 2, said(id, 1))) from early;
select is(state_of(id), 'DELIVERED wamid.E', 'statuses before the answer name the try by its callback data') from early;
select is(trail('OUTBOUND_MESSAGE', id::text), array['CREATED Message created', 'SENT Message sent successfully', 'UPDATED Delivery status updated to: sent',
  'UPDATED Delivery status updated to: delivered'], 'the trail tells of the sending, too') from early;
select is((select leased_until is not null from outbox.delivery), true, 'its lease stands');
select step(0, results(answer, 'delivered', '{"status": 200, "provider_id": "wamid.E"}')) from claim;
select is(state_of(id), 'DELIVERED wamid.E', 'the answer changes nothing') from early;
select is_empty('select from outbox.delivery', 'and ends the delivery');

-- A failure before the answer.
create temporary table early_failure as select message_id(message('+12025550102')) as id;
update claim set answer = step() where true;
select receive(failure('wamid.EF', '131026', 1, said(id, 1))) from early_failure;
select is((row_of(id)).status, 'FAILED', 'failed before the answer') from early_failure;
select step(0, results(answer, 'delivered', '{"status": 200, "provider_id": "wamid.EF"}')) from claim;
select is((row_of(id)).status, 'FAILED', 'stays after it') from early_failure;
select is((select status from outbox.message_attempt a, early_failure m where a.message_id = m.id), 'FAILED', 'as does the try') from early_failure;

-- The answer was lost: no second message.
create temporary table gone as select lost('+12025550103') as id;
select is((select a.next_retry_at - a.created_at from outbox.message_attempt a, gone m where a.message_id = m.id), interval '10 minutes', 'without an answer a retry waits ten minutes');
select receive(status('wamid.G', 'delivered', 1, said(id, 1))) from gone;
select is(state_of(id), 'DELIVERED wamid.G', 'a callback tells that it was taken, and more') from gone;
select is_empty('select from outbox.delivery', 'the retry is closed at once');
select is((select count(*) from outbox.attempt a, gone where a.event_id = (row_of(gone.id)).event_id and kind = 'close' and outcome = 'cancelled'), 1::bigint, 'with its attempt');
select time_passes('1 hour');
select is(claimed(step()), 0, 'nothing is sent again');
create temporary table gone_failed as select lost('+12025550104') as id;
select receive(failure('wamid.GF', '131026', 1, said(id, 1))) from gone_failed;
select is(state_of(id), 'FAILED wamid.GF', 'a callback tells that it failed') from gone_failed;
select time_passes('1 hour');
select is(claimed(step()), 0, 'which is not tried again either');

-- The callback, and then word that the answer was lost: the retry would keep back the next message to that person.
create temporary table told as select message_id(message('+12025550112')) as id;
update claim set answer = step() where true;
select receive(status('wamid.TOLD', 'read', 1, said(id, 1))) from told;
select step(0, results(answer, 'failed', '{"error_class": "timeout", "error": "No answer"}')) from claim;
select is(state_of(id), 'DELIVERED wamid.TOLD', 'what is known to have arrived stays so when its answer is lost') from told;
select is_empty('select from outbox.delivery', 'and leaves no retry');
create temporary table last_try as select message_id(message('+12025550113')) as id;
select step(0);
update outbox.delivery set failed_attempts = 5 where true;
update claim set answer = step() where true;
select receive(status('wamid.LAST', 'read', 1, said(id, 1))) from last_try;
select step(0, results(answer, 'failed', '{"error_class": "timeout", "error": "No answer"}')) from claim;
select is((row_of(id)).status, 'DELIVERED', 'nor does a last try without an answer fail it') from last_try;
select is((select note from outbox.dead_letter), 'the message is DELIVERED', 'its dead letter is settled');

-- While the retry is on its way.
create temporary table twice as select lost('+12025550105') as id;
select time_passes('10 minutes');
update claim set answer = step() where true;
select is((row_of(id)).status, 'SENDING', 'the retry is on its way') from twice;
select receive(failure('wamid.T1', '131026', 1, said(id, 1))) from twice;
select is((row_of(id)).status, 'SENDING', 'that the first try failed does not touch it') from twice;
select is(verdict_of(failure('wamid.T1', '131026', 1, said(id, 1))), 'skipped: other_attempt', 'and is told so') from twice;
select step(0, results(answer, 'delivered', '{"status": 200, "provider_id": "wamid.T2"}')) from claim;
select receive(status('wamid.T2', 'sent', 1), status('wamid.T1', 'delivered', 3));
select is(state_of(id), 'SENT wamid.T2', 'and what failed does not arrive') from twice;
select receive(status('wamid.T2', 'delivered', 5));
select is(state_of(id), 'DELIVERED wamid.T2', 'which has its own word') from twice;
create temporary table adopted as select lost('+12025550106') as id;
select time_passes('10 minutes');
update claim set answer = step() where true;
select receive(status('wamid.A1', 'sent', 1, said(id, 1))) from adopted;
select is(state_of(id), 'SENT wamid.A1', 'that the first try was taken is known while the second is on its way') from adopted;
select step(0, results(answer, 'failed', '{"status": 500, "code": "131016"}')) from claim;
select is(state_of(id), 'SENT wamid.A1', 'the second one''s failure then asks for no third') from adopted;
select time_passes('1 hour');
select is(claimed(step()), 0, 'and there is none');
select receive(status('wamid.A1', 'read', 9));
select is((row_of(id)).status, 'DELIVERED', 'what the first says later counts') from adopted;

-- Another life: sent again by a person.
select time_passes('1 minute');
create temporary table again as select sent('L1', '+12025550107') as id;
select receive(failure('wamid.L1', '131026', 1));
select outbox.resend_message('default', id::text, 'Zoé') from again;
select time_passes('1 minute');
select send('delivered', '{"status": 200, "provider_id": "wamid.L2"}');
select receive(status('wamid.L1', 'sent', -300), failure('wamid.L1', '131049', 9));
select is(state_of(id), 'SENT wamid.L2', 'what the try of an earlier life says changes nothing') from again;
select receive(failure('wamid.L2', '131026', 9));
select is(state_of(id), 'FAILED wamid.L2', 'the present one''s does') from again;

-- Cancelled.
create temporary table stopped as select lost('+12025550108') as id;
select outbox.cancel_message('default', id::text) from stopped;
select receive(status('wamid.S', 'delivered', 1, said(id, 1))) from stopped;
select is((row_of(id)).status, 'CANCELLED', 'CANCELLED is final') from stopped;
select is((select reason from outbox.whatsapp_update where wamid = 'wamid.S'), 'message_cancelled', 'with the reason');

-- Another's callback data, a try that does not exist, an id that is not the try's.
create temporary table mine as select sent('M', '+12025550109') as id;
select receive(status('wamid.X1', 'delivered', 1, '{"callback_data": "their own"}'), status('wamid.X2', 'delivered', 1, said(id, 2)),
  status('wamid.X3', 'delivered', 1, said(id, 1))) from mine;
select results_eq('select wamid, update_status, reason from outbox.whatsapp_update where wamid like ''wamid.X%'' order by 1',
  $$values ('wamid.X1', 'kept', 'unknown_message'), ('wamid.X2', 'kept', 'unknown_message'), ('wamid.X3', 'skipped', 'other_id')$$, 'what names no try of ours is kept');
select is(state_of(id), 'SENT wamid.M', 'and touches nothing') from mine;

-- Kept until the answer brings the id.
create temporary table unknown as select message_id(message('+12025550110')) as id;
update claim set answer = step() where true;
select is(receive(status('wamid.U', 'sent', 1), status('wamid.U', 'read', 2)) ->> 'kept', '2', 'statuses without callback data wait for the id');
select step(0, results(answer, 'delivered', '{"status": 200, "provider_id": "wamid.U"}')) from claim;
select is(state_of(id), 'DELIVERED wamid.U', 'and are applied with the answer') from unknown;
select is((select count(*) from outbox.whatsapp_update where wamid = 'wamid.U' and update_status = 'applied' and next_check_at is null), 2::bigint, 'as their rows say');

-- The moment in which neither transaction saw the other: the sweep finds it.
create temporary table missed as select message_id(message('+12025550111')) as id;
update claim set answer = step() where true;
select receive(status('wamid.Q', 'delivered', 1));
update outbox.whatsapp_update set next_check_at = null where wamid = 'wamid.Q';
select step(0, results(answer, 'delivered', '{"status": 200, "provider_id": "wamid.Q"}')) from claim;
update outbox.whatsapp_update set next_check_at = outbox.clock() + interval '5 s' where wamid = 'wamid.Q';
select is((row_of(id)).status, 'SENT', 'one that was missed') from missed;
select is(outbox.apply_callbacks(), 0, 'waits for five seconds');
select time_passes('5 seconds');
select is(outbox.tick() -> 'kicked' is not null, true, 'the tick looks');
select is((row_of(id)).status, 'DELIVERED', 'and applies it') from missed;
do $$ begin
  for i in 1 .. 4 loop
    perform outbox.apply_callbacks(), time_passes('11 minutes');
  end loop;
end $$;
select results_eq('select count(*), count(*) filter (where next_check_at = ''infinity'') from outbox.whatsapp_update where update_status = ''kept''', 'values (2::bigint, 2::bigint)', 'what is of no message is not looked at for ever');

select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'everything open will be looked at again');
select is_empty('select from outbox.delivery', 'nothing is left open');
select * from finish();
rollback;
