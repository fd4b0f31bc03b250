-- A setting that somebody has deleted is shown.
begin;
\ir ../../_helpers.sql
select plan(4);

select is(outbox.settings_problem(), null, 'each setting that a function reads has a row');
delete from outbox.setting where name in ('worker.poll_interval_ms', 'attempt.retention_days');
select is(outbox.settings_problem(),
  'settings are missing: attempt.retention_days, worker.poll_interval_ms: insert their rows again (runbook: Missing settings)', 'a deleted one is named');
delete from outbox.setting where name = 'response.success_bytes';
select alike(outbox.settings_problem(), '%response.success_bytes%', 'also one that only runs read');
select ok(outbox.settings_problem() = any (problems), 'queue_health shows it') from outbox.queue_health;

select * from finish();
rollback;
