-- A step that raises: nothing has happened, and the error says where and why.
begin;
\ir ../../_helpers.sql
\ir _order.sql
grant usage on schema helper, extensions to service_role, authenticated;
select plan(14);

select is(refusal($$select outbox.execute_saga('place_order', '{"order": 7, "customer": 13, "item": "lamp", "quantity": 2}')$$),
  'OH007 saga place_order failed at step 2, shop.take_payment: the card was declined', 'the error names saga, step and cause');
select is((select free from shop.stock), 3, 'what the first step did is undone');
select is((select count(*) from outbox.event), 0::bigint, 'and its event is gone');
select is((select count(*) from shop.orders), 0::bigint, 'no order is there');

do $$
declare
  v_detail text;
  v_hint text;
begin
  perform outbox.execute_saga('place_order', '{"order": 7, "customer": 13, "item": "lamp", "quantity": 2}');
exception when sqlstate 'OH007' then
  get stacked diagnostics v_detail = pg_exception_detail, v_hint = pg_exception_hint;
  create temporary table told as select v_detail::jsonb as detail, v_hint as hint;
end
$$;
select is(detail, '{"saga": "place_order", "step": 2, "function": "shop.take_payment", "code": "P0013",
  "cause": "the card was declined", "detail": "insufficient funds"}'::jsonb, 'detail has it for machines') from told;
select is(hint, 'Ask for another card', 'the remedy is the step''s own') from told;

select is(refusal($$select outbox.execute_saga('place_order', '{"order": 7, "customer": 1, "item": "lamp", "quantity": 9}')$$),
  'OH007 saga place_order failed at step 1, shop.reserve_stock: new row for relation "stock" violates check constraint "stock_free_check" (without a hint)',
  'a constraint is a cause like any other');

create function shop.returns_number(p_context jsonb) returns jsonb language sql as $$ select '5'::jsonb $$;
select outbox.define_saga('odd', '[{"function": "shop.returns_number", "event_type": "a.b"}]');
select is(refusal($$select outbox.execute_saga('odd')$$),
  'OH007 saga odd failed at step 1, shop.returns_number: the step did not return a JSON object', 'a step returns an object or nothing');

-- What a transaction may be repeated for keeps its SQLSTATE.
create function shop.conflicts(p_context jsonb) returns jsonb language plpgsql as $$
begin
  raise exception 'could not serialize' using hint = 'Repeat it',
    errcode = coalesce(p_context ->> 'code', 'serialization_failure');
end
$$;
select outbox.define_saga('conflict', '[{"function": "shop.conflicts", "event_type": "a.b"}]');
select is(refusal($$select outbox.execute_saga('conflict')$$), '40001 could not serialize', 'a serialization failure passes as it is');
select is(refusal($$select outbox.execute_saga('conflict', '{"code": "55P03"}')$$), '55P03 could not serialize', 'and a lock timeout');

-- A function that went away, or that the executing role may not call.
drop function shop.returns_number(jsonb);
select is(refusal($$select outbox.execute_saga('odd')$$),
  'OH007 saga odd failed at step 1, shop.returns_number: function shop.returns_number(jsonb) does not exist',
  'a function that is gone is named');
grant usage on schema shop to service_role;
revoke execute on function shop.reserve_stock(jsonb) from public;
set local role service_role;
select is(helper.refusal($$select outbox.execute_saga('place_order', '{"order": 7, "customer": 1, "item": "lamp", "quantity": 1}')$$),
  'OH007 saga place_order failed at step 1, shop.reserve_stock: permission denied for function reserve_stock (without a hint)',
  'a step that the executing role may not call is not called');
reset role;
grant execute on function shop.reserve_stock(jsonb) to service_role;
set local role service_role;
select is(helper.refusal($$select outbox.execute_saga('place_order', '{"order": 7, "customer": 1, "item": "lamp", "quantity": 1}')$$),
  'OH007 saga place_order failed at step 1, shop.reserve_stock: permission denied for table stock (without a hint)',
  'and works with that role''s rights');
reset role;
select is((select count(*) from outbox.event), 0::bigint, 'after all of this there is no event');

select * from finish();
rollback;
