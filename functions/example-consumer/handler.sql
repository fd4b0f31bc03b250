-- The handler of example-consumer. It records the event's id in the same transaction: a duplicate
-- does nothing, and a failed handler records nothing. Local databases load it from
-- supabase/config.toml; elsewhere: psql -f functions/example-consumer/handler.sql

create table if not exists public.received_order (
  id bigint generated always as identity primary key,
  order_id bigint not null,
  total numeric not null,
  received_at timestamptz not null default now()
);
alter table public.received_order enable row level security;

create or replace function public.receive_event(p_event_id text, p_body text) returns boolean
language plpgsql security definer set search_path = ''
as $$
declare
  v_event jsonb := p_body::jsonb;
begin
  if not outbox.accept_once('example-consumer', p_event_id) then
    return false;
  end if;
  if v_event ->> 'eventType' = 'order.paid' then
    insert into public.received_order (order_id, total)
    values ((v_event #>> '{data,id}')::bigint, (v_event #>> '{data,total}')::numeric);
  end if;
  return true;
end
$$;
revoke execute on function public.receive_event(text, text) from public, anon, authenticated;
grant execute on function public.receive_event(text, text) to service_role;
