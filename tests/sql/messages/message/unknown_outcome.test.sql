-- An answer that was lost makes no second message when its callback, or the answer itself, turns up in time.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
select plan(25);

create temporary table made as select channel() as channel_id, template() as code;
create temporary table m as select message_id(message()) as id;
select is(send('failed', '{"error_class": "timeout", "error": "No answer"}'), 1, 'no answer comes in time');
select is((select next_retry_at - created_at from outbox.outbound_attempt), interval '10 minutes', 'the retry waits ten minutes');
select is(outbox.mark_sent_late('ob1:0:1', 'wamid.A'), 'unknown', 'a callback of no message is unknown');
select is(outbox.mark_sent_late('something else', 'wamid.A'), 'unknown', 'and so is one of another''s making');
select is(outbox.mark_sent_late(format('ob1:%s:2', id), 'wamid.A'), 'unknown', 'and one of an attempt that was not made') from m;
select is(outbox.mark_sent_late(format('ob1:%s:1', id), 'wamid.A'), 'adopted', 'the callback of the attempt names it') from m;
select results_eq('select (r).status, (r).provider_message_id, (r).error_code from (select row_of(id) as r from m) x',
  $$values ('SENT', 'wamid.A', null::text)$$, 'the message is SENT');
select results_eq('select status, error_code, next_retry_at from outbox.outbound_attempt', $$values ('SUCCESS', null::text, null::timestamptz)$$, 'by that attempt');
select is_empty('select from outbox.delivery', 'the retry is gone');
select is(outbox.mark_sent_late(format('ob1:%s:1', id), 'wamid.A'), 'known', 'the second callback changes nothing') from m;
select is(trail('OUTBOUND_MESSAGE', id::text), array['CREATED Message created', 'SENT Message sent successfully'], 'it is audited once') from m;
select time_passes('1 day');
select is(claimed(step()), 0, 'nothing is sent again');

-- The callback comes before the answer.
create temporary table early as select message_id(message('+12025550112')) as id;
create temporary table claim as select step() as answer;
select is(outbox.mark_sent_late(format('ob1:%s:1', id), 'wamid.B'), 'adopted', 'a callback comes before the answer') from early;
select step(0, results(answer, 'delivered', '{"status": 200, "provider_id": "wamid.B"}')) from claim;
select is((row_of(id)).status, 'SENT', 'the answer changes nothing') from early;
select is((select count(*) from outbox.audit_event x where x.entity_id = e.id::text and x.action = 'SENT'), 1::bigint, 'and is not audited again') from early e;

-- The answer comes after its lease.
create temporary table late as select message_id(message('+12025550113')) as id;
update claim set answer = step() where true;
select time_passes('1 minute');
select step();
select is((row_of(id)).status, 'QUEUED', 'a lease that ended leaves the message QUEUED') from late;
select step(0, results(answer, 'delivered', '{"status": 200, "provider_id": "wamid.C"}')) from claim;
select is((row_of(id)).provider_message_id, 'wamid.C', 'its late answer still names it') from late;
select time_passes('1 hour');
select is(claimed(step()), 0, 'and it is not sent again');

-- The callback comes while the retry is on its way.
create temporary table twice as select message_id(message('+12025550114')) as id;
select send('failed', '{"error_class": "timeout", "error": "No answer"}');
select time_passes('10 minutes');
update claim set answer = step() where true;
select is(outbox.mark_sent_late(format('ob1:%s:1', id), 'wamid.D'), 'adopted', 'a callback comes while the retry is on its way') from twice;
select step(0, results(answer, 'failed', '{"status": 500, "code": "131000"}')) from claim;
select is((row_of(id)).status, 'SENT', 'the retry''s failure changes nothing') from twice;
select time_passes('1 hour');
select is(claimed(step()), 0, 'and there is no third');

-- A provider that gives one id twice.
create temporary table same as select message_id(message('+12025550115')) as id;
select is(send('delivered', '{"status": 200, "provider_id": "wamid.D"}'), 1, 'an id comes a second time');
select results_eq('select (r).status, (r).provider_message_id from (select row_of(id) as r from same) x', $$values ('SENT', null::text)$$,
  'the message is sent, and the id stays with the first');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'everything open will be looked at again');

select * from finish();
rollback;
