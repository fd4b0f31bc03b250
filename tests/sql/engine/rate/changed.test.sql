-- A new rate is in force within one tick, however long the old one would have kept the endpoint waiting; what its
-- receiver asked for stands.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(31);

create temporary table made as select endpoint('{}', p_rate_per_second => 0.001, p_max_in_flight => 1000) as id;
update outbox.endpoint e set rate_burst = 1 from made m where e.id = m.id;
select events(300, p_endpoint_id => id) from made;
select is((select not_before from outbox.endpoint_status s join made m on m.id = s.id), null, 'an endpoint whose rate nothing has used waits for nothing');
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
select time_passes('90 ms');
select is(claimed(step()), 0, 'slowed down: none at the old time');
select is(next_in(), 1.900, 'what is missing of the token takes as long as the new rate says');
select time_passes('1.899 s'), outbox.tick();
select is(claimed(step()), 0, 'not a millisecond early');
select time_passes('1 ms');
select is(claimed(step()), 1, 'then one');

select new_rate(0.8, 1), outbox.tick();
select is(next_in(), 1.250, 'raised while it waits: the tick brings it forward, and no further than its token');
select new_rate(null, 1), outbox.tick();
select is(claimed(step()), 100, 'without a limit it waits for nothing');
select step(0, results_of(a, id, 'failed', '{"status": 429, "retry_after": "60"}')) from made, (select step() as a) x;
select time_passes('1 s'), new_rate(1000, 1000), outbox.tick();
select is(claimed(step()), 0, 'what the receiver asked for is not lifted by a new rate');
select is((select count(*)::integer from outbox.gate g join made m on m.id = g.endpoint_id where g.not_before > outbox.clock()), 1, 'it is kept');
select time_passes('61 s');
select is(claimed(step()), 100, 'and then it goes on');
-- Slowed down just before a token: at its old time it is not due, and nobody looks at it in vain.
create temporary table slowed as select endpoint('{}', p_rate_per_second => 10) as id;
select events(40, p_endpoint_id => id) from slowed;
select is(claimed(step(), id), 10, 'a burst of ten') from slowed;
update outbox.endpoint e set rate_per_second = 0.01, updated_at = outbox.clock() from slowed s where e.id = s.id;
create function waits() returns interval language sql as $$ select g.next_at - outbox.clock() from outbox.gate g join slowed s on s.id = g.endpoint_id $$;
select time_passes('300 ms'), outbox.tick();
select is(claimed(step(), id), 0, 'none at the old rate') from slowed;
select is(waits(), interval '99.7 s', 'and it is not due before its token');
select time_passes('99.699 s');
select is(claimed(step(), id), 0, 'not a millisecond early') from slowed;
select time_passes('1 ms');
select is(claimed(step(), id), 1, 'then one') from slowed;
-- Without a tick the first look says it.
update outbox.endpoint e set rate_per_second = 0.005 from slowed s where e.id = s.id;
select time_passes('100 s');
select is(claimed(step(), id), 0, 'a look at the old time finds none') from slowed;
select is(waits(), interval '100 s', 'and puts it to the new time');
select outbox.pause_endpoint(e.id) from outbox.endpoint e;

-- Whenever it says that it is due, it has a token: fractions that have no end, and more than one in a microsecond.
create temporary table odd as select endpoint('{}', p_rate_per_second => r) as id, r from unnest(array[0.7, 3, 7, 999.9, 99999]) r;
update outbox.endpoint e set rate_burst = 1 from odd o where e.id = o.id;
select events(150, p_endpoint_id => id) from odd;
select step(0);
create function dues(p_id uuid, p_times integer) returns integer language plpgsql as $$
declare
  v_sent integer := 0;
  v_answer jsonb;
begin
  for n in 1 .. p_times loop
    perform time_is(greatest((select g.next_at from outbox.gate g where g.endpoint_id = p_id), outbox.clock()));
    v_answer := step(1000);
    v_sent := v_sent + claimed(v_answer, p_id);
    perform step(0, results(v_answer, 'delivered'));
  end loop;
  return v_sent;
end
$$;
select is(dues(id, 20), 20, format('at %s a second', r)) from odd order by r;
do $$ begin perform outbox.pause_endpoint(id) from odd; end $$;
select is((select count(*)::integer from odd), 5, 'of five rates');

select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'everything open will be looked at again');

select * from finish();
rollback;
