-- pg_net where the server has it. settings.ts loads it, with its worker.
create extension pg_net with schema extensions;
