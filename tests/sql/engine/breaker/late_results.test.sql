-- Attempts that were under way when the breaker opened end as they end: it is the probe that counts.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(18);

create temporary table made as select endpoint(p_breaker => true) as id;
create temporary table event as select events(12) as ids;
create temporary table answer as select step() as a;
create function result(p_n integer, p_outcome text, p_more jsonb) returns jsonb language sql as $$
  select jsonb_build_array((results(a, p_outcome, p_more) -> p_n - 1)) from answer
$$;
select step(0, (select jsonb_agg(results(a, 'failed', '{"status": 500}') -> n) from answer, generate_series(0, 4) n));
select is(breaker_of(id), 'open', 'five of twelve open it') from made;
select time_passes('5 s');

select step(0, result(6, 'delivered', '{"status": 200}'));
select is(breaker_of(id) || ' ' || (gate_of(id)).streak, 'open 5', 'a late success leaves it open') from made;
select is(status_of(ids[6], id), 'delivered', 'and is delivered') from event, made;
select step(0, result(7, 'failed', '{"status": 500}'));
select is(breaker_of(id) || ' ' || (gate_of(id)).streak, 'open 5', 'a late failure does not add to the streak') from made;
select is((gate_of(id)).open_until, '2026-03-01 12:00:30+00'::timestamptz, 'nor to the time that it stays open') from made;
select is(failed_attempts_of(ids[7], id), 1, 'and spends its try') from event, made;
select step(0, result(8, 'failed', '{"status": 404}'));
select is(breaker_of(id) || ' ' || (gate_of(id)).streak, 'open 5', 'a late answer leaves it open') from made;
select is(status_of(ids[8], id), 'dead_letter', 'and is a dead letter') from event, made;
select is((select count(*) from news('outhook.breaker.opened')), 1::bigint, 'nothing is announced again');

-- With the probe under way. The leases of the rest end at 20 s, but their results come in time.
update outbox.delivery set leased_until = leased_until + interval '1 min' where leased_until is not null;
update outbox.lane set leased_until = leased_until + interval '1 min' where true;
select time_passes('25 s');
create temporary table probe as select other_step() as a;
select is(claimed_events(a), array[ids[1]], 'the probe') from probe, event;
select step(0, result(9, 'delivered', '{"status": 200}'));
select is(breaker_of(id), 'half_open', 'a late success does not close it') from made;
select step(0, result(10, 'failed', '{"status": 500}'));
select is(breaker_of(id), 'half_open', 'a late failure does not open it') from made;
select step(0, result(11, 'released', '{}'));
select is(breaker_of(id), 'half_open', 'nor does one that is given back') from made;
select is(claimed(step()), 0, 'and none of them lets another through');
-- An earlier attempt of the very delivery that is the probe.
select is(step(0, result(1, 'delivered', '{"status": 200}')) -> 'stale', '1', 'an older attempt of the probe''s delivery is stale');
select is(breaker_of(id), 'half_open', 'and is not taken for the probe') from made;
select step(0, results(a, 'delivered', '{"status": 200}') || result(12, 'failed', '{"status": 500}')) from probe;
select is(breaker_of(id), 'closed', 'the probe''s success closes it, whatever else is in its batch') from made;
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
