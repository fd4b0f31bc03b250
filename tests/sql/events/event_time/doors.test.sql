-- Modules: watch, inbox, messages, brokers
-- Whatever publishes: after the clock was set back, its events have larger ids than those before.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
\ir ../../_messages.sql
\ir ../../_callbacks.sql
select plan(17);

create temporary table letter as
select (outbox.create_broker_endpoint('kafka', '{"brokers": ["k.example.com:9093"], "topic": "t"}', null, '{letter.*}') ->> 'id')::uuid as endpoint,
  outbox.publish('letter.sent', '{}') as event;
select send('failed', '{"error_class": "broker", "code": "MESSAGE_TOO_LARGE", "error": "too large"}');

create schema shop;
create table shop.orders (id integer primary key, note text);
select outbox.watch_table('shop.orders', 'order.{op}');
create temporary table ours as select endpoint() as free, endpoint(p_ordering => 'partition') as sorted, channel() as channel, template() as code;
insert into shop.orders select n, 'before' from generate_series(1, 3) n;
create temporary table m as select sent('A') as id, message_id(message('+12025550112')) as failed;
update outbox.outbound_message set status = 'FAILED' where id = (select failed from m);

-- How many events a statement publishes, 20 s after the time of an event ahead: null if one of them is not above it, or
-- has not the time of its id.
create function published(p_statement text) returns bigint language plpgsql as $$
declare
  v_now timestamptz := outbox.clock();
  v_ahead uuid;
  v_known uuid[];
  v_events bigint;
begin
  perform helper.time_is(v_now + interval '20 s');
  v_ahead := outbox.publish('ahead', '{}');
  v_known := array(select e.id from outbox.event e);
  perform helper.time_is(v_now);
  execute p_statement;
  select case when bool_and(e.id > v_ahead and outbox.uuid_v7_time(e.id) = date_trunc('milliseconds', e.created_at)) then count(*) end
  into v_events
  from outbox.event e where e.id <> all (v_known);
  return v_events;
end
$$;
create function backfilled(p_endpoint uuid) returns void language plpgsql as $$
begin
  perform outbox.backfill('shop.orders', p_endpoint, p_rate_per_second => 100);
  update outbox.replay_job j set after_xid = '1', worked_at = worked_at - interval '1 s' where status = 'running';
  while outbox.work_backfills(outbox.clock()) loop end loop;
end
$$;

select is(published($$ select outbox.publish('a', '{}') $$), 1::bigint, 'publish()');
select is(published($$ select outbox.publish_raw('a', '{}') $$), 1::bigint, 'publish_raw()');
select is(published($$ select outbox.publish_once('{"type": "a", "payload": 1}') $$), 1::bigint, 'publish_once()');
select is(published($$ select events(5) $$), 5::bigint, 'publish_many(), in a few statements');
select is(published(format($$ select events(5, p_endpoint_id => %L) $$, free)), 5::bigint, 'publish_many(), one by one') from ours;
select is(published($$ select outbox.publish_many('[]') $$), null::bigint, 'no event is published by an empty array');
select is(published(format($$ select outbox.send_test_event(%L) $$, free)), 1::bigint, 'send_test_event()') from ours;
select is(published($$ update shop.orders set note = 'after' where true $$), 3::bigint, 'a change of a watched table');
select is(published(format($$ select backfilled(%L) $$, sorted)), 3::bigint, 'a backfill of rows') from ours;
select is(published($$ select outbox.take_events('into', '[{"id": "1", "type": "a", "org_id": "default", "body": "1"}, {"id": "2", "type": "a", "org_id": "default", "body": "2"}]') $$),
  2::bigint, 'take_events()');
select is(published($$ select outbox.take_events('into', '[{"id": "3", "type": "a", "org_id": "default", "body": "1"}, {"id": "4", "type": "no type", "body": "2"}]') $$),
  1::bigint, 'take_events(), one by one');
select is(published(format($$ select outbox.disable_endpoint(%L) $$, free)), 1::bigint, 'an operational event') from ours;
select is(published(format($$ select outbox.on_dead_letters(array[%L]::uuid[], array[%L]::uuid[], outbox.clock()) $$, event, endpoint)), 1::bigint,
  'a record for a dead-letter topic') from letter;
select is(published($$ select message('+12025550113') $$), 1::bigint, 'create_message()');
select is(published(format($$ select outbox.resend_message('default', %L) $$, failed)), 1::bigint, 'resend_message()') from m;
select is(published($$ select receive(status('wamid.A', 'delivered'), status('wamid.A', 'read', 1)) $$), 2::bigint, 'statuses of messages');
select is(published($$ select receive(update_of('message', '{"wamid": "wamid.I", "status": "text", "wa_id": "12025550111", "data": {"id": "wamid.I", "type": "text", "text": {"body": "Hello"}}}')) $$),
  1::bigint, 'an inbound message');

select * from finish();
rollback;
