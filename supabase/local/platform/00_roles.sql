-- The roles that every Supabase project has, as far as a product on top of it can tell them apart.
-- supabase_admin is the superuser that this file runs as. postgres, which migrations and people
-- use, is not one: what it may do on the platform is what it may do here.
create role postgres
  login createdb createrole replication bypassrls password 'postgres';

create role anon nologin noinherit;
create role authenticated nologin noinherit;
create role service_role nologin noinherit bypassrls;

-- The API connects as authenticator, which can do nothing but become one of the three.
create role authenticator login noinherit password 'postgres';

grant anon, authenticated, service_role to authenticator;

grant anon, authenticated, authenticator, service_role, pg_monitor, pg_read_all_data,
  pg_signal_backend
  to postgres with admin option;

alter database postgres owner to postgres;
