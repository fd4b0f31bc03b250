-- The extensions that Outhook uses, in a migration of their own: pg_cron must be there before the one that
-- schedules jobs is run. pg_net and Vault are created where the platform offers them; the local stack brings
-- its own schemas net and vault.
create extension if not exists pg_cron;

do $$
begin
  if exists (select from pg_catalog.pg_available_extensions e where e.name = 'pg_net') then
    create extension if not exists pg_net with schema extensions;
  end if;
  if exists (select from pg_catalog.pg_available_extensions e where e.name = 'supabase_vault') then
    create extension if not exists supabase_vault with schema vault;
  end if;
end
$$;
