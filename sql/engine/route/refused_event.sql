-- The events of a batch that failed. route_one_by_one() routes each event in its own block. For an
-- event that fails:
--
--   a  count_failure() counts. The event stays in unrouted, for the next call.
--   b  The third time, route_what_fits() creates the deliveries that the database accepts, and sets
--      the others aside until retry_now().
--   c  If the database accepts none, the event is set aside until route_again().
--
-- An error that is usually temporary but may stay, such as a deadlock in a trigger of the user
-- (may_stay()), sets nothing aside for good the third time. b leaves the refused deliveries to
-- create_waiting(). In c the event waits for a minute and is routed again, then for 2, 4, 8 and 16
-- minutes. Meanwhile neither costs the others anything. Any other temporary error comes from the
-- server and does not count.
--
-- An example: a trigger of the user refuses the delivery of e2 to Q. Calls 1 and 2 route e1 and e3
-- alone and count a failure of e2. Call 3 creates e2's deliveries to P and R and a refusal of e2-Q.

create function outbox.most_failures(p_is_passing boolean) returns integer
language sql immutable set search_path = ''
as $$
  select case when p_is_passing then 8 else 3 end
$$;
comment on function outbox.most_failures(boolean) is
  'How often an event may fail to be routed before it is set aside until route_again().';

create function outbox.count_failure(
  p_event uuid, p_error text, p_is_passing boolean, p_now timestamptz
) returns void
language plpgsql set search_path = ''
as $$
begin
  update outbox.unrouted u set failures = u.failures + 1 where u.event_id = p_event;
  insert into outbox.unroutable as w (
    event_id, error, set_aside_at, routed_to, org_id, failures, again_at)
  select u.event_id, p_error, p_now, u.routed_to, u.org_id, u.failures,
    case
      when u.failures < outbox.most_failures(p_is_passing)
      then p_now + interval '1 minute' * 2 ^ (u.failures - 3)
      else 'infinity'
    end
  from outbox.unrouted u
  where u.event_id = p_event and u.failures >= 3
  on conflict (event_id) do update set
    error = excluded.error, set_aside_at = excluded.set_aside_at, routed_to = excluded.routed_to,
    failures = excluded.failures, again_at = excluded.again_at;
  if found then
    perform outbox.count_up('events', array['set_aside']);
  end if;
  delete from outbox.unrouted u where u.event_id = p_event and u.failures >= 3;
exception when query_canceled or assert_failure or others then
  if outbox.fails_call(sqlstate) then
    raise;
  end if;
  -- The event stays in unrouted, so each call routes it again; all others are routed.
  raise warning 'outbox: event % can neither be routed (%) nor set aside: % %', p_event, p_error,
    sqlstate, sqlerrm;
end
$$;
comment on function outbox.count_failure(uuid, text, boolean, timestamptz) is
  'Counts that an event could not be routed; after the third time it is set aside in unroutable. '
  'p_is_passing: it is routed again later, up to most_failures().';

create type outbox.pairs_apart as (
  added integer,
  refused outbox.pair[],
  sqlstates text[],
  errors text[]
);
comment on type outbox.pairs_apart is
  'How many deliveries were created, and the pairs for which that failed, with the errors.';

create function outbox.add_apart(
  p_pairs outbox.pair[], p_is_passing boolean, p_now timestamptz
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
  exception when query_canceled or assert_failure or others then
    if outbox.fails_call(sqlstate)
      and not (p_is_passing and outbox.may_stay(sqlstate) and not outbox.is_timeout(sqlstate))
    then
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
  v_done := outbox.add_apart(p_pairs[1:v_half], p_is_passing, p_now);
  v_rest := outbox.add_apart(p_pairs[v_half + 1:], p_is_passing, p_now);
  return row(v_done.added + v_rest.added, v_done.refused || v_rest.refused,
    v_done.sqlstates || v_rest.sqlstates, v_done.errors || v_rest.errors)::outbox.pairs_apart;
end
$$;
comment on function outbox.add_apart(outbox.pair[], boolean, timestamptz) is
  'Creates the deliveries of pairs; if the database refuses some, all others are created. '
  'p_is_passing: also if the error may_stay(). locks: the caller holds the gates.';

create function outbox.route_what_fits(
  p_batch outbox.routing, p_event uuid, p_is_passing boolean, p_now timestamptz
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
    or not exists (
      select from outbox.unrouted u
      where u.event_id = p_event and u.failures >= outbox.most_failures(false) - 1)
  then
    return null;
  end if;
  v_done := outbox.add_apart(v_pairs, p_is_passing, p_now);
  if pg_catalog.cardinality(v_done.refused) = pg_catalog.cardinality(v_pairs) then
    return null;
  end if;
  for v_place in 1 .. coalesce(pg_catalog.cardinality(v_done.refused), 0) loop
    perform outbox.note_refusal(p_event, (v_done.refused[v_place]).endpoint_id, 'routing',
      v_done.sqlstates[v_place], v_done.errors[v_place],
      outbox.create_again_at(v_done.sqlstates[v_place], 1, p_now), p_now);
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
comment on function outbox.route_what_fits(outbox.routing, uuid, boolean, timestamptz) is
  'Routes an event at its third failure to the endpoints whose deliveries can be created, sets the '
  'others aside and returns how many deliveries it created; null if the whole event has failed, or '
  'if this is an earlier failure. p_is_passing: errors that may_stay() refuse a delivery too. '
  'locks: the caller holds the gates.';

create function outbox.route_failed(
  p_batch outbox.routing, p_event uuid, p_sqlstate text, p_error text, p_now timestamptz
) returns integer
language plpgsql set search_path = ''
as $$
declare
  v_is_passing boolean := outbox.may_stay(p_sqlstate);
  v_routed integer;
begin
  begin
    v_routed := outbox.route_what_fits(p_batch, p_event, v_is_passing, p_now);
  exception when query_canceled or assert_failure or others then
    if outbox.fails_call(sqlstate) then
      raise;
    end if;
  end;
  if v_routed is null then
    perform outbox.count_failure(p_event, p_error, v_is_passing, p_now);
  end if;
  return coalesce(v_routed, 0);
end
$$;
comment on function outbox.route_failed(outbox.routing, uuid, text, text, timestamptz) is
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
      -- The event at the cut is last, and its row in unrouted stays.
      v_routed := v_routed + outbox.route_events(
        p_batch.rows_at[v_place:v_place],
        array(select p from pg_catalog.unnest(p_batch.pairs) p where p.event_id = v_event), p_now);
      if v_event = p_batch.cut_event then
        update outbox.unrouted u set routed_to = p_batch.cut_endpoint where u.event_id = v_event;
      end if;
    exception when query_canceled or assert_failure or others then
      if outbox.is_timeout(sqlstate) then
        raise;
      elsif not outbox.is_passing(sqlstate) or outbox.may_stay(sqlstate) then
        v_routed := v_routed + outbox.route_failed(p_batch, v_event, sqlstate, sqlerrm, p_now);
      end if;
    end;
  end loop;
  return v_routed;
end
$$;
comment on function outbox.route_one_by_one(outbox.routing, timestamptz) is
  'Routes each event of a failed batch alone, so that all events that can be routed are. An event '
  'with a temporary error of the server is left for the next call. Returns how many deliveries it '
  'created.';

create function outbox.route_again(p_event_id uuid) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_unroutable outbox.unroutable;
begin
  delete from outbox.unroutable u where u.event_id = p_event_id returning u.* into v_unroutable;
  if not found then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('event %s is not set aside',
        pg_catalog.quote_nullable(p_event_id::text)),
      hint = 'select * from outbox.unroutable lists the events that are';
  end if;
  insert into outbox.unrouted (event_id, org_id, routed_to)
  values (p_event_id, v_unroutable.org_id, v_unroutable.routed_to)
  on conflict do nothing;
  perform outbox.note_action(v_unroutable.org_id, 'EVENT', p_event_id::text, 'ROUTED_AGAIN',
    'Event that was set aside routed again');
  return pg_catalog.jsonb_build_object('event_id', p_event_id, 'unrouted', true);
end
$$;
comment on function outbox.route_again(uuid) is
  'Routes an event that was set aside again: {"event_id", "unrouted": true}. OH002: it is not set '
  'aside.';

create function outbox.waiting_events_aside(
  p_now timestamptz, p_most integer, p_each integer
) returns setof outbox.unroutable
language plpgsql stable
set search_path = ''
-- Only one index gives each order. Without these settings, a plan for an empty table might look
-- through the events of all organisations for those of each one.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_found integer;
  v_org text := '';
begin
  return query
  select u.* from outbox.unroutable u
  where u.again_at <= p_now and u.again_at < 'infinity'
  order by u.again_at limit p_most;
  get diagnostics v_found = row_count;
  -- Only if there are so many: one organisation may have them all.
  if v_found < p_most then
    return;
  end if;
  for v_n in 1 .. p_most loop
    select u.org_id into v_org from outbox.unroutable u
    where u.org_id > v_org and u.again_at < 'infinity'
    order by u.org_id, u.again_at limit 1;
    exit when not found;
    return query
    select u.*
    from (
      select o.* from outbox.unroutable o
      where (o.org_id, o.again_at) >= (v_org, '-infinity') and o.org_id <= v_org
        and o.again_at < 'infinity'
      order by o.org_id, o.again_at limit p_each
    ) u
    -- Not in the scan: it would go on to the end of the organisation.
    where u.again_at <= p_now;
  end loop;
end
$$;
comment on function outbox.waiting_events_aside(timestamptz, integer, integer) is
  'The p_most events set aside for a while that have waited longest. If there are so many, also '
  'the first p_each of each organisation, of up to p_most organisations; some then come twice.';

create function outbox.route_waiting(p_now timestamptz, p_most integer) returns integer
language plpgsql
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_oldest constant integer := 5000;
  v_of_each constant integer := 10;
  v_next uuid[];
  v_moved integer;
begin
  v_next := array(
    select w.event_id
    from (
      select distinct u.event_id, u.org_id, u.again_at
      from outbox.waiting_events_aside(p_now, v_oldest, v_of_each) u
    ) w
    order by
      pg_catalog.row_number() over (partition by w.org_id order by w.again_at, w.event_id),
      w.again_at
    limit p_most);
  if pg_catalog.cardinality(v_next) = 0 then
    return 0;
  end if;
  with due as (
    delete from outbox.unroutable u where u.ctid = any (array(
      select o.ctid from outbox.unroutable o
      where o.event_id = any (v_next) and o.again_at <= p_now
      for update skip locked))
    returning u.event_id, u.org_id, u.routed_to, u.failures
  )
  insert into outbox.unrouted (event_id, org_id, routed_to, failures)
  select d.event_id, d.org_id, d.routed_to, d.failures from due d
  on conflict do nothing;
  get diagnostics v_moved = row_count;
  return v_moved;
end
$$;
comment on function outbox.route_waiting(timestamptz, integer) is
  'Routes events again that were set aside for a while; returns how many. Organisations take turns '
  'among the 5,000 that have waited longest and the first 10 of each organisation.';
