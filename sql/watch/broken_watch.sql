-- Watches that do not publish what they should, so that a person sees them: a column that the watch
-- names was dropped with CASCADE, or somebody has disabled a trigger.

create view outbox.broken_watch with (security_invoker = true) as
select t.tgrelid::regclass as "table",
  pg_catalog.format('changes of %s are not published: %s', t.tgrelid::regclass,
    case
      when w.gone is not null then 'a column of ' || w.gone || ' was dropped'
      else 'its trigger is disabled'
    end) as problem,
  case
    when w.gone is not null then
      pg_catalog.format('select outbox.watch_table(%L, …)', t.tgrelid::regclass)
    else pg_catalog.format('alter table %s enable trigger %I', t.tgrelid::regclass, t.tgname)
  end as command
from pg_catalog.pg_trigger t
cross join lateral (
  select pg_catalog.convert_from(pg_catalog.rtrim(t.tgargs, '\x00'::bytea),
    pg_catalog.getdatabaseencoding())::jsonb as watch offset 0
) a
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
  and (w.gone is not null or t.tgenabled not in ('O', 'A'));
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
