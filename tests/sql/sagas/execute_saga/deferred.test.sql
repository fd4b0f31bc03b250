-- A deferred trigger of the application fails after the last step. Its text is not one of Outhook's, although it has
-- one of its SQLSTATEs.
begin;
\ir ../../_helpers.sql
\ir _order.sql
select plan(10);

create table shop.checks (failure text);
-- Like many triggers, it names a table without its schema and fixes no search path.
create function shop.check_orders() returns trigger language plpgsql as $$
declare
  v_failure text := (select c.failure from checks c);
begin
  if v_failure is not null then
    raise exception 'order of another customer' using errcode = v_failure, hint = 'Ask the shop';
  end if;
  return null;
end
$$;
create constraint trigger checked after insert on shop.orders
deferrable initially deferred for each row execute function shop.check_orders();
create function order_lamps() returns text language sql as $$
  select helper.refusal($s$select outbox.execute_org_saga('default', 'place_order', '{"order": 7, "customer": 1, "item": "lamp", "quantity": 2}')$s$)
$$;
create function refused_with(p_code text) returns text language plpgsql as $$
begin
  update shop.checks set failure = p_code where true;
  return order_lamps();
end
$$;
create function detail_of_order() returns jsonb language plpgsql as $$
declare
  v_detail text;
begin
  perform outbox.execute_org_saga('default', 'place_order', '{"order": 7, "customer": 1, "item": "lamp", "quantity": 2}');
  return null;
exception when sqlstate 'OH007' then
  get stacked diagnostics v_detail = pg_exception_detail;
  return v_detail::jsonb;
end
$$;
set local search_path = shop, helper, extensions;

insert into shop.checks values ('OH001');
select is(order_lamps(), 'OH007 saga place_order failed after its last step: order of another customer', 'it is an error of the saga');
select is((select free from shop.stock), 3, 'what the steps did is undone');
select is((select count(*) from outbox.event), 0::bigint, 'and their events are gone');

update shop.checks set failure = 'P0004';
select is(order_lamps(), 'OH007 saga place_order failed after its last step: order of another customer', 'a failed assertion too');

select is(array(select refused_with(c) from unnest('{40001,40P01,53100,53200,57P03,25006,55006,55P03}'::text[]) c),
  array(select c || ' order of another customer' from unnest('{40001,40P01,53100,53200,57P03,25006,55006,55P03}'::text[]) c), 'temporary errors pass as they are');
update shop.checks set failure = '23514';
select is(detail_of_order(), '{"code": "23514", "saga": "place_order", "cause": "order of another customer", "detail": ""}'::jsonb, 'any other one keeps its SQLSTATE in the detail');

-- In SQL the transaction may go on, and its deferred triggers run at its end.
savepoint in_sql;
select lives_ok($$select outbox.execute_saga('place_order', '{"order": 7, "customer": 1, "item": "lamp", "quantity": 2}')$$,
  'execute_saga() leaves them to the commit of the caller');
rollback to savepoint in_sql;

update shop.checks set failure = null;
select is(order_lamps(), 'accepted', 'a trigger that finds its tables in the search path of the caller does not fail');
select is((select state from shop.orders), 'confirmed', 'and the saga is executed');
select is(current_setting('search_path'), 'shop, helper, extensions', 'whose search path stays');

select * from finish();
rollback;
