-- Routing a batch, so that an event that cannot be routed does not stop any other. The steps of
-- route():
--
--   1 route_events() routes the whole batch in one block; normally that is all.
--   2 If it times out, shrink_routing() makes the next batches smaller.
--   3 If it fails, route_one_by_one() routes each event in its own block. For an event that fails:
--     a  count_failure() counts. The event stays in unrouted, for the next call.
--     b  The third time, route_what_fits() creates the deliveries that the database accepts, and
--        sets the others aside until retry_now().
--     c  If it accepts none, the event is set aside until route_again().
--   4 If step 3 times out, as step 2. The statement timeout may end both: a handler is not part of
--     the block that it belongs to.
--
-- An example: a trigger of the user refuses the delivery of e2 to Q. Calls 1 and 2 route e1 and e3
-- alone and count a failure of e2. Call 3 creates e2's deliveries to P and R and a refusal of e2-Q.

create function outbox.count_failure(p_event uuid, p_error text, p_now timestamptz) returns void
language plpgsql set search_path = ''
as $$
begin
  update outbox.unrouted u set failures = u.failures + 1 where u.event_id = p_event;
  insert into outbox.unroutable (event_id, error, set_aside_at, routed_to)
  select u.event_id, p_error, p_now, u.routed_to from outbox.unrouted u
  where u.event_id = p_event and u.failures >= 3
  on conflict (event_id) do update set
    error = excluded.error, set_aside_at = excluded.set_aside_at, routed_to = excluded.routed_to;
  if found then
    perform outbox.count_up('events', array['set_aside']);
  end if;
  delete from outbox.unrouted u where u.event_id = p_event and u.failures >= 3;
exception when others then
  if outbox.is_passing(sqlstate) then
    raise;
  end if;
  -- The event stays unrouted, and each call tries it again; all others are routed.
  raise warning 'outbox: event % cannot be routed (%), nor set aside: % %', p_event, p_error,
    sqlstate, sqlerrm;
end
$$;
comment on function outbox.count_failure(uuid, text, timestamptz) is
  'Counts that an event could not be routed; after the third time it is set aside in unroutable.';

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
      perform outbox.count_failure(v_timeout.events[1], v_timeout.error, p_now);
    end if;
    v_batch := greatest(1, v_batch / 8);
  end loop;
  if v_batch < p_router.batch then
    update outbox.router r set batch = v_batch where r.turn = p_router.turn;
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
  'After routing timed out: makes the batches of the next calls of any run smaller. An event that '
  'was routed alone and took all the time counts as failed. p_events: the events that were being '
  'routed; null: the call timed out while it read them. locks: router with SKIP LOCKED.';

create function outbox.had_subscribers(p_event uuid) returns boolean
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return exists (select from outbox.delivery d where d.event_id = p_event)
    or exists (select from outbox.attempt a where a.event_id = p_event);
end
$$;
comment on function outbox.had_subscribers(uuid) is
  'Whether an event that earlier calls have partly routed had a subscriber.';

create function outbox.close_pairs(p_pairs outbox.pair[], p_now timestamptz) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $$
begin
  insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome, error)
  select p.event_id, p.endpoint_id, 0, p_now, 'close',
    case when p.problem is null then 'cancelled' else 'filter_error' end,
    coalesce(p.problem, 'the endpoint was deleted')
  from pg_catalog.unnest(p_pairs) p
  -- An endpoint may have been purged since the batch was read.
  where p.problem is not null
    or (
      select g.id from outbox.gate g
      where g.endpoint_id = p.endpoint_id order by g.changed_at desc limit 1
    ) is null;
  perform outbox.count_ended(p.endpoint_id, 'filter_error', p.n)
  from (
    select p.endpoint_id, pg_catalog.count(*) as n
    from pg_catalog.unnest(p_pairs) p
    where p.problem is not null
    group by p.endpoint_id
  ) p;
end
$$;
comment on function outbox.close_pairs(outbox.pair[], timestamptz) is
  'Writes the closing attempts of pairs without a delivery, because their filter failed or their '
  'endpoint is deleted.';

create function outbox.route_events(
  p_rows_at tid[], p_pairs outbox.pair[], p_now timestamptz
) returns integer
language plpgsql
set search_path = ''
-- Hash joins: nested loops take 75 ms for 1,000 events and 1,000 pairs.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = on
set enable_nestloop = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_added integer := 0;
  v_unwanted uuid[];
begin
  if pg_catalog.cardinality(p_pairs) > 0 then
    if exists (select from pg_catalog.unnest(p_pairs) p where p.problem is not null) then
      v_added := outbox.add_deliveries(
        array(select p from pg_catalog.unnest(p_pairs) p where p.problem is null), p_now);
    else
      v_added := outbox.add_deliveries(p_pairs, p_now);
    end if;
    if v_added < pg_catalog.cardinality(p_pairs) then
      perform outbox.close_pairs(p_pairs, p_now);
    end if;
    perform outbox.count_up('created', '{}', v_added);
  end if;
  -- By ctid: only the holder of the lock of router changes these rows.
  with done as (
    delete from outbox.unrouted u
    where u.ctid = any (p_rows_at)
    returning u.event_id, u.routed_to
  )
  select pg_catalog.array_agg(d.event_id)
  into v_unwanted
  from done d
  where not exists (select from pg_catalog.unnest(p_pairs) p where p.event_id = d.event_id)
    and (d.routed_to is null or not outbox.had_subscribers(d.event_id));
  perform outbox.count_up('events', array['routed'],
    pg_catalog.cardinality(p_rows_at) - coalesce(pg_catalog.cardinality(v_unwanted), 0));
  if v_unwanted is not null then
    perform outbox.count_up('events', array['no_subscriber'], pg_catalog.cardinality(v_unwanted));
    insert into outbox.attempt (event_id, attempt, at, kind, outcome)
    select u.id, 0, p_now, 'close', 'no_subscriber' from pg_catalog.unnest(v_unwanted) as u (id);
  end if;
  return v_added;
end
$$;
comment on function outbox.route_events(tid[], outbox.pair[], timestamptz) is
  'Creates the deliveries and finishes the events. An event without a subscriber and a pair whose '
  'filter failed get a closing attempt. Returns how many deliveries it created.';

create function outbox.touched_events(p_batch outbox.routing) returns uuid[]
language sql immutable set search_path = ''
as $$
  select case
    when p_batch.cut_event is null then p_batch.events
    else p_batch.events || p_batch.cut_event
  end
$$;
comment on function outbox.touched_events(outbox.routing) is
  'The events that a batch creates deliveries of: those that it finishes and the one that it cuts.';

create type outbox.pairs_apart as (
  added integer,
  refused outbox.pair[],
  sqlstates text[],
  errors text[]
);
comment on type outbox.pairs_apart is
  'How many deliveries were created, and the pairs for which that failed, with the errors.';

create function outbox.add_apart(
  p_pairs outbox.pair[], p_now timestamptz
) returns outbox.pairs_apart
language plpgsql set search_path = ''
as $$
declare
  v_done outbox.pairs_apart;
  v_rest outbox.pairs_apart;
  v_half integer := pg_catalog.cardinality(p_pairs) / 2;
begin
  begin
    v_done.added := outbox.route_events('{}', p_pairs, p_now);
    return v_done;
  exception when others then
    if outbox.is_passing(sqlstate) then
      raise;
    end if;
    v_done.sqlstates := array[sqlstate];
    v_done.errors := array[sqlerrm];
  end;
  if v_half = 0 then
    v_done.added := 0;
    v_done.refused := p_pairs;
    return v_done;
  end if;
  v_done := outbox.add_apart(p_pairs[1:v_half], p_now);
  v_rest := outbox.add_apart(p_pairs[v_half + 1:], p_now);
  return row(v_done.added + v_rest.added, v_done.refused || v_rest.refused,
    v_done.sqlstates || v_rest.sqlstates, v_done.errors || v_rest.errors)::outbox.pairs_apart;
end
$$;
comment on function outbox.add_apart(outbox.pair[], timestamptz) is
  'Creates the deliveries of pairs; if the database refuses some, all others are created. locks: '
  'the caller holds the gates.';

create function outbox.route_what_fits(
  p_batch outbox.routing, p_event uuid, p_now timestamptz
) returns integer
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_pairs outbox.pair[] := array(
    select p from pg_catalog.unnest(p_batch.pairs) p where p.event_id = p_event);
  v_done outbox.pairs_apart;
begin
  -- Only from the third failure on, and only if there are several endpoints.
  if pg_catalog.cardinality(v_pairs) < 2
    or not exists (select from outbox.unrouted u where u.event_id = p_event and u.failures >= 2)
  then
    return null;
  end if;
  v_done := outbox.add_apart(v_pairs, p_now);
  if pg_catalog.cardinality(v_done.refused) = pg_catalog.cardinality(v_pairs) then
    return null;
  end if;
  for v_place in 1 .. coalesce(pg_catalog.cardinality(v_done.refused), 0) loop
    perform outbox.note_refusal(p_event, (v_done.refused[v_place]).endpoint_id, 'routing',
      v_done.sqlstates[v_place], v_done.errors[v_place], 'infinity', p_now);
  end loop;
  if p_event = p_batch.cut_event then
    update outbox.unrouted u set routed_to = p_batch.cut_endpoint, failures = 0
    where u.event_id = p_event;
  else
    delete from outbox.unrouted u where u.event_id = p_event;
    perform outbox.count_up('events', array['routed']);
  end if;
  return v_done.added;
end
$$;
comment on function outbox.route_what_fits(outbox.routing, uuid, timestamptz) is
  'Routes an event that has failed twice to the endpoints whose deliveries can be created, sets '
  'the others aside and returns how many deliveries it created; null if the whole event has '
  'failed. locks: the caller holds the gates.';

create function outbox.route_failed(
  p_batch outbox.routing, p_event uuid, p_error text, p_now timestamptz
) returns integer
language plpgsql set search_path = ''
as $$
declare
  v_routed integer;
begin
  begin
    v_routed := outbox.route_what_fits(p_batch, p_event, p_now);
  exception when others then
    if outbox.is_passing(sqlstate) then
      raise;
    end if;
  end;
  if v_routed is null then
    perform outbox.count_failure(p_event, p_error, p_now);
  end if;
  return coalesce(v_routed, 0);
end
$$;
comment on function outbox.route_failed(outbox.routing, uuid, text, timestamptz) is
  'Handles an event that could not be routed to all its endpoints; returns how many deliveries '
  'were created anyway. locks: the caller holds the gates.';

create function outbox.route_one_by_one(p_batch outbox.routing, p_now timestamptz) returns integer
language plpgsql set search_path = ''
as $$
declare
  v_events uuid[] := outbox.touched_events(p_batch);
  v_event uuid;
  v_routed integer := 0;
begin
  for v_place in 1 .. pg_catalog.cardinality(v_events) loop
    v_event := v_events[v_place];
    begin
      -- The event that the batch cuts is last and has no row to delete.
      v_routed := v_routed + outbox.route_events(
        p_batch.rows_at[v_place:v_place],
        array(select p from pg_catalog.unnest(p_batch.pairs) p where p.event_id = v_event), p_now);
      if v_event = p_batch.cut_event then
        update outbox.unrouted u set routed_to = p_batch.cut_endpoint where u.event_id = v_event;
      end if;
    exception when others then
      if not outbox.is_passing(sqlstate) then
        v_routed := v_routed + outbox.route_failed(p_batch, v_event, sqlerrm, p_now);
      end if;
    end;
  end loop;
  return v_routed;
end
$$;
comment on function outbox.route_one_by_one(outbox.routing, timestamptz) is
  'Routes each event of a failed batch alone, so that all events that can be routed are. An event '
  'with a temporary error is left for the next call. Returns how many deliveries it created.';

create function outbox.route(p_batch outbox.routing, p_now timestamptz) returns jsonb
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_routed integer := 0;
  v_error text;
  v_late boolean := false;
begin
  begin
    v_routed := outbox.route_events(p_batch.rows_at, p_batch.pairs, p_now);
    if p_batch.cut_event is not null then
      update outbox.unrouted u set routed_to = p_batch.cut_endpoint
      where u.event_id = p_batch.cut_event;
    end if;
    update outbox.router r set
      turn = r.turn + 1,
      watermark = coalesce(p_batch.watermark, r.watermark),
      seen_below = case
        when p_batch.watermark is null then r.seen_below
        else p_batch.seen_below
      end,
      open_xids = case when p_batch.watermark is null then r.open_xids else p_batch.open_xids end,
      batch = least(r.batch * 2, outbox.setting_int('route.batch_size'))
    where r.turn = (select n.turn from outbox.router n order by n.turn desc limit 1);
  exception
    when query_canceled then
      v_error := sqlerrm;
      v_late := true;
      perform outbox.shrink_routing(outbox.touched_events(p_batch), v_error, p_now);
    when others then
      v_error := sqlerrm;
      begin
        if not outbox.is_passing(sqlstate) then
          v_routed := outbox.route_one_by_one(p_batch, p_now);
        end if;
      exception when query_canceled then
        v_late := true;
        v_error := v_error || '; ' || sqlerrm;
        perform outbox.shrink_routing(outbox.touched_events(p_batch), v_error, p_now);
      end;
  end;
  return pg_catalog.jsonb_build_object('routed', v_routed, 'error', v_error, 'out_of_time', v_late);
end
$$;
comment on function outbox.route(outbox.routing, timestamptz) is
  'Routes a batch and returns {"routed": deliveries created, "error": text or null, "out_of_time": '
  'boolean}. If the batch fails, each event is routed alone. locks: the caller holds the gates.';

create function outbox.route_again(p_event_id uuid) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_routed_to uuid;
begin
  delete from outbox.unroutable u where u.event_id = p_event_id
  returning u.routed_to into v_routed_to;
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('event %s is not set aside',
        pg_catalog.quote_nullable(p_event_id::text)),
      hint = 'select * from outbox.unroutable lists the events that are';
  end if;
  insert into outbox.unrouted (event_id, routed_to)
  values (p_event_id, v_routed_to)
  on conflict do nothing;
  return pg_catalog.jsonb_build_object('event_id', p_event_id, 'unrouted', true);
end
$$;
comment on function outbox.route_again(uuid) is
  'Routes an event that was set aside again: {"event_id", "unrouted": true}. OH002: it is not set '
  'aside.';
