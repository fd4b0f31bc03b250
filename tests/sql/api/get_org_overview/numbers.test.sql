-- The overview of an organisation: what its endpoints are, what was attempted when, and how long it took.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(26);

select is(outbox.get_org_overview('nobody') - 'time', '{"minutes": 60, "endpoints": {"total": 0, "enabled": 0, "paused": 0, "disabled": 0, "failing": 0, "breakersOpen": 0},
  "events": {"total": 0, "capped": false, "since": "2026-03-01T11:00:00.000Z"}, "retriesDue": {"total": 0, "capped": false}, "open": 0, "inFlight": 0, "oldestDueAt": null, "deadLetters": 0,
  "attempts": {"since": "2026-03-01T11:00:00.000Z", "capped": false, "total": 0, "delivered": 0, "failed": 0, "p50Ms": null, "p95Ms": null, "p99Ms": null},
  "latency": {"p50Ms": null, "p95Ms": null, "p99Ms": null}, "series": [], "busiest": []}', 'an organisation without endpoints has zeros');

create temporary table e as select endpoint('{a.*}', p_org_id => 'org-1') as good, endpoint('{b.*}', p_org_id => 'org-1', p_breaker => true) as bad,
  endpoint('{c.*}', p_org_id => 'org-1') as paused, endpoint('{a.*}', p_org_id => 'org-2') as other;
do $$ begin perform outbox.pause_endpoint(paused, 'x') from e; end $$;
do $$ begin perform events(3, 'a.b', p_org_id => 'org-1'), events(1, 'a.b', p_org_id => 'org-2'), time_passes('2 s'), send('delivered', '{"status": 200, "duration_ms": 40}'); end $$;
do $$ begin perform events(5, 'b.c', p_org_id => 'org-1'), fail(503, '{"duration_ms": 90}'); end $$;
do $$ begin perform events(2, 'c.d', p_org_id => 'org-1'), step(0); end $$;
create temporary table o as select outbox.get_org_overview('org-1') as o;
select is(o -> 'endpoints', '{"total": 3, "enabled": 2, "paused": 1, "disabled": 0, "failing": 1, "breakersOpen": 1}', 'it counts endpoints by what they are') from o;
select is(o -> 'open', '7', 'and their open deliveries') from o;
select is(o -> 'attempts' ->> 'total', '8', 'and their attempts') from o;
select is(o -> 'attempts' ->> 'delivered', '3', 'and those that were delivered') from o;
select is(o -> 'attempts' ->> 'failed', '5', 'and those that failed') from o;
select is(o -> 'attempts' ->> 'p50Ms', '90', 'and how long a request takes') from o;
select is((o -> 'latency' ->> 'p50Ms')::integer between 1990 and 2010, true, 'and how long it takes from an event to its delivery') from o;
select is(jsonb_array_length(o -> 'series'), 1, 'attempts of one minute are one part of the series') from o;
select is(o -> 'series' -> 0 -> 'delivered', '3', 'with its deliveries') from o;
select is(o -> 'series' -> 0 -> 'failed', '5', 'and its failures') from o;
select is((select string_agg(b ->> 'endpointId', ' ' order by n) from o, jsonb_array_elements(o -> 'busiest') with ordinality x (b, n)),
  (select bad || ' ' || paused || ' ' || good from e), 'the endpoints with work are listed, the worst first');
select is(o -> 'busiest' -> 0 ->> 'failuresRunning', '5', 'with their failures in a row') from o;
select is(o -> 'busiest' -> 0 ->> 'breaker', 'open', 'and their breaker') from o;
select is(o -> 'busiest' -> 1 -> 'oldestDueAt', 'null', 'nothing is due at a paused one') from o;
do $$ begin perform events(1, 'a.b', p_org_id => 'org-1'), step(0); end $$;
select is((select b ->> 'oldestDueAt' from e, jsonb_array_elements(outbox.get_org_overview('org-1') -> 'busiest') b where b ->> 'endpointId' = good::text), outbox.iso_time(outbox.clock()), 'and since when the oldest due work has waited');
-- 60 minutes have 24 parts of 150 s; all of this happened within the last one.
select is(o -> 'busiest' -> 2 -> 'deliveredParts', (select jsonb_agg(case n when 23 then 3 else 0 end order by n) from generate_series(0, 23) n), 'its deliveries in parts of the span') from o;
select is(o -> 'busiest' -> 0 -> 'failedParts' -> 23, '5', 'and its failures') from o;
select is(o -> 'busiest' -> 1 -> 'failedParts', (select jsonb_agg(0) from generate_series(0, 23)), 'without attempts there are zeros') from o;
select is(outbox.get_org_overview('org-2') -> 'attempts' ->> 'total', '1', 'another organisation has its own numbers');

do $$ begin perform time_passes('59 min'); end $$;
select is(jsonb_array_length(outbox.get_org_overview('org-1') -> 'series'), 1, 'an attempt counts to the end of the span');
do $$ begin perform time_passes('2 min'); end $$;
select is(outbox.get_org_overview('org-1') -> 'attempts' ->> 'total', '0', 'and not after it');
select is(outbox.get_org_overview('org-1', 120) -> 'attempts' ->> 'total', '8', 'but in a longer span');

do $$ begin perform events(2, 'a.b', p_org_id => 'org-1'), fail(404); end $$;
select is((outbox.get_org_overview('org-1') ->> 'deadLetters')::integer >= 2, true, 'dead letters are counted');
do $$ begin perform outbox.discard_org_dead_letter('org-1', id, 'x') from outbox.dead_letter where org_id = 'org-1'; end $$;
select is(outbox.get_org_overview('org-1') ->> 'deadLetters', '0', 'until somebody has decided');
select is(refusal($$select outbox.get_org_overview('org-1', 0)$$) like 'OH001 minutes is 0%', true, 'the span has bounds');

select * from finish();
rollback;
