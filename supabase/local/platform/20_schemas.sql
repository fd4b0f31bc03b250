-- Schema rights. New tables in public are no longer exposed to the API roles by default (the
-- platform gave that up in 2026), so there are no default grants to them here either; what
-- supabase_admin creates is still at postgres's disposal.
grant usage on schema public to anon, authenticated, service_role;

alter default privileges in schema public grant all on tables to postgres;
alter default privileges in schema public grant all on functions to postgres;
alter default privileges in schema public grant all on sequences to postgres;

create schema extensions;
grant usage, create on schema extensions to postgres with grant option;
grant usage on schema extensions to anon, authenticated, service_role;
