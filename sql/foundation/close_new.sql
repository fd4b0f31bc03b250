-- The source of each function says `set search_path = ''`, and close_new() changes it to pg_temp.
-- With an empty path, Postgres searches the temporary schema of the session first for the names of
-- types. A role could create a domain pg_temp.text there, and its check would run with the rights
-- of the schema's owner. With pg_temp alone, Postgres searches pg_catalog first.
--
-- Public functions are SECURITY DEFINER with a pinned search_path, and service_role may call them.
-- Only the owner writes tables. Postgres lets PUBLIC execute each new function, and no default
-- privilege of one schema changes that. So each folder ends with a file `rights`, which calls
-- close_new() and then grants the rights of the folder.

create function outbox.close_new() returns void
language plpgsql volatile set search_path = ''
as $$
declare
  v_closed constant text := 'public, anon, authenticated, service_role';
  v_new record;
begin
  -- Only new objects are changed: a later module locks no table of an earlier one.
  for v_new in
    select c.oid::regclass as name, c.relkind in ('r', 'p') as is_table,
      case c.relkind when 'S' then 'sequence' else 'table' end as kind
    from pg_catalog.pg_class c
    where c.relnamespace = 'outbox'::regnamespace
      and case
        when c.relkind in ('r', 'p') then not c.relrowsecurity
        when c.relkind in ('v', 'm', 'S') then
          c.relacl is null
          -- A default privilege of the database grants all rights. The files `rights` grant only
          -- SELECT and INSERT, so an object with other rights is new.
          or exists (
            select from pg_catalog.aclexplode(c.relacl) a
            where a.grantee = 'service_role'::regrole
              and (c.relkind = 'S' or a.privilege_type not in ('SELECT', 'INSERT')))
        else false
      end
  loop
    execute pg_catalog.format('revoke all on %s %s from %s', v_new.kind, v_new.name, v_closed);
    if v_new.is_table then
      execute pg_catalog.format('alter table %s enable row level security', v_new.name);
    end if;
  end loop;
  for v_new in
    select p.oid::regprocedure as name
    from pg_catalog.pg_proc p
    where p.pronamespace = 'outbox'::regnamespace
      and (p.proacl is null
        or exists (select from pg_catalog.aclexplode(p.proacl) a where a.grantee = 0))
  loop
    execute pg_catalog.format('revoke all on function %s from %s', v_new.name, v_closed);
  end loop;
  for v_new in
    select p.oid::regprocedure as name
    from pg_catalog.pg_proc p
    where p.pronamespace = 'outbox'::regnamespace and 'search_path=""' = any (p.proconfig)
  loop
    execute pg_catalog.format('alter routine %s set search_path = pg_temp', v_new.name);
  end loop;
  perform outbox.fix_settings();
end
$$;
comment on function outbox.close_new() is
  'Closes each new table, view, sequence and function: row level security is on, and public, anon, '
  'authenticated and service_role have no right, and no function searches the temporary schema '
  'first. It does not touch objects that an earlier call closed. It also calls fix_settings(). '
  'Each folder calls it once, before its grants.';
