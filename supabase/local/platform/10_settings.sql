-- Search paths and timeouts per role. API calls have the limits of authenticator, unless the role of the
-- request has its own; other connections have the server's two minutes.
alter role postgres set search_path = "$user", public, extensions;
alter role supabase_admin set search_path = "$user", public, auth, extensions;
alter role supabase_admin set statement_timeout = 0;

alter role authenticator set statement_timeout = '8s';
alter role authenticator set lock_timeout = '8s';
-- The gateway writes headers and arguments, which may contain secrets, into its statements, where PostgREST
-- has parameters. So failed statements are not logged, only their errors.
alter role authenticator set log_min_error_statement = 'panic';
alter role anon set statement_timeout = '3s';
alter role authenticated set statement_timeout = '8s';

-- The schemas that the API exposes; the CLI's advisors read them here.
alter role authenticator set pgrst.db_schemas = 'public,outbox';
