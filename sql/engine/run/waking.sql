-- Waking workers. A worker polls, so an event would wait for the next poll: at most 25 ms, or 250
-- ms after 5 s without work. So the commit that published notifies the workers, but only if all of
-- them sleep: each NOTIFY waits for those before it until their commits are on disk, and under load
-- there are many commits and no sleeping worker.
--
-- Two sequences, because all sessions see a new value at once, without a lock. Unlogged, because a
-- value is worthless after a crash: the first call sets it again.
--
--   last_work        When a call of dispatch() last found work, in milliseconds since 1970.
--   workers_asleep   0: a worker is awake. 1: all sleep. Higher: all sleep, and a publisher
--                    notified at this time.
--
-- A call first says that it sleeps (fall_asleep()) and then looks for work, so that a publisher
-- that commits after the look has read that. If it finds work, it takes it back (stay_awake()). One
-- worker of many often finds nothing, because another is faster: so nobody sleeps within 10 ms
-- after any of them has found work. A publisher leaves workers_asleep above 0, because its
-- transaction may be long or roll back, and others must be able to wake the workers meanwhile. An
-- example:
--
--   0.000 s   A call finds nothing: workers_asleep is 1. The worker sleeps until its next poll.
--   0.030 s   A publisher reads 1, and notifies at its commit. For 5 ms no other one notifies.
--   0.031 s   It commits. The worker hears it, calls dispatch(), and gets the event: 0.
--   0.050 s   1,000 events a second are published. Each call finds work, so it stays 0.
--
-- An event waits for the next poll if its publisher read 0 before a call and commits after its
-- look, or if it read within 5 ms after a publisher that commits late or never. Nothing is lost.
--
-- Only a worker that listens falls asleep (functions/_shared/database/waking.ts). Behind a pooler
-- in transaction mode it cannot listen, and polls.

create unlogged sequence outbox.workers_asleep minvalue 0 start 0;
create unlogged sequence outbox.last_work minvalue 0 start 0;

create function outbox.epoch_ms() returns bigint
language plpgsql volatile set search_path = ''
as $$
begin
  return (extract(epoch from outbox.clock()) * 1000)::bigint;
end
$$;
comment on function outbox.epoch_ms() is 'The time of clock() in milliseconds since 1970.';

create function outbox.may_notify(p_queue_usage double precision) returns boolean
language plpgsql stable set search_path = ''
as $$
begin
  return outbox.setting_on('worker.notify')
    and pg_catalog.current_setting('max_prepared_transactions') = '0'
    and p_queue_usage <= 0.5;
end
$$;
comment on function outbox.may_notify(double precision) is
  'Whether a commit may notify: worker.notify is on, and the commit cannot fail because of it. '
  'PREPARE TRANSACTION refuses a transaction that notified, and a commit fails if the queue of '
  'notifications is full, because another session listens but does not read.';

create function outbox.notify_workers() returns boolean
language plpgsql set search_path = ''
as $$
declare
  v_asleep bigint := pg_catalog.pg_sequence_last_value('outbox.workers_asleep');
  v_now bigint;
begin
  if coalesce(v_asleep, 0) = 0
    or not outbox.may_notify(pg_catalog.pg_notification_queue_usage())
  then
    return false;
  end if;
  v_now := outbox.epoch_ms();
  -- The worker needs about 1 ms. It may also be dead, and then each commit would notify. A time in
  -- the future is from before the clock was set back.
  if v_now - v_asleep between 0 and 5 then
    return false;
  end if;
  perform pg_catalog.setval('outbox.workers_asleep', v_now);
  perform pg_catalog.pg_notify('outbox_work', '');
  return true;
end
$$;
comment on function outbox.notify_workers() is
  'Notifies the workers at the commit of this transaction if all of them sleep (fall_asleep()), no '
  'other one has notified within 5 ms, and it may (may_notify()); true if it did.';

create function outbox.fall_asleep(p_contract jsonb) returns void
language plpgsql set search_path = ''
as $$
begin
  if p_contract -> 'listens' = 'true'
    and pg_catalog.pg_sequence_last_value('outbox.workers_asleep') is distinct from 1
    and outbox.epoch_ms() - coalesce(pg_catalog.pg_sequence_last_value('outbox.last_work'), 0)
      not between 0 and 10
  then
    perform pg_catalog.setval('outbox.workers_asleep', 1);
  end if;
end
$$;
comment on function outbox.fall_asleep(jsonb) is
  'Makes the next commit notify the workers, if the run with this p_contract listens and no run '
  'has found work within 10 ms. A call does this before it looks for work.';

create function outbox.stay_awake() returns void
language plpgsql set search_path = ''
as $$
begin
  perform pg_catalog.setval('outbox.last_work', outbox.epoch_ms());
  if pg_catalog.pg_sequence_last_value('outbox.workers_asleep') > 0 then
    perform pg_catalog.setval('outbox.workers_asleep', 0);
  end if;
end
$$;
comment on function outbox.stay_awake() is
  'Makes no commit notify the workers until all of them sleep again. For a call that found work.';
