-- Outhook, the transactional outbox: read this file first.
--
-- An event is what happened. An endpoint is where somebody wants to hear of it, and a delivery is
-- one event on its way to one endpoint. A run takes deliveries and sends them: it is one call of
-- the function `deliver`, or one worker. docs/glossary.md has all other words.
--
-- The life of an event, each step with its file:
--
--   publish()     events/publish         writes the event in the application's own transaction
--   kick()        engine/run/kick        wakes a run at commit if no run is awake
--   tick()        time/tick              wakes a run each second; pg_cron calls it
--   dispatch()    engine/run/dispatch    the one call that a run makes: the next three steps
--     complete()  engine/result          records the results of what the run had claimed
--     route()     engine/route           creates a delivery for each subscribed endpoint
--     claim()     engine/claim           leases due deliveries to the run
--   attempt       engine/queue/attempt   one row for each attempt; a dead letter when none is left
--
-- order.txt lists all files in the order in which they are applied. The README of each folder says
-- what the folder holds.
--
-- Locks. Gates, lanes, deliveries and dead letters are changed only by a transaction that holds the
-- gate's row. A transaction waits for locks once: on gates, in the order of their ids. Whatever
-- else it locks, it takes only where nobody holds it. An endpoint's row is for people to change: no
-- run waits for it.
--
-- Plans. Functions that run once per event or call are plpgsql, whose plans are cached. A query
-- inside an SQL function is planned anew at every call, about 60 us, unless it is a bare
-- expression.
--
-- A queue is drained again and again, and an analyze at that moment says "many pages, no row".
-- Until the next one the planner takes each table for a single row, however many there are, and
-- begins a join anywhere (2 s for a claim of 400 that takes 10 ms). So the calls of a run leave it
-- no choice. Rows are looked up one by one, in lateral subqueries that "offset 0" keeps it from
-- merging, and written by their ctid, which is stable while their gate is held. The settings of the
-- function forbid what would read a table (enable_seqscan) or every dead version of a row
-- (enable_bitmapscan, see engine/queue/gate), begin at its other end (the two joins), plan anew
-- (plan_cache_mode) or compile (jit).
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
  'The time that the outbox goes by: that of the call. Tests put another function in its place.';

create function outbox.version() returns jsonb
language sql immutable set search_path = ''
as $$
  select pg_catalog.jsonb_build_object('name', 'outhook', 'version', '0.1.0')
$$;
comment on function outbox.version() is
  'The installed version: {"name": "outhook", "version": text}.';
