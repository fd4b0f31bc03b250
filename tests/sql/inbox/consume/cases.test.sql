-- One message of a broker through the inbox to a function of the application, and the event of a dead one.
begin;
\ir ../../_helpers.sql
select plan(17);

create schema shop;
create table shop.bill (order_id integer not null);
create function shop.bill(p_message jsonb) returns void language plpgsql as $$
begin
  if p_message -> 'fail' = 'true' then
    raise exception 'no such customer' using errcode = 'P0404', hint = 'Create it';
  end if;
  insert into shop.bill values ((p_message #>> '{data,id}')::integer);
end
$$;

select is(outbox.consume('billing', 'e-1', 'shop.bill', '{"data": {"id": 7}}'), true, 'a message is handed over');
select is(outbox.consume('billing', 'e-1', 'shop.bill', '{"data": {"id": 7}}'), false, 'once');
select is(outbox.consume('other', 'e-1', 'shop.bill', '{"data": {"id": 7}}'), true, 'by each consumer');
select is((select array_agg(order_id) from shop.bill), '{7,7}', 'and the function has it as JSON');
select is(refusal($$select outbox.consume('billing', 'e-2', 'shop.bill', '{"fail": true}')$$), 'P0404 no such customer', 'what it raises passes');
select is(outbox.consume('billing', 'e-2', 'shop.bill', '{"data": {"id": 8}}'), true, 'and leaves no note');
select is((select count(*) from outbox.consumer_inbox), 3::bigint, 'three are known');

select is(outbox.check_handler('shop.bill'), 'shop.bill', 'a handler by its name');
select is(refusal($$select outbox.check_handler('shop.nope')$$), 'OH001 function shop.nope(jsonb) does not exist', 'one that is not there');
select is(refusal($$select outbox.check_handler('bill')$$), 'OH001 function bill(jsonb) does not exist', 'one without its schema');
select is(refusal($$select outbox.check_handler(null)$$), 'OH001 function null(jsonb) does not exist', 'none');
select is(refusal($$select outbox.check_handler('a b(c')$$), 'OH001 function a b(c is not a valid name', 'what is no name');
select is(refusal($$select outbox.consume('b', 'e-3', 'shop.bill(jsonb); drop table shop.bill; --', '{}')$$) ~ '^OH001', true, 'nor SQL');

grant usage on schema helper to service_role;
set local role service_role;
select is(helper.refusal($$select outbox.consume('billing', 'e-4', 'shop.bill', '{}')$$) ~ '^42501 permission denied', true,
  'the function runs with the caller''s rights');
select outbox.report_dead_message('billing', 'orders', 'orders.dlq', 'e-2', 'order.paid', 'c-1', 'no such customer', 6);
select outbox.report_dead_message('billing', 'news', 'news.dlq', 'e-3', 'outhook.breaker.opened', 'c-1', 'x', 6);
reset role;
select results_eq('select e.type, e.org_id, e.body::jsonb from outbox.event e', $$values ('outhook.consumer.dead_lettered', 'outhook',
  '{"consumer": "billing", "topic": "orders", "dlqTopic": "orders.dlq", "messageId": "e-2", "eventType": "order.paid", "correlationId": "c-1",
    "error": "no such customer", "retryCount": 6}'::jsonb)$$, 'a dead message is an operational event, but of operational ones');
select is((select count(*) from outbox.unrouted), 1::bigint, 'which will be routed');
select is(refusal($$select outbox.report_dead_message('b', 't', 'd', null, null, null, null, 1)$$), 'accepted', 'whatever is known of it');

select * from finish();
rollback;
