-- A bucket of requests for each org: full at first, filled by the second, never above its size.
begin;
\ir ../../_helpers.sql
select plan(12);
do $$ begin
  perform outbox.set_setting('api.requests_per_second', '10'), outbox.set_setting('api.burst', '20');
end $$;

select is(outbox.take_requests('org-1', 15), '{"granted": 15, "retryAfterMs": 0, "portal": {"generation": 0, "revoked": []}, "maxInFlight": 8}', 'a silent org has all of its burst');
select is(outbox.take_requests('org-1', 15) - '{portal, maxInFlight}'::text[], '{"granted": 5, "retryAfterMs": 0}', 'then what is left');
select is(outbox.take_requests('org-1', 1) - '{portal, maxInFlight}'::text[], '{"granted": 0, "retryAfterMs": 100}', 'then none, and when there is one');
select is(outbox.take_requests('org-2', 1) -> 'granted', '1', 'another org has its own');
select outbox.set_org_setting('org-2', 'api.max_calls_in_flight', '3');
select is(outbox.take_requests('org-2', 1) -> 'maxInFlight', '3', 'and its own limit of calls in flight');
select is(outbox.take_requests('org-3', 1) -> 'maxInFlight', '8', 'which is of no other');
select time_passes('50 ms');
select is(outbox.take_requests('org-1', 1) - '{portal, maxInFlight}'::text[], '{"granted": 0, "retryAfterMs": 50}', 'waiting counts');
select time_passes('450 ms');
select is(outbox.take_requests('org-1', 50) -> 'granted', '5', 'it fills at its rate');
select time_passes('1 h');
select is(outbox.take_requests('org-1', 1000) -> 'granted', '20', 'up to the burst');
select is(refusal($$select outbox.take_requests('org-1', 0)$$), 'OH001 count is 0', 'a count is between 1');
select is(refusal($$select outbox.take_requests('a b', 1)$$), 'OH001 org_id is ''a b''', 'and an org is one');
do $$ begin perform time_passes('61 minutes'), outbox.cleanup(); end $$;
select is((select count(*) from outbox.request_bucket), 0::bigint, 'cleanup takes full buckets away');

select * from finish();
rollback;
