-- Search paths and time limits per role. The API's limits are those of authenticator, unless the
-- role that a request takes has its own; everybody else has the server's two minutes.
alter role postgres set search_path = "$user", public, extensions;
alter role supabase_admin set search_path = "$user", public, auth, extensions;
alter role supabase_admin set statement_timeout = 0;

alter role authenticator set statement_timeout = '8s';
alter role authenticator set lock_timeout = '8s';
-- The gateway writes headers and arguments into its statements, keys and secrets among them, where
-- PostgREST has parameters: a statement that fails is not logged, its error is.
alter role authenticator set log_min_error_statement = 'panic';
alter role anon set statement_timeout = '3s';
alter role authenticated set statement_timeout = '8s';

-- Which schemas the API exposes: the CLI's advisors read it here.
alter role authenticator set pgrst.db_schemas = 'public,outbox';
