-- An Idempotency-Key gives the first answer for 24 hours, and no answer to another request.
begin;
\ir ../../_helpers.sql
select plan(12);

select is(outbox.begin_request('org-1', 'POST /x', null, '{}'), null, 'without a key every request is the first');
select is((select count(*) from outbox.request_key), 0::bigint, 'and leaves nothing');
select is(outbox.begin_request('org-1', 'POST /x', 'k', '{"a": 1, "b": 2}'), null, 'a new key has no answer');
select outbox.end_request('org-1', 'k', '{"id": 1}');
select is(outbox.begin_request('org-1', 'POST /x', 'k', '{"b": 2, "a": 1}'), '{"id": 1}', 'the same request has the first one''s');
select is(refusal($$select outbox.begin_request('org-1', 'POST /x', 'k', '{"a": 2}')$$), 'OH003 Idempotency-Key was used within 24 hours for another request', 'another body is refused');
select is(refusal($$select outbox.begin_request('org-1', 'POST /y', 'k', '{"a": 1, "b": 2}')$$), 'OH003 Idempotency-Key was used within 24 hours for another request', 'and another route');
select is(outbox.begin_request('org-2', 'POST /x', 'k', '{}'), null, 'each org has its own keys');
select is(refusal($$select outbox.begin_request('org-1', 'POST /x', 'k k', '{}')$$), 'OH001 Idempotency-Key is not 1 to 128 visible ASCII characters', 'a key is visible characters');
select time_passes('24 h');
select is(outbox.begin_request('org-1', 'POST /y', 'k', '{"a": 2}'), null, 'a day later the key is free');
select is((select response from outbox.request_key where org_id = 'org-1'), null, 'and its answer is gone');
select time_passes('1 s');
select is(outbox.cleanup() -> 'request_keys', '1', 'cleanup removes what is a day old');
select is((select string_agg(org_id, ' ') from outbox.request_key), 'org-1', 'and keeps the rest');

select * from finish();
rollback;
