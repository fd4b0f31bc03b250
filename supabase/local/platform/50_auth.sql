-- The four functions of Auth for row level security. They read the settings that the API sets in the
-- transaction. Users and sessions are not emulated.
create schema auth;
grant usage on schema auth to postgres, anon, authenticated, service_role;

create function auth.jwt() returns jsonb
  language sql stable set search_path = ''
as $$
  select nullif(pg_catalog.current_setting('request.jwt.claims', true), '')::pg_catalog.jsonb
$$;
comment on function auth.jwt() is 'Claims of the caller''s token, or null outside a request.';

create function auth.uid() returns uuid
  language sql stable set search_path = ''
as $$
  select (auth.jwt() ->> 'sub')::pg_catalog.uuid
$$;
comment on function auth.uid() is 'Id of the calling user (the token''s sub), or null.';

create function auth.role() returns text
  language sql stable set search_path = ''
as $$
  select auth.jwt() ->> 'role'
$$;
comment on function auth.role() is 'Role of the caller''s token, or null.';

create function auth.email() returns text
  language sql stable set search_path = ''
as $$
  select auth.jwt() ->> 'email'
$$;
comment on function auth.email() is 'E-mail address of the caller''s token, or null.';
