-- Jobs share rows, endpoints and turns: two over the same dead letters take each once; what is open is
-- skipped and counted; what is live has every other turn.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(19);

create temporary table made as select endpoint(p_max_in_flight => 6, p_quantum => 4) as id;
select events(9);
select send('failed', '{"status": 404}', 9), send('failed', '{"status": 404}', 9);
select is((select count(*) from outbox.dead_letter), 9::bigint, 'nine dead letters');

create temporary table job as select outbox.replay_many(p_rate_per_second => 4) ->> 'id' as a, outbox.replay_many(p_rate_per_second => 4) ->> 'id' as b;
do $$ begin for n in 1 .. 6 loop perform outbox.tick(); end loop; end $$;
select is((select string_agg(distinct status, ',') from outbox.replay_job), 'done', 'both jobs end');
select is((select sum(replayed) from outbox.replay_job), 9::numeric, 'and have put back each row once between them');
select is((select count(*) from outbox.delivery), 9::bigint, 'nine deliveries are open');
select is((gate_of(id)).depth, 9::bigint, 'the gate counts each once') from made;

-- The endpoint's limits hold for both lanes and what is live together.
select time_passes('10 ms');
select events(9);
select step(0);
create temporary table answer as select step(100) as a;
select is(claimed(a), 6, 'no more than max_in_flight are under way, whatever lane they are in') from answer;
select is((select string_agg(distinct d ->> 'attempt', ',') from answer, jsonb_array_elements(a -> 'deliveries') d), '2', 'the replays, which have waited longer, have the first turn');
create temporary table turns (n integer, live boolean);
do $$
declare
  v_answer jsonb := (select a from answer);
begin
  for n in 1 .. 20 loop
    insert into turns select n, (d ->> 'attempt')::integer = 1 from jsonb_array_elements(v_answer -> 'deliveries') d;
    perform step(0, results(v_answer, 'delivered'));
    perform time_passes('10 ms');
    v_answer := step(2);
    exit when claimed(v_answer) = 0;
  end loop;
end
$$;
select is((select count(*) from turns), 18::bigint, 'all eighteen are sent');
select is((select count(*) from outbox.delivery), 0::bigint, 'and delivered');
select results_eq('select n, count(*) filter (where live), count(*) filter (where not live) from turns group by n order by n',
  $$values (1, 0::bigint, 6::bigint), (2, 2, 0), (3, 0, 2), (4, 2, 0), (5, 1, 1), (6, 2, 0), (7, 2, 0)$$, 'turn about, until the replays have come to their end');

-- Skipped: a letter whose delivery is open all the same, and one whose endpoint is gone.
create temporary table gone as select endpoint('{gone.event}') as id;
create temporary table event as select events(2, 'kept.event') as kept, (events(1, 'gone.event', p_endpoint_id => id))[1] as lost from gone;
select send('failed', '{"status": 404}');
select outbox.replay(kept[1], m.id) from event, made m;
update outbox.dead_letter x set replayed_at = null from event where x.event_id = kept[1];
create temporary table under_way as select step() as a;
select is(claimed(a), 1, 'one is being sent') from under_way;
select outbox.delete_endpoint(id) from gone;
select outbox.replay_many(p_failed_from => (select at from outbox.test_clock));
select outbox.tick(), outbox.tick();
select is((select status || ', replayed ' || replayed || ', skipped ' || skipped from outbox.replay_job order by id desc limit 1), 'done, replayed 1, skipped 2', 'both are skipped and counted');
select is((select count(*) from outbox.delivery d join event on d.event_id = kept[1] where d.leased_until is not null), 1::bigint, 'the one that is being sent is left alone');
select step(0, results(a, 'delivered')) from under_way;
select is(send(), 1, 'the third is sent');
select is((select count(*) from outbox.delivery), 0::bigint, 'nothing stays open');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'everything open will be looked at again');

-- The lanes of jobs that have ended go with the cleanup, a day later.
select is((select count(*) from outbox.lane where not ordered and key_hash > 0) > 0, true, 'the lanes of the jobs are still there');
select time_passes('1 d'), time_passes('1 s');
select outbox.cleanup();
select is((select count(*) from outbox.lane where not ordered and key_hash > 0), 0::bigint, 'a day after the jobs have ended they go');

select * from finish();
rollback;
