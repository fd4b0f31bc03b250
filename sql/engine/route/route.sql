-- Routing a batch, so that an event that cannot be routed does not stop any other. The steps of
-- route():
--
--   1 route_events() routes the whole batch in one block; normally that is all.
--   2 If it times out, shrink_routing() in routing_timeout makes the next batches smaller.
--   3 If it fails, route_one_by_one() in refused_event routes each event in its own block.
--   4 If step 3 times out, shrink_routing() does the same. The timeout may interrupt step 1 or step
--     3, which runs in the exception handler of step 1 and so outside of its block.

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
  insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome, error,
    failed_attempts)
  select p.event_id, p.endpoint_id, 0, p_now, 'close',
    case when p.problem is null or p.is_deleted then 'cancelled' else 'filter_error' end,
    coalesce(p.problem, 'the endpoint was deleted'), 0
  from pg_catalog.unnest(p_pairs) p
  -- An endpoint may have been purged since the batch was read.
  where p.problem is not null
    or (
      select g.id from outbox.gate g
      where g.endpoint_id = p.endpoint_id order by g.changed_at desc limit 1
    ) is null;
  perform outbox.count_ended(p.endpoint_id, p.outcome, p.n)
  from (
    select p.endpoint_id, pg_catalog.count(*) as n,
      case when p.is_deleted then 'cancelled' else 'filter_error' end as outcome
    from pg_catalog.unnest(p_pairs) p
    where p.problem is not null
    group by p.endpoint_id, p.is_deleted
  ) p;
end
$$;
comment on function outbox.close_pairs(outbox.pair[], timestamptz) is
  'Writes the closing attempts of pairs without a delivery: filter_error if their filter failed, '
  'cancelled if their endpoint was deleted after the event was published.';

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
  perform outbox.count_event_bytes(p_rows_at, p_now);
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
  'The events that a batch creates deliveries of: the events that it finishes and the event at '
  'the cut.';

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
    if p_batch.turn_orgs is not null then
      perform outbox.remove_done_parts(p_batch);
    end if;
    update outbox.router r set
      turn = r.turn + 1,
      last_org = coalesce(p_batch.turn_of, r.last_org),
      shared_at = case
        when p_batch.is_shared and exists (select from outbox.waiting_part) then p_now
        else r.shared_at
      end,
      watermark = coalesce(p_batch.watermark, r.watermark),
      seen_below = case
        when p_batch.watermark is null then r.seen_below
        else p_batch.seen_below
      end,
      open_xids = case when p_batch.watermark is null then r.open_xids else p_batch.open_xids end,
      batch = least(r.batch * 2, outbox.setting_int('route.batch_size'))
    where r.turn = (select n.turn from outbox.router n order by n.turn desc limit 1);
  exception when query_canceled or assert_failure or others then
    v_error := sqlerrm;
    if outbox.is_timeout(sqlstate) then
      v_late := true;
      perform outbox.shrink_routing(outbox.touched_events(p_batch), v_error, p_now);
    else
      begin
        if not outbox.is_passing(sqlstate) or outbox.may_stay(sqlstate) then
          v_routed := outbox.route_one_by_one(p_batch, p_now);
          if p_batch.turn_orgs is not null then
            perform outbox.remove_done_parts(p_batch);
          end if;
          -- So that the next call does not begin with the same organisation.
          update outbox.router r set
            turn = r.turn + 1,
            last_org = coalesce(p_batch.turn_of, r.last_org)
          where r.turn = (select n.turn from outbox.router n order by n.turn desc limit 1);
        end if;
      exception when query_canceled then
        v_late := true;
        v_error := v_error || '; ' || sqlerrm;
        perform outbox.shrink_routing(outbox.touched_events(p_batch), v_error, p_now);
      end;
    end if;
  end;
  return pg_catalog.jsonb_build_object('routed', v_routed, 'error', v_error, 'out_of_time', v_late);
end
$$;
comment on function outbox.route(outbox.routing, timestamptz) is
  'Routes a batch and returns {"routed": deliveries created, "error": text or null, "out_of_time": '
  'boolean}. If the batch fails, each event is routed alone. locks: the caller holds the gates.';
