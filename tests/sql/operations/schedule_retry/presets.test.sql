-- Modules: brokers, messages
-- The specs' tables through real failures, to the second: what the attempts say, when each try is really
-- made, and what becomes of the sixth failure.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(43);

-- A preset without its jitter, or any policy; what the specs' tables say in seconds.
create temporary table made (what text, policy jsonb, waits interval[], id uuid, event uuid, nth integer default 0);
insert into made (what, policy, waits) values
  ('specs 1 and 5, webhook', outbox.retry_preset('webhook') || '{"jitter": false}', '{1 s,5 s,15 s,60 s,300 s}'),
  ('spec 2, message', outbox.retry_preset('whatsapp'), '{1 min,5 min,15 min,60 min,360 min}'),
  ('spec 4, relay', outbox.retry_preset('rabbitmq') || '{"jitter": false}', '{1 s,2 s,4 s,8 s,16 s}'),
  ('relay with eight retries, cap 30 s', outbox.retry_preset('kafka') || '{"jitter": false, "max_retries": 8}', '{1 s,2 s,4 s,8 s,16 s,30 s,30 s,30 s}'),
  ('linear', '{"strategy": "linear", "base_delay": 10, "max_delay": 25, "max_retries": 4}', '{10 s,20 s,25 s,25 s}'),
  ('fixed', '{"strategy": "fixed", "base_delay": 7, "max_retries": 3}', '{7 s,7 s,7 s}'),
  ('exponential', '{"strategy": "exponential", "base_delay": 2, "factor": 3, "max_retries": 3}', '{2 s,6 s,18 s}'),
  ('a schedule that is too short', '{"strategy": "schedule", "delays": [0.5, 2], "max_retries": 4}', '{500 ms,2 s,2 s,2 s}'),
  ('no retry at all', '{"strategy": "fixed", "base_delay": 7, "max_retries": 0}', '{}');
update made set id = endpoint(p_retry => policy) where true;
update made set event = (events(1, p_endpoint_id => id))[1] where true;

-- Each try a millisecond too early and then in time, every other endpoint out of the way.
create temporary table seen (what text, nth integer, early integer, at timestamptz);
create function go(p_id uuid) returns void language plpgsql as $$
declare
  v_made made;
  v_answer jsonb;
  v_early integer := 0;
begin
  select * into v_made from made m where m.id = p_id;
  for v_nth in 1 .. cardinality(v_made.waits) + 1 loop
    if v_nth > 1 then
      perform time_passes(v_made.waits[v_nth - 1] - interval '1 ms');
      v_early := claimed(step(), p_id);
      perform time_passes('1 ms');
    end if;
    v_answer := step();
    insert into seen select v_made.what, v_nth, v_early, at from outbox.test_clock where claimed(v_answer, p_id) = 1;
    perform step(0, results_of(v_answer, p_id, 'failed', '{"status": 500}'));
  end loop;
end
$$;
update outbox.endpoint set status = 'paused' where true;
create function alone(p_id uuid) returns void language plpgsql as $$
begin
  update outbox.endpoint set status = 'enabled', updated_at = outbox.clock() where id = p_id;
  perform step(0), outbox.tick();
  perform go(p_id);
  update outbox.endpoint set status = 'paused' where id = p_id;
end
$$;
do $$ declare v_id uuid; begin for v_id in select id from made loop perform alone(v_id); end loop; end $$;

select is((select count(*)::integer from seen s where s.what = m.what), cardinality(m.waits) + 1, m.what || ': every try is made, the first included') from made m;
select is((select sum(early) from seen s where s.what = m.what), 0::bigint, m.what || ': none a millisecond early') from made m;
select is((select coalesce(array_agg(a.next_retry_at - a.at order by a.attempt), '{}') from outbox.attempt a where a.event_id = m.event and a.kind = 'attempt' and a.next_retry_at is not null),
  m.waits, m.what || ': the attempts say when') from made m;
select is((select why || ' ' || retry_count || ' ' || attempt from outbox.dead_letter where event_id = m.event),
  format('retries_exhausted %s %s', cardinality(m.waits) + 1, cardinality(m.waits) + 1), m.what || ': the failure after the last retry is a dead letter') from made m;

-- An endpoint without a policy of its own has its kind's preset, and the policy in force is the one of now.
create temporary table plain as select endpoint(p_retry => null) as id;
create temporary table event as select (events(1, p_endpoint_id => id))[1] as id from plain;
select fail(500);
select ok((select next_retry_at - at between interval '0.5 s' and interval '1.5 s' from outbox.attempt a join event e on e.id = a.event_id), 'by default a webhook waits 1 s with jitter');
update outbox.endpoint set retry = '{"strategy": "fixed", "base_delay": 3, "max_retries": 1}' from plain where endpoint.id = plain.id;
select time_passes('2 s');
select fail(500);
select is((select why from outbox.dead_letter x join event e on e.id = x.event_id), 'retries_exhausted', 'a change of policy is in force for what waits: two failures are one too many now');

-- Fifty retries.
create temporary table fifty as select endpoint(p_retry => '{"strategy": "fixed", "base_delay": 1, "max_retries": 50}') as id;
select events(1, p_endpoint_id => id) from fifty;
do $$ begin for n in 1 .. 50 loop perform helper.fail(500), helper.time_passes('1 s'); end loop; end $$;
select is((select failed_attempts from outbox.delivery join fifty on id = endpoint_id), 50, 'fifty retries: after fifty failures it still waits');
select fail(500);
select is((select retry_count from outbox.dead_letter join fifty f on f.id = endpoint_id), 51, 'the fifty-first failure is the last');
select is((select count(*) from outbox.attempt join fifty on id = endpoint_id where kind = 'attempt'), 51::bigint, 'with an attempt each');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'everything open will be looked at again');

select * from finish();
rollback;
