-- A deferred trigger of the application fails after the last step. Its text is not one of Outhook's, although it has
-- one of its SQLSTATEs.
begin;
\ir ../../_helpers.sql
\ir _order.sql
select plan(5);

create function shop.check_orders() returns trigger language plpgsql as $$
begin
  raise exception 'order of another customer' using errcode = current_setting('shop.errcode'), hint = 'Ask the shop';
end
$$;
create constraint trigger checked after insert on shop.orders
deferrable initially deferred for each row execute function shop.check_orders();

select set_config('shop.errcode', 'OH001', true);
select is(refusal($$select outbox.execute_org_saga('default', 'place_order', '{"order": 7, "customer": 1, "item": "lamp", "quantity": 2}')$$),
  'OH007 saga place_order failed after its last step: order of another customer', 'it is an error of the saga');
select is((select free from shop.stock), 3, 'what the steps did is undone');
select is((select count(*) from outbox.event), 0::bigint, 'and their events are gone');

select set_config('shop.errcode', '40001', true);
select is(refusal($$select outbox.execute_org_saga('default', 'place_order', '{"order": 7, "customer": 1, "item": "lamp", "quantity": 2}')$$),
  '40001 order of another customer', 'a serialization failure passes as it is');

-- In SQL the transaction may go on, and its deferred triggers run at its end.
select lives_ok($$select outbox.execute_saga('place_order', '{"order": 7, "customer": 1, "item": "lamp", "quantity": 2}')$$,
  'execute_saga() leaves them to the commit of the caller');

select * from finish();
rollback;
