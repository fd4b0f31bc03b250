-- An idempotency key makes two calls with the same content one event, for 24 hours.
begin;
\ir ../../_helpers.sql
select plan(18);

create temporary table first_one as
  select outbox.publish('order.paid', '{"id": 1}', p_idempotency_key => 'k') as id;

select is(outbox.publish('order.paid', '{"id": 1}', p_idempotency_key => 'k'), (select id from first_one),
  'publish() returns the same id for the same key and content');
select is(outbox.publish('order.paid', '{"id":   1}', p_idempotency_key => 'k'), (select id from first_one),
  'publish() compares the text that it stores, so spacing in the literal makes no difference');
select is(
  outbox.publish('order.paid', '{"id": 1}', p_idempotency_key => 'k', p_correlation_id => 'other'),
  (select id from first_one), 'publish() does not compare what only describes the call');
select is((select count(*)::integer from outbox.event), 1, 'publish() stores one event for one key');
select is((select count(*)::integer from outbox.unrouted), 1, 'publish() routes one event for one key');

select is(refusal(c.call), 'OH003 idempotency_key was used within 24 hours for an event with other content',
  'publish() refuses the key with another ' || c.what)
from (values
  ('type', $$select outbox.publish('order.sent', '{"id": 1}', p_idempotency_key => 'k')$$),
  ('payload', $$select outbox.publish('order.paid', '{"id": 2}', p_idempotency_key => 'k')$$),
  ('spacing in the raw body', $$select outbox.publish_raw('order.paid', '{"id":1}', p_idempotency_key => 'k')$$),
  ('partition key', $$select outbox.publish('order.paid', '{"id": 1}', p_partition_key => 'p', p_idempotency_key => 'k')$$),
  ('time', $$select outbox.publish('order.paid', '{"id": 1}', p_deliver_at => '2026-03-02', p_idempotency_key => 'k')$$)
) c (what, call);

select is(
  refusal(format($$select outbox.publish('order.paid', '{"id": 1}', p_endpoint_id => %L, p_idempotency_key => 'k')$$, endpoint())),
  'OH003 idempotency_key was used within 24 hours for an event with other content',
  'publish() refuses the key with another endpoint');

select isnt(
  outbox.publish('order.paid', '{"id": 1}', p_org_id => 'other', p_idempotency_key => 'k'), (select id from first_one),
  'publish() keeps the keys of organisations apart');

-- The look at the key comes before every check.
create temporary table addressed as select endpoint() as endpoint_id;
create function addressed() returns uuid language sql as $$
  select outbox.publish('order.paid', to_jsonb(repeat('x', 2000)), p_endpoint_id => endpoint_id, p_idempotency_key => 'addressed') from addressed
$$;
create temporary table before as select addressed() as id;
select outbox.set_setting('publish.max_body_bytes', '1024');
select is(addressed(), (select id from before), 'publish() returns the same id when a limit has changed since');
select outbox.delete_endpoint(endpoint_id) from addressed;
select is(addressed(), (select id from before), 'or the endpoint was deleted');
select outbox.set_setting('publish.max_body_bytes', '262144');
select is(refusal($$select outbox.publish('order.paid', '1', p_endpoint_id => (select endpoint_id from addressed), p_idempotency_key => 'new')$$) || ' ' || (select count(*) from outbox.idempotency_key where key = 'new'),
  (select format('OH002 endpoint %s does not exist in organisation default 0', endpoint_id) from addressed), 'and an event that is refused gives its key back');

select time_passes('23:59:59.999999');
select is(outbox.publish('order.paid', '{"id": 1}', p_idempotency_key => 'k'), (select id from first_one),
  'publish() holds a key for 24 hours');
select time_passes('1 microsecond');
create temporary table next_one as
  select outbox.publish('order.sent', '{"id": 2}', p_idempotency_key => 'k') as id;
select ok((select n.id > f.id from next_one n, first_one f),
  'publish() gives a key that is 24 hours old to a new event, whatever its content');
select is(
  outbox.publish('order.sent', '{"id": 2}', p_idempotency_key => 'k'), (select id from next_one),
  'publish() counts the 24 hours anew from then on');

select * from finish();
rollback;
