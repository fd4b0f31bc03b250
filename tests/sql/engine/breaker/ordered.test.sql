-- A breaker before ordered lanes: the order holds over opening, probing and closing.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(21);

create temporary table made as select endpoint(p_ordering => 'endpoint', p_breaker => true, p_retry => '{"strategy": "fixed", "base_delay": 2, "max_retries": 50}') as id;
create temporary table event as select events(6) as ids;
create temporary table answer as select '{}'::jsonb as a;
-- As a run does it: the first of the lane fails, the rest is given back.
create function fail_head() returns text language plpgsql as $$
declare
  v_answer jsonb := step();
  v_results jsonb := results(v_answer, 'released');
begin
  if claimed(v_answer) > 0 then
    v_results := (v_results - 0) || ((v_results -> 0) || '{"outcome": "failed", "status": 500}');
  end if;
  perform step(0, v_results);
  return claimed(v_answer) || ' ' || coalesce((claimed_events(v_answer))[1] = (select ids[1] from event), false);
end
$$;
select is(fail_head(), '6 true', 'failure ' || n || ' is of the head, the others wait behind it'), time_passes('2 s') from generate_series(1, 5) n;
select is(breaker_of(id), 'open', 'five failures of one head open the breaker') from made;
select time_passes('27.999 s');
select is(claimed(step()), 0, 'nothing is sent for 30 s after the fifth');
select time_passes('1 ms');
update answer set a = step() where true;
select is(claimed_events(a), array[ids[1]], 'the probe is the head alone') from answer, event;
select is(claimed(other_step()), 0, 'nobody gets what follows it');
select step(0, results(a, 'failed', '{"status": 500}')) from answer;
select is(breaker_of(id), 'open', 'it fails') from made;
select time_passes('30 s');
update answer set a = step() where true;
select is(claimed_events(a), array[ids[1]], 'the next probe is the head again: here order does not allow another') from answer, event;
select step(0, results(a, 'delivered', '{"status": 200}')) from answer;
select is(breaker_of(id), 'closed', 'it succeeds') from made;
update answer set a = step() where true;
select is(claimed_events(a), ids[2:6], 'the rest follows in order') from answer, event;
select step(0, results(a, 'delivered', '{"status": 200}')) from answer;
select is((select count(*) from outbox.delivery), 0::bigint, 'all is delivered');

-- With a lane for each key the next probe takes another key.
create temporary table keyed as select endpoint(p_ordering => 'partition', p_breaker => true,
  p_retry => '{"strategy": "fixed", "base_delay": 100, "max_retries": 50}') as id;
create temporary table key_event as select n, ids[1] as id
from keyed, generate_series(1, 7) n, lateral (select events(2, p_key => 'key ' || n, p_endpoint_id => id) as ids) e;
update answer set a = step() where true;
-- Five of the keys fail at once, the others are given back.
select step(0, (
  select jsonb_agg(r || case when k.n <= 5 then '{"outcome": "failed", "status": 500}' else '{"outcome": "released"}' end::jsonb order by coalesce(k.n, 9))
  from answer, jsonb_array_elements(results(a, 'released')) r left join key_event k on k.id::text = r ->> 'event'));
select is(breaker_of(id), 'open', 'five keys that fail open it too') from keyed;
select time_passes('30 s');
update answer set a = step() where true;
select is(claimed(a), 1, 'the probe is one delivery of one key') from answer;
select is((select n from key_event join answer on id = (claimed_events(a))[1]) > 5, true, 'of a key that does not wait for its retry');
create temporary table first_probe as select n from key_event join answer on id = (claimed_events(a))[1];
select step(0, results(a, 'failed', '{"status": 500}')) from answer;
select time_passes('30 s');
update answer set a = step() where true;
select is((select k.n <> f.n and k.n > 5 from key_event k join answer on k.id = (claimed_events(a))[1], first_probe f), true, 'the next probe takes another key');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'everything open will be looked at again');
select is((select count(*) from outbox.dead_letter), 0::bigint, 'and nothing became a dead letter');

select * from finish();
rollback;
