-- The roles of a Supabase project. supabase_admin is the superuser that runs this file. postgres, which
-- migrations and users use, is not a superuser and has the same rights as on the platform.
create role postgres
  login createdb createrole replication bypassrls password 'postgres';

create role anon nologin noinherit;
create role authenticated nologin noinherit;
create role service_role nologin noinherit bypassrls;

-- The API connects as authenticator, which can only switch to one of the three roles.
create role authenticator login noinherit password 'postgres';

grant anon, authenticated, service_role to authenticator;

grant anon, authenticated, authenticator, service_role, pg_monitor, pg_read_all_data,
  pg_signal_backend
  to postgres with admin option;

alter database postgres owner to postgres;
