-- What a person does to a message and its delivery: cancel, replay, a channel that is deleted; what cleanup erases.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
select plan(36);

create temporary table made as select channel() as a, channel(p_number_id => '100000000000002') as b, template() as code;

-- Cancelled before it was routed, and after.
create temporary table m as select message_id(message()) as id;
select is(refusal(format('select outbox.cancel_message(%L, %L)', 'other', id)), format('OH002 message ''%s'' does not exist', id), 'another organisation finds no such message') from m;
select is(outbox.cancel_message('default', id::text, 'Zoé') ->> 'status', 'CANCELLED', 'a message is cancelled before its event was routed') from m;
select is(claimed(step()), 0, 'the claim finds it so');
select is((row_of(id)).status, 'CANCELLED', 'it stays so') from m;
select is(refusal(format('select outbox.cancel_message(%L, %L)', 'default', id)), format('OH004 message %s is CANCELLED', id), 'a second time it is refused') from m;
select is(refusal(format('select outbox.resend_message(%L, %L)', 'default', id)), format('OH004 message %s is CANCELLED', id), 'and it cannot be sent again') from m;
create temporary table routed as select message_id(message()) as id;
select step(0);
select outbox.cancel_message('default', id::text, 'Zoé', 'the customer called') from routed;
select is((row_of(id)).status, 'CANCELLED', 'and behind it') from routed;
select is(trail('OUTBOUND_MESSAGE', id::text), array['CREATED Message created', 'CANCELLED Message cancelled: the customer called'], 'which is audited once') from routed;
select is_empty('select from outbox.delivery', 'nothing is left open');

-- Not while it is being sent, nor after.
create temporary table busy as select message_id(message()) as id;
create temporary table claim as select step() as answer;
select is(refusal(format('select outbox.cancel_message(%L, %L)', 'default', id)), format('OH004 message %s is SENDING', id), 'one that is being sent is not cancelled') from busy;
select step(0, results(answer, 'delivered', '{"status": 200, "provider_id": "wamid.P"}')) from claim;
select is(refusal(format('select outbox.cancel_message(%L, %L)', 'default', id)), format('OH004 message %s is SENT', id), 'nor one that was sent') from busy;

-- The delivery cancelled: so is its message.
select time_passes('6 seconds');
create temporary table by_delivery as select message_id(message()) as id;
select step(0);
select outbox.cancel_delivery((row_of(id)).event_id, a) from by_delivery, made;
select is((row_of(id)).status, 'CANCELLED', 'a message whose delivery is cancelled is CANCELLED') from by_delivery;

-- A replay of its dead letter.
create temporary table dead as select message_id(message()) as id;
select is(fail(400, '{"code": "131051", "error": "Unsupported message type"}'), 1, 'a message is undeliverable');
select is((row_of(id)).status, 'FAILED', 'and FAILED') from dead;
select outbox.replay((row_of(id)).event_id, a) from dead, made;
select is(refusal(format('select outbox.resend_message(%L, %L)', 'default', id)), format('OH004 message %s is being sent again', id), 'while a replay is open it is not sent again beside') from dead;
select time_passes('6 seconds');
select is(take_all(), 1, 'a replay sends it');
select is((row_of(id)).status, 'SENT', 'and it is SENT') from dead;
select is((trail('OUTBOUND_MESSAGE', id::text))[3], 'UPDATED Sent again by a replay', 'which is audited') from dead;

-- Illegal moves.
select is(refusal(format($$select outbox.save_message(jsonb_populate_record(row_of(%s), '{"status": "%s"}'), now())$$, dead.id, v)),
  format('OH004 message %s is SENT and cannot become %s', dead.id, v), 'SENT does not become ' || v)
from dead, unnest('{CANCELLED}'::text[]) v;
select is((select count(*) from unnest('{QUEUED,SENDING,SENT,DELIVERED,FAILED,CANCELLED}'::text[]) f, unnest('{QUEUED,SENDING,SENT,DELIVERED,FAILED,CANCELLED}'::text[]) t
  where outbox.status_may_change(f, t) and f <> t), 16::bigint, 'sixteen moves are lawful');
select is_empty($$select f, t from unnest('{DELIVERED,CANCELLED}'::text[]) f, unnest('{QUEUED,SENDING,SENT,DELIVERED,FAILED,CANCELLED}'::text[]) t
  where outbox.status_may_change(f, t) and f <> t$$, 'none leads out of DELIVERED and CANCELLED');
select results_eq($$select t from unnest('{QUEUED,SENDING,SENT,DELIVERED,CANCELLED}'::text[]) t where outbox.status_may_change('FAILED', t)$$, $$values ('QUEUED'), ('SENT'), ('DELIVERED')$$, 'FAILED is left for a resend, or when an attempt turns out to have been accepted');

-- Lists and counts.
select is(outbox.count_messages('default'), '{"QUEUED": 0, "SENDING": 0, "SENT": 2, "DELIVERED": 0, "FAILED": 0, "CANCELLED": 3}', 'counts by status');
create function pages(p_limit integer) returns text[] language plpgsql as $$
declare
  v_page jsonb := outbox.list_messages('default', null, p_limit);
  v_ids text[] := '{}';
begin
  loop
    v_ids := v_ids || array(select d ->> 'id' from jsonb_array_elements(v_page -> 'data') d);
    exit when v_page ->> 'nextCursor' is null;
    v_page := outbox.list_messages('default', v_page ->> 'nextCursor', p_limit);
  end loop;
  return v_ids;
end
$$;
select is(pages(2), array(select m.id::text from outbox.outbound_message m where org_id = 'default' order by m.id desc), 'the list has all, newest first, page by page');
select is(pages(5), pages(2), 'whatever the size of a page');
select is(jsonb_array_length(outbox.list_messages('default', p_status => 'CANCELLED') -> 'data'), 3, 'by status');
select is(jsonb_array_length(outbox.list_messages('default', p_from => outbox.clock()) -> 'data'), 0, 'and by time');
select is(jsonb_array_length(outbox.get_message('default', id::text) -> 'attempts'), 2, 'one message comes with its attempts') from dead;

-- A channel that is deleted.
create temporary table last as select message_id(message(p_channel_id => b)) as id from made;
select step(0);
select outbox.delete_endpoint(b) from made;
select outbox.purge_endpoint(b, 100, outbox.clock()), outbox.purge_endpoint(b, 100, outbox.clock()) from made;
select is((row_of(id)).status || ' ' || (row_of(id)).error_code, 'FAILED channel_deleted', 'what a deleted channel had not sent is FAILED') from last;
select is_empty('select from outbox.whatsapp_channel, made where endpoint_id = b', 'the channel is gone');

-- Erased after its time.
select time_passes('366 days');
select is(outbox.cleanup() -> 'messages', '6', 'cleanup erases what is old and finished');
select is_empty($$select from outbox.outbound_message where to_recipient <> 'erased' or payload_json <> '{}' or provider_message_id is not null or wa_id is not null$$, 'no number, payload or id is left');
select is_empty('select from outbox.message_attempt where wamid is not null or provider_response is not null', 'nor with the attempts');
select isnt_empty('select from outbox.audit_event where action = ''SENT''', 'the audit trail stays');
select is(outbox.erase_messages(100), 0, 'twice is as good as once');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
