-- Six attempts at 0:00, 0:01, 0:06, 0:21, 1:21 and 7:21, then FAILED and a dead letter; and a resend.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
select plan(29);

create temporary table made as select channel() as channel_id, template() as code;
create temporary table m as select message_id(message()) as id;
create function try(p_wait interval, p_at text) returns setof text language plpgsql as $$
begin
  perform time_passes(p_wait - interval '1 second');
  return next is(fail(500, '{"code": "131016", "error": "Service unavailable"}'), 0, 'a second before ' || p_at || ' nothing is due');
  perform time_passes(interval '1 second');
  return next is(fail(500, '{"code": "131016", "error": "Service unavailable"}'), 1, 'the message is tried at ' || p_at);
end
$$;
select is(fail(500, '{"code": "131016", "error": "Service unavailable"}'), 1, 'the message is tried at 0:00');
select try('1 minute', '0:01');
select try('5 minutes', '0:06');
select try('15 minutes', '0:21');
select try('60 minutes', '1:21');
select is((row_of(id)).status, 'QUEUED', 'after five failures it is QUEUED') from m;
select is((row_of(id)).max_attempts - (row_of(id)).attempt_count, 1, 'with an attempt left') from m;
select try('360 minutes', '7:21');
select is((row_of(id)).status, 'FAILED', 'after the sixth it is FAILED') from m;
select is((row_of(id)).attempt_count, 6, 'six attempts were made') from m;
select results_eq('select attempt_no, status, created_at - ''2026-03-01 12:00:00+00'', next_retry_at - created_at from outbox.outbound_attempt order by 1',
  $$values (1, 'FAILED', interval '0', interval '1 minute'), (2, 'FAILED', '1 minute', '5 minutes'), (3, 'FAILED', '6 minutes', '15 minutes'),
    (4, 'FAILED', '21 minutes', '60 minutes'), (5, 'FAILED', '81 minutes', '360 minutes'), (6, 'FAILED', '441 minutes', null)$$,
  'the attempts stand in the specification''s timeline');
select results_eq('select why, retry_count, original_message from outbox.dead_letter',
  $$select 'retries_exhausted', 6, format('{"messageId" : "%s"}', id) from m$$, 'its dead letter holds the message''s id alone');
select is(trail('OUTBOUND_MESSAGE', id::text), array['CREATED Message created', 'FAILED Message failed: Service unavailable'], 'the failure is audited once') from m;
select is_empty('select from outbox.activity', 'without a dossier there is no timeline');

select is(outbox.resend_message('default', id::text, 'Zoé') ->> 'status', 'QUEUED', 'an operator sends it again') from m;
select results_eq('select (r).attempt_count, (r).error_code, (r).provider_message_id from (select row_of(id) as r from m) x',
  'select 0, null::text, null::text', 'with a fresh budget');
select is((trail('OUTBOUND_MESSAGE', id::text))[3], 'UPDATED Sent again by Zoé', 'which is audited by name') from m;
select is((select actor from outbox.audit_event order by id desc limit 1), 'Zoé', 'with the actor');
select is((select discarded_at is not null from outbox.dead_letter), true, 'its dead letter is settled');
select is(refusal(format('select outbox.resend_message(%L, %L)', 'default', id)),
  format('OH004 message %s is QUEUED', id), 'a second time it is refused') from m;
-- The breaker has opened over so many failures.
select time_passes('1 minute');
select is(take_all(), 1, 'it is sent');
select is((row_of(id)).status, 'SENT', 'as any other') from m;
select is((select max(attempt_no) from outbox.outbound_attempt), 7, 'its attempts are numbered on');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
