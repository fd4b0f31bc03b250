-- Modules: api
-- What `task dlq:replay` claims and records: a dead letter has one status, whoever recovers it.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
select plan(52);

create temporary table ours as
select (outbox.create_broker_endpoint('kafka', '{"brokers": ["k.example.com:9093"], "topic": "t", "dlq_topic": null}', null, '{order.*}', p_ordering => 'none') ->> 'id')::uuid as id;
create temporary table letter (name text, event uuid);
insert into letter select n, outbox.publish('order.paid', '{}') from unnest(array['open', 'replayed', 'discarded']) n;
create function refuse() returns integer language sql as $$
  select send('failed', '{"error_class": "broker", "code": "MESSAGE_TOO_LARGE", "error": "too large"}')
$$;
select is(refuse(), 3, 'three records are refused');
select time_passes('1 min');
select outbox.replay(event, id), time_passes('1 s') from letter, ours where name = 'replayed';
select outbox.discard_dead_letter(event, id, 'why') from letter, ours where name = 'discarded';

create function claims(p_name text, p_topic text default 't', p_kind text default 'kafka', p_exchange text default null) returns jsonb language sql as $$
  select outbox.claim_broker_replay(event, id, p_kind, p_topic, p_exchange) - array['event_id', 'endpoint_id', 'moved_to'] from letter, ours where name = p_name
$$;
create function moved_to(p_name text, p_topic text default 't', p_kind text default 'kafka', p_exchange text default null) returns text language sql as $$
  select outbox.claim_broker_replay(event, id, p_kind, p_topic, p_exchange) ->> 'moved_to' from letter, ours where name = p_name
$$;
create function told(p_name text, p_published boolean default true) returns boolean language sql as $$
  select (outbox.record_broker_replay(event, id, p_published) -> 'recorded')::boolean from letter, ours where name = p_name
$$;
create function kept(p_name text) returns outbox.dead_letter language sql as $$
  select x from outbox.dead_letter x join letter l on l.event = x.event_id where l.name = p_name
$$;

select is(claims('replayed'), '{"claimed": false, "is_stored": true}', 'one that is being replayed is not claimed');
select is(claims('discarded'), '{"claimed": false, "is_stored": true}', 'nor is a discarded one');
select is(told('open'), false, 'without a claim nothing is recorded');
select is(claims('open'), '{"claimed": true, "is_stored": true}', 'an open one is claimed');
select is((kept('open')).replayed_at, outbox.clock(), 'and is no longer open');
select is(claims('open'), '{"claimed": true, "is_stored": true}', 'a task that ended before its record claims it again');
select is(told('open', false), true, 'a refusal is recorded');
select is(row((kept('open')).replayed_at, (kept('open')).at_broker)::text, '(,f)', 'and opens the dead letter again');
select claims('open');
select is(told('open'), true, 'a published one is recorded');
select is((kept('open')).delivered_at, outbox.clock(), 'as delivered, with the time');
select is(status_of(event, id), 'delivered', 'and its delivery too') from letter, ours where name = 'open';
select is(attempts(event, id), '1 failed, 1 closed as dead_letter, 1 closed as delivered', 'by one more end of its history') from letter, ours where name = 'open';
select is(told('open'), false, 'a second time changes nothing');
select is((select count(*)::integer from outbox.attempt a join letter l on l.event = a.event_id where l.name = 'open'), 3, 'and writes nothing');
select is(claims('open'), '{"claimed": false, "is_stored": true}', 'and it is not claimed again');

select is(refuse(), 1, 'the replay fails');
select is(claims('replayed') -> 'claimed', 'true', 'and the dead letter is open again, so that the broker may recover it');
select outbox.replay(event, id), time_passes('1 s') from letter, ours where name = 'replayed';
select is(told('replayed'), false, 'a replay after the claim keeps its own status');
select is((kept('replayed')).delivered_at, null, 'until it ends');

-- A task that ended after the claim, and the retention has deleted the attempts.
insert into letter select 'lost', outbox.publish('order.paid', '{}');
select refuse();
select claims('lost');
delete from outbox.attempt a using letter l where a.event_id = l.event and l.name = 'lost';
select is(status_of(event, id), 'dead_letter', 'what is only claimed is a dead letter, not cancelled') from letter, ours where name = 'lost';
select is(outbox.dead_letter_json(kept('lost')) ->> 'status', 'open', 'and open in the API');
select outbox.discard_dead_letter(event, id, 'why') from letter, ours where name = 'lost';
select is(outbox.dead_letter_json(kept('lost')) ->> 'status', 'discarded', 'until a person discards it');

-- A task that never comes back.
create function ticks() returns void language sql as $$
  select time_passes('10 s'), outbox.upkeep(outbox.clock(), 'infinity')
$$;
select time_is('2026-03-02 12:00:00+00');
insert into letter select 'left', outbox.publish('order.paid', '{}');
select refuse();
select claims('left');
create temporary table told_before as select count(*)::integer as n from news('outhook.delivery.dead_lettered');
do $$ begin perform time_passes('59 min 40 s'), ticks(); end $$;
select is((kept('left')).at_broker, true, 'for an hour a claim stays');
do $$ begin perform ticks(), ticks(); end $$;
select is(row((kept('left')).replayed_at, (kept('left')).at_broker)::text, '(,f)', 'then the dead letter is open again');
select is((select count(*)::integer from news('outhook.delivery.dead_lettered')) - n, 1, 'and announced again, because its claim closed the alert') from told_before;
select is((select e.partition_key from outbox.event e where e.type = 'outhook.delivery.dead_lettered' order by e.id desc limit 1), id::text, 'with the endpoint as partition key') from ours;
select is(told('left'), false, 'what the task records after that changes nothing');
select is(claims('left') -> 'claimed', 'true', 'another task may claim it');
select is(told('left'), true, 'and record it');
do $$ begin perform time_passes('2 hours'), ticks(); end $$;
select is(status_of(event, id), 'delivered', 'which is for good') from letter, ours where name = 'left';

-- An endpoint that publishes elsewhere by now.
insert into letter select 'moved', outbox.publish('order.paid', '{}');
select refuse();
select is(claims('moved', 'other'), '{"claimed": false, "is_stored": true}', 'a dead letter for another topic than that of its endpoint is not claimed');
select is(moved_to('moved', 'other'), 't', 'and the result names the topic of its endpoint');
select is((kept('moved')).replayed_at, null, 'it is still open');
select is(moved_to('discarded', 'other'), null, 'what is not open has not moved');
select is(claims('moved', p_kind => 'rabbitmq'), '{"claimed": false, "is_stored": true}', 'nor is it claimed for a broker of another kind');
select is(moved_to('moved', p_kind => 'rabbitmq'), null, 'which is no move');
update outbox.endpoint e set config = e.config || '{"topic": "{type}.{org}"}' from ours where e.id = ours.id;
select is(claims('moved'), '{"claimed": false, "is_stored": true}', 'it is not claimed for the topic of before');
select is(moved_to('moved'), 'order.paid.default', 'but for that of now, with its type and its organisation');
select is(claims('moved', 'order.paid.default'), '{"claimed": true, "is_stored": true}', 'for which it is claimed');
select told('moved', false);
update outbox.endpoint e set config = e.config || '{"topic": "t"}' from ours where e.id = ours.id;

create temporary table rabbit as
select (outbox.create_broker_endpoint('rabbitmq', '{"url": "amqps://r.example.com", "routing_key": "orders"}', '{"username": "u", "password": "p"}', '{bill.*}', p_ordering => 'none') ->> 'id')::uuid as id,
  outbox.publish('bill.paid', '{}') as event;
update outbox.endpoint e set retry = plain_retry(0) from rabbit where e.id = rabbit.id;
select fail(500, '{"error_class": "broker", "code": "NACK", "error": "full"}');
create function rabbit_claim(p_topic text, p_exchange text default null) returns text language sql as $$
  select concat_ws(' ', c ->> 'claimed', c ->> 'moved_to') from rabbit, outbox.claim_broker_replay(event, id, 'rabbitmq', p_topic, p_exchange) c
$$;
create function undo() returns boolean language sql as $$
  select (outbox.record_broker_replay(event, id, false) -> 'recorded')::boolean from rabbit
$$;
select is(rabbit_claim('orders', ''), 'false amq.topic/orders', 'a dead letter for another exchange is not claimed');
select is(rabbit_claim('bills', 'amq.topic'), 'false amq.topic/orders', 'nor one with another routing key');
select is(undo(), false, 'so there is nothing to record');
select is(rabbit_claim('orders', 'amq.topic'), 'true', 'for the exchange of its endpoint it is claimed');
select is(undo(), true, 'as the record shows');
select is(rabbit_claim('orders'), 'true', 'and for an exchange that the caller names');
select is(undo(), true, 'it is open again');
do $$ begin perform outbox.delete_endpoint(id) from rabbit; end $$;
select is(rabbit_claim('bills', 'other'), 'true', 'after its endpoint is deleted it is claimed for any target');

create temporary table hook as select endpoint() as id;
create temporary table stranger as select (events(1))[1] as event;
select fail(404);
select is(outbox.claim_broker_replay(event, hook.id, 'kafka', 't') - array['event_id', 'endpoint_id', 'moved_to'], '{"claimed": false, "is_stored": true}', 'a dead letter of a webhook is not claimed') from stranger, hook;
do $$ begin perform outbox.delete_endpoint(id) from hook; end $$;
select is(outbox.claim_broker_replay(event, hook.id, 'webhook', 't') - array['event_id', 'endpoint_id', 'moved_to'], '{"claimed": false, "is_stored": true}', 'nor when its endpoint is deleted and the caller names its kind') from stranger, hook;
select is(outbox.claim_broker_replay('01900000-0000-7000-8000-000000000000', id, 'kafka', 't') - array['event_id', 'endpoint_id', 'moved_to'], '{"claimed": false, "is_stored": false}', 'one that is not stored is none of ours') from ours;
select is_empty('select * from miscounts()', 'the counters are right');

select * from finish();
rollback;
