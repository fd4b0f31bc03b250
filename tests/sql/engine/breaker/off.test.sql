-- An endpoint may do without a breaker, from the start or while it is open.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(15);

create temporary table made as select endpoint(p_retry => plain_retry(50)) as id;
select events(20);
select fail(500);
select is(breaker_of(id), 'closed', 'twenty failures open nothing') from made;
select is((gate_of(id)).streak, 20, 'they are counted all the same') from made;
select time_passes('1 s');
select is(send(), 20, 'and all is tried again by its schedule');
select is((select count(*) from news('outhook.breaker.opened')), 0::bigint, 'nothing is announced');

-- Switched off while open: in force within one tick, as every change of an endpoint.
create temporary table late as select endpoint(p_breaker => true) as id;
select events(9, p_endpoint_id => id) from late;
create temporary table answer as select step() as a;
select step(0, results_of(a, id, 'failed', '{"status": 500}') - 8 - 7) from answer, late;
select is(breaker_of(id), 'open', 'this one is open') from late;
select time_passes('2 s');
select is(claimed(step(), id), 0, 'so that nothing is sent') from late;
update outbox.endpoint e set breaker_enabled = false, updated_at = outbox.clock() from late where e.id = late.id;
select is((select status from outbox.endpoint_status s where s.id = late.id), 'enabled', 'endpoint_status says enabled') from late;
select is((select distinct status from outbox.delivery_status join late on id = endpoint_id where status <> 'processing'), 'retrying', 'nothing is held');
select outbox.tick();
select is(claimed(step(), id), 7, 'after a tick all that is due is sent') from late;

select is((outbox.send_test_event(id) -> 'event_id') is null, false, 'a test event is taken') from late;

-- Switched off with a probe under way.
create temporary table half as select endpoint(p_breaker => true) as id;
select events(5, p_endpoint_id => id) from half;
update answer set a = step() where true;
select step(0, results_of(a, id, 'failed', '{"status": 500}')) from answer, half;
select time_passes('30 s');
select is(claimed(step(), id), 1, 'this one has its probe under way') from half;
update outbox.endpoint e set breaker_enabled = false, updated_at = outbox.clock() from half where e.id = half.id;
select outbox.tick();
select is(claimed(step(), id), 4, 'after a tick the rest is sent') from half;
select is((select count(*) from outbox.delivery join half on id = endpoint_id where leased_until is not null), 5::bigint, 'beside the probe') from half;

-- And on again: it is asked by a probe first.
update outbox.endpoint e set breaker_enabled = true, updated_at = outbox.clock() from late where e.id = late.id;
select events(3, p_endpoint_id => id) from late;
select is(claimed(step(), id) <= 1, true, 'switched on again while open, it lets one through') from late;
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
