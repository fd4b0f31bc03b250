-- Watches that do not publish what they should, so that a person sees them: a column that the watch
-- names was dropped with CASCADE, somebody has disabled a trigger, or has created one without
-- watch_table().

create function outbox.watch_of(p_arguments bytea) returns jsonb
language plpgsql stable set search_path = ''
as $$
declare
  v_watch jsonb;
begin
  v_watch := pg_catalog.convert_from(pg_catalog.rtrim(p_arguments, '\x00'::bytea),
    pg_catalog.getdatabaseencoding())::jsonb;
  return case
    when v_watch ->> 'type' is not null
      and coalesce(pg_catalog.jsonb_typeof(v_watch -> 'named'), 'array') = 'array'
    then v_watch
  end;
exception when data_exception then
  return null;
end
$$;
comment on function outbox.watch_of(bytea) is
  'The argument that watch_table() gave to a trigger; null if it has other arguments.';

create view outbox.broken_watch with (security_invoker = true) as
select t.tgrelid::regclass as "table",
  pg_catalog.format('changes of %s are not published: %s', t.tgrelid::regclass,
    case
      when a.watch is null then 'watch_table() has not created its trigger'
      when w.gone is not null then 'a column of ' || w.gone || ' was dropped'
      else 'its trigger is disabled'
    end) as problem,
  case
    when a.watch is null then
      pg_catalog.format('drop trigger %I on %s', t.tgname, t.tgrelid::regclass)
    when w.gone is not null then
      pg_catalog.format('select outbox.watch_table(%L, …);', t.tgrelid::regclass)
    else pg_catalog.format('alter table %s enable trigger %I;', t.tgrelid::regclass, t.tgname)
  end as command
from pg_catalog.pg_trigger t
cross join lateral (select outbox.watch_of(t.tgargs) as watch offset 0) a
cross join lateral (
  select pg_catalog.string_agg('p_' || l, ', ' order by l) as gone
  from pg_catalog.jsonb_array_elements_text(a.watch -> 'named') l
  where not exists (
    select from pg_catalog.pg_trigger c
    where c.tgrelid = t.tgrelid and c.tgfoid = 'outbox.name_columns()'::regprocedure
      and c.tgargs = pg_catalog.convert_to(a.watch ->> 'call', 'UTF8') || '\x00'::bytea
        || pg_catalog.convert_to(l, 'UTF8') || '\x00'::bytea)
) w
where t.tgparentid = 0
  and t.tgfoid in ('outbox.publish_row()'::regprocedure, 'outbox.publish_rows()'::regprocedure,
    'outbox.publish_moves()'::regprocedure)
  and (a.watch is null or w.gone is not null or t.tgenabled not in ('O', 'A'));
comment on view outbox.broken_watch is
  'Watched tables whose changes are not published, with the reason and the remedy.';

create or replace function outbox.more_problems() returns text[]
language plpgsql stable set search_path = ''
as $$
begin
  return array(select distinct b.problem from outbox.broken_watch b order by b.problem limit 10);
end
$$;
comment on function outbox.more_problems() is
  'Extension point of queue_problems(): the first ten watched tables whose changes are not '
  'published.';
