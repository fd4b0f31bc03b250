-- While it is open nothing moves, for 30 s to the millisecond; what waits is held, and says so.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(21);

create temporary table made as select endpoint(p_breaker => true) as id, endpoint() as other;
create temporary table event as select events(5, p_endpoint_id => id) as ids from made;
select fail(500);
select is(breaker_of(id), 'open', 'five failures open it') from made;
select is((select status || ', ' || reason from outbox.endpoint_status s where s.id = m.id), null, 'a reason is only given by hand') from made m;
select is((select status from outbox.endpoint_status s where s.id = m.id), 'breaker open', 'endpoint_status says so') from made m;
select is((select probe_at from outbox.endpoint_status s where s.id = m.id), '2026-03-01 12:00:30+00'::timestamptz, 'and when it is probed') from made m;
select is((select failures_running from outbox.endpoint_status s where s.id = m.id), 5, 'and how many failures there were') from made m;
select is((select breakers_open from outbox.queue_health), 1::bigint, 'queue_health counts it');
select results_eq('select distinct status, held_because from outbox.delivery_status join made on id = endpoint_id', $$values ('held', 'breaker open')$$,
  'its deliveries are held, and say why');
select is((select max(failed_attempts) from outbox.delivery), 1, 'each has spent one try');

-- New events join, and the other endpoint is served.
select events(3);
select is(claimed(step(), other), 3, 'another endpoint is served meanwhile') from made;
select is((select open from outbox.endpoint_status s where s.id = m.id), 8::bigint, 'new events join those that are held') from made m;
select time_passes('29.999 s');
select is(claimed(step(), m.id), 0, 'nothing is sent before 30 s are over') from made m;
select is((select failed_attempts from outbox.delivery d join made on id = d.endpoint_id order by d.failed_attempts desc limit 1), 1, 'and no try is spent') from made;
select is((select count(*) from outbox.dead_letter), 0::bigint, 'opening dead-letters nothing');
select is(outbox.tick() -> 'kicked', 'false', 'a breaker that waits is no reason for a kick');
select time_passes('1 ms');
create temporary table answer as select step() as a;
select is(claimed(a, id), 1, 'then one is') from made, answer;
select is(breaker_of(id), 'half_open', 'and the breaker is half open') from made;
select results_eq('select status, held_because, count(*) from outbox.delivery_status join made on id = endpoint_id group by 1, 2 order by 1',
  $$values ('held', 'breaker half_open', 7::bigint), ('processing', 'breaker half_open', 1)$$, 'the others wait for it');
select is((select status from outbox.endpoint_status s where s.id = m.id), 'breaker half_open', 'endpoint_status says so') from made m;
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'everything open will be looked at again');

-- Whose only delivery waits for its own retry: the probe is that.
create temporary table alone as select endpoint('{}', p_breaker => true, p_retry => '{"strategy": "fixed", "base_delay": 300, "max_retries": 5, "jitter": false}') as id;
update outbox.endpoint e set breaker_threshold = 1 from alone a where e.id = a.id;
select events(1, p_endpoint_id => id) from alone;
select step(0, results_of(x.a, id, 'failed', '{"status": 500}')) from alone, lateral (select step() as a offset 0) x;
select time_passes('31 s'), step(0), step();
select is((select probe_at - outbox.clock() from outbox.endpoint_status s join alone using (id)), interval '269 s', 'it is probed when something is due');

select * from finish();
rollback;
