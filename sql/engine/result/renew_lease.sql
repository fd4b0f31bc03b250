-- Renewed leases. A run sends the deliveries of an ordered lane one by one, which may take longer
-- than one lease. While it is alive, it requests a new lease in time. So if a run dies, its lane
-- waits for one lease, not for one per delivery that the run had claimed.

create function outbox.renew_leases(
  p_renewals outbox.result[], p_now timestamptz
) returns json
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
  v_renewed json;
begin
  with asked as materialized (
    select r.event, r.endpoint, r.attempt, o.lane_id, l.lane_at, l.head_at, l.leased, e.lease,
      greatest(l.leased_until, p_now + e.lease) as ends
    from (
      select distinct u.event, u.endpoint, u.attempt from pg_catalog.unnest(p_renewals) u
    ) r
    cross join lateral (
      select o.lane_id from outbox.delivery o
      where o.event_id = r.event and o.endpoint_id = r.endpoint and o.attempt = r.attempt
        and o.leased_until is not null offset 0
    ) o
    cross join lateral (
      select l.ctid as lane_at, l.* from outbox.lane l
      where l.id = o.lane_id order by l.changed_at desc limit 1
    ) l
    cross join lateral (
      select e.timeout_ms * interval '1 ms' + interval '5 s' as lease, e.status
      from outbox.endpoint e where e.id = r.endpoint offset 0
    ) e
    -- No new lease if the old one has ended, maybe while this call waited for its gates: an
    -- operator may have changed a row of the lane since. And none for an endpoint that is paused,
    -- disabled or deleted: its lane may have hundreds of rows to send.
    where l.ordered and e.status = 'enabled'
      and l.leased_until > greatest(p_now, outbox.clock())
  ), of_lane as materialized (
    select distinct a.lane_id, a.lane_at, a.head_at, a.leased, a.ends from asked a
  ), lanes as (
    update outbox.lane l set
      leased_until = a.ends, next_at = a.ends, changed_at = pg_catalog.date_trunc('second', p_now)
    from of_lane a
    where l.ctid = a.lane_at
  ), held as (
    -- All leases of the lane, which belong to one run, must end together: otherwise the lane would
    -- be due while some of its rows are leased. By ctid: only the holder of the gate's lock may
    -- move the row.
    update outbox.delivery d set leased_until = a.ends
    from of_lane a
    cross join lateral (
      select o.ctid as row_at from outbox.delivery o
      where o.lane_id = a.lane_id and o.lane_id > 0 and o.due_at >= a.head_at
        and o.leased_until is not null
      order by o.due_at, o.event_id
      limit a.leased
    ) o
    where d.ctid = o.row_at
  )
  select pg_catalog.json_agg(
    pg_catalog.json_build_object(
      'event', a.event, 'endpoint', a.endpoint, 'attempt', a.attempt,
      'lease_ms', (extract(epoch from a.lease) * 1000)::integer)
    order by a.event, a.endpoint)
  into v_renewed
  from asked a;
  return v_renewed;
end
$$;
comment on function outbox.renew_leases(outbox.result[], timestamptz) is
  'Gives ordered lanes of enabled endpoints a new lease from now: the timeout and 5 s. A renewal '
  'names a lane by one of its deliveries (event, endpoint, attempt) whose lease has not ended, and '
  'renews all leases of the lane. Returns [{"event", "endpoint", "attempt", "lease_ms"}] of the '
  'renewals that applied; null if none did. locks: the caller holds the gates.';

create function outbox.renew_apart(
  p_renewals outbox.result[], p_now timestamptz
) returns json
language plpgsql set search_path = ''
as $$
declare
  v_half integer := pg_catalog.cardinality(p_renewals) / 2;
begin
  begin
    return outbox.renew_leases(p_renewals, p_now);
  exception when query_canceled or assert_failure or others then
    if outbox.fails_call(sqlstate) then
      raise;
    end if;
  end;
  if v_half = 0 then
    return null;
  end if;
  return nullif(
    coalesce(outbox.renew_apart(p_renewals[1:v_half], p_now)::jsonb, '[]')
      || coalesce(outbox.renew_apart(p_renewals[v_half + 1:], p_now)::jsonb, '[]'),
    '[]')::json;
end
$$;
comment on function outbox.renew_apart(outbox.result[], timestamptz) is
  'As renew_leases(); if the database refuses to renew the lease of one lane, that lane keeps its '
  'old lease and all others are renewed. locks: the caller holds the gates.';
