-- Which runs go on: none when the worker is off, and no more edge runs than the setting says.
begin;
\ir ../../_helpers.sql
select plan(25);

create function run_id(p_n integer) returns uuid language sql as $$ select ('00000000-0000-7000-8000-0000000001' || lpad(p_n::text, 2, '0'))::uuid $$;
create sequence numbers;
create function stop_of(p_n integer, p_kind text default 'edge', p_ended boolean default false) returns text language sql as $$
  select outbox.dispatch(run_id(p_n), nextval('numbers'), '[]', 10, p_kind, p_ended) ->> 'stop'
$$;
do $$ begin perform outbox.set_setting('worker.max_runs', '2'); end $$;

select is(stop_of(1), null, 'a first run goes on');
select time_passes('1 ms');
select is(stop_of(2), null, 'a second one too');
select time_passes('1 ms');
select is(stop_of(3), 'too_many_runs', 'a third one ends at once');
select is(stop_of(1), null, 'the first goes on');
select is(stop_of(2), null, 'and the second');
select is(stop_of(3), 'too_many_runs', 'the third would still be too many');
select is(stop_of(4, 'worker'), null, 'a worker is not counted');
select is(stop_of(5, 'worker'), null, 'however many there are');
select is(stop_of(1, p_ended => true), null, 'a run says that it ends');
select isnt((select ended_at from outbox.run where id = run_id(1)), null, 'which is noted');
select time_passes('1 ms');
select is(stop_of(6), null, 'the next one that comes has the free place');
select time_passes('1 ms');
select is(stop_of(3), 'too_many_runs', 'which is taken then');
select is(stop_of(6, p_ended => true), null, 'until it ends');

-- A run that is silent for 10 s is taken for dead.
select time_passes('10 s');
select is(stop_of(7), null, 'a run that has not polled for 10 s is not counted');
select is((select polled_at from outbox.run where id = run_id(7)), outbox.clock(), 'a run notes when it polled');
select time_passes('101 ms');
select is(stop_of(7), null, 'and again');
select is((select polled_at from outbox.run where id = run_id(7)), outbox.clock(), 'after more than 100 ms');
select is((select kind from outbox.run where id = run_id(4)), 'worker', 'and what kind it is');
select time_passes('2 h');
do $$ begin perform stop_of(8); end $$;
select is((select array_agg(id) from outbox.run), array[run_id(8)], 'runs of an hour ago are forgotten');

-- Off: nothing is routed and nothing claimed, and results are taken all the same.
select endpoint();
select events(2);
create temporary table answer as select outbox.dispatch(run_id(8), 101, '[]', 1)::jsonb as a;
do $$ begin perform outbox.set_setting('worker.enabled', 'false'), events(1); end $$;
update answer set a = outbox.dispatch(run_id(8), 102, results(a, 'delivered'), 10)::jsonb where true;
select is((select a ->> 'stop' from answer), 'disabled', 'off means stop');
select is((select (a -> 'applied')::text || (a -> 'routed')::text || claimed(a) from answer), '100', 'results are applied, nothing is routed or claimed');
select is((select count(*)::integer from outbox.unrouted), 1, 'new events wait');
select is(stop_of(9, 'worker'), 'disabled', 'workers stop too');
do $$ begin perform outbox.set_setting('worker.enabled', 'true'); end $$;
select is(claimed(outbox.dispatch(run_id(8), 103, '[]', 10)::jsonb), 2, 'on again, all of it goes on');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
