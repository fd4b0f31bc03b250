-- Dead letters of brokers go to their dead-letter topic: once for each death, in the documented form, and never in a circle.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(25);

create function broker(p_kind text, p_broker jsonb, p_ordering text, p_payload text default 'envelope') returns uuid language plpgsql as $$
declare
  v_id uuid := outbox.create_broker_endpoint(p_kind, p_broker, case p_kind when 'rabbitmq' then '{"username": "u", "password": "p"}'::jsonb end,
    '{order.*}', 'org-1', p_ordering => p_ordering, p_payload => p_payload) ->> 'id';
begin
  update outbox.endpoint e set breaker_enabled = false, on_dead_letter = 'halt' where e.id = v_id;
  return v_id;
end
$$;
create function refuse(p_code text default 'MESSAGE_TOO_LARGE') returns integer language sql as $$
  select send('failed', jsonb_build_object('error_class', 'broker', 'code', p_code, 'error', 'Refused: "' || p_code || '"'))
$$;
create function letters() returns table (id uuid, endpoint_id uuid, body jsonb, raw text) language sql as $$
  select e.id, e.endpoint_id, e.body::jsonb, e.body from outbox.event e where e.type = 'outhook.dead_letter' order by e.id
$$;

create temporary table ours as select broker('kafka', '{"brokers": ["k.example.com:9093"], "topic": "{org}.{type}"}', 'partition') as id;
select outbox.publish_raw('order.paid', '{"n": 10000000000000000.10}', 'org-1', p_partition_key => 'k{type}"1', p_correlation_id => 'tx_xyz', p_idempotency_key => 'pay-"123');
select is(refuse(), 1, 'the record is refused');
select is((select count(*) from letters()), 1::bigint, 'its dead letter becomes an event');
select is(body - array['original_message', 'failed_at', 'event_id', 'endpoint_id'],
  '{"original_topic": "org-1.order.paid", "error": "Refused: \"MESSAGE_TOO_LARGE\"", "retry_count": 1, "correlation_id": "tx_xyz",
  "original_exchange": null, "original_key": "k{type}\"1", "idempotency_key": "pay-\"123", "event_type": "order.paid"}'::jsonb, 'in the documented form') from letters();
select is(body ->> 'failed_at', '2026-03-01T12:00:00.000Z', 'with the time') from letters();
select is(array[l.body ->> 'endpoint_id', l.body ->> 'event_id'], array[o.id::text, x.event_id::text], 'and the ids')
from letters() l, ours o, outbox.dead_letter x;
select ok(raw like '%"data":{"n": 10000000000000000.10}}%', 'the message is what it was, to the digit') from letters();
select is(body -> 'original_message' -> 'eventType', '"order.paid"', 'as an envelope') from letters();
select is((select array_agg(k order by k) from jsonb_object_keys(body -> 'original_message') k),
  array['correlationId', 'createdAt', 'data', 'eventType', 'id'], 'with all its members') from letters();
select is(body -> 'original_message' ->> 'createdAt', to_char(outbox.uuid_v7_time((body ->> 'event_id')::uuid) at time zone 'UTC',
  'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'and the time of the event') from letters();

create temporary table answer as select step() as a;
select is(claimed(a, id), 1, 'it is delivered though its key stands still behind the dead letter') from answer, ours;
select is((select e.value ->> 'type' || ' ' || (e.value ->> 'partition_key') from jsonb_each(a -> 'events') e), 'outhook.dead_letter k{type}"1',
  'with its key') from answer;
select step(0, results(a, 'failed', '{"error_class": "broker", "code": "INVALID_TOPIC_EXCEPTION"}')) from answer;
select is((select count(*) from outbox.dead_letter), 2::bigint, 'where that is refused too, it is a dead letter as well');
select is((select count(*) from letters()), 1::bigint, 'of which no other is made');
select is(send(), 0, 'and the circle ends');
select is_empty('select * from miscounts()', 'the counters are right');

select outbox.resume_lane(id, 'k{type}"1') from ours;
select outbox.replay(x.event_id, x.endpoint_id) from outbox.dead_letter x where x.original_topic = 'order.paid';
select is(refuse(), 1, 'replayed, and refused again');
select is((select count(*) from letters()), 2::bigint, 'each death is published');
select is(send(), 1, 'and delivered');

-- Without a topic there is none.
select outbox.set_broker(id, '{"dlq_topic": null}') from ours;
select outbox.publish('order.paid', '{}', 'org-1', p_partition_key => 'other');
select is(refuse(), 1, 'refused without a dead-letter topic');
select is((select count(*) from letters()), 2::bigint, 'nothing more is published');
select outbox.delete_endpoint(id) from ours;

-- RabbitMQ: the exchange is named, and the bare data stay bare.
create temporary table rabbit as select broker('rabbitmq', '{"url": "amqps://mq.example.com", "exchange": "shop", "dlq_routing_key": "dead"}', 'none', 'data') as id;
select outbox.publish('order.paid', '[1]', 'org-1');
select is(refuse('PRECONDITION_FAILED'), 1, 'RabbitMQ refuses');
select is(body - array['failed_at', 'event_id', 'endpoint_id', 'correlation_id', 'error', 'retry_count'],
  '{"original_topic": "order.paid", "original_exchange": "shop", "original_message": [1], "original_key": null, "idempotency_key": null, "event_type": "order.paid"}'::jsonb,
  'topic and exchange say where it was going') from letters() where endpoint_id = (select id from rabbit);

-- What expired is published as well.
select events(1, 'order.late', p_org_id => 'org-1');
select step(0);
select time_passes('31 days');
select is(outbox.expire_deliveries(100) >= 1, true, 'a delivery expires');
select is((select count(*) from letters() where body ->> 'event_type' = 'order.late'), 1::bigint, 'and is published');
select is_empty('select * from asleep()', 'everything has its turn');

select * from finish();
rollback;
