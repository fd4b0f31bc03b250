-- Removes the rows of deleted endpoints in batches. A delivery in flight is removed after its
-- lease. Neither a delivery nor a lane that another session has locked is waited for: it stays for
-- a later tick, and all others are removed. An endpoint waits for any other lock for 500 ms: that
-- of its secrets, of a row of a module, or of what a trigger of the user needs. After such a wait
-- its deliveries are tried in smaller and smaller parts, each of which waits for 20 ms. So all that
-- need no such lock are removed. After 2 s no part begins, and the rest stays for a later tick. A
-- delivery that the database refuses to remove is recorded in refusal, and tried again after all
-- others.

create function outbox.purge_rows(
  p_endpoint_id uuid, p_gate_id bigint, p_rows tid[], p_why text, p_now timestamptz
) returns integer
language plpgsql set search_path = ''
as $$
declare
  v_purged integer;
begin
  with deleted as (
    delete from outbox.delivery d
    where d.ctid = any (p_rows)
    returning d.lane_id, d.leased_until is not null as held, d.event_id, d.attempt,
      d.failed_attempts
  ), attempt as (
    insert into outbox.attempt (event_id, endpoint_id, attempt, at, kind, outcome, error,
      failed_attempts)
    select g.event_id, p_endpoint_id, g.attempt, p_now, 'close', 'cancelled',
      p_why, g.failed_attempts
    from deleted g
  ), lanes as (
    update outbox.lane l set depth = l.depth - b.n, leased = l.leased - b.held
    from (
      select g.lane_id, pg_catalog.count(*) as n,
        pg_catalog.count(*) filter (where g.held)::integer as held
      from deleted g
      group by g.lane_id
    ) b
    where l.id = b.lane_id
    returning b.n,
      case when l.ordered then (l.leased = 0 and b.held > 0)::integer else b.held end as slots
  )
  update outbox.gate g set depth = g.depth - s.n, in_flight = g.in_flight - s.slots
  from (select pg_catalog.sum(l.n) as n, pg_catalog.sum(l.slots) as slots from lanes l) s
  where g.id = p_gate_id and s.n is not null
  returning s.n into v_purged;
  perform outbox.count_ended(p_endpoint_id, 'cancelled', v_purged);
  return coalesce(v_purged, 0);
end
$$;
comment on function outbox.purge_rows(uuid, bigint, tid[], text, timestamptz) is
  'Cancels deliveries of an endpoint that was deleted or has moved; returns how many. p_why: the '
  'error of their last attempt. locks: the caller holds the gate.';

create function outbox.purge_apart(
  p_endpoint_id uuid, p_gate_id bigint, p_rows tid[], p_now timestamptz, p_until timestamptz
) returns integer
language plpgsql set search_path = ''
as $$
declare
  v_half integer := pg_catalog.cardinality(p_rows) / 2;
  v_delivery outbox.delivery;
  v_sqlstate text;
begin
  -- Each part may wait for a lock, and the other work of the tick with it.
  if pg_catalog.clock_timestamp() >= p_until then
    return 0;
  end if;
  begin
    return outbox.purge_rows(p_endpoint_id, p_gate_id, p_rows, 'the endpoint was deleted', p_now);
  exception when query_canceled or assert_failure or others then
    if outbox.fails_upkeep(sqlstate) or outbox.is_timeout(sqlstate) then
      raise;
    end if;
    if v_half = 0 then
      select * into v_delivery from outbox.delivery d where d.ctid = p_rows[1];
      perform outbox.refuse_upkeep('outbox.purge_deleted', 'deleted endpoint ' || p_endpoint_id,
        sqlstate, pg_catalog.format('event %s: %s', v_delivery.event_id, sqlerrm), '5 minutes');
      perform outbox.refuse_expiry(v_delivery, sqlstate, sqlerrm, p_now);
      return 0;
    end if;
    v_sqlstate := sqlstate;
  end;
  if v_sqlstate = '55P03' then
    -- The others need not wait as long to find out which of them need the lock.
    perform pg_catalog.set_config('lock_timeout', '20ms', true);
  end if;
  return outbox.purge_apart(p_endpoint_id, p_gate_id, p_rows[1:v_half], p_now, p_until)
    + outbox.purge_apart(p_endpoint_id, p_gate_id, p_rows[v_half + 1:], p_now, p_until);
end
$$;
comment on function outbox.purge_apart(uuid, bigint, tid[], timestamptz, timestamptz) is
  'As purge_rows(); if the database refuses to delete one delivery, all others are cancelled, and '
  'it is recorded in refusal. If a '
  'trigger waits for a lock, this is tried for the lock_timeout of the caller once, and after that '
  'for 20 ms. From p_until on it begins with no other part. locks: the caller holds the gate.';

create function outbox.lock_deleted(p_endpoint_id uuid) returns bigint
language plpgsql set search_path = ''
as $$
declare
  v_gate_id bigint;
begin
  -- SKIP LOCKED: neither an operator nor a run may block this job.
  perform from outbox.endpoint e
  where e.id = p_endpoint_id and e.status = 'deleted'
  for no key update skip locked;
  if not found then
    return null;
  end if;
  select g.id
  into v_gate_id
  from outbox.gate g
  where g.endpoint_id = p_endpoint_id
  for no key update skip locked;
  if not found then
    update outbox.endpoint e set is_purged = true
    where e.id = p_endpoint_id and not exists (
      select from outbox.gate g where g.endpoint_id = p_endpoint_id);
  end if;
  return v_gate_id;
exception when lock_not_available then
  -- SKIP LOCKED may wait (see engine/queue/gate). The next call tries again.
  return null;
end
$$;
comment on function outbox.lock_deleted(uuid) is
  'Locks a deleted endpoint and its gate, and returns the id of the gate; null if it is not '
  'deleted, or if one of both is locked. One that has no gate any more counts as purged. locks: '
  'the endpoint, then its gate, with SKIP LOCKED; the caller has a lock_timeout.';

create function outbox.rows_to_purge(
  p_endpoint_id uuid, p_gate_id bigint, p_limit integer, p_now timestamptz
) returns tid[]
language plpgsql set search_path = ''
as $$
begin
  return array(
    select d.row_at from outbox.lane l
    cross join lateral (
      select d.ctid as row_at, d.leased_until from outbox.delivery d
      where d.lane_id = l.id and d.lane_id > 0
        and not exists (
          select from outbox.refusal r
          where r.endpoint_id = p_endpoint_id and r.event_id = d.event_id and r.step = 'expiry')
      order by d.due_at, d.event_id limit p_limit
      for update skip locked
    ) d
    where l.gate_id = p_gate_id and (d.leased_until is null or d.leased_until <= p_now)
    limit p_limit for no key update of l skip locked);
end
$$;
comment on function outbox.rows_to_purge(uuid, bigint, integer, timestamptz) is
  'Up to p_limit deliveries of a deleted endpoint that may be removed, without those that were '
  'refused. locks: deliveries and their lanes with SKIP LOCKED.';

create function outbox.purge_endpoint(
  p_endpoint_id uuid, p_limit integer, p_now timestamptz, p_until timestamptz default 'infinity'
) returns integer
language plpgsql
set search_path = ''
set lock_timeout = '500ms'
as $$
declare
  v_until timestamptz := least(p_until, pg_catalog.clock_timestamp() + interval '2 s');
  v_gate_id bigint := outbox.lock_deleted(p_endpoint_id);
  v_purged integer := 0;
  v_rows tid[];
begin
  if v_gate_id is null then
    return 0;
  end if;
  v_rows := outbox.rows_to_purge(p_endpoint_id, v_gate_id, p_limit, p_now);
  if pg_catalog.cardinality(v_rows) = 0 then
    -- All others are gone: those that were refused have their next turn.
    delete from outbox.refusal r where r.endpoint_id = p_endpoint_id and r.step = 'expiry';
    if found then
      v_rows := outbox.rows_to_purge(p_endpoint_id, v_gate_id, p_limit, p_now);
    end if;
  end if;
  if pg_catalog.cardinality(v_rows) > 0 then
    v_purged := outbox.purge_apart(p_endpoint_id, v_gate_id, v_rows, p_now, v_until);
  elsif exists (
    select from outbox.gate g where g.endpoint_id = p_endpoint_id and g.depth = 0)
  then
    v_purged := outbox.on_purged(p_endpoint_id, p_limit, p_now);
    if v_purged < p_limit then
      perform outbox.remove_endpoint(p_endpoint_id, v_gate_id);
    end if;
  end if;
  return v_purged;
end
$$;
comment on function outbox.purge_endpoint(uuid, integer, timestamptz, timestamptz) is
  'Cancels up to p_limit open deliveries of a deleted endpoint, then removes rows of modules, and '
  'at last its secrets and gate. Returns how many rows it removed; 0 for an endpoint that is not '
  'deleted or is locked. If a trigger waits for a lock, it stops after 2 s, or at p_until. 55P03: '
  'it has waited for another lock for 500 ms. locks: lock_deleted(), then as rows_to_purge().';

create function outbox.remove_endpoint(p_endpoint_id uuid, p_gate_id bigint) returns void
language plpgsql set search_path = ''
as $$
begin
  -- The same lock order as in drop_expired_secrets(): first the row, then the secret in Vault.
  with deleted as (
    delete from outbox.endpoint_secret s where s.endpoint_id = p_endpoint_id returning s.vault_id
  )
  delete from vault.secrets v using deleted g where v.id = g.vault_id;
  perform outbox.put_headers(p_endpoint_id, '{}');
  perform outbox.put_credentials(p_endpoint_id, null);
  delete from outbox.refusal r where r.endpoint_id = p_endpoint_id;
  delete from outbox.endpoint_refusal r where r.endpoint_id = p_endpoint_id;
  delete from outbox.lane_refusal r where r.endpoint_id = p_endpoint_id;
  -- endpoint_attempts is the only counter by endpoint. Also delete the changes that are not added
  -- up yet.
  delete from outbox.counter_change c
  where c.at >= outbox.counters_since(pg_catalog.clock_timestamp())
    and c.metric = 'endpoint_attempts' and c.labels[1] = p_endpoint_id::text;
  delete from outbox.counter c
  where c.metric = 'endpoint_attempts' and c.labels[1] = p_endpoint_id::text;
  delete from outbox.lane l where l.gate_id = p_gate_id;
  delete from outbox.gate g where g.id = p_gate_id;
  update outbox.endpoint e set is_purged = true where e.id = p_endpoint_id;
end
$$;
comment on function outbox.remove_endpoint(uuid, bigint) is
  'Removes the secrets, headers, credentials, lanes and gate of a deleted endpoint. Its own row '
  'stays, because history refers to it. Its subscriptions ended at the deletion.';

create function outbox.endpoints_to_purge(p_now timestamptz) returns uuid[]
language plpgsql stable
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup. Without a sort only
-- the index of endpoints to purge gives this order.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  -- A random start, because those that are locked or in flight stay for a while.
  v_from constant uuid := pg_catalog.gen_random_uuid();
begin
  return array(
    with recursive orgs (org_id) as (
      select (
        select e.org_id from outbox.endpoint e
        where e.status = 'deleted' and not e.is_purged order by e.org_id, e.id limit 1)
      union all
      select (
        select e.org_id from outbox.endpoint e
        where e.org_id > o.org_id and e.status = 'deleted' and not e.is_purged
        order by e.org_id, e.id limit 1)
      from orgs o
      where o.org_id is not null
    ), some_orgs as materialized (
      select o.org_id
      from (select o.org_id from orgs o limit 5000) o
      where o.org_id is not null
      order by pg_catalog.random()
      limit 10
    )
    select e.id
    from some_orgs o
    cross join lateral (
      select n.id, n.org_id
      from (
        -- With "org_id =" the primary key would give the order too.
        (select e.id, e.org_id from outbox.endpoint e
          where (e.org_id, e.id) >= (o.org_id, v_from) and e.org_id <= o.org_id
            and e.status = 'deleted' and not e.is_purged
            and not outbox.rests('outbox.purge_deleted', 'deleted endpoint ' || e.id, p_now)
          order by e.org_id, e.id limit 10)
        union all
        (select e.id, e.org_id from outbox.endpoint e
          where e.org_id >= o.org_id and (e.org_id, e.id) < (o.org_id, v_from)
            and e.status = 'deleted' and not e.is_purged
            and not outbox.rests('outbox.purge_deleted', 'deleted endpoint ' || e.id, p_now)
          order by e.org_id, e.id limit 10)
      ) n
      limit 10
    ) e
    order by pg_catalog.row_number() over (partition by e.org_id order by pg_catalog.random()),
      pg_catalog.random()
    limit 10);
end
$$;
comment on function outbox.endpoints_to_purge(timestamptz) is
  'Up to 10 deleted endpoints that have not been purged, of up to 10 organisations, all at random: '
  'the first one of each organisation before any second one, without those whose purge failed in '
  'the last 10 s.';

create function outbox.purge_deleted(p_limit integer) returns integer
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  -- Each of ten endpoints may wait for a lock, and the other work of the tick with it.
  v_deadline timestamptz := least(outbox.job_deadline(),
    pg_catalog.clock_timestamp() + interval '2 s');
  v_endpoints uuid[] := outbox.endpoints_to_purge(v_now);
  v_endpoint uuid;
  v_purged integer := 0;
begin
  foreach v_endpoint in array v_endpoints loop
    begin
      v_purged := v_purged + outbox.purge_endpoint(v_endpoint,
        greatest(p_limit / pg_catalog.cardinality(v_endpoints), 1), v_now, v_deadline);
    exception when query_canceled or assert_failure or others then
      if outbox.fails_upkeep(sqlstate) then
        raise;
      end if;
      perform outbox.refuse_upkeep('outbox.purge_deleted', 'deleted endpoint ' || v_endpoint,
        sqlstate, sqlerrm, '5 minutes');
    end;
    -- After a timeout, nothing ends the statement any more.
    exit when v_purged >= p_limit or pg_catalog.clock_timestamp() >= v_deadline;
  end loop;
  return v_purged;
end
$$;
comment on function outbox.purge_deleted(integer) is
  'Removes about p_limit rows of up to 10 deleted endpoints, which share them equally; returns how '
  'many. The first endpoint of each organisation comes before any second one. After 2 s it begins '
  'with no other endpoint or part of one. If the database refuses a row, all others are removed, '
  'and the endpoint is left out for 10 s.';
