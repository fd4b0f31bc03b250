-- An event whose day has been dropped is sent from its dead letter, the same to the byte.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(16);

create temporary table made as select endpoint() as id, endpoint() as other;
create temporary table event as select outbox.publish_raw('order.paid', E'{"total" : 1.10 }', p_partition_key => 'k', p_correlation_id => 'c-1', p_idempotency_key => 'i-1') as id,
  outbox.publish('order.paid', '{"n": 2}') as plain;
create temporary table first_batch as select step() as a;
select step(0, results(a, 'failed', '{"status": 404}')) from first_batch;
create temporary table letter as select * from outbox.dead_letter;
-- As dropping the partition does.
delete from outbox.event where true;
delete from outbox.attempt where true;
select is(outbox.replay(e.id, m.id) ->> 'replaced', 'false', 'replay() finds what it needs') from event e, made m;
select outbox.replay(e.plain, m.other) from event e, made m;
create temporary table answer as select step() as a;
select is(claimed(a), 2, 'both are claimed') from answer;
select is(answer.a -> 'events' -> e.id::text, f.a -> 'events' -> e.id::text, 'the event is the same, its head, body and keys') from answer, first_batch f, event e;
select is(answer.a -> 'events' -> e.plain::text, f.a -> 'events' -> e.plain::text, 'and one whose keys are its id') from answer, first_batch f, event e;
select is((select array_agg(d ->> 'attempt') from answer, jsonb_array_elements(a -> 'deliveries') d), '{2,2}', 'attempt numbers go on from the dead letter''s');
select results_eq('select event_type, status, org_id, created_at from outbox.delivery_status join made m on m.id = endpoint_id where open',
  $$values ('order.paid', 'processing', 'default', '2026-03-01 12:00:00+00'::timestamptz)$$, 'delivery_status tells its type and time');
select results_eq('select event_type, payload::text, status, retry_count from outbox.webhook_outbox join made m on m.id = endpoint_id where status <> ''DEAD_LETTER''',
  $$values ('order.paid', '{"total" : 1.10 }', 'PROCESSING', 0)$$, 'webhook_outbox its payload');
select results_eq('select correlation_id, partition_key from outbox.transaction_outbox join made m on m.id = endpoint_id where status <> ''dlq''', $$values ('c-1', 'k')$$, 'transaction_outbox its keys');
select step(0, results(a, 'failed', '{"status": 404}')) from answer;
select results_eq('select event_id, endpoint_id, org_id, original_topic, original_message, correlation_id, partition_key, idempotency_key, event_created_at, retry_count from outbox.dead_letter order by 1, 2',
  'select event_id, endpoint_id, org_id, original_topic, original_message, correlation_id, partition_key, idempotency_key, event_created_at, retry_count from letter order by 1, 2',
  'a dead letter again, it has lost nothing');
select is((select count(*) from news('outhook.delivery.dead_lettered')), 2::bigint, 'and is announced again');
select outbox.replay(e.id, m.id) from event e, made m;
select send();
select is((select delivered_at is not null from outbox.dead_letter join made m on m.id = endpoint_id join event e on e.id = event_id), true, 'and can be delivered');

-- The fan-out's other deliveries have no letter to go by.
create temporary table third as select endpoint() as id;
select is(refusal(format('select outbox.replay(%L, %L)', e.id, t.id)), format($$OH002 event '%s' has no delivery and no dead letter for endpoint %s$$, e.id, t.id), 'an endpoint that never had it has nothing to replay') from event e, third t;
delete from outbox.dead_letter x using made where x.endpoint_id = made.other;
select is(refusal(format('select outbox.replay(%L, %L)', e.id, m.other)), format($$OH002 event '%s' has no delivery and no dead letter for endpoint %s$$, e.id, m.other), 'nor has one without its letter') from event e, made m;
select is((select count(*) from outbox.delivery), 0::bigint, 'nothing is open');
select is((select count(*) from outbox.lane l where not l.ordered), 3::bigint, 'and no lane is left over');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
