-- Exactly one probe across all runs, however many ask and however long it takes.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(13);

create temporary table made as select endpoint(p_breaker => true) as id;
select events(5);
select fail(500);
select events(20);
select time_passes('30 s');
create temporary table answer as select step() as a;
select is(claimed(a), 1, 'the first run gets the probe') from answer;
select is(claimed(other_step()), 0, 'another run gets nothing');
select is(claimed(step()), 0, 'nor does the first when it asks again');
select time_passes('19 s');
select is(claimed(step()) + claimed(other_step()), 0, 'nor anybody while the lease of the probe lasts');
select is((select count(*) from outbox.delivery where leased_until is not null), 1::bigint, 'one delivery in all is under way');
select is((gate_of(id)).in_flight, 1, 'and the gate knows of one') from made;
select ok((select probe_event::text = a -> 'deliveries' -> 0 ->> 'event' and probe_attempt = 2 from outbox.gate, answer), 'it knows which');
-- Not even for a hundred due deliveries of other endpoints.
create temporary table other as select endpoint() as id;
select events(3, p_endpoint_id => id) from other;
select is(claimed(step()), 3, 'other endpoints are served meanwhile');
select step(0, results(a, 'failed', '{"status": 500}')) from answer;
select is(breaker_of(id), 'open', 'a failure opens it again') from made;
select is(claimed(step()) + claimed(other_step()), 0, 'and nobody gets anything at once');
select time_passes('30 s');
select is(claimed(other_step(), id), 1, 'after another 30 s there is another probe') from made;
select is(claimed(step(), id), 0, 'and again only one') from made;
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
