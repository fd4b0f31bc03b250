-- Runs that are refused must not count as alive: the tick starts one a second, so after a crash of the function the
-- refused ones kept each next one out, for ever.
begin;
\ir ../../_helpers.sql
select plan(6);
create function run_id(p_n integer) returns uuid language sql as $$ select ('00000000-0000-7000-8000-0000000002' || lpad(p_n::text, 2, '0'))::uuid $$;
create function stop_of(p_n integer, p_seq bigint default 1) returns text language sql as $$
  select outbox.dispatch(run_id(p_n), p_seq, '[]', 10) ->> 'stop'
$$;
do $$ begin perform outbox.set_setting('worker.max_runs', '2'); end $$;
select is(stop_of(1) is null and stop_of(2) is null, true, 'two runs are alive, and then die without a word');
create temporary table refused (n integer, stop text);
do $$ begin
  for n in 1 .. 9 loop
    perform time_passes('1 s');
    insert into refused values (n, stop_of(10 + n));
  end loop;
end $$;
select is((select count(*) from refused where stop = 'too_many_runs'), 9::bigint, 'for nine seconds every new one is refused');
select is((select count(*) from outbox.run where ended_at is null), 2::bigint, 'and leaves nothing that counts');
select time_passes('1 s');
select is(stop_of(30), null, 'after ten the next one goes on');
-- One that was let in beside another and is the younger of two too many ends with the answer that says so.
insert into outbox.run (id, kind, started_at, polled_at) select run_id(40 + n), 'edge', outbox.clock() - interval '1 ms', outbox.clock() from generate_series(1, 2) n;
select is(stop_of(30, 2), 'too_many_runs', 'the youngest of three ends');
select isnt((select ended_at from outbox.run where id = run_id(30)), null, 'and is not counted any more');
select * from finish();
rollback;
