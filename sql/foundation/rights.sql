-- Public functions are SECURITY DEFINER with a pinned search_path and open to service_role by name.
-- Only their owner writes tables. Postgres opens each new function to PUBLIC, and no default
-- privilege of one schema changes that. So each module ends with a file `rights`, which calls
-- close_new() and then grants what the module's objects need.

create function outbox.close_new() returns void
language plpgsql volatile set search_path = ''
as $$
declare
  v_closed constant text := 'public, anon, authenticated';
  v_object record;
begin
  for v_object in
    select c.oid::regclass as name, c.relrowsecurity as secured,
      case c.relkind when 'S' then 'sequence' else 'table' end as kind,
      c.relkind in ('r', 'p') as is_table,
      -- A decision gives service_role at most SELECT and INSERT. A default privilege gives it all.
      exists (
        select from pg_catalog.aclexplode(c.relacl) a
        where a.grantee = 'service_role'::regrole
          and (c.relkind = 'S' or a.privilege_type not in ('SELECT', 'INSERT'))) as is_given
    from pg_catalog.pg_class c
    where c.relnamespace = 'outbox'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
  loop
    execute pg_catalog.format('revoke all on %s %s from %s', v_object.kind, v_object.name,
      case when v_object.is_given or v_object.is_table and not v_object.secured
        then v_closed || ', service_role' else v_closed end);
    if v_object.is_table and not v_object.secured then
      execute pg_catalog.format('alter table %s enable row level security', v_object.name);
    end if;
  end loop;
  -- PUBLIC may execute a function only as long as nobody has decided about it.
  for v_object in
    select p.oid::regprocedure as name
    from pg_catalog.pg_proc p
    where p.pronamespace = 'outbox'::regnamespace
      and exists (
        select from pg_catalog.aclexplode(
          coalesce(p.proacl, pg_catalog.acldefault('f', p.proowner))) a
        where a.grantee in (0, 'anon'::regrole, 'authenticated'::regrole))
  loop
    execute pg_catalog.format(
      'revoke all on function %s from %s, service_role', v_object.name, v_closed);
  end loop;
end
$$;
comment on function outbox.close_new() is
  'Closes each table, view, sequence and function about whose rights nothing is decided yet: row '
  'level security on, and no right for public, anon, authenticated and service_role. It takes no '
  'granted right away. Each module calls it before its grants.';
