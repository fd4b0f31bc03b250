-- Routing calls that timed out. shrink_routing() stores each timeout as a row of routing_timeout.
-- The next call that locks router, which may be the same one, divides the batch size by 8 per row.
-- A batch that succeeds doubles it again, up to the setting route.batch_size. An event that times
-- out alone counts as failed: the third time it waits for a minute, and later for up to 16 minutes.
-- It is set aside until route_again() at the eighth failure.

create function outbox.note_timeouts(p_router outbox.router, p_now timestamptz) returns integer
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_batch integer := p_router.batch;
  v_timeout outbox.routing_timeout;
begin
  for v_timeout in
    delete from outbox.routing_timeout t where t.id > 0 returning t.*
  loop
    if v_timeout.events is null and v_batch = 1 then
      -- Reading the first event took all the time, because of its filters.
      v_timeout.events := outbox.next_unrouted(p_router);
    end if;
    if pg_catalog.cardinality(v_timeout.events) = 1 then
      perform outbox.count_failure(v_timeout.events[1], v_timeout.error, true, p_now);
    end if;
    v_batch := greatest(1, v_batch / 8);
  end loop;
  if v_batch < p_router.batch then
    update outbox.router r set batch = v_batch, turn = r.turn + 1 where r.turn = p_router.turn;
  end if;
  return v_batch;
end
$$;
comment on function outbox.note_timeouts(outbox.router, timestamptz) is
  'Processes the routing calls that timed out: divides the batch size by 8 for each of them, and '
  'returns the batch size. locks: the caller holds router.';

create function outbox.shrink_routing(p_events uuid[], p_error text, p_now timestamptz) returns void
language plpgsql set search_path = ''
as $$
declare
  v_router outbox.router;
begin
  insert into outbox.routing_timeout (events, error) values (p_events, p_error);
  -- The failed step released its lock, and another call may be routing now. Then a later call
  -- processes this timeout.
  v_router := outbox.lock_router();
  if v_router.turn is not null then
    perform outbox.note_timeouts(v_router, p_now);
  end if;
end
$$;
comment on function outbox.shrink_routing(uuid[], text, timestamptz) is
  'After routing timed out: makes the next batches smaller, for all runs. An event that timed out '
  'when it was routed alone counts as failed. p_events: the events that were being '
  'routed; null: the call timed out while it read them. locks: router with SKIP LOCKED.';
