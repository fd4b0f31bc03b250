create schema if not exists shop;
create table if not exists shop.stock (item text primary key, price numeric not null,
  free integer not null constraint stock_is_enough check (free >= 0));
create table if not exists shop.account (customer text primary key,
  balance numeric not null constraint balance_is_enough check (balance >= 0));
create table if not exists shop.purchase (id bigint primary key, paid numeric not null);
insert into shop.stock values ('lamp', 20.00, 1000000) on conflict do nothing;
insert into shop.account values ('ada', 1000000.00) on conflict do nothing;
grant usage on schema shop to service_role;
grant select, insert, update on all tables in schema shop to service_role;

create or replace function shop.reserve_stock(p_context jsonb) returns jsonb
language sql set search_path = ''
as $$
  update shop.stock set free = free - (p_context ->> 'quantity')::integer
  where item = p_context ->> 'item'
  returning jsonb_build_object('item', item, 'total', price * (p_context ->> 'quantity')::integer)
$$;
create or replace function shop.take_payment(p_context jsonb) returns jsonb
language sql set search_path = ''
as $$
  update shop.account set balance = balance - (p_context ->> 'total')::numeric
  where customer = p_context ->> 'customer' returning jsonb_build_object('paid', p_context -> 'total')
$$;
create or replace function shop.confirm_order(p_context jsonb) returns jsonb
language sql set search_path = ''
as $$
  insert into shop.purchase values ((p_context ->> 'order')::bigint, (p_context ->> 'paid')::numeric)
  returning jsonb_build_object('order', id, 'paid', paid)
$$;

select outbox.define_saga('place_order', '[
  {"function": "shop.reserve_stock", "event_type": "stock.reserved"},
  {"function": "shop.take_payment", "event_type": "payment.taken"},
  {"function": "shop.confirm_order", "event_type": "order.confirmed"}]');
