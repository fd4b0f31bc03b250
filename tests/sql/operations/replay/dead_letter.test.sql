-- A dead letter is whole: everything that its event was, spec 4's message, and what to go on from. Replayed,
-- it is the same event with a fresh budget, and its attempts go on.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(26);

create temporary table made as select endpoint('{aegis.transactions}', p_org_id => 'org-123') as id;
create temporary table event as select outbox.publish_raw('aegis.transactions', E' {"amount": 1.10,\t"id" :"tx_xyz"}', 'org-123', 'customer-1', 'tx_xyz', 'key-1',
  p_traceparent => '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01') as id;
create temporary table first_batch as select step() as a;
select step(0, results(a, 'failed', '{"status": 500}')) from first_batch;
select time_passes('1 s'), fail(500), time_passes('5 s'), fail(500), time_passes('15 s'), fail(500), time_passes('60 s'), fail(500), time_passes('300 s');
select send('failed', '{"error_class": "timeout", "error": "psp timeout after 30s"}');

select results_eq('select event_id, endpoint_id, org_id, original_topic, original_message, error, retry_count, failed_at, correlation_id, attempt, partition_key,
    idempotency_key, traceparent, event_created_at, why, replayed_at, delivered_at, discarded_at, note from outbox.dead_letter',
  $$select e.id, m.id, 'org-123', 'aegis.transactions', E' {"amount": 1.10,\t"id" :"tx_xyz"}', 'psp timeout after 30s', 6, '2026-03-01 12:06:21+00'::timestamptz, 'tx_xyz', 6,
    'customer-1', 'key-1', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', '2026-03-01 12:00:00+00'::timestamptz, 'retries_exhausted',
    null::timestamptz, null::timestamptz, null::timestamptz, null::text from event e, made m$$, 'every column of it');
select is((select jsonb_build_object('original_topic', original_topic, 'original_message', original_message::json, 'error', error, 'retry_count', retry_count,
    'failed_at', to_char(failed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'correlation_id', correlation_id) from outbox.dead_letter),
  '{"original_topic": "aegis.transactions", "original_message": {"amount": 1.10, "id": "tx_xyz"}, "error": "psp timeout after 30s", "retry_count": 6,
    "failed_at": "2026-03-01T12:06:21Z", "correlation_id": "tx_xyz"}'::jsonb, 'spec 4''s message');
select is((select outbox.uuid_v7_time(id) from outbox.dead_letter), '2026-03-01 12:06:21+00'::timestamptz, 'its id sorts by its time');
select is(attempts(e.id, m.id), '1 failed, 2 failed, 3 failed, 4 failed, 5 failed, 6 failed, 6 closed as dead_letter', 'six attempts and one end') from event e, made m;
select is(status_of(e.id, m.id), 'dead_letter', 'delivery_status says so') from event e, made m;
select is((select count(*) from outbox.delivery), 0::bigint, 'nothing is open');
select is((select dead_letters from outbox.queue_health), 1::bigint, 'queue_health counts it');

select time_passes('1 h');
select is(outbox.replay(e.id, m.id), jsonb_build_object('event_id', e.id, 'endpoint_id', m.id, 'replaced', false), 'a replay') from event e, made m;
select is(status_of(e.id, m.id), 'pending', 'opens it again') from event e, made m;
select is((select replayed_at from outbox.dead_letter), '2026-03-01 13:06:21+00'::timestamptz, 'the dead letter says when');
select is((select dead_letters from outbox.queue_health), 0::bigint, 'and is no longer counted');
create temporary table answer as select step() as a;
select is(a -> 'deliveries' -> 0 ->> 'attempt', '7', 'attempt numbers go on') from answer;
select is(a -> 'deliveries' -> 0 ->> 'failed_attempts', '0', 'the budget is fresh') from answer;
select is(answer.a -> 'events', f.a -> 'events', 'it is the same event to the byte: id, type, head, body, keys') from answer, first_batch f;
select step(0, results(a, 'failed', '{"status": 500}')) from answer;
select is((select next_retry_at - at from outbox.attempt where attempt = 7), interval '1 s', 'the schedule begins anew');
select time_passes('1 s'), fail(500), time_passes('5 s'), fail(500), time_passes('15 s'), fail(500), time_passes('60 s'), fail(500), time_passes('300 s');
select is((select failed_attempts from outbox.delivery), 5, 'five failures are forgiven again');
select fail(502);
select is((select attempt || ' ' || retry_count || ' ' || why || ' ' || (replayed_at is null) from outbox.dead_letter), '12 6 retries_exhausted true', 'the sixth makes it a dead letter again, unreviewed');
select is((select count(*) from outbox.dead_letter), 1::bigint, 'of which there is one');
select is((select count(*) from outbox.attempt join event e on e.id = event_id where kind = 'close'), 2::bigint, 'and one end for each life');

select outbox.replay(e.id, m.id) from event e, made m;
select send();
select is(status_of(e.id, m.id), 'delivered', 'replayed once more it is delivered') from event e, made m;
select is((select delivered_at from outbox.dead_letter), (select at from outbox.test_clock), 'which the dead letter notes');
select is((select max(attempt) from outbox.attempt), 13, 'as the thirteenth attempt');
select is((select count(*) from outbox.attempt join event e on e.id = event_id where kind = 'close' or outcome = 'delivered'), 3::bigint, 'three lives, three ends');
select is((select count(*) from outbox.delivery_status join event e on e.id = event_id), 1::bigint, 'delivery_status shows the last alone');

-- What was delivered from its dead letter and is replayed to its death again is unreviewed again.
select outbox.replay(e.id, m.id) from event e, made m;
select fail(404);
select is((select replayed_at is null and delivered_at is null and discarded_at is null from outbox.dead_letter), true, 'a later death is a new matter');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
