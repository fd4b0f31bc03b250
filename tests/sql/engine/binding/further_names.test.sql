-- Modules: api
-- A project with several names: its runs deliver under each of them, and those of a copy under none.
begin;
\ir ../../_helpers.sql
select plan(34);

create sequence numbers;
create function called(p_project text, p_kind text default 'worker', p_run integer default 1) returns text language sql as $$
  select coalesce(d::jsonb ->> 'stop', 'delivers') from outbox.dispatch(('00000000-0000-7000-8000-00000000000' || p_run)::uuid, nextval('numbers'), '[]', 1, p_kind,
    p_contract => jsonb_build_object('oldest', 1, 'newest', 1, 'project', p_project)) d
$$;
create function move_to(p_database text) returns text language sql as $$ select set_config('outbox.database_id', p_database, true) $$;
create function problem() returns text language sql as $$ select outbox.binding_problem(outbox.clock()) $$;
-- A run counts only since the start of the server, so the clock is that of the server.
do $$ begin perform time_is(clock_timestamp()), move_to('1/5'); end $$;

-- Functions that name the project by its ref, and a worker that names the custom domain.
select is(called('https://abcdefghijklmnopqrst.supabase.co', 'edge', 1), 'delivers', 'a function names the project by its ref');
select is(called('https://api.example.com', 'worker', 2), 'delivers', 'a worker beside it names the custom domain, and delivers');
select results_eq('select project, also, beside from outbox.binding', $$values ('abcdefghijklmnopqrst', '{}'::text[], '{api.example.com}'::text[])$$, 'which is a further name of the project');
select is((select string_agg(concat_ws(' ', action, project, by, result), ', ' order by id) from outbox.binding_change),
  'bound abcdefghijklmnopqrst run {}, named abcdefghijklmnopqrst run {"name": "api.example.com"}', 'and recorded');
select is(problem(), null, 'nothing is wrong');
select time_passes('1 h');
select is(called('HTTPS://api.example.com/', 'worker', 3), 'delivers', 'later the worker delivers alone');
select is((select count(*) from outbox.binding_change), 2::bigint, 'the name is recorded once');

-- The same database after an upgrade.
select move_to('2/5');
select is(called('https://api.example.com', 'worker', 3), 'another_project', 'in another database a name that nobody has confirmed may be that of a copy');
select is(called('https://abcdefghijklmnopqrst.supabase.co', 'edge', 4), 'delivers', 'the project itself goes on');
select is(called('https://api.example.com', 'worker', 3), 'delivers', 'and so does the worker after that');
select is(problem(), null, 'without a problem');

-- The other way round.
do $$ begin delete from outbox.binding where only_row; delete from outbox.run where true; perform time_passes('1 s'); end $$;
select is(called('shop', 'worker', 5), 'delivers', 'a worker binds by any name');
select is(called('https://abcdefghijklmnopqrst.supabase.co', 'edge', 6), 'delivers', 'and functions beside it name the ref');

-- What is no further name.
create function refused_beside(p_project text, p_kind text default 'worker') returns text language plpgsql as $$
declare
  v_stop text;
begin
  update outbox.binding set also = '{}', beside = '{}', names = '{}' where only_row;
  v_stop := called(p_project, p_kind, 7);
  delete from outbox.binding_refusal where true;
  return v_stop;
end
$$;
update outbox.binding set project = 'abcdefghijklmnopqrst' where only_row;
delete from outbox.run where true;
select is(refused_beside('https://api.example.com'), 'another_project', 'without a run beside it: a physical copy, whose table of runs is empty');
insert into outbox.run values ('00000000-0000-7000-8000-0000000000f0', 'edge', outbox.clock(), outbox.clock(), null);
select is(refused_beside('https://bbcdefghijklmnopqrst.supabase.co'), 'another_project', 'another ref is another project');
select is(refused_beside('http://127.0.0.1:54321'), 'another_project', 'a worker of a local stack is no worker of the project');
select is(refused_beside('https://api.example.com', 'edge'), 'another_project', 'a function beside functions has another project');
select is(refused_beside('https://api.example.com'), 'delivers', 'a worker beside them has not');
update outbox.run set polled_at = outbox.clock() - interval '301 s' where true;
select is(refused_beside('https://api.example.com'), 'another_project', 'nor beside a run that ended five minutes ago');
update outbox.binding set at = '-infinity' where only_row;
select time_is(pg_postmaster_start_time());
update outbox.run set polled_at = outbox.clock() where true;
select is(refused_beside('https://api.example.com'), 'another_project', 'or from before the start of the server: a copy of its files');
select time_is(pg_postmaster_start_time() + interval '1 s');
update outbox.run set polled_at = outbox.clock() where true;
select is(refused_beside('https://api.example.com'), 'delivers', 'but beside one of after its start');
update outbox.binding set at = outbox.clock() + interval '1 s' where only_row;
select is(refused_beside('https://api.example.com'), 'another_project', 'a run of the project to which it belonged before does not count');

-- A person says so.
do $$ begin delete from outbox.run where true; update outbox.binding set at = outbox.clock() where only_row; perform called('https://api.example.com', 'worker', 8); end $$;
select alike(problem(), 'a run of kind worker names the project api.example.com,%', 'a name that is refused is shown');
select is(outbox.decide_copy('same_project'), '{"decision": "same_project", "project": "api.example.com", "was_project": "abcdefghijklmnopqrst"}', 'one call confirms it');
select is(problem(), null, 'the problem is over');
select is(called('https://api.example.com', 'worker', 8), 'delivers', 'its runs deliver');
select is(called('https://abcdefghijklmnopqrst.supabase.co', 'edge', 9), 'delivers', 'and those of the first name too');
select move_to('3/5');
select is(called('https://api.example.com', 'worker', 8), 'delivers', 'also first after an upgrade');
delete from outbox.run where true;
select is(called('https://staging.example.com', 'edge', 9), 'another_project', 'where a copy still stops');
select is(outbox.decide_copy('same_project', 'other'), '{"decision": "same_project", "project": "other", "was_project": "abcdefghijklmnopqrst"}', 'a name can be confirmed before its first run');
select is(refusal($$select outbox.decide_copy('cancel_pending', 'https://api.example.com')$$), 'OH001 project is the project to which this database belongs', 'a name of the project takes nothing over');
select outbox.decide_copy('stay_stopped', 'https://api.example.com');
select is(called('https://api.example.com', 'worker', 8), 'another_project', 'stay_stopped takes the name back');
select is(called('other', 'worker', 8), 'delivers', 'and no other');
select outbox.decide_copy('deliver_pending', 'staging');
select results_eq('select project, also, beside from outbox.binding', $$values ('staging', '{}'::text[], '{}'::text[])$$, 'who takes over gets no name of the project before');

select * from finish();
rollback;
