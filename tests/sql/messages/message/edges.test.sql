-- Edge cases of a message: a template of another organisation, the largest payload, a late id, a resend.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
select plan(18);

create temporary table made as select channel() as channel_id, template() as code, template('theirs', p_org_id => 'other') as theirs;
select is(refusal($$select message(p_template => 'theirs')$$), 'OH001 templateCode is not a template of this organisation', 'a template of another organisation is none');
create function sized(p_bytes integer) returns jsonb language sql as $$
  select jsonb_build_object('parameters', jsonb_build_array(repeat('x', p_bytes - octet_length('{"parameters": [""]}'))))
$$;
select is(octet_length(sized(65536)::text), 65536, 'a payload of 64 KiB');
select is(message('+12025550190', p_payload => sized(65536)) ->> 'outcome', 'created', 'is taken');
select is(refusal('select message(p_payload => sized(65537))'), 'OH001 payloadJson has more than 65536 bytes', 'and none that is larger');
delete from outbox.unrouted where true;

-- An attempt whose id turns up when its message has ended otherwise.
create temporary table m as select message_id(message()) as id;
select is(send('failed', '{"error_class": "timeout"}'), 1, 'no answer comes in time');
select outbox.cancel_message('default', id::text) from m;
select is(outbox.mark_sent_late(format('ob1:%s:1', id), 'wamid.late'), 'adopted', 'its id comes when the message was cancelled') from m;
select is((row_of(id)).status, 'CANCELLED', 'which it stays') from m;
select is((select wamid from outbox.message_attempt), 'wamid.late', 'though the attempt has its id');

-- Sent again: a new life, and its dead letter is nobody's to replay.
create temporary table again as select message_id(message('+12025550112')) as id;
select is(fail(400, '{"code": "131051", "error": "Unsupported message type"}'), 1, 'a message is undeliverable');
select is((row_of(id)).attempt_count, 1, 'after one attempt') from again;
select is((select count(*) from outbox.dead_letter where discarded_at is null), 1::bigint, 'and a dead letter');
select is(outbox.resend_message('default', id::text, 'Zoé') ->> 'status', 'QUEUED', 'it is sent again') from again;
select is((row_of(id)).attempt_count, 0, 'with a count of its own') from again;
select is((select note from outbox.dead_letter where discarded_at is not null), 'the message was sent again', 'its dead letter is discarded, and says why');
select is(fail(400, '{"code": "131051", "error": "Unsupported message type"}'), 0, 'one person is written to at intervals');
select time_passes('6 seconds');
select fail(400, '{"code": "131051", "error": "Unsupported message type"}');
update outbox.outbound_message x set erased_at = outbox.clock() from again where x.id = again.id;
select is(refusal(format('select outbox.resend_message(%L, %L)', 'default', id)), format('OH004 message %s is erased', id), 'one whose content is gone is not sent again') from again;

-- A rest of one recipient's lane.
create temporary table resting as select message_id(message('+12025550113')) as id;
select step(0);
create temporary table lane as select l.id from outbox.lane l join outbox.delivery d on d.lane_id = l.id join outbox.outbound_message x on x.event_id = d.event_id join resting r on r.id = x.id;
select outbox.rest_lane(id, '1 minute', outbox.clock()), outbox.rest_lane(id, '1 second', outbox.clock()) from lane;
select is((select l.not_before - outbox.clock() from outbox.lane l join lane using (id)), interval '1 minute', 'a short rest does not take back a longer one');
select is(claimed(step()), 0, 'and nothing goes before');

select * from finish();
rollback;
