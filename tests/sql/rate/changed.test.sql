-- A new rate is in force within one tick, however long the old one would have kept the endpoint waiting; what its
-- receiver asked for stands.
begin;
\ir ../_helpers.sql
\ir ../_engine.sql
select plan(17);

create temporary table made as select endpoint('{}', p_rate_per_second => 0.001, p_max_in_flight => 1000) as id;
update outbox.endpoint e set rate_burst = 1 from made m where e.id = m.id;
select events(300, p_endpoint_id => id) from made;
select is(claimed(step()), 1, 'one in a thousand seconds: the first');
select time_passes('1 s');
select is(claimed(step()), 0, 'and no other');
create function new_rate(p_rate double precision, p_burst integer) returns void language sql as $$
  update outbox.endpoint e set rate_per_second = p_rate, rate_burst = p_burst, updated_at = outbox.clock() from made m where e.id = m.id
$$;
create function next_in() returns numeric language sql as $$
  select round(extract(epoch from s.next_at - outbox.clock())::numeric, 3) from outbox.endpoint_status s join made m on m.id = s.id
$$;
select is(next_in(), 999.000, 'endpoint_status says when the next is due');

select new_rate(10, 5), outbox.tick();
select is(claimed(step()), 5, 'ten a second with a burst of five: a burst, after one tick');
select is(claimed(step()), 0, 'no more than that');
select is(next_in(), 0.100, 'and the next in a tenth of a second');

select time_passes('10 ms'), new_rate(0.5, 1), outbox.tick();
select is(next_in(), 1.990, 'slowed down, what is missing of the token takes as long as the new rate says');
select is(claimed(step()), 0, 'so none is sent');
select time_passes('1.989 s'), outbox.tick();
select is(claimed(step()), 0, 'not a millisecond early');
select time_passes('1 ms');
select is(claimed(step()), 1, 'then one');

select new_rate(0.4, 1), outbox.tick();
select is(next_in(), 2.500, 'raised or lowered while it waits: from the time of the last');
select new_rate(null, 1), outbox.tick();
select is(claimed(step()), 100, 'without a limit it waits for nothing');
select step(0, results_of(a, id, 'failed', '{"status": 429, "retry_after": "60"}')) from made, (select step() as a) x;
select time_passes('1 s'), new_rate(1000, 1000), outbox.tick();
select is(claimed(step()), 0, 'what the receiver asked for is not lifted by a new rate');
select is((select count(*)::integer from outbox.gate g join made m on m.id = g.endpoint_id where g.not_before > outbox.clock()), 1, 'it is kept');
select time_passes('61 s');
select cmp_ok(claimed(step()), '>', 0, 'and then it goes on');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'everything open will be looked at again');

select * from finish();
rollback;
