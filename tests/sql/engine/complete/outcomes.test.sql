-- The three outcomes that a run may report, and what each leaves behind.
begin;
\ir ../../_helpers.sql
select plan(24);

create temporary table ours as select endpoint() as id;
create temporary table given as select events(3) as ids;
create temporary table answer as select step() as a;
select time_passes('2 s');
create temporary table result as
select n, results(a, o.outcome, o.more) -> (n - 1) as r
from answer, (values
  (1, 'delivered', '{"status": 201, "duration_ms": 42, "response": "thanks", "lossy": false}'::jsonb),
  (2, 'failed', '{"status": 503, "error_class": "status", "error": "The receiver answered 503", "duration_ms": 7, "response": "busy", "lossy": true}'),
  (3, 'released', '{}')) o (n, outcome, more);
create temporary table next as select step(100, (select jsonb_agg(r) from result)) as a;
select is((select a -> 'applied' from next), '3', 'each outcome is applied');
select is((select a -> 'stale' from next), '0', 'and none is stale');

select is_empty('select from outbox.delivery d, given g where d.event_id = g.ids[1]', 'a delivered row leaves');
select is((select to_jsonb(a) @> '{"attempt": 1, "at": "2026-03-01T12:00:02+00:00", "kind": "attempt", "outcome": "delivered", "status": 201,
    "error_class": null, "error": null, "duration_ms": 42, "response": "thanks", "response_lossy": false, "next_retry_at": null}'
  from outbox.attempt a, given g where a.event_id = g.ids[1] and a.endpoint_id = (select id from ours)), true, 'its attempt says of which endpoint it is, and how it went');
select results_eq('select status, attempt, finished_at from outbox.delivery_status s, given g where s.event_id = g.ids[1]',
  $$values ('delivered', 1, '2026-03-01 12:00:02+00'::timestamptz)$$, 'delivery_status goes on showing it');

select results_eq('select attempt, failed_attempts, leased_until, due_at from outbox.delivery d, given g where d.event_id = g.ids[2]',
  $$values (1, 1, null::timestamptz, '2026-03-01 12:00:03+00'::timestamptz)$$, 'a failed row has lost a try and is due after the first delay');
select is((select to_jsonb(a) @> '{"attempt": 1, "at": "2026-03-01T12:00:02+00:00", "kind": "attempt", "outcome": "failed", "status": 503,
    "error_class": "status", "error": "The receiver answered 503", "duration_ms": 7, "response": "busy", "response_lossy": true,
    "next_retry_at": "2026-03-01T12:00:03+00:00"}'
  from outbox.attempt a, given g where a.event_id = g.ids[2]), true, 'its attempt says why, and when the next try is');
select results_eq('select status, next_attempt_at from outbox.delivery_status s, given g where s.event_id = g.ids[2]',
  $$values ('retrying', '2026-03-01 12:00:03+00'::timestamptz)$$, 'delivery_status shows it as retrying, with the next attempt');
select results_eq('select status, retry_count, last_error from outbox.webhook_outbox s, given g where s.id = g.ids[2]',
  $$values ('FAILED', 1, 'The receiver answered 503')$$, 'webhook_outbox too');

select is(claimed_events(a), ids[3:3], 'a released row is given out again at once') from next, given;
select results_eq('select attempt, failed_attempts from outbox.delivery d, given g where d.event_id = g.ids[3]', 'values (2, 0)', 'its attempt grows and it has lost no try');
select is_empty('select from outbox.attempt a, given g where a.event_id = g.ids[3]', 'it has no attempt');
select is_empty('select * from miscounts()', 'the counters are right');
select is_empty('select * from asleep()', 'nothing is asleep for ever');

-- The second try succeeds.
select time_passes('0.999999 s');
select is(claimed(step()), 0, 'a retry waits to the microsecond');
select time_passes('1 microsecond');
update next set a = step() where true;
select is(claimed_events(a), ids[2:2], 'then it is given out') from next, given;
select is((select (d ->> 'attempt') || '/' || (d ->> 'failed_attempts') from next, jsonb_array_elements(a -> 'deliveries') d), '2/1', 'as the second attempt, after one lost try');
select is(step(0, results(a, 'delivered', '{"status": 200}')) -> 'applied', '1', 'it is delivered') from next;
select is((select array_agg(a.attempt || a.outcome order by a.attempt) from outbox.attempt a, given g where a.event_id = g.ids[2]), '{1failed,2delivered}',
  'with two attempts');
select is_empty('select from outbox.dead_letter', 'nobody is dead');

-- A delivery reported without any detail.
update next set a = step(100, jsonb_build_array(jsonb_build_object('event', ids[3], 'endpoint', o.id, 'attempt', 2, 'outcome', 'delivered'))) from given, ours o;
select is((select a -> 'applied' from next), '1', 'an outcome without details is applied');
select results_eq('select depth, in_flight from outbox.gate', 'values (0::bigint, 0)', 'then nothing is open');
select is_empty('select * from miscounts()', 'the counters are right');
select is((select next_at from outbox.gate), 'infinity'::timestamptz, 'and the gate leaves the ring');

select * from finish();
rollback;
