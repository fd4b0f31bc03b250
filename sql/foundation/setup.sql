-- Outhook, the transactional outbox: read this file first.
--
-- An event records that something happened. An endpoint is a receiver with its address, and a
-- delivery is one event for one endpoint. A run claims deliveries and sends them; it is one call of
-- the function `deliver`, or one worker. docs/glossary.md defines all other words.
--
-- The lifecycle of an event, each step with its file:
--
--   publish()     events/publish         writes the event in the application's own transaction
--   kick()        engine/run/kick        wakes a run at commit if no run is awake
--   tick()        time/tick              wakes a run each second; pg_cron calls it
--   dispatch()    engine/run/dispatch    the one call that a run makes: the next three steps
--     complete()  engine/result          records the results of what the run had claimed
--     route()     engine/route           creates a delivery for each subscribed endpoint
--     claim()     engine/claim           leases due deliveries to the run
--   attempt       engine/queue/attempt   one row for each attempt; a dead letter after the last
--
-- order.txt lists all files in the order in which they are applied. The README of each folder says
-- what the folder holds.
--
-- Locks. A transaction that changes gates, lanes, deliveries or dead letters holds the row lock of
-- their gate. It waits only for gates, in id order. All other locks use SKIP LOCKED. No run waits
-- for the row of an endpoint, which operators change.
--
-- Plans. Functions that run once per event or call are plpgsql, because their plans are cached. A
-- query in an SQL function is planned at each call, which takes about 60 us, unless it is a bare
-- expression.
--
-- If ANALYZE runs while the queue is empty, the planner expects one row per table until the next
-- ANALYZE and may start a join at the wrong table: a claim of 400 deliveries then takes 2 s, not 10
-- ms. So these functions fix the plan. They look up rows one by one, in lateral subqueries that
-- "offset 0" keeps the planner from merging, and write rows by their ctid, which does not change
-- while the transaction holds the gate. Their settings forbid to read whole tables
-- (enable_seqscan), to read every dead version of a row (enable_bitmapscan, see engine/queue/gate),
-- to start a join at its other end (enable_hashjoin, enable_mergejoin), to plan each call anew
-- (plan_cache_mode) and to compile (jit).
--
-- Own SQLSTATEs, class OH (callers switch on the code, never on the text):
--   OH001 an argument is not valid                  OH004 the object's status forbids it
--   OH002 no such object                            OH005 a setting is refused
--   OH003 the idempotency key has other content    OH006 the breaker is open
--   OH007 a step of a saga failed
--   OH008 the object was changed by somebody else

create schema outbox;
comment on schema outbox is
  'Outhook: a transactional outbox that delivers events as webhooks, messages and broker records.';

revoke all on schema outbox from public;

create function outbox.clock() returns timestamptz
language plpgsql volatile set search_path = ''
as $$
begin
  return pg_catalog.clock_timestamp();
end
$$;
comment on function outbox.clock() is
  'The current time, of the call. Tests replace this function.';

create function outbox.version() returns jsonb
language sql immutable set search_path = ''
as $$
  select pg_catalog.jsonb_build_object('name', 'outhook', 'version', '0.1.0')
$$;
comment on function outbox.version() is
  'The installed version: {"name": "outhook", "version": text}.';
