-- Modules: api, sagas, watch
-- Types that begin with outhook. are of the events about Outhook itself: nobody else publishes one, in no
-- organisation and by no way, however the type is written. Outhook's own events still get through.
begin;
\ir ../../_helpers.sql
\ir ../../_engine.sql
create schema shop;
create table shop.orders (id integer primary key, org text);
create table shop.ours (id integer primary key);
create function shop.step(p_context jsonb) returns jsonb language sql as $$ select '{}'::jsonb $$;
select outbox.define_saga('changed', '[{"function": "shop.step", "event_type": "a"}]');

create temporary table type (type text, is_ours boolean);
insert into type values
  ('outhook.dead_letter', true), ('outhook.test', true), ('outhook.message', true), ('outhook.delivery.dead_lettered', true),
  ('outhook.of_no_kind', true), ('Outhook.test', true), ('OUTHOOK.BREAKER.OPENED', true), ('outHook.x', true),
  ('outhook', false), ('outhooks.test', false), ('outhook-2.test', false), ('my.outhook.test', false);

create temporary table way (name text, statement text, place text);
insert into way values
  ('publish()', 'select outbox.publish(%1$L, ''{}'')', ''),
  ('publish() to one endpoint', format('select outbox.publish(%%1$L, ''{}'', p_endpoint_id => %L)', endpoint()), ''),
  ('publish() of another organisation', 'select outbox.publish(%1$L, ''{}'', ''org-1'')', ''),
  ('publish() with a key', 'select outbox.publish(%1$L, ''{}'', p_idempotency_key => %1$L)', ''),
  ('publish_raw()', 'select outbox.publish_raw(%1$L, ''{}'')', ''),
  ('publish_once()', 'select outbox.publish_once(jsonb_build_object(''type'', %1$L::text, ''payload'', 1))', ''),
  ('publish_many()', 'select outbox.publish_many(jsonb_build_array(jsonb_build_object(''type'', %1$L::text, ''payload'', 1)))', 'events[0]: '),
  ('publish_many() with a body', 'select outbox.publish_many(jsonb_build_array(jsonb_build_object(''type'', %1$L::text, ''body'', ''1'', ''org_id'', ''org-1'')))', 'events[0]: '),
  ('publish_events()', 'select outbox.publish_events(''org-1'', jsonb_build_array(jsonb_build_object(''type'', %1$L::text, ''payload'', 1)))', 'events[0]: '),
  ('an insert into webhook_outbox', 'insert into outbox.webhook_outbox (event_type, payload) values (%1$L, ''{}'')', 'event_'),
  ('an insert into saga_outbox', 'insert into outbox.saga_outbox (event_type, payload) values (%1$L, ''{}'')', 'event_'),
  ('an insert into transaction_outbox', 'insert into outbox.transaction_outbox (event_type, payload) values (%1$L, ''{}'')', 'event_'),
  ('watch_table()', 'select outbox.watch_table(''shop.orders'', %1$L)', ''),
  ('watch_table() with the operation', 'select outbox.watch_table(''shop.orders'', %1$L || ''.{op}'')', ''),
  ('define_saga()', 'select outbox.define_saga(''s'', jsonb_build_array(jsonb_build_object(''function'', ''shop.step'', ''event_type'', %1$L::text)))', ''),
  ('put_event_type()', 'select outbox.put_event_type(''org-1'', %1$L)', '');

select plan((select count(*)::integer from type cross join way) + 10);

select is(refusal(format(w.statement, t.type)),
  case
    when not t.is_ours then 'accepted'
    else format('OH001 %stype is %s, which is the system''s own', w.place,
      t.type || case when w.name = 'watch_table() with the operation' then '.inserted' else '' end)
  end,
  format('%s: %s', w.name, t.type))
from type t cross join way w
where not (w.name = 'watch_table() with the operation' and t.type = 'outhook');
select is(refusal($$select outbox.watch_table('shop.orders', 'outhook.{op}')$$),
  'OH001 type is outhook.inserted, which is the system''s own', 'a watch whose type is outhook. and the operation');
select is_empty($$select from outbox.event where lower(type) like 'outhook.%'$$, 'nothing of it is stored');

-- What was changed behind our back fails when it publishes.
update outbox.saga_step set event_type = 'outhook.test' where saga = 'changed';
select is(refusal($$select outbox.execute_saga('changed', '{}')$$), 'OH001 type is outhook.test, which is the system''s own',
  'a stored saga');
create trigger forged after insert on shop.ours for each row
execute function outbox.publish_row('{"type": "OutHook.{op}", "org_id": "default", "operations": ["insert"], "call": "1"}');
select matches(refusal('insert into shop.ours values (1)'), 'type is OutHook.inserted, which is the system''s own', 'a trigger that somebody wrote');

-- Nothing of a user is in the organisation of the operational events.
select is(refusal(w.statement), 'OH001 org_id is outhook, which is the system''s own', w.name)
from (values
  ('a watch', $$select outbox.watch_table('shop.orders', 'a', 'outhook')$$),
  ('a saga', $$select outbox.execute_saga('changed', '{}', 'outhook')$$),
  ('a portal token', $$select outbox.record_portal_token('outhook', '{"id": "a", "issuedAt": 1}')$$),
  ('an event type', $$select outbox.put_event_type('outhook', 'a')$$),
  ('a catalogue', $$select outbox.set_catalogue('outhook', true)$$)
) w (name, statement);

-- Ours.
create temporary table watcher as select endpoint('{outhook.*}', p_org_id => 'outhook') as id;
create temporary table tested as
select (outbox.send_test_event(id) ->> 'event_id')::uuid as event from watcher
union all select (outbox.send_test_event(endpoint()) ->> 'event_id')::uuid;
select set_eq('select e.org_id, e.type from outbox.event e join tested t on t.event = e.id',
  $$values ('outhook', 'outhook.test'), ('default', 'outhook.test')$$, 'a test event is published in each organisation');
select outbox.disable_endpoint(endpoint());
select is((select count(*)::integer from news('outhook.endpoint.disabled')), 1, 'and an announcement');

select * from finish();
rollback;
