-- Extensions that the platform has enabled, or lets postgres enable. Here postgres cannot create untrusted
-- ones, so they are created in advance, and `create extension if not exists` finds them.
create extension pgcrypto with schema extensions;
create extension "uuid-ossp" with schema extensions;
create extension pg_stat_statements with schema extensions;

-- pgtap and plpgsql_check are for tests and `supabase db lint`; they may be missing.
do $$
declare
  v_name text;
begin
  for v_name in
    select name from pg_catalog.pg_available_extensions where name in ('pgtap', 'plpgsql_check')
  loop
    execute pg_catalog.format('create extension %I with schema extensions', v_name);
  end loop;
end
$$;
