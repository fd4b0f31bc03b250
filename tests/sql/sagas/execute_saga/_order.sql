-- A saga as an application has it: the stock of an order is reserved, its payment taken, and it is
-- confirmed. The customer whose card has no money is customer 13.
create schema shop;
create table shop.stock (item text primary key, free integer not null check (free >= 0));
create table shop.payment (id integer generated always as identity primary key, order_id integer, amount numeric);
create table shop.orders (id integer primary key, state text not null);
insert into shop.stock values ('lamp', 3);

create function shop.reserve_stock(p_context jsonb) returns jsonb language plpgsql as $$
begin
  update shop.stock s set free = s.free - (p_context ->> 'quantity')::integer where s.item = p_context ->> 'item';
  insert into shop.orders values ((p_context ->> 'order')::integer, 'reserved');
  return jsonb_build_object('order', p_context -> 'order', 'reserved', p_context -> 'quantity');
end
$$;

create function shop.take_payment(p_context jsonb) returns jsonb language plpgsql as $$
declare
  v_id integer;
begin
  if (p_context ->> 'customer')::integer = 13 then
    raise exception 'the card was declined' using errcode = 'P0013', detail = 'insufficient funds',
      hint = 'Ask for another card';
  end if;
  insert into shop.payment (order_id, amount)
  values ((p_context ->> 'order')::integer, (p_context ->> 'reserved')::integer * 49.90) returning id into v_id;
  return jsonb_build_object('payment', v_id);
end
$$;

create function shop.confirm(p_context jsonb) returns jsonb language plpgsql as $$
begin
  update shop.orders o set state = 'confirmed' where o.id = (p_context ->> 'order')::integer;
  return null;
end
$$;

select outbox.define_saga('place_order', '[
  {"function": "shop.reserve_stock", "event_type": "stock.reserved"},
  {"function": "shop.take_payment", "event_type": "payment.taken"},
  {"function": "shop.confirm", "event_type": "order.confirmed"}]');
