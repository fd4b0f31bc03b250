-- A trigger that somebody creates without watch_table() is shown as broken, and hides no other problem.
begin;
\ir ../../_helpers.sql
select plan(6);

create table public.member (id integer primary key, name text);
create table public.watched (id integer primary key, name text);
select outbox.watch_table('public.watched');
create trigger bare after insert on public.member for each row execute function outbox.publish_row();
create trigger text after insert on public.member for each row execute function outbox.publish_row('no json', 'at all');
create trigger scalar after insert on public.member for each row execute function outbox.publish_row('"type"');
create trigger named after insert on public.member for each row execute function outbox.publish_row('{"type": "t", "named": 7}');
select set_eq('select problem, command from outbox.broken_watch', $$values
  ('changes of public.member are not published: watch_table() has not created its trigger', 'drop trigger bare on public.member'),
  ('changes of public.member are not published: watch_table() has not created its trigger', 'drop trigger text on public.member'),
  ('changes of public.member are not published: watch_table() has not created its trigger', 'drop trigger scalar on public.member'),
  ('changes of public.member are not published: watch_table() has not created its trigger', 'drop trigger named on public.member')$$,
  'each trigger with other arguments is shown, with the remedy');
select ok('changes of public.member are not published: watch_table() has not created its trigger' = any (problems), 'queue_health shows it') from outbox.queue_health;
select outbox.set_setting('worker.enabled', 'false');
select ok('delivery is switched off' = any (problems), 'and the other problems') from outbox.queue_health;
do $$ declare v_command text; begin for v_command in select command from outbox.broken_watch loop execute v_command; end loop; end $$;
select is_empty('select * from outbox.broken_watch', 'the command is the remedy');

-- A part of the health that fails hides no other part.
create or replace function outbox.more_problems() returns text[] language plpgsql stable set search_path = '' as $$
begin
  raise exception 'no health';
end
$$;
select ok('delivery is switched off' = any (problems), 'queue_health shows the other problems although those of a module fail') from outbox.queue_health;
select ok('the problems of a module cannot be read: SQLSTATE P0001' = any (problems), 'and this error') from outbox.queue_health;

select * from finish();
rollback;
