-- Deliveries that the database refused to create when their event was routed to its other
-- endpoints. Each is a row of refusal with the step 'routing'. After an error that may_stay(), the
-- tick creates it after 1, 2, 4, 8 and 16 minutes, and then it is set aside. After any other error
-- it is set aside at once. retry_now() creates one that is set aside.

create function outbox.create_again_at(
  p_sqlstate text, p_failures integer, p_now timestamptz
) returns timestamptz
language sql immutable set search_path = ''
as $$
  select case
    when outbox.may_stay(p_sqlstate) and p_failures < 6
    then p_now + interval '1 minute' * 2 ^ (p_failures - 1)
    else 'infinity'
  end
$$;
comment on function outbox.create_again_at(text, integer, timestamptz) is
  'When a delivery that could not be created is created again, after p_failures; infinity: not '
  'before retry_now().';

create function outbox.create_refused(
  p_event_id uuid, p_endpoint_id uuid, p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  if not exists (
    select from outbox.refusal r
    where r.endpoint_id = p_endpoint_id and r.event_id = p_event_id and r.step = 'routing'
      and not exists (
        select from outbox.delivery d
        where d.event_id = p_event_id and d.endpoint_id = p_endpoint_id))
  then
    return;
  end if;
  perform pg_catalog.set_config('idle_in_transaction_session_timeout', '2s', true);
  perform outbox.lock_gates(array[p_endpoint_id]);
  perform outbox.count_up('created', '{}', outbox.add_deliveries(array(
    select row(v.id, e.id, null, v.deliver_at, outbox.key_hash(e.ordering, v.partition_key),
      pg_catalog.octet_length(v.body), false)::outbox.pair
    from outbox.event v
    join outbox.endpoint e on e.id = p_endpoint_id and e.status <> 'deleted'
    where v.id = p_event_id), p_now));
end
$$;
comment on function outbox.create_refused(uuid, uuid, timestamptz) is
  'Creates a delivery that the database rejected when its event was routed. Raises the error if '
  'it is rejected again. locks: the gate.';

create function outbox.create_one_waiting(
  p_refusal outbox.refusal, p_now timestamptz
) returns integer
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  perform outbox.create_refused(p_refusal.event_id, p_refusal.endpoint_id, p_now);
  delete from outbox.refusal r
  where r.endpoint_id = p_refusal.endpoint_id and r.event_id = p_refusal.event_id;
  perform outbox.park(array[p_refusal.endpoint_id], p_now);
  return 1;
exception when query_canceled or assert_failure or others then
  -- The tick is a long statement, so a cancelled one is taken for an error of this delivery.
  if outbox.is_passing(sqlstate) and not outbox.may_stay(sqlstate) then
    raise;
  end if;
  begin
    perform outbox.note_refusal(p_refusal.event_id, p_refusal.endpoint_id, 'routing', sqlstate,
      sqlerrm, outbox.create_again_at(sqlstate, p_refusal.failures + 1, p_now), p_now);
  exception when query_canceled or assert_failure or others then
    if outbox.is_passing(sqlstate) and not outbox.may_stay(sqlstate) then
      raise;
    end if;
    raise warning 'outbox: the refusal of event % for endpoint % cannot be recorded: % %',
      p_refusal.event_id, p_refusal.endpoint_id, sqlstate, sqlerrm;
  end;
  return 0;
end
$$;
comment on function outbox.create_one_waiting(outbox.refusal, timestamptz) is
  'Creates a delivery that was refused when its event was routed, or records the next refusal. '
  'Returns how many were created. locks: the caller holds the gate.';

create function outbox.waiting_refusals(
  p_now timestamptz, p_most integer, p_each integer
) returns setof outbox.refusal
language plpgsql stable
set search_path = ''
-- Only one index gives each order. Without these settings, a plan for an empty table might look
-- through the refusals of all endpoints for those of each one.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_found integer;
  v_endpoint uuid := '00000000-0000-0000-0000-000000000000'::uuid;
begin
  return query
  select r.* from outbox.refusal r
  where r.step = 'routing' and r.again_at < 'infinity' and r.again_at <= p_now
  order by r.again_at limit p_most;
  get diagnostics v_found = row_count;
  -- Only if there are so many: one endpoint may have them all.
  if v_found < p_most then
    return;
  end if;
  for v_n in 1 .. p_most loop
    select r.endpoint_id into v_endpoint from outbox.refusal r
    where r.endpoint_id > v_endpoint and r.step = 'routing' and r.again_at < 'infinity'
    order by r.endpoint_id, r.again_at limit 1;
    exit when not found;
    return query
    select r.*
    from (
      select o.* from outbox.refusal o
      where (o.endpoint_id, o.again_at) >= (v_endpoint, '-infinity')
        and o.endpoint_id <= v_endpoint and o.step = 'routing' and o.again_at < 'infinity'
      order by o.endpoint_id, o.again_at limit p_each
    ) r
    -- Not in the scan: it would go on to the end of the endpoint.
    where r.again_at <= p_now;
  end loop;
end
$$;
comment on function outbox.waiting_refusals(timestamptz, integer, integer) is
  'The p_most deliveries to create again that have waited longest. If there are so many, also the '
  'first p_each of each endpoint, of up to p_most endpoints; some then come twice.';

create function outbox.create_waiting(p_now timestamptz, p_most integer) returns integer
language plpgsql
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_oldest constant integer := 5000;
  v_of_each constant integer := 10;
  v_next outbox.refusal[];
  v_endpoints uuid[];
  v_refusal outbox.refusal;
  v_created integer := 0;
begin
  v_next := array(
    select o.refusal
    from (
      select row(r.*)::outbox.refusal as refusal, r.again_at, r.event_id, e.org_id
      from (
        select distinct w.* from outbox.waiting_refusals(p_now, v_oldest, v_of_each) w
      ) r
      -- purge_endpoint() removes the refusals of a deleted endpoint.
      cross join lateral (
        select e.org_id from outbox.endpoint e
        where e.id = r.endpoint_id and e.status <> 'deleted' offset 0
      ) e
    ) o
    order by
      pg_catalog.row_number() over (partition by o.org_id order by o.again_at, o.event_id),
      o.again_at
    limit p_most);
  if pg_catalog.cardinality(v_next) = 0 then
    return 0;
  end if;
  v_endpoints := outbox.try_lock_gates(array(
    select distinct n.endpoint_id from pg_catalog.unnest(v_next) n));
  for v_refusal in
    -- Read under the lock: a person may have retried one since.
    select r.*
    from pg_catalog.unnest(v_next) n
    cross join lateral (
      select o.* from outbox.refusal o
      where o.event_id = n.event_id and o.endpoint_id = n.endpoint_id offset 0
    ) r
    where n.endpoint_id = any (v_endpoints) and r.step = 'routing' and r.again_at < 'infinity'
      and r.again_at <= p_now
    order by r.again_at
  loop
    v_created := v_created + outbox.create_one_waiting(v_refusal, p_now);
  end loop;
  return v_created;
end
$$;
comment on function outbox.create_waiting(timestamptz, integer) is
  'Creates up to p_most deliveries that a temporary error kept from being created, after their '
  'wait; returns how many. Organisations take turns among the 5,000 that have waited longest and '
  'the first 10 of each endpoint. locks: gates with SKIP LOCKED.';
