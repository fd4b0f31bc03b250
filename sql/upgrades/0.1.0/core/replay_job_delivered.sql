-- Backfills that also send again what was delivered.
alter table outbox.replay_job add column include_delivered boolean not null default false;
