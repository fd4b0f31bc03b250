-- A delivery whose event is not stored ends at once, and says so; no run gets it, and its neighbours go on.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(17);

create temporary table made as select endpoint('{a}') as plain, endpoint('{b}', p_ordering => 'endpoint') as ordered, endpoint('{c}') as paused;
create temporary table event as select events(3, 'a') as a, events(3, 'b') as b, events(1, 'c') as c;
select step(0), outbox.pause_endpoint(paused) from made;
delete from outbox.event v using event e where v.id in (e.a[2], e.b[1], e.c[1]);
create temporary table answer as select step() as r;

select is(claimed_events(r, plain), array[a[1], a[3]], 'its neighbours are claimed') from answer, made, event;
select is((select count(*) from json_object_keys((select r::json -> 'events' from answer))), json_array_length((select r::json -> 'deliveries' from answer))::bigint, 'each claimed delivery has its event');
select is(r -> 'error', null, 'it is no error of the claim') from (select nullif(r::jsonb -> 'error', 'null') as r from answer) x;
select is(status_of(a[2], plain), 'event_missing', 'its status says so') from event, made;
select is(held_because, 'the event is not stored', 'with the reason') from outbox.delivery_status s, event, made where s.event_id = a[2] and s.endpoint_id = plain;
select is(org_id, 'default', 'and its organisation') from outbox.delivery_status s, event where s.event_id = a[2];
select is(attempts(a[2], plain), '0 closed as event_missing', 'it is a close') from event, made where false union all
select is((select string_agg(kind || ' ' || outcome, ', ') from outbox.attempt where event_id = a[2]), 'close event_missing', 'it is a close') from event;
select is((select count(*) from outbox.delivery d, event where d.event_id in (a[2], b[1])), 0::bigint, 'it is not open any more');
select is((select status from outbox.endpoint join made on id = plain), 'enabled', 'its endpoint is not held');
select is((select string_agg(distinct status, ',') from outbox.webhook_outbox w, event where w.id in (a[2], b[1])), 'EVENT_MISSING', 'webhook_outbox says so, too: there is no dead letter to replay');
select is_empty('select * from miscounts()', 'the counters are right');
-- The ordered endpoint goes on with its second one.
select step(0, results(r, 'delivered')) from answer;
do $$ begin update answer set r = step() where true; end $$;
select step(0, results(r, 'delivered')) from answer where json_array_length(r::json -> 'deliveries') > 0;
do $$ begin perform step(0, results(step(), 'delivered')); end $$;
select is((select string_agg(status_of(id, ordered), ' ' order by n) from made, event, unnest(b) with ordinality x (id, n)), 'event_missing delivered delivered', 'an ordered endpoint goes on behind it');
-- What waits at a paused endpoint ends when it expires.
select is(status_of(c[1], paused), 'held', 'at a paused endpoint it waits') from event, made;
select time_passes('31 d');
do $$ begin perform outbox.tick(); end $$;
select is(status_of(c[1], paused), 'event_missing', 'until it would expire') from event, made;
select is((select count(*) from outbox.dead_letter x, event where x.event_id = c[1]), 0::bigint, 'without a dead letter, which would have no body');
select is((select n from outbox.counter_change where metric = 'deliveries' and labels[2] = 'event_missing' limit 1), 1::bigint, 'it is counted') where false union all
select ok(exists (select from outbox.counter_change c where labels[2] = 'event_missing') or exists (select from outbox.counter c where labels[2] = 'event_missing'), 'it is counted');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
