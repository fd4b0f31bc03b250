-- Modules: inbox
-- The nightly cleanup in pieces: each step until nothing is left, once a night; a step that fails costs no other.
begin;
\ir ../../_helpers.sql
select plan(27);

select time_is('2020-03-01 00:00:00+00');
do $$ begin perform outbox.cleanup_next(); end $$;
-- The pieces of one start of the job.
create function start() returns integer language plpgsql as $$
declare
  v_pieces integer := 0;
begin
  while outbox.cleanup_next() loop
    v_pieces := v_pieces + 1;
    exit when v_pieces >= 50;
  end loop;
  return v_pieces;
end
$$;
create function steps() returns integer language sql as $$ select count(*)::integer from outbox.cleanup_step $$;
delete from outbox.cleanup_progress where true;
insert into outbox.idempotency_key (org_id, key, event_id, content, created_at)
select 'org', n::text, gen_random_uuid(), '', outbox.clock() - interval '25 h' from generate_series(1, 4500) n;
select is(start(), steps() + 2, 'each step has a piece, and one of 4,500 rows has three');
select is((select count(*) from outbox.idempotency_key), 0::bigint, 'all are gone');
select is((select count(*) from outbox.cleanup_progress where done_on = '2020-03-01' and error is null), steps()::bigint, 'each step is done today');
insert into outbox.idempotency_key (org_id, key, event_id, content, created_at) values ('org', 'late', gen_random_uuid(), '', outbox.clock() - interval '25 h');
select is(start(), 0, 'the other starts of the day do nothing');
select time_passes('23:59:59');
select is(start(), 0, 'to its last second');
select time_passes('1 s');
select is(start(), steps(), 'the next day it begins again');
select is((select count(*) from outbox.idempotency_key), 0::bigint, 'and deletes what has come');

-- A step that fails.
create function outbox.broken_step(p_now timestamptz, p_most integer) returns integer language plpgsql as $$ begin raise exception 'broken'; end $$;
insert into outbox.cleanup_step (name, calls) values ('a_broken_one', 'outbox.broken_step');
insert into outbox.idempotency_key (org_id, key, event_id, content, created_at) values ('org', 'again', gen_random_uuid(), '', outbox.clock());
select time_passes('2 d');
select is(start(), steps(), 'a step that fails is tried once in a start');
select is((select count(*) from outbox.idempotency_key), 0::bigint, 'the others do their work');
select is((select error from outbox.cleanup_progress where name = 'a_broken_one'), 'P0001 broken', 'its error is kept');
select is((select done_on from outbox.cleanup_progress where name = 'a_broken_one'), null, 'it is not done');
select is(outbox.cleanup() -> 'errors', '{"a_broken_one": "P0001 broken"}', 'cleanup() by hand returns it');
select is(outbox.cleanup() -> 'a_broken_one', 'null', 'without a number');
select is(start(), 1, 'the next start tries it again');
create or replace function outbox.broken_step(p_now timestamptz, p_most integer) returns integer language sql as $$ select 0 $$;
select is(start(), 1, 'until it works');
select is((select to_char(done_on, 'YYYY-MM-DD') || coalesce(error, '') from outbox.cleanup_progress where name = 'a_broken_one'), '2020-03-04', 'then its error is gone');

-- A step that failed comes after all others, because at the timeout it ends the start of the job.
insert into outbox.cleanup_progress (name, failed_at, error) values ('a_broken_one', '2000-01-01', 'P0001')
on conflict (name) do update set done_on = null, failed_at = excluded.failed_at;
update outbox.cleanup_progress set done_on = null where name = 'lanes';
do $$ begin perform outbox.cleanup_next(); end $$;
select results_eq($$select name, done_on is not null from outbox.cleanup_progress where name in ('a_broken_one', 'lanes') order by name$$,
  $$values ('a_broken_one', false), ('lanes', true)$$, 'a step that failed before is the last of a start');
select is(start(), 1, 'it is still tried');

-- A deferred constraint that refuses a row.
create function refuse_late() returns trigger language plpgsql as $$ begin raise exception 'stays'; end $$;
create constraint trigger refuse_late after delete on outbox.idempotency_key deferrable initially deferred
  for each row when (old.key = 'late') execute function refuse_late();
insert into outbox.idempotency_key (org_id, key, event_id, content, created_at)
select 'org', k, gen_random_uuid(), '', outbox.clock() - interval '2 days' from unnest('{late,other}'::text[]) k;
set constraints all deferred;
do $$ begin perform outbox.cleanup(); end $$;
select results_eq('select key from outbox.idempotency_key', array['late'], 'keeps no other row from being deleted');
drop trigger refuse_late on outbox.idempotency_key;
delete from outbox.idempotency_key where true;

-- A step that is too slow for the timeout: its pieces get smaller.
create or replace function outbox.broken_step(p_now timestamptz, p_most integer) returns integer language plpgsql as $$
begin
  if p_most > 200 then
    raise exception using errcode = '57014', message = 'canceling statement due to statement timeout';
  end if;
  return 0;
end
$$;
select time_passes('1 d');
select is(start(), steps(), 'a step that is cancelled costs no other either');
select is((select piece_rows from outbox.cleanup_progress where name = 'a_broken_one'), 500, 'its next piece is a quarter');
select is(start(), 1, 'of the next start');
select is((select piece_rows from outbox.cleanup_progress where name = 'a_broken_one'), 125, 'and a quarter of that');
select is(start(), 1, 'until one fits');
select is((select to_char(done_on, 'YYYY-MM-DD') || coalesce(piece_rows || '', ' as usual') from outbox.cleanup_progress where name = 'a_broken_one'), '2020-03-05 as usual', 'tomorrow they have their size again');

-- The time.
set local statement_timeout = '2s';
select ok(outbox.job_deadline() between statement_timestamp() + interval '1.499 s' and statement_timestamp() + interval '1.501 s', 'a job ends after three quarters of its timeout');
set local statement_timeout = 0;
select ok(outbox.job_deadline() between statement_timestamp() + interval '59 s' and statement_timestamp() + interval '61 s', 'or after a minute');

select * from finish();
rollback;
