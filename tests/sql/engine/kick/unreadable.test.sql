-- Kicks that cannot be sent, because a secret cannot be read or pg_net raises an error: the health of the queue says so.
begin;
\ir ../../_helpers.sql
select plan(10);

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

-- Such as an extension that was moved to another schema.
create function broken() returns trigger language plpgsql as $$
begin
  raise exception using errcode = '42883', message = 'broken as asked';
end
$$;
create trigger broken before insert on net.http_request_queue for each row execute function broken();
select is(outbox.kick('commit'), false, 'a commit whose kick fails');
select is_empty('select * from outbox.upkeep_refusal', 'records nothing');
select is(outbox.kick('tick'), false, 'a tick whose kick fails');
select results_eq('select task, member, sqlstate, error from outbox.upkeep_refusal', $$values ('outbox.kick', 'the kick', '42883', 'broken as asked')$$, 'records the error, which the health of the queue shows');

select * from finish();
rollback;
