-- Longer leases. A run sends an ordered lane one by one, which may take longer than the lease of one
-- delivery; while it lives it asks for more time for what it has not sent yet. So the lane of a run
-- that died waits as long as any other delivery of it, and not once for each row.

create function outbox.renew_leases(
  p_renewals outbox.result[], p_now timestamptz
) returns json
language plpgsql
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see 00_setup.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_lanes bigint[];
  v_renewed json;
begin
  with renewed as (
    -- By ctid: whoever could move the row waits for the gate.
    update outbox.delivery d set leased_until = greatest(d.leased_until, p_now + n.lease)
    from (
      select distinct o.row_at, e.timeout_ms * interval '1 ms' + interval '5 s' as lease
      from pg_catalog.unnest(p_renewals) r
      cross join lateral (
        select o.ctid as row_at, o.lane_id from outbox.delivery o
        where o.event_id = r.event and o.endpoint_id = r.endpoint and o.attempt = r.attempt
          and o.leased_until is not null offset 0
      ) o
      cross join lateral (
        select l.ordered from outbox.lane l
        where l.id = o.lane_id order by l.changed_at desc limit 1
      ) l
      cross join lateral (
        select e.timeout_ms from outbox.endpoint e where e.id = r.endpoint offset 0
      ) e
      where l.ordered
    ) n
    where d.ctid = n.row_at
    returning d.event_id, d.endpoint_id, d.attempt, d.lane_id, n.lease
  )
  select pg_catalog.array_agg(distinct r.lane_id),
    pg_catalog.json_agg(pg_catalog.json_build_object(
      'event', r.event_id, 'endpoint', r.endpoint_id, 'attempt', r.attempt,
      'lease_ms', (extract(epoch from r.lease) * 1000)::integer))
  into v_lanes, v_renewed
  from renewed r;
  -- A result may still be on its way of rows that are leased too: the first lease of all counts.
  update outbox.lane l set
    leased_until = f.ends, next_at = f.ends, changed_at = pg_catalog.date_trunc('second', p_now)
  from pg_catalog.unnest(v_lanes) n
  cross join lateral (
    select o.ctid as lane_at, o.id, o.head_at from outbox.lane o
    where o.id = n order by o.changed_at desc limit 1
  ) o
  cross join lateral (
    select pg_catalog.min(d.leased_until) as ends from (
      select d.leased_until from outbox.delivery d
      where d.lane_id = o.id and d.lane_id > 0 and d.due_at >= o.head_at
      order by d.due_at, d.event_id
      limit 2000
    ) d
    offset 0
  ) f
  where l.ctid = o.lane_at;
  return v_renewed;
end
$$;
comment on function outbox.renew_leases(outbox.result[], timestamptz) is
  'Gives deliveries of ordered lanes whole leases from now: the endpoint''s timeout and 5 s. Each '
  'is named by event, endpoint and attempt; one that is not leased under that attempt is left '
  'out. Returns [{"event", "endpoint", "attempt", "lease_ms"}], or null when there is none. locks: '
  'the caller holds the gates.';
