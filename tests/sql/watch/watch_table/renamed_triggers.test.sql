-- A list of columns stays the same list, whatever the name of its trigger is.
begin;
\ir ../../_helpers.sql
select plan(9);

create table public.member (id integer primary key, name text, secret text);
create function pg_temp.records() returns text language plpgsql as $$
declare
  v_records text := (select string_agg(e.body::json ->> 'record', ' ' order by e.body::json #>> '{record,id}') from outbox.event e);
begin
  delete from outbox.event e where true;
  return v_records;
end
$$;

select outbox.watch_table('public.member', p_except => '{secret}', p_changed => '{name}');
alter trigger outhook_except on public.member rename to list_of_mine;
insert into public.member values (1, 'a', 'sesame');
select is(pg_temp.records(), '{"id":1,"name":"a"}', 'an excluded column is not published after a rename of the trigger that stores it');
select is_empty('select problem from outbox.broken_watch', 'and nothing is broken');
update public.member set secret = 'x' where id = 1;
select is(pg_temp.records(), null, 'the other list is not affected');

-- The names of two lists, swapped.
alter trigger list_of_mine on public.member rename to spare;
alter trigger outhook_changed on public.member rename to outhook_except;
alter trigger spare on public.member rename to outhook_changed;
update public.member set secret = 'y' where id = 1;
select is(pg_temp.records(), null, 'two lists whose triggers swap their names stay: p_changed');
update public.member set name = 'b' where id = 1;
select is(pg_temp.records(), '{"id":1,"name":"b"}', 'and p_except');

-- Another call replaces all triggers, also the renamed ones.
select outbox.watch_table('public.member', p_except => '{secret}', p_per_statement => true);
insert into public.member values (2, 'c', 'sesame');
select is(pg_temp.records(), '{"id":2,"name":"c"}', 'another call of watch_table() replaces the lists');
drop trigger outhook_except on public.member;
insert into public.member values (3, 'd', 'sesame');
select is(pg_temp.records(), null, 'without the trigger of a list, nothing is published');
select is((select problem from outbox.broken_watch limit 1), 'changes of member are not published: a column of p_except was dropped', 'and broken_watch shows it')
from (select set_config('search_path', 'helper, extensions, public', true)) s;
select outbox.unwatch_table('public.member');
select is_empty($$select from pg_trigger t where t.tgrelid = 'public.member'::regclass and not t.tgisinternal$$, 'unwatch_table() removes all triggers');

select * from finish();
rollback;
