-- The consumers as the inbox has them.
begin;
\ir ../../_helpers.sql
select plan(9);

select is(outbox.list_consumers(), '{"data": [], "recentSince": null, "isWhole": true}', 'an empty inbox has none');
select outbox.accept_once('billing', 'event-1');
select time_passes('1 min');
select outbox.accept_once('billing', 'event-2'), outbox.accept_once('audit', 'event-1');
select is(outbox.list_consumers() #> '{data}', '[
  {"consumer": "audit", "recent": 1, "lastAt": "2026-03-01T12:01:00.000Z", "acceptedAt": null},
  {"consumer": "billing", "recent": 2, "lastAt": "2026-03-01T12:01:00.000Z", "acceptedAt": null}]', 'each by name, with what it has processed');
select is(outbox.list_consumers() - 'data', '{"recentSince": "2026-03-01T12:00:00.000Z", "isWhole": true}', 'and since when');
select is(jsonb_path_query_array(outbox.list_consumers('event-2'), '$.data[*].acceptedAt'), '[null, "2026-03-01T12:01:00.000Z"]', 'who has processed an event');
select is(jsonb_path_query_array(outbox.list_consumers('event-3'), '$.data[*].acceptedAt'), '[null, null]', 'and that nobody has');

-- A consumer whose entries are all older than the newest 10,000 is still listed.
select time_passes('1 min');
insert into outbox.consumer_inbox (consumer, event_id, accepted_at)
select 'zoo', 'e' || n, outbox.clock() from generate_series(1, 10000) n;
analyze outbox.consumer_inbox;
select is(jsonb_path_query_array(outbox.list_consumers(), '$.data[*].recent'), '[0, 0, 10000]', 'the newest 10,000 are counted');
select is(outbox.list_consumers() -> 'isWhole', 'false', 'which are not all');
savepoint more;
delete from outbox.consumer_inbox where consumer <> 'zoo';
select is(outbox.list_consumers() -> 'isWhole', 'true', 'exactly 10,000 are all');
rollback to more;

insert into outbox.consumer_inbox (consumer, event_id, accepted_at)
select 'c' || n, 'e', outbox.clock() from generate_series(1000, 1300) n;
select is(jsonb_array_length(outbox.list_consumers() -> 'data'), 200, 'no more than 200 consumers are listed');

select * from finish();
rollback;
