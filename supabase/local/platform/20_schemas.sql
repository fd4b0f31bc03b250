-- Rights on schemas. Since 2026 the platform does not grant the API roles access to new tables in public by
-- default, so neither does this file. postgres has all rights on objects that supabase_admin creates.
grant usage on schema public to anon, authenticated, service_role;

alter default privileges in schema public grant all on tables to postgres;
alter default privileges in schema public grant all on functions to postgres;
alter default privileges in schema public grant all on sequences to postgres;

create schema extensions;
grant usage, create on schema extensions to postgres with grant option;
grant usage on schema extensions to anon, authenticated, service_role;
