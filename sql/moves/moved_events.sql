-- Events with open deliveries that move, with these deliveries. Ids stay, so receivers recognise an
-- event that they have had. attempt, failed_attempts and the times stay, so retries and dead
-- letters come when they would have come. In an ordered lane due_at is the order, and it stays too.
--
-- What is delivered already, and each attempt, stays in the source.

create type outbox.moved_delivery as (
  event_id uuid,
  endpoint_id uuid,
  gate_id bigint,
  ordered boolean,
  key_hash bigint,
  body_bytes integer,
  due_at timestamptz,
  attempt integer,
  failed_attempts integer,
  replayed_at timestamptz,
  deliver_at timestamptz,
  secret_id uuid,
  rejected_secrets uuid[],
  lost_before integer,
  lost_leases integer
);
comment on type outbox.moved_delivery is 'A delivery that arrives, and the lane for it.';

create function outbox.arriving_deliveries(
  p_org_id text, p_items jsonb
) returns outbox.moved_delivery[]
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return array(
    select row((i #>> '{item,event,id}')::uuid, d.endpoint_id, g.id, d.ordered,
      case
        when d.ordered then outbox.key_hash(e.ordering, i #>> '{item,event,partition_key}')
        else 0
      end,
      pg_catalog.octet_length(i #>> '{item,event,body}'), d.due_at, d.attempt, d.failed_attempts,
      d.replayed_at, d.deliver_at, d.secret_id, d.rejected_secrets, d.lost_before, d.lost_leases
    )::outbox.moved_delivery
    from pg_catalog.jsonb_array_elements(p_items) i
    cross join lateral pg_catalog.jsonb_to_recordset(i #> '{item,deliveries}') as d (
      endpoint_id uuid, ordered boolean, due_at timestamptz, attempt integer,
      failed_attempts integer, replayed_at timestamptz, deliver_at timestamptz, secret_id uuid,
      rejected_secrets uuid[], lost_before integer, lost_leases integer)
    join outbox.endpoint e on e.id = d.endpoint_id and e.org_id = p_org_id
    join outbox.gate g on g.endpoint_id = e.id);
end
$$;
comment on function outbox.arriving_deliveries(text, jsonb) is
  'The deliveries of items of read_moved_events(), each with the lane that it goes to.';

create function outbox.lock_org_gates(p_org_id text) returns uuid[]
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_endpoints uuid[] := array(
    select e.id from outbox.endpoint e where e.org_id = p_org_id and e.status <> 'deleted');
begin
  perform outbox.lock_gates(v_endpoints);
  return v_endpoints;
end
$$;
comment on function outbox.lock_org_gates(text) is
  'Locks the gates of all endpoints of an organisation and returns the endpoints.';

create function outbox.add_moved_events(
  p_endpoint_ids uuid[], p_org_id text, p_items jsonb, p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_deliveries outbox.moved_delivery[] := outbox.arriving_deliveries(p_org_id, p_items);
begin
  insert into outbox.event
  select e.* from pg_catalog.jsonb_array_elements(p_items) i
  cross join lateral pg_catalog.jsonb_populate_record(null::outbox.event,
    i #> '{item,event}' || pg_catalog.jsonb_build_object('org_id', p_org_id)) e
  on conflict do nothing;
  perform outbox.restart_open_checks(array(
    select (i ->> 'key')::uuid from pg_catalog.jsonb_array_elements(p_items) i));
  insert into outbox.lane (gate_id, ordered, key_hash)
  select distinct d.gate_id, d.ordered, d.key_hash
  from pg_catalog.unnest(v_deliveries) d
  where not exists (
    select from outbox.lane l
    where l.gate_id = d.gate_id and l.ordered = d.ordered and l.key_hash = d.key_hash);
  with added as (
    insert into outbox.delivery (event_id, endpoint_id, lane_id, due_at, attempt, failed_attempts,
      body_bytes, replayed_at, deliver_at, lost_leases, lost_before, secret_id, rejected_secrets)
    select d.event_id, d.endpoint_id, l.id, d.due_at, d.attempt, d.failed_attempts, d.body_bytes,
      d.replayed_at, d.deliver_at, d.lost_leases, d.lost_before, d.secret_id, d.rejected_secrets
    from pg_catalog.unnest(v_deliveries) d
    cross join lateral (
      select l.id from outbox.lane l
      where l.gate_id = d.gate_id and l.ordered = d.ordered and l.key_hash = d.key_hash
      order by l.changed_at desc limit 1
    ) l
    on conflict (event_id, endpoint_id) do nothing
    returning lane_id, due_at
  ), lanes as (
    update outbox.lane l set
      depth = l.depth + a.n,
      changed_at = pg_catalog.date_trunc('second', p_now),
      head_at = case when l.ordered then l.head_at else least(l.head_at, a.first_at) end,
      -- What is routed here later comes behind.
      tail_at = case when l.ordered then greatest(l.tail_at, a.last_at) else l.tail_at end,
      next_at = case
        when not l.ordered then least(l.next_at, a.first_at)
        when l.halted or l.leased > 0 then l.next_at
        else greatest(p_now, l.not_before)
      end
    from (
      select a.lane_id, pg_catalog.count(*) as n, pg_catalog.min(a.due_at) as first_at,
        pg_catalog.max(a.due_at) as last_at
      from added a group by a.lane_id
    ) a
    where l.id = a.lane_id
    returning l.gate_id, a.n
  )
  update outbox.gate g set depth = g.depth + s.n,
    changed_at = pg_catalog.date_trunc('second', p_now)
  from (select l.gate_id, pg_catalog.sum(l.n) as n from lanes l group by l.gate_id) s
  where g.id = s.gate_id;
  perform outbox.park(p_endpoint_ids, p_now);
end
$$;
comment on function outbox.add_moved_events(uuid[], text, jsonb, timestamptz) is
  'Stores events and opens their deliveries. Those that exist do not change. p_endpoint_ids: see '
  'lock_org_gates(). locks: the caller holds the gates of the organisation.';

create function outbox.remove_empty_lanes(p_endpoint_ids uuid[]) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  delete from outbox.lane l using outbox.gate g
  where g.endpoint_id = any (p_endpoint_ids) and l.gate_id = g.id and l.depth = 0
    and (l.ordered or l.key_hash <> 0);
  update outbox.lane l set next_at = 'infinity'
  from outbox.gate g
  where g.endpoint_id = any (p_endpoint_ids) and l.gate_id = g.id and l.depth = 0
    and l.next_at < 'infinity';
end
$$;
comment on function outbox.remove_empty_lanes(uuid[]) is
  'Removes the empty lanes of endpoints that deliver nothing here. The unordered lane of an '
  'unordered endpoint stays. locks: the caller holds the gates, and parks them afterwards.';

create function outbox.remove_moved_deliveries(p_org_id text, p_events uuid[]) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  with gone as (
    delete from outbox.delivery d using outbox.endpoint e
    where d.event_id = any (p_events) and e.id = d.endpoint_id and e.org_id = p_org_id
    returning d.lane_id
  ), lanes as (
    update outbox.lane l set depth = l.depth - b.n
    from (select g.lane_id, pg_catalog.count(*) as n from gone g group by g.lane_id) b
    where l.id = b.lane_id
    returning l.gate_id, b.n
  )
  update outbox.gate g set depth = g.depth - s.n
  from (select l.gate_id, pg_catalog.sum(l.n) as n from lanes l group by l.gate_id) s
  where g.id = s.gate_id;
end
$$;
comment on function outbox.remove_moved_deliveries(text, uuid[]) is
  'Removes open deliveries of these events that a move has copied and nothing has claimed. locks: '
  'the caller holds the gates of the organisation.';

create function outbox.write_moved_events(
  p_org_id text, p_after text, p_upto text, p_items jsonb
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_endpoints uuid[] := outbox.lock_org_gates(p_org_id);
  v_there uuid[] := outbox.open_event_ids(p_org_id,
    coalesce(nullif(p_after, ''), '00000000-0000-0000-0000-000000000000')::uuid,
    coalesce(p_upto, 'ffffffff-ffff-ffff-ffff-ffffffffffff')::uuid, null);
begin
  perform outbox.remove_moved_deliveries(p_org_id, v_there);
  perform outbox.add_moved_events(v_endpoints, p_org_id, p_items, outbox.clock());
  -- It reads all lanes, of which there may be 100,000, so not for each page of the first copy.
  if pg_catalog.cardinality(v_there) > 0 then
    perform outbox.remove_empty_lanes(v_endpoints);
    perform outbox.park(v_endpoints, outbox.clock());
  end if;
end
$$;
comment on function outbox.write_moved_events(text, text, text, jsonb) is
  'The write_function of events (see move_part). An event whose deliveries are removed stays. '
  'locks: the gates of the organisation.';
