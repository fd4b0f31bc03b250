-- Modules: api, messages
-- What the metrics say of queues and endpoints, and that they read no table that grows.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_usage.sql
select plan(21);

create function queue(p_key text) returns jsonb language sql as $$ select outbox.get_metrics() -> 'queue' -> p_key $$;
create function open_of(p_status text) returns integer language sql as $$
  select (s -> 'open')::integer from jsonb_array_elements(helper.queue('endpoints')) s where s ->> 'status' = p_status
$$;
create function late() returns numeric language sql as $$
  select (m -> 'now')::numeric - (m -> 'queue' -> 'due_since')::numeric from outbox.get_metrics() m
$$;

create temporary table e as
select endpoint(array['a']) as a, endpoint(array['b'], p_breaker => true) as b, endpoint(array['c']) as c, endpoint(array['d'], 'partition') as d;
do $$ begin perform events(2, 'a'), events(7, 'b'), events(3, 'c'), events(1, 'd', 'k'); end $$;

select is((outbox.get_metrics() -> 'events' -> 'unrouted')::integer, 13, 'unrouted events are counted');
do $$ begin perform step(0); end $$;
select is((outbox.get_metrics() -> 'events' ->> 'unrouted')::integer, 0, 'until they are routed');
select is(open_of('enabled'), 13, 'open deliveries stand by the status of their endpoint');
do $$ begin perform time_passes('50 s'); end $$;
select is(late(), 50.0, 'the first of what is due has waited since it was routed');

do $$ begin perform outbox.pause_endpoint(c) from e; end $$;
select is(open_of('paused'), 3, 'what a paused endpoint holds is held');
update outbox.endpoint set status_reason = 'unreadable: the signing secret' where id = (select c from e);
select is(open_of('unreadable'), 3, 'for itself, if a secret of it cannot be read');
create temporary table claimed as select step(5) as a;
select is((select sum((s -> 'in_flight')::integer)::integer from jsonb_array_elements(queue('endpoints')) s), 5, 'requests under way are counted');
do $$ begin perform step(0, results(claimed.a, 'failed', '{"status": 500}')) from claimed; end $$;
do $$ begin perform fail(500); perform fail(500); end $$;
select is(open_of('breaker_open'), 7, 'what an open breaker holds is held');
select is((queue('open_since')::numeric - extract(epoch from outbox.clock()))::integer, 0, 'since when its endpoint fails');
select is((queue('named') -> 0 ->> 'endpoint')::uuid, (select b from e), 'the endpoints with most open are named');
select is(jsonb_array_length(queue('named')), 4, 'and those that fail');
do $$ begin perform outbox.set_setting('metrics.top_endpoints', '1'); end $$;
select is((select count(distinct s -> 'endpoint') from jsonb_array_elements(queue('named')) s), 1::bigint, 'as many as the setting says');
do $$ begin perform outbox.set_setting('metrics.per_endpoint', 'true'); end $$;
select is(jsonb_array_length(queue('named')), 4, 'or all of them');
do $$ begin perform outbox.delete_endpoint(c) from e; end $$;
select is(jsonb_array_length(queue('named')), 3, 'but none that was deleted');

-- A key that stands still, beside one that goes on and one that has nothing waiting.
create temporary table h as select endpoint(array['h'], 'partition') as h;
update outbox.endpoint set on_dead_letter = 'halt' where id = (select h from h);
create temporary table k as select events(3, 'h', 'still') as still, events(1, 'h', 'goes') as goes, events(1, 'h', 'empty') as empty;
do $$ begin perform step(0); end $$;
create temporary table was as select open_of('enabled') as open, open_of('halted') as halted;
do $$ begin
  perform time_passes('1 s');
  perform step(0, (
    select jsonb_agg(r || case when (r ->> 'event')::uuid in (still[1], empty[1]) then '{"outcome": "failed", "status": 404}' else '{}' end::jsonb)
    from jsonb_array_elements(results_of(step(100), h, 'released')) r cross join k)) from h;
end $$;
select is(halted, null, 'nothing stood still') from was;
select is(open_of('halted') || ' ' || (open_of('enabled') - open), '2 -4', 'what stands behind a dead letter is held, for itself') from was;
do $$ begin perform outbox.pause_endpoint(h) from h; end $$;
select is(coalesce(open_of('halted'), 0) || ' ' || open_of('paused'), '0 3', 'unless all of its endpoint is');
do $$ begin perform outbox.delete_endpoint(h) from h; end $$;

-- History and queues of some size, which a look at the metrics leaves alone.
do $$ begin perform events(1000, 'a'); perform step(0); end $$;
insert into outbox.attempt (event_id, attempt, at, kind, outcome)
select gen_random_uuid(), 1, now(), 'attempt', 'delivered' from generate_series(1, 5000);
do $$ begin perform counters(); end $$;
create temporary table before as select * from counters();
do $$ begin perform outbox.get_metrics(); end $$;
create temporary table used as
select c.relation, c.seq_scans - b.seq_scans as seq_scans, c.rows - b.rows as rows
from counters() c join before b using (relation);
select is_empty($$select relation, seq_scans from used join helper.large using (relation)
  where seq_scans > 0 and relation not in ('event', 'attempt')$$, 'no table that grows is scanned');
-- Of event and attempt it counts the default partitions, where the rows of the test clock lie.
select cmp_ok((select sum(rows)::integer from used where relation in ('attempt', 'dead_letter')), '<=', 20, 'no history is read');
select cmp_ok((select sum(rows)::integer from used where relation in ('delivery', 'lane', 'gate')), '<=', 20, 'of each endpoint a few rows');

select is(outbox.count_requests('[{"method": "GET", "route": "/x", "status": 200, "n": 2, "ms": 30}, {"method": null, "n": 1}]') -> 'noted', 'true', 'requests are noted');

select * from finish();
rollback;
