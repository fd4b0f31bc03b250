-- A broker endpoint that was deleted gets no dead letters any more.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(3);

create temporary table ours as select (outbox.create_broker_endpoint('kafka', '{"brokers": ["k.example.com:9093"], "topic": "{type}", "dlq_topic": "dead"}',
  p_event_types => '{a}', p_ordering => 'none') ->> 'id')::uuid as id;
create temporary table event as select (events(1, 'a'))[1] as id;
select send('failed', '{"error_class": "broker", "code": "MESSAGE_TOO_LARGE", "error": "too large"}');
select is((select count(*) from outbox.event where type = 'outhook.dead_letter'), 1::bigint, 'what a broker does not take goes to its dead-letter topic');
select outbox.delete_endpoint(id) from ours;
select outbox.publish_dead_letters(array[event.id], array[ours.id], outbox.clock()) from event, ours;
select is((select count(*) from outbox.event where type = 'outhook.dead_letter'), 1::bigint, 'but not when the endpoint was deleted meanwhile');
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
