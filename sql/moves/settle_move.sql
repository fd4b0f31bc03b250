-- A change of status counts for a transaction that begins after it. So before the next step, every
-- transaction that was open after the change has to end: a claim may still lease a delivery, and a
-- publisher may still store an event. Then no lease may be left, and after the source is closed no
-- event that waits for routing.

create function outbox.end_lost_leases(p_org_id text, p_now timestamptz) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_endpoints uuid[] := outbox.lock_org_gates(p_org_id);
begin
  perform outbox.record_lost_lease(o.d, p_now)
  from outbox.gate g
  join outbox.lane l on l.gate_id = g.id and l.leased > 0
  cross join lateral (
    select d from outbox.delivery d
    where d.lane_id = l.id and d.lane_id > 0 and d.leased_until <= p_now offset 0
  ) o
  where g.endpoint_id = any (v_endpoints);
  perform outbox.park(v_endpoints, p_now);
end
$$;
comment on function outbox.end_lost_leases(text, timestamptz) is
  'Records the ended leases of an organisation, which no claim does while its endpoints are '
  'paused. locks: the gates of the organisation.';

create function outbox.settle_move(p_org_id text) returns jsonb
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_move outbox.org_move := outbox.check_move(p_org_id,
    array['copying', 'closed', 'moved', 'finished']);
  v_seen constant pg_snapshot := pg_catalog.pg_current_snapshot();
  v_transactions boolean;
  v_unrouted bigint;
  v_leased bigint;
begin
  if v_move.settled_at is null then
    update outbox.org_move m set settled_at = pg_catalog.pg_snapshot_xmax(v_seen)
    where m.org_id = p_org_id;
  end if;
  v_transactions := v_move.settled_at is null
    or pg_catalog.pg_snapshot_xmin(v_seen) < v_move.settled_at;
  if not v_transactions then
    perform outbox.end_lost_leases(p_org_id, outbox.clock());
  end if;
  select coalesce(pg_catalog.sum(l.leased), 0)
  into v_leased
  from outbox.endpoint e
  join outbox.gate g on g.endpoint_id = e.id
  join outbox.lane l on l.gate_id = g.id and l.leased > 0
  where e.org_id = p_org_id and e.status <> 'deleted';
  v_unrouted := (select pg_catalog.count(*) from outbox.unrouted u where u.org_id = p_org_id)
    + (select pg_catalog.count(*) from outbox.unroutable u where u.org_id = p_org_id)
    + (
      select pg_catalog.count(*) from outbox.refusal r
      join outbox.endpoint e on e.id = r.endpoint_id and e.org_id = p_org_id
      where r.step = 'routing' and e.status <> 'deleted');
  return pg_catalog.jsonb_build_object(
    'settled', not v_transactions and v_leased = 0
      and (v_move.status = 'copying' or v_unrouted = 0),
    'transactions', v_transactions, 'leased', v_leased, 'unrouted', v_unrouted);
end
$$;
comment on function outbox.settle_move(text) is
  'Whether the source has settled after its last change of status: {"settled", "transactions": '
  'whether one is open that may not know of it, "leased": deliveries in flight, "unrouted": events '
  'that wait for routing, which counts when the source is closed}. Call it until it has. OH004. '
  'locks: the gates of the organisation.';
