-- The one row of router: whoever holds its lock routes, all others leave it to that call.

create function outbox.lock_router() returns outbox.router
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_router outbox.router;
begin
  -- SKIP LOCKED goes on to older versions, which are all dead: the bound stops it.
  select * into v_router from outbox.router r
  where r.turn >= (select n.turn from outbox.router n order by n.turn desc limit 1)
  order by r.turn desc limit 1
  for no key update skip locked;
  return v_router;
end
$$;
comment on function outbox.lock_router() is
  'Where routing stands, locked until the transaction or its present step ends; nulls while '
  'another call is routing. locks: router with SKIP LOCKED.';
