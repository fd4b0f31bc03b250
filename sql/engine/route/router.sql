-- The one row of router. Only the call that holds its lock routes; other calls skip routing.

create function outbox.lock_router() returns outbox.router
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_router outbox.router;
begin
  -- Without the bound, SKIP LOCKED would read all older versions of the row, which are dead.
  select * into v_router from outbox.router r
  where r.turn >= (select n.turn from outbox.router n order by n.turn desc limit 1)
  order by r.turn desc limit 1
  for no key update skip locked;
  return v_router;
end
$$;
comment on function outbox.lock_router() is
  'The state of routing, locked until the transaction or its current block ends; nulls while '
  'another call is routing. locks: router with SKIP LOCKED.';
