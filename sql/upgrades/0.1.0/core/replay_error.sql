-- Replays of a group of dead letters: those with one error.
alter table outbox.replay_job add column error text;
