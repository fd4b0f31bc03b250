-- A refusal that is final and about one recipient is the end of the message: FAILED, with its audit and activity rows, and
-- nothing for a person on call. One that a person can correct is a dead letter.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
select plan(17);

create temporary table made as select channel() as channel_id, template() as code;
select outbox.grant_consent('default', 'dossier-1', '{UTILITY}', 'web form');
create temporary table m as select message_id(message(p_dossier => 'dossier-1')) as id;
select is(fail(400, '{"code": "131026", "error": "Message undeliverable"}'), 1, 'a message to somebody who is not on WhatsApp');
select results_eq('select (r).status, (r).error_code, (r).error_message from (select row_of(id) as r from m) x', $$values ('FAILED', '131026', 'Message undeliverable')$$, 'is FAILED');
select is(trail('OUTBOUND_MESSAGE', id::text), array['CREATED Message created', 'FAILED Message failed: Message undeliverable'], 'which is audited') from m;
select results_eq('select type, metadata ->> ''errorCode'' from outbox.activity', $$values ('MESSAGE_FAILED', '131026')$$, 'and on the timeline');
select is_empty('select from outbox.dead_letter', 'there is no dead letter');
select is_empty($$select from outbox.event where type like 'outhook.delivery.%'$$, 'no operational event');
select is_empty($$select from outbox.counter_change where metric = 'dead_letters'$$, 'and none is counted');
select is_empty('select from outbox.delivery', 'it is not retried');
select results_eq('select kind, outcome from outbox.attempt order by kind', $$values ('attempt', 'failed'), ('close', 'cancelled')$$, 'its delivery is cancelled');
select is(outbox.resend_message('default', id::text) ->> 'status', 'QUEUED', 'a person may send it again') from m;

-- Which codes.
select set_eq($$select code from outbox.failure_rule where of_recipient$$,
  '{130403,130472,131021,131026,131030,131043,131047,131049,131050,131062,137000}'::text[], 'these codes are about one recipient');
select is_empty($$select from outbox.failure_rule where of_recipient and (kind <> 'whatsapp' or action <> 'fail')$$, 'all of them final');

-- A template that does not exist: a person can create it.
select time_passes('1 minute');
select take_all();
create temporary table mendable as select message_id(message('+12025550112')) as id;
select is(fail(404, '{"code": "132001", "error": "Template does not exist"}'), 1, 'a message whose template is missing at Meta');
select is((row_of(id)).status, 'FAILED', 'is FAILED') from mendable;
select is((select count(*) from outbox.dead_letter where discarded_at is null), 1::bigint, 'and a dead letter');
select is((select count(*) from outbox.event where type = 'outhook.delivery.dead_lettered'), 1::bigint, 'which is announced');
select is_empty('select * from miscounts()', 'the counters are right');
select * from finish();
rollback;
