-- The consumer inbox: what it takes, what it remembers, for how long.
begin;
\ir ../../_helpers.sql
select plan(12);

select is(outbox.accept_once('billing', 'event-1'), true, 'the first time');
select is(outbox.accept_once('billing', 'event-1'), false, 'the second');
select is(outbox.accept_once('shipping', 'event-1'), true, 'another consumer counts by itself');
select is(outbox.accept_once('billing', 'event-2'), true, 'another event too');

savepoint work;
select is(outbox.accept_once('billing', 'event-3'), true, 'accepted, but the work fails');
rollback to work;
select is(outbox.accept_once('billing', 'event-3'), true, 'accepted anew');

select is(refusal($$select outbox.accept_once('a b', 'x')$$), $$OH001 consumer is 'a b'$$, 'a consumer with a space');
select is(refusal($$select outbox.accept_once('a', '')$$), 'OH001 event_id is not 1 to 255 characters long', 'no id');
select is(refusal($$select outbox.accept_once('a', null)$$), 'OH001 event_id is not 1 to 255 characters long', 'null');

select time_passes('40 d');
select outbox.accept_once('billing', 'event-4');
select time_passes('1 s');
select is(outbox.cleanup() -> 'accepted', '4', 'cleanup forgets them after inbox.retention_days');
select is(outbox.accept_once('billing', 'event-4'), false, 'and none before');
select is(outbox.accept_once('billing', 'event-1'), true, 'what is forgotten is accepted');

select * from finish();
rollback;
