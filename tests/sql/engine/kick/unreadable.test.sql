-- Kicks whose secrets cannot be read: the health of the queue says so.
begin;
\ir ../../_helpers.sql
select plan(6);

create function problem() returns text language sql as $$ select outbox.kick_problem(outbox.clock()) $$;
select is(problem(), null, 'without configure() there is no problem: a worker needs no kick');
select outbox.configure('https://project.supabase.co/functions/v1', repeat('s', 40));
select is(problem(), null, 'nor after it');
delete from vault.secrets where name = 'outhook_worker_secret';
select is(outbox.kick('tick'), false, 'without the secret no kick is sent');
select is(problem(), 'no kick is sent, because a secret cannot be read from Vault: outhook_worker_secret (OH004 outhook_worker_secret is missing in Vault): '
  'outbox.configure() sets it again (runbook: Kicks wait)', 'and the problem names the secret and the remedy');
select ok(problem() = any (h.problems), 'the health of the queue has it') from outbox.queue_health h;
select outbox.configure('https://project.supabase.co/functions/v1', repeat('s', 40));
select is(problem(), null, 'configure() is the remedy');

select * from finish();
rollback;
