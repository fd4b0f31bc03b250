-- What execute_saga() refuses, and what a key does.
begin;
\ir ../../_helpers.sql
\ir _order.sql
select plan(13);

select is(refusal($$select outbox.execute_saga('nope')$$), $$OH002 saga 'nope' does not exist$$, 'an unknown saga');
select is(refusal($$select outbox.execute_saga(null)$$), 'OH002 saga NULL does not exist', 'no name');
select is(refusal($$select outbox.execute_saga('place_order', '[]')$$), 'OH001 context is not a JSON object', 'a context that is no object');
select is(refusal($$select outbox.execute_saga('place_order', null)$$), 'OH001 context is not a JSON object', 'no context');
select is(refusal($$select outbox.execute_saga('place_order', '{}', 'a b')$$), $$OH001 org_id is 'a b'$$, 'no organisation');
select is(refusal($$select outbox.execute_saga('place_order', '{}', p_idempotency_key => 'a b')$$),
  'OH001 idempotency_key is not 1 to 255 visible ASCII characters', 'a key with a space');

create function pg_temp.place(p_quantity integer, p_key text, p_org text default 'default') returns jsonb language sql as $$
  select outbox.execute_saga('place_order', jsonb_build_object('order', 100 + p_quantity, 'customer', 1, 'item', 'lamp',
    'quantity', p_quantity), p_org, p_key)
$$;
create temporary table first as select pg_temp.place(1, 'key-1') as a;
create temporary table again as select pg_temp.place(1, 'key-1') as a;
select is(again.a, first.a || '{"repeated": true}', 'the same key and context again: the same result') from first, again;
select is((select free from shop.stock), 2, 'and nothing is done twice');
select is((select count(*) from outbox.event), 3::bigint, 'nor published');
select is(refusal($$select pg_temp.place(2, 'key-1')$$), 'OH003 idempotency_key was used within 24 hours for another saga or context',
  'the same key and another context');
select is(refusal($$select outbox.execute_saga('place_order', '{"order": 1, "customer": 13, "item": "lamp", "quantity": 1}', p_idempotency_key => 'key-2')$$),
  'OH007 saga place_order failed at step 2, shop.take_payment: the card was declined', 'a failed execution');
select is((select count(*) from outbox.saga_key), 1::bigint, 'uses up no key');
select time_passes('24 h');
select is(pg_temp.place(2, 'key-1') ->> 'repeated', 'false', 'after a day a key is free again');

select * from finish();
rollback;
