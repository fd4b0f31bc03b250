-- The waits of the tick for rows that somebody holds.
comment on table outbox.refusal is
  'Deliveries of which the database refused a step: result (the result of an attempt could not '
  'be stored), routing (the delivery could not be created), expiry (it could not expire, or '
  'be removed with its endpoint) or claim (it could not be leased); failures: the number of '
  'refusals; again_at: the time of the next attempt; infinity: set aside until retry_now().';
comment on table outbox.replay_job is
  'Replays of many dead letters, and backfills: what they select, the position (at_failed, '
  'at_id), and how many deliveries they created (replayed) or skipped. except_type: a type of '
  'events that the job leaves out. error: only dead letters whose error has these first 200 '
  'characters. source: dead letters, kept events, or rows of a table. waits_for: why the last step '
  'could send nothing (null: it could). Only of a backfill: types, '
  'the patterns of the event types (null: all); by_subscription, whether the subscriptions of '
  'the endpoint apply; include_delivered, whether it also sends again what was delivered; filter; '
  'failed_from, failed_to, the time span of the events; after_xid: it begins, at begun_at, when '
  'every older transaction has ended; until_at, the end of the span '
  'that the caller named; worked_at, the last step; by_api, started over the HTTP API; looked, '
  'how many events or rows it has '
  'read, of about total (null: unknown). A job is deleted replay_job.retention_days after its '
  'end.';
