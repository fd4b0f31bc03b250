-- Modules: brokers
-- Without a breaker, an endpoint whose server is away gets fewer and fewer attempts, one at a time.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(9);

create temporary table broker as select (outbox.create_broker_endpoint('kafka', '{"brokers": ["kafka.example.com:9093"]}', p_event_types => '{b}', p_ordering => 'none') ->> 'id')::uuid as id;
update outbox.endpoint e set retry = plain_retry(), breaker_enabled = false from broker where e.id = broker.id;
select events(5, 'b');
select is(send('failed', '{"error_class": "connect"}'), 5, 'five deliveries find that the broker is away');

-- Looks every second, as the tick does, and notes how many attempts there were and when.
create temporary table attempted (at timestamptz, n integer);
create function wait_for(p_seconds integer) returns void language plpgsql as $$
declare
  v_n integer;
begin
  for v_second in 1 .. p_seconds loop
    perform helper.time_passes('1 s');
    v_n := helper.send('failed', '{"error_class": "connect"}');
    if v_n > 0 then
      insert into pg_temp.attempted values (outbox.clock(), v_n);
    end if;
  end loop;
end
$$;
select wait_for(120);
select is((select max(n) from attempted), 1, 'then there is one attempt at a time');
select is((select array_agg(extract(epoch from at - '2026-03-01 12:00:00+00')::integer order by at) from attempted), '{1,2,4,8,16,32,64}',
  'after pauses that double');
select is((select array_agg(distinct failed_attempts) from outbox.delivery), '{0}', 'no retry is used up');
select is((gate_of(id)).breaker, 'closed', 'and the breaker stays closed') from broker;

select wait_for(120);
select is((select array_agg(extract(epoch from at - '2026-03-01 12:00:00+00')::integer order by at) from attempted), '{1,2,4,8,16,32,64,124,184}', 'up to a minute');

-- The broker is back.
select time_passes('4 s');
select is(send(), 1, 'the attempt that follows is alone');
select is(send(), 4, 'and when it succeeds the others follow at once');
select is((gate_of(id)).first_failure_at, null, 'the next failure begins with a pause of a second') from broker;

select * from finish();
rollback;
