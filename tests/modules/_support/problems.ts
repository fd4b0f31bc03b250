/** What plpgsql_check says of each function of the schema: errors, and the warnings of `db lint`. */
export const problems = `
  select p.proname || ': ' || c.message || coalesce(' (' || c.detail || ')', '') || ' at line ' || coalesce(c.lineno, 0) as problem
  from pg_catalog.pg_proc p
  join pg_catalog.pg_language l on l.oid = p.prolang and l.lanname = 'plpgsql'
  left join lateral (
    select t.tgrelid, t.tgoldtable, t.tgnewtable from pg_catalog.pg_trigger t
    where t.tgfoid = p.oid limit 1
  ) t on true
  cross join lateral extensions.plpgsql_check_function_tb(p.oid,
    case when p.prorettype = 'trigger'::regtype then t.tgrelid else 0 end, fatal_errors := false,
    oldtable := t.tgoldtable, newtable := t.tgnewtable) c
  where p.pronamespace = 'outbox'::regnamespace
    and (p.prorettype <> 'trigger'::regtype
      or exists (select from pg_catalog.pg_trigger t where t.tgfoid = p.oid))
  order by 1`
