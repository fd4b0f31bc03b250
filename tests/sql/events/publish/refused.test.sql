-- Every field of publish() that may be refused: the SQLSTATE, and a message that names the field.
begin;
\ir ../../_helpers.sql
create temporary table ours as select
  endpoint() as plain,
  endpoint(array['in.order'], p_ordering => 'partition') as ordered,
  endpoint(p_org_id => 'other') as others,
  endpoint() as deleted,
  endpoint(p_org_id => 'outhook') as system,
  endpoint(array['gone.order'], p_ordering => 'partition') as deleted_ordered;
update outbox.endpoint set status = 'deleted' where id in (select unnest(array[o.deleted, o.deleted_ordered]) from ours o);

create temporary table refused (arguments text, expected text);
insert into refused values
  ($$null, '{}'$$, 'OH001 type is NULL'),
  ($$'', '{}'$$, $$OH001 type is ''$$),
  ($$'order paid', '{}'$$, $$OH001 type is 'order paid'$$),
  ($$'order.', '{}'$$, $$OH001 type is 'order.'$$),
  ($$'.order', '{}'$$, $$OH001 type is '.order'$$),
  ($$'order..paid', '{}'$$, $$OH001 type is 'order..paid'$$),
  ($$'order.*', '{}'$$, $$OH001 type is 'order.*'$$),
  ($$E'order\n', '{}'$$, E'OH001 type is \'order\n\''),
  ($$'größe', '{}'$$, $$OH001 type is 'größe'$$),
  ($$repeat('a', 129), '{}'$$, format('OH001 type is %L', repeat('a', 129))),
  ($$'a', null$$, 'OH001 payload is null'),
  ($$'a', to_jsonb(repeat('x', 262143))$$, 'OH001 payload has 262145 bytes, more than 262144'),
  ($$'a', to_jsonb(repeat('ü', 131072))$$, 'OH001 payload has 262146 bytes, more than 262144'),
  ($$'a', '{}', p_org_id => null$$, 'OH001 org_id is NULL'),
  ($$'a', '{}', p_org_id => ''$$, $$OH001 org_id is ''$$),
  ($$'a', '{}', p_org_id => 'a b'$$, $$OH001 org_id is 'a b'$$),
  ($$'a', '{}', p_org_id => '-a'$$, $$OH001 org_id is '-a'$$),
  ($$'a', '{}', p_org_id => repeat('a', 65)$$, format('OH001 org_id is %L', repeat('a', 65))),
  ($$'outhook.test', '{}', p_org_id => 'outhook'$$, 'OH001 org_id is outhook, which is the system''s own'),
  ($$'a', '{}', p_partition_key => repeat('k', 257)$$, 'OH001 partition_key is longer than 256 characters'),
  ($$'a', '{}', p_correlation_id => ''$$, 'OH001 correlation_id is not 1 to 128 visible ASCII characters'),
  ($$'a', '{}', p_correlation_id => 'a b'$$, 'OH001 correlation_id is not 1 to 128 visible ASCII characters'),
  ($$'a', '{}', p_correlation_id => E'a\r\nx: y'$$, 'OH001 correlation_id is not 1 to 128 visible ASCII characters'),
  ($$'a', '{}', p_correlation_id => repeat('c', 129)$$, 'OH001 correlation_id is not 1 to 128 visible ASCII characters'),
  ($$'a', '{}', p_idempotency_key => ''$$, 'OH001 idempotency_key is not 1 to 255 visible ASCII characters'),
  ($$'a', '{}', p_idempotency_key => 'schlüssel'$$, 'OH001 idempotency_key is not 1 to 255 visible ASCII characters'),
  ($$'a', '{}', p_idempotency_key => repeat('i', 256)$$, 'OH001 idempotency_key is not 1 to 255 visible ASCII characters'),
  ($$'a', '{}', p_traceparent => 'x'$$, 'OH001 traceparent is not a W3C trace context'),
  ($$'a', '{}', p_traceparent => upper('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01')$$,
    'OH001 traceparent is not a W3C trace context'),
  ($$'a', '{}', p_deliver_at => '2026-03-31 12:00:00.000001+00'$$, 'OH001 deliver_at lies beyond the retention of events'),
  ($$'a', '{}', p_deliver_at => 'infinity'$$, 'OH001 deliver_at lies beyond the retention of events'),
  ($$'a', '{}', p_deliver_at => '-infinity'$$, 'OH001 deliver_at is -infinity'),
  ($$'a', '{}', p_endpoint_id => '00000000-0000-0000-0000-000000000000'$$,
    'OH002 endpoint 00000000-0000-0000-0000-000000000000 does not exist in organisation default');
insert into refused
select format($$'a', '{}', p_endpoint_id => %L$$, v.id), format('OH002 endpoint %s does not exist in organisation default', v.id)
from ours o cross join lateral (values (o.others), (o.deleted)) v (id);
insert into refused
select format($$'a', '{}', p_org_id => 'outhook', p_endpoint_id => %L$$, o.system), 'OH001 org_id is outhook, which is the system''s own' from ours o;
insert into refused
select format($$'a', '{}', p_endpoint_id => %L, p_deliver_at => '2026-03-02'$$, o.ordered),
  'OH001 deliver_at is given for an ordered endpoint'
from ours o;
insert into refused values
  ($$'in.order', '{}', p_deliver_at => '2026-03-02'$$, 'OH001 deliver_at is given for a type that an ordered endpoint is subscribed to');

create temporary table accepted (arguments text);
insert into accepted values
  ($$repeat('a', 128), '{}'$$),
  ($$'Order_1.paid-2.x', '{}'$$),
  ($$'a', to_jsonb(repeat('x', 262142))$$),
  ($$'a', '{}', p_org_id => repeat('a', 64)$$),
  ($$'a', '{}', p_org_id => 'a:b.c_d-e'$$),
  ($$'a', '{}', p_partition_key => repeat('ü', 256)$$),
  ($$'a', '{}', p_correlation_id => repeat('~', 128)$$),
  ($$'a', '{}', p_idempotency_key => repeat('!', 255)$$),
  ($$'a', '{}', p_deliver_at => '2026-03-31 12:00:00+00'$$),
  ($$'gone.order', '{}', p_deliver_at => '2026-03-02'$$),
  ($$'a', '{}', p_deliver_at => '2020-01-01 00:00:00+00'$$);
insert into accepted select format($$'a', '{}', p_endpoint_id => %L, p_deliver_at => '2026-03-02'$$, o.plain) from ours o;
insert into accepted select format($$'a', '{}', p_endpoint_id => %L$$, o.ordered) from ours o;

select plan(53);

select is(refusal('select outbox.publish(' || r.arguments || ')'), r.expected,
  'publish() refuses ' || left(r.arguments, 70))
from refused r;

select is_empty(
  'select id from outbox.event union all select event_id from outbox.unrouted
   union all select event_id from outbox.idempotency_key',
  'publish() stores nothing of what it refuses');

select is(refusal('select outbox.publish(' || a.arguments || ')'), 'accepted',
  'publish() accepts ' || left(a.arguments, 70))
from accepted a;

select is((select count(*) from outbox.event), (select count(*) from accepted),
  'publish() stores each event that it accepts');

select * from finish();
rollback;
