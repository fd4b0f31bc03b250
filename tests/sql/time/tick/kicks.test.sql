-- Kicks that start no run do not pile up, however long pg_net stands still.
begin;
\ir ../../_helpers.sql
select plan(11);

select outbox.configure('https://project.supabase.co/functions/v1/', repeat('s', 40));
create function waiting() returns bigint language sql as $$ select count(*) from net.http_request_queue $$;
create function ticks(p_n integer) returns bigint language plpgsql as $$
begin
  for n in 1 .. p_n loop
    perform helper.time_passes('1 s'), outbox.tick();
  end loop;
  return waiting();
end
$$;
create function commits(p_n integer) returns bigint language plpgsql as $$
begin
  for n in 1 .. p_n loop
    perform set_config('outbox.kicked', '', true), helper.time_passes('1 s'), outbox.publish('a', '{}');
  end loop;
  return waiting();
end
$$;
do $$ begin perform endpoint(); end $$;

select is(commits(50), 3::bigint, 'of 50 commits beside a pg_net that stands still three queue a request');
select is(ticks(300), 3::bigint, 'and 300 ticks no further one');
select is(outbox.tick() -> 'kicked', 'false', 'the tick says that it did not kick');
insert into net.http_request_queue (method, url, headers, body, timeout_milliseconds)
select 'POST', 'https://example.com/' || n, '{}', '', 1000 from generate_series(1, 5) n;
delete from net.http_request_queue where url not like '%example.com%';
select is(ticks(1), 6::bigint, 'when pg_net has sent them the tick kicks again, whatever others have queued');
select is(commits(1), 6::bigint, 'a commit does not while no run has begun');
delete from net.http_request_queue where true;
do $$ begin perform outbox.set_setting('kick.on_commit', 'false'); end $$;
-- A run comes, works, and ends.
do $$ begin perform step(); perform outbox.dispatch('00000000-0000-7000-8000-000000000777', 1, '[]', 0), outbox.dispatch('00000000-0000-7000-8000-000000000777', 2, '[]', 0, p_ended => true); end $$;
do $$ begin perform outbox.set_setting('kick.on_commit', 'true'), time_passes('1 min'); end $$;
select is(commits(1), 1::bigint, 'after a run a commit kicks');

-- One rule for kicks and runs: what is_crowded() would refuse is not kicked for.
delete from outbox.run where true;
delete from net.http_request_queue where true;
do $$ begin perform setval('outbox.kicks_without_run', 0, false), outbox.set_setting('worker.max_runs', '2'), time_passes('1 min'); end $$;
insert into outbox.run (id, kind, started_at, polled_at)
select gen_random_uuid(), 'edge', outbox.clock() - interval '1 min', outbox.clock() from generate_series(1, 2);
select is(ticks(8), 0::bigint, 'two busy runs that have not polled for eight seconds are two runs');
select is(commits(1), 0::bigint, 'for a commit too, a second later');
select is(ticks(1), 1::bigint, 'after ten seconds they are dead');
insert into outbox.run (id, kind, started_at, polled_at)
select gen_random_uuid(), 'worker', outbox.clock() - interval '1 min', outbox.clock() from generate_series(1, 2);
select is(outbox.live_runs(outbox.clock()), 0, 'workers do not count: max_runs is for runs of the function');
select ok(outbox.may_queue_kick('commit', 'x'), 'one kick is less than three');

select * from finish();
rollback;
