-- A change of status counts for a transaction that begins after it. So before the next step, every
-- transaction that was open after the change has to end: a claim may still lease a delivery, and a
-- publisher may still store an event. Then no lease may be left, and after the source is closed no
-- event that waits for routing.
--
-- A transaction is open if one of these is true:
--
--   it has an id    settled_at is an id that was given after the change, so every older transaction
--                   has a smaller one. (pg_snapshot_xmax would be too small: it only follows the
--                   last id that ended.)
--   it has none     a statement gets its id at its first insert, after its snapshot, and a
--                   transaction with REPEATABLE READ keeps its first snapshot. Both hold xmin.

create function outbox.older_sessions(p_below xid8) returns integer[]
language plpgsql stable set search_path = ''
as $$
begin
  return array(
    select a.pid from pg_catalog.pg_stat_activity a
    where a.datname = pg_catalog.current_database() and a.pid <> pg_catalog.pg_backend_pid()
      and a.backend_type not in ('autovacuum worker', 'walsender')
      -- A snapshot of the moment at which the id was given has it as xmin.
      and (pg_catalog.age(a.backend_xmin) >= pg_catalog.age(p_below::xid)
        or pg_catalog.age(a.backend_xid) > pg_catalog.age(p_below::xid))
    order by a.pid
    limit 10);
end
$$;
comment on function outbox.older_sessions(xid8) is
  'The process ids of up to 10 sessions with a snapshot or a transaction from before this '
  'transaction id. Sessions of other roles are seen by a superuser or with pg_read_all_stats.';

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
    select f.d
    from (
      -- Leased rows are at the head of their lane: see record_lost_leases().
      select d, d.leased_until from outbox.delivery d
      where d.lane_id = l.id and d.lane_id > 0 and d.due_at >= l.head_at
      order by d.due_at, d.event_id
      limit 2000
    ) f
    where f.leased_until <= p_now
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
  v_id constant xid8 := pg_catalog.pg_current_xact_id();
  v_pids integer[];
  v_transactions boolean;
  v_unrouted bigint;
  v_leased bigint;
begin
  -- A larger id is of another cluster, from which this database was restored.
  if v_move.settled_at is null or v_move.settled_at > v_id then
    v_move.settled_at := v_id;
    update outbox.org_move m set settled_at = v_id where m.org_id = p_org_id;
  end if;
  v_pids := outbox.older_sessions(v_move.settled_at);
  v_transactions := v_move.settled_at = v_id or pg_catalog.cardinality(v_pids) > 0
    -- Also a prepared transaction, which has no session.
    or pg_catalog.pg_snapshot_xmin(pg_catalog.pg_current_snapshot()) < v_move.settled_at;
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
    'transactions', v_transactions, 'pids', v_pids, 'leased', v_leased, 'unrouted', v_unrouted);
end
$$;
comment on function outbox.settle_move(text) is
  'Whether the source has settled after its last change of status: {"settled", "transactions": '
  'whether one is open that may not know of it, "pids": the sessions that have one, "leased": '
  'deliveries in flight, "unrouted": events that wait for routing, which counts when the source is '
  'closed}. Call it until it has. OH004. locks: the gates of the organisation.';
