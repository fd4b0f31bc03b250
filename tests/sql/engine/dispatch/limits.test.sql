-- Modules: api, messages
-- The time limit of a call, and the state of a run that was told to stop.
begin;
\ir ../../_helpers.sql
select plan(4);

-- PostgREST reads these settings of a function, and sets them before it calls it.
select is((select c from pg_proc p, unnest(p.proconfig) c where p.oid = 'outbox.dispatch'::regproc and c like 'statement_timeout=%'), 'statement_timeout=5s',
  'dispatch() is ended after 5 s');
select is((select c from pg_proc p, unnest(p.proconfig) c where p.oid = 'outbox.receive_callbacks'::regproc and c like 'statement_timeout=%'), 'statement_timeout=8s',
  'receive_callbacks() after 8 s');

do $$ begin perform step(0), outbox.set_setting('worker.enabled', 'false'), time_passes('1 s'); end $$;
select is(step(0) ->> 'stop', 'disabled', 'a run that is told to stop');
select is((select r.ended_at from outbox.run r), outbox.clock(), 'has ended, and keeps no other from being started');

select * from finish();
rollback;
