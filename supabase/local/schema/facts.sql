-- Facts that a dump does not show, or shows in a form that is hard to read, one per line: kind, object, value.
-- Run as supabase_admin in a database that has the schema outbox.
with
outbox as (select 'outbox'::regnamespace::oid as oid),
-- Without partitions that are created at run time: all except the default ones.
relation as (
  select c.* from pg_class c
  where c.relnamespace = (select oid from outbox)
    and not (c.relispartition and c.relkind in ('r', 'p')
      and pg_get_expr(c.relpartbound, c.oid) <> 'DEFAULT')
    and not exists (
      select from pg_index x join pg_class t on t.oid = x.indrelid
      where x.indexrelid = c.oid and t.relispartition
        and pg_get_expr(t.relpartbound, t.oid) <> 'DEFAULT')
),
privilege as (
  select 'schema outbox' as object, n.nspacl as acl
  from pg_namespace n where n.oid = (select oid from outbox)
  union all
  select 'relation ' || c.relname, c.relacl from relation c where c.relkind <> 'i'
  union all
  select 'column ' || c.relname || '.' || a.attname, a.attacl
  from relation c join pg_attribute a on a.attrelid = c.oid where a.attacl is not null
  union all
  -- Without an acl, PUBLIC may execute a function: this shows the default.
  select 'function ' || p.oid::regprocedure, coalesce(p.proacl, acldefault('f', p.proowner))
  from pg_proc p where p.pronamespace = (select oid from outbox)
  union all
  select 'type ' || t.oid::regtype, coalesce(t.typacl, acldefault('T', t.typowner))
  from pg_type t
  where t.typnamespace = (select oid from outbox)
    and t.typrelid = 0 and t.typelem = 0 and t.typtype <> 'm'
  union all
  select 'default for ' || d.defaclobjtype::text || ' made by ' || d.defaclrole::regrole, d.defaclacl
  from pg_default_acl d where d.defaclnamespace = (select oid from outbox)
),
fact as (
  select 'grant' as kind, object, coalesce(acl::text, 'owner only') as value from privilege
  union all
  select 'storage', c.relname, coalesce(c.reloptions::text, '{}') || ' toast ' ||
    coalesce((select t.reloptions::text from pg_class t where t.oid = c.reltoastrelid), '{}') ||
    ' ' || case c.relpersistence when 'u' then 'unlogged' else 'logged' end
  from relation c where c.relkind in ('r', 'p', 'i', 'I', 'm', 'S')
  union all
  select 'cron', coalesce(j.jobname, 'unnamed: ' || j.command),
    concat_ws(' | ', j.schedule, j.command, j.database, j.username, j.active)
  from cron.job j
  union all
  select 'comment', pg_describe_object(d.classoid, d.objoid, d.objsubid), d.description
  from pg_description d
  where (d.classoid = 'pg_class'::regclass and d.objoid in (select oid from relation))
    or (d.classoid = 'pg_namespace'::regclass and d.objoid = (select oid from outbox))
    or (d.classoid = 'pg_proc'::regclass and d.objoid in
      (select oid from pg_proc where pronamespace = (select oid from outbox)))
    or (d.classoid = 'pg_type'::regclass and d.objoid in
      (select oid from pg_type where typnamespace = (select oid from outbox)))
    or (d.classoid = 'pg_constraint'::regclass and d.objoid in
      (select oid from pg_constraint where connamespace = (select oid from outbox)))
)
select kind || E'\t' || object || E'\t' || replace(value, E'\n', E'\\n') from fact order by 1;

-- The rows that the installation inserts into ordinary tables: settings, rules, templates; without times,
-- which differ between databases, and without counters, which the first tick writes.
select format(
  'select %L || row || E''\tpresent'' from (
     select (to_jsonb(t) - %L::text[])::text as row from outbox.%I t) as line
   order by 1',
  E'row\t' || c.relname || ' ',
  array(
    select a.attname from pg_attribute a
    where a.attrelid = c.oid and a.atttypid = 'timestamptz'::regtype),
  c.relname)
from pg_class c
where c.relnamespace = 'outbox'::regnamespace
  and c.relkind = 'r' and not c.relispartition and c.relpersistence = 'p'
  and c.relname <> 'counter'
order by c.relname
\gexec
