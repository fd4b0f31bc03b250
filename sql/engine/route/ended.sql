-- Removes the subscriptions that have ended and that routing cannot need any more. Routing needs
-- one while an event that is older than its end may be routed:
--
--   open       a transaction that published the event has not ended. A transaction has its id
--              before its event has its time, or a moment later. So, a minute after the end,
--              open_below becomes a new transaction id, and every such transaction has a smaller
--              one. (pg_snapshot_xmax would be too small: it only follows the last id that ended.)
--   unrouted   the event is not routed yet
--   set aside  route_again() can route the event: only for events of the same organisation

create function outbox.oldest_unrouted(p_router outbox.router) returns timestamptz
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $$
begin
  -- A late event may have any age. The next routing call reads it.
  if exists (select from outbox.unrouted_late(p_router, 1) u) then
    return '-infinity'::timestamptz;
  end if;
  return coalesce(
    least(
      outbox.oldest_waiting(),
      (
        select outbox.uuid_v7_time(u.event_id) from outbox.unrouted u
        where u.event_id > p_router.watermark order by u.event_id limit 1
      )),
    'infinity');
end
$$;
comment on function outbox.oldest_unrouted(outbox.router) is
  'A time such that no event before it is unrouted; infinity if none is. p_router: the status of '
  'routing, or an older one.';

create function outbox.drop_ended_subscriptions(
  p_now timestamptz, p_most integer
) returns integer
language plpgsql security definer
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_task constant text := 'outbox.drop_ended_subscriptions';
  v_table constant regclass := 'outbox.ended_subscription';
  v_router outbox.router := outbox.current_router();
  v_rows tid[];
  v_dropped integer;
begin
  if not exists (select from outbox.ended_subscription s) then
    return 0;
  end if;
  -- One statement, so that all of this is of one time.
  with seen as materialized (
    select pg_catalog.pg_current_snapshot() as now, outbox.oldest_unrouted(v_router) as oldest_at
  )
  select array(
    select o.ctid
    from seen
    cross join outbox.ended_subscription o
    where o.ended_at <= seen.oldest_at
      -- A larger id is of another cluster, from which this database was restored.
      and (o.open_below <= pg_catalog.pg_snapshot_xmin(seen.now)
        or o.open_below > pg_catalog.pg_current_xact_id())
      and not exists (
        select from outbox.unroutable u
        where u.org_id = o.org_id and u.org_id > ''
          and u.event_id < outbox.uuid_v7_floor(o.ended_at + interval '1 ms'))
    limit p_most
    for update of o skip locked)
  into v_rows;
  v_dropped := outbox.change_rows(v_task, v_table,
    'delete from outbox.ended_subscription s where s.ctid = any ($1)', v_rows, p_now, '5 minutes');
  perform outbox.change_rows(v_task, v_table, $update$
      update outbox.ended_subscription s set open_below = pg_catalog.pg_current_xact_id()
      where s.ctid = any ($1)
    $update$,
    array(
      select o.ctid from outbox.ended_subscription o
      where o.open_below is null and o.ended_at < p_now - interval '1 minute'
      limit p_most
      for update skip locked),
    p_now, '5 minutes');
  return v_dropped;
end
$$;
comment on function outbox.drop_ended_subscriptions(timestamptz, integer) is
  'Removes up to p_most ended subscriptions that no event can need any more; returns how many.';
