-- Recording outcomes. A result counts only while the lease of that very attempt stands: attempt is the
-- fencing token, so a late or repeated result finds nothing, changes nothing and is counted as stale.
-- The caller holds the gates of all the endpoints concerned.

create type outbox.result as (
  event uuid,
  endpoint uuid,
  attempt integer,
  outcome text,
  status integer,
  error_class text,
  error text,
  retry_after text,
  duration_ms integer,
  response text,
  lossy boolean
);
comment on type outbox.result is
  'What a run reports of one delivery: outcome is delivered, failed or released (given back unsent).';

create function outbox.complete(p_results outbox.result[], p_now timestamptz) returns integer
language plpgsql
set search_path = '' set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_applied integer;
  v_empty bigint[];
begin
  with judged as materialized (
    -- What each result means: the delivery is gone (delivered, or dead), free again (released), or
    -- waits for its retry. tries counts this one.
    select d.ctid as row_at, d.event_id, d.endpoint_id, d.attempt, d.tries + (r.outcome <> 'released')::integer as tries,
      d.lane_id, l.ordered, l.gate_id, l.head_at,
      r.outcome, r.status, r.error_class, r.error, r.duration_ms, r.response, r.lossy, r.place, p.retryable, v.dead,
      case when r.outcome = 'failed' and not v.dead then p_now + outbox.calculate_delay(p.policy, d.tries + 1) end as retry_at
    from (
      select distinct on (u.event, u.endpoint) u.*
      from pg_catalog.unnest(p_results) with ordinality
        as u (event, endpoint, attempt, outcome, status, error_class, error, retry_after, duration_ms, response, lossy, place)
      where u.outcome in ('delivered', 'failed', 'released')
      order by u.event, u.endpoint, u.place
    ) r
    join outbox.delivery d on d.event_id = r.event and d.endpoint_id = r.endpoint and d.attempt = r.attempt and d.leased_until is not null
    join outbox.lane l on l.id = d.lane_id
    join outbox.endpoint e on e.id = d.endpoint_id
    cross join lateral (
      select coalesce(e.retry, outbox.retry_preset(e.kind)) as policy, outbox.is_retryable(e.kind, r.status, r.error_class) as retryable
    ) p
    cross join lateral (
      select r.outcome = 'failed' and (not p.retryable or d.tries >= coalesce((p.policy ->> 'max_retries')::integer, 5)) as dead
    ) v
  ), gone as (
    -- By ctid: whoever could move the row waits for the gate.
    delete from outbox.delivery d using judged j where d.ctid = j.row_at and (j.outcome = 'delivered' or j.dead)
  ), kept as (
    -- An ordered lane keeps its order: the lane waits for the retry, the row stays where it is.
    update outbox.delivery d set leased_until = null, tries = j.tries,
      due_at = case when j.retry_at is null or j.ordered then d.due_at else greatest(j.retry_at, j.head_at) end
    from judged j where d.ctid = j.row_at and j.outcome <> 'delivered' and not j.dead
  ), receipt as (
    insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome, status, error_class, error, duration_ms, response, response_lossy, next_retry_at)
    select j.event_id, j.endpoint_id, j.attempt, p_now, 'try', j.outcome, j.status, j.error_class, j.error, j.duration_ms, j.response, j.lossy, j.retry_at
    from judged j where j.outcome <> 'released'
    union all
    select j.event_id, j.endpoint_id, j.attempt, p_now, 'close', 'dead_letter', j.status, j.error_class, j.error, null, null, null, null
    from judged j where j.dead
  ), buried as (
    insert into outbox.dead_letter (id, event_id, endpoint_id, org_id, original_topic, original_message, error, retry_count, failed_at,
      correlation_id, attempt, partition_key, idempotency_key, traceparent, event_created_at, why)
    select outbox.uuid_v7(p_now), e.id, j.endpoint_id, e.org_id, e.type, e.body, coalesce(j.error, j.error_class, 'failed'), j.tries, p_now,
      coalesce(e.correlation_id, e.id::text), j.attempt, e.partition_key, e.idempotency_key, e.traceparent, e.created_at,
      case when j.retryable then 'retries_exhausted' else 'not_retryable' end
    from judged j join outbox.event e on e.id = j.event_id
    where j.dead
    on conflict (event_id, endpoint_id) do nothing
  ), by_lane as materialized (
    select j.lane_id, j.gate_id, j.ordered, pg_catalog.count(*)::integer as ended,
      pg_catalog.count(*) filter (where j.outcome = 'delivered' or j.dead)::integer as gone,
      pg_catalog.min(case when j.outcome = 'released' then p_now else j.retry_at end) as back_at,
      pg_catalog.max(j.retry_at) as retry_at,
      (pg_catalog.array_agg(j.outcome = 'failed' and j.error_class is not distinct from 'timeout' order by j.place desc)
        filter (where j.outcome <> 'released'))[1] as timed_out
    from judged j group by j.lane_id, j.gate_id, j.ordered
  ), lanes as (
    update outbox.lane l set
      leased = l.leased - b.ended,
      leased_until = case when l.leased > b.ended then l.leased_until end,
      depth = l.depth - b.gone,
      not_before = case when b.ordered then coalesce(b.retry_at, l.not_before) else l.not_before end,
      next_at = case
        when l.depth = b.gone then 'infinity'
        when not b.ordered then least(l.next_at, b.back_at)
        when l.leased > b.ended then l.next_at
        else greatest(coalesce(b.retry_at, l.not_before), p_now)
      end
    from by_lane b where l.id = b.lane_id
    returning l.id, b.gate_id, b.gone, b.timed_out, case when b.ordered then (l.leased = 0)::integer else b.ended end as slots,
      b.ordered and l.leased = 0 and l.depth = 0 as empty
  ), gates as (
    update outbox.gate g set in_flight = g.in_flight - b.slots, depth = g.depth - b.gone,
      last_timed_out = coalesce(b.timed_out, g.last_timed_out)
    from (
      select l.gate_id, pg_catalog.sum(l.gone) as gone, pg_catalog.sum(l.slots) as slots, pg_catalog.bool_or(l.timed_out) as timed_out
      from lanes l group by l.gate_id
    ) b where g.id = b.gate_id
  )
  select (select pg_catalog.count(*) from judged), (select pg_catalog.array_agg(l.id) from lanes l where l.empty) into v_applied, v_empty;
  if v_empty is not null then
    delete from outbox.lane l where l.id = any (v_empty) and l.not_before <= p_now;
  end if;
  return v_applied;
end
$$;
comment on function outbox.complete(outbox.result[], timestamptz) is
  'Applies results to the deliveries whose lease they hold, writes their receipts, and returns how many applied; the rest are stale. locks: the caller holds the gates.';

create function outbox.park(p_endpoint_ids uuid[], p_now timestamptz) returns void
language plpgsql
set search_path = '' set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set jit = off set plan_cache_mode = force_generic_plan
as $$
begin
  update outbox.gate g set next_at = n.next_at
  from outbox.gate o
  join outbox.endpoint e on e.id = o.endpoint_id
  cross join lateral (
    select greatest(o.not_before, case
      when o.depth = 0 then 'infinity'
      when e.state <> 'enabled' then p_now + interval '5 s'
      when o.in_flight >= case when o.last_timed_out then 1 else e.max_in_flight end then coalesce(
        (select pg_catalog.min(l.leased_until) from outbox.lane l where l.gate_id = o.id and not l.ordered and l.leased > 0),
        (select l.next_at from outbox.lane l where l.gate_id = o.id and l.next_at > p_now and l.next_at < 'infinity' order by l.next_at limit 1),
        p_now + interval '1 s')
      else coalesce((select l.next_at from outbox.lane l where l.gate_id = o.id and l.next_at < 'infinity' order by l.next_at limit 1), 'infinity')
    end) as next_at
  ) n
  where o.endpoint_id = any (p_endpoint_ids) and g.id = o.id and g.next_at is distinct from n.next_at;
end
$$;
comment on function outbox.park(uuid[], timestamptz) is
  'Puts gates at their place in the ring: when their first lane is due, when a lease ends if they are full, never if nothing is open. locks: the caller holds the gates.';
