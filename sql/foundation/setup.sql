-- Outhook, the transactional outbox: read this file first.
--
-- An event records that something happened. An endpoint is a receiver with its address, and a
-- delivery is one event for one endpoint. A run claims deliveries and sends them; it is one call of
-- the function `deliver`, or one worker. docs/glossary.md defines all other words.
--
-- The lifecycle of an event, each step with its file:
--
--   publish()     events/publish         writes the event in the application's own transaction
--   kick()        engine/run/kick        starts a run at commit if no run is active
--   tick()        time/tick              each second: kicks if deliveries are due, periodic work
--   dispatch()    engine/run/dispatch    the call that a run repeats: the next three steps
--     complete()  engine/result          records the results of the run's attempts
--     route()     engine/route           creates a delivery for each subscribed endpoint
--     claim()     engine/claim           leases due deliveries to the run
--   attempt       engine/queue/attempt   one row for each attempt; a dead letter after the last
--
-- order.txt lists all files in the order in which they are applied. The README of each folder
-- describes the folder.
--
-- Locks. A transaction that changes gates, lanes, deliveries or dead letters holds the row lock of
-- their gate. It waits only for gates, in id order, and after them for rows of the module messages:
-- messages by id, then people, all of a call at once, from the highest id to the lowest (see
-- messages/person/person).
-- All other locks use SKIP LOCKED. No run waits for the row of an endpoint, which operators change.
--
-- Plans. Functions that run once per event or call are plpgsql, because their plans are cached. A
-- query in an SQL function is planned at each call, which takes about 60 us, unless the function is
-- a single expression.
--
-- If ANALYZE runs while the queue is empty, the planner expects one row per table until the next
-- ANALYZE, and may join the tables in the wrong order. A claim of 400 deliveries then takes 2 s
-- instead of 10 ms. So these functions fix the plan. They look up rows one by one, in lateral
-- subqueries; "offset 0" in such a subquery prevents the planner from merging it into the query.
-- They write rows by ctid, which does not change while the transaction locks the gate. Their
-- settings switch off what would change the plan: scans of whole tables (enable_seqscan), bitmap
-- scans, which read every dead version of a row (enable_bitmapscan, see engine/queue/gate), other
-- join methods (enable_hashjoin, enable_mergejoin), a new plan for each call (plan_cache_mode), and
-- compilation (jit).
--
-- Outhook's own SQLSTATEs, class OH (callers switch on the code, never on the text; OH000 undoes
-- the work of a block and never leaves its function):
--   OH001 an argument is invalid                    OH004 the object's status forbids it
--   OH002 the object was not found                  OH005 the value of a setting is invalid
--   OH003 the idempotency key has other content    OH006 the breaker is open
--   OH007 a step of a saga failed
--   OH008 the object was changed since the caller read it
--   OH009 the caller may not do this
--   OH010 a limit of the organisation is reached   OH011 its limit for the day is reached
--   OH012 the organisation moves, or has moved, to another project

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
  'The current time, not the start of the transaction. Tests replace this function.';

create function outbox.version() returns jsonb
language sql immutable set search_path = ''
as $$
  select pg_catalog.jsonb_build_object('name', 'outhook', 'version', '0.1.0')
$$;
comment on function outbox.version() is
  'The installed version: {"name": "outhook", "version": text}.';
