-- A delivery that ends its run each time becomes a dead letter, and its neighbours do not: after two lost
-- leases in a row each of them is sent alone.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(30);

create function call(p_held integer, p_run integer default 1) returns jsonb language sql as $$
  select outbox.dispatch(('00000000-0000-7000-8000-00000000000' || p_run)::uuid, nextval('helper.seq'), '[]', 100, p_held => p_held)::jsonb
$$;
create function report(p_answer jsonb, p_outcome text default 'delivered', p_more jsonb default '{}') returns jsonb language sql as $$
  select helper.step(0, helper.results(p_answer, p_outcome, p_more))
$$;
-- Two runs in a row die with all that is due.
create function lose_two(p_claims integer default 1) returns void language plpgsql as $$
begin
  for v_time in 1 .. 2 loop
    perform helper.call(0), helper.time_passes('20 s'), helper.call(p_claims), helper.time_passes('1 s');
  end loop;
end
$$;

create temporary table made as select endpoint('{*}', p_retry => plain_retry(0)) as id;
create temporary table event as select events(3) as ids;
create temporary table answer as select call(0) as a;
select is(claimed(a), 3, 'three deliveries are sent together') from answer;
do $$ begin perform time_passes('20 s'), call(0), time_passes('1 s'); end $$;
update answer set a = call(0) where true;
select is(claimed(a), 3, 'after one lost lease too, although there is no retry') from answer;
do $$ begin perform time_passes('20 s'), call(3), time_passes('1 s'); end $$;
select is((select array_agg(distinct d.lost_leases || ' ' || l.isolated) from outbox.delivery d join outbox.lane l on l.id = d.lane_id), '{"2 true"}',
  'after two all of them are isolated');
select results_eq('select distinct s.status, s.held_because from outbox.delivery_status s', $$values ('retrying', null::text)$$, 'they are retried, and nothing holds them');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'nothing is asleep for ever');
select ok(outbox.has_due(outbox.clock()), 'the tick starts a run for them');

select is(claimed(call(2)), 0, 'a run that holds others gets none');
update answer set a = call(0) where true;
select is(claimed_events(a), ids[1:1], 'a run that holds nothing gets one') from answer, event;
create temporary table busy as select events(1) as ids;
select is(claimed(call(1)), 0, 'while it holds that one it gets nothing else');
create temporary table other as select call(0, p_run => 2) as a;
select is(claimed_events(a), ids, 'another run gets what is due') from other, busy;
select report(a) from other;
select is(report(a) -> 'applied', '1', 'the result counts') from answer;
truncate busy; insert into busy select events(1);
update answer set a = call(0) where true;
select is(claimed_events(a), busy.ids, 'within 5 s other deliveries come first') from answer, busy;
select report(a) from answer;

-- The poison ends its run each time.
create function play(p_rounds integer) returns uuid[] language plpgsql as $$
declare
  v_sent uuid[] := '{}';
  v_answer jsonb;
begin
  for v_round in 1 .. p_rounds loop
    v_answer := helper.call(0);
    v_sent := v_sent || helper.claimed_events(v_answer);
    if helper.claimed_events(v_answer) = (select ids[2:2] from pg_temp.event) then
      perform helper.time_passes('20 s');
    else
      perform helper.report(v_answer);
    end if;
    perform helper.time_passes('1 s');
  end loop;
  return v_sent;
end
$$;
select is(play(6), array[ids[2], ids[3], ids[2], ids[2]], 'each is sent alone, until only the poison is left') from event;
select is((select event_id || ' ' || why || ' ' || retry_count from outbox.dead_letter), ids[2] || ' leases_lost 0', 'which becomes the only dead letter') from event;
select is(attempts(ids[3], id), '1 failed, 2 failed, 3 delivered', 'its neighbour is delivered') from event, made;
select is(attempts(ids[2], id), '1 failed, 2 failed, 3 failed, 4 failed, 5 failed, 5 closed as dead_letter', 'the poison has five lost leases') from event, made;
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'nothing is asleep for ever');

-- A run under load becomes empty for an isolated delivery.
do $$ begin perform time_passes('10 min'); end $$;
truncate event; insert into event select events(1);
select lose_two();
truncate busy; insert into busy select events(1);
select is(claimed(call(3)), 1, 'a run that holds others goes on at first');
select time_passes('5 s');
select events(1);
select is(claimed(call(4)), 0, 'after 5 s it gets nothing more');
select is(claimed(call(4, p_run => 2)), 1, 'but other runs do');
update answer set a = call(0) where true;
select is(claimed_events(a), ids, 'when it holds nothing it gets the isolated one') from answer, event;

-- Any result ends the isolation.
update outbox.endpoint set retry = plain_retry() where true;
select report(a, 'failed', '{"status": 500}') from answer;
select is((select lost_leases || ' ' || failed_attempts from outbox.delivery join event on event_id = ids[1]), '0 1', 'a failure ends the count');
do $$ begin perform time_passes('1 s'); end $$;
select events(1);
select is(claimed(call(0)), 2, 'its retry is sent together with others');
select is_empty('select * from miscounts()', 'the counters are right');

-- An ordered lane: its first delivery is sent alone, and the order stays.
do $$ begin perform time_passes('10 min'), send(), time_passes('10 min'), send(), time_passes('10 min'), send(); end $$;
create temporary table ordered as select endpoint('{}', p_ordering => 'partition') as id;
create temporary table lane as select events(3, p_key => 'a', p_endpoint_id => id) as ids from ordered;
select lose_two(3);
select is(claimed(call(3), id), 0, 'an isolated lane gives nothing to a run that holds others') from ordered;
select is(play(3), ids, 'its deliveries are sent one by one, in order') from lane;
select is_empty('select l.id from outbox.lane l where l.ordered', 'and the lane ends');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
