begin;
create table if not exists public.demo_order (
  id bigint generated always as identity primary key,
  total numeric not null
);
alter table public.demo_order enable row level security;
insert into public.demo_order (total) values (49.90) returning id \gset
select outbox.publish('order.paid', jsonb_build_object('id', :id, 'total', 49.90)) as event_id \gset
commit;
\echo :event_id
