-- The events of an organisation that have an open delivery: how they are found, and read with these
-- deliveries for the pages of a move.

create function outbox.open_depth(p_org_id text) returns bigint
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return (
    select coalesce(pg_catalog.sum(g.depth), 0)
    from outbox.endpoint e
    cross join lateral (
      select g.depth from outbox.gate g
      where g.endpoint_id = e.id order by g.changed_at desc limit 1
    ) g
    where e.org_id = p_org_id and e.status <> 'deleted');
end
$$;
comment on function outbox.open_depth(text) is
  'How many deliveries of an organisation are open, without those of deleted endpoints.';

create function outbox.open_event_ids(
  p_org_id text, p_after uuid, p_upto uuid, p_limit integer
) returns uuid[]
language plpgsql stable
set search_path = ''
-- In the order of event_org: a sort would read all events of the organisation for each page.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  -- So many are read faster than the delivered events between them.
  v_few constant bigint := 20000;
begin
  if outbox.open_depth(p_org_id) <= v_few then
    return array(
      select distinct d.event_id
      from outbox.endpoint n
      cross join lateral (
        select g.id from outbox.gate g
        where g.endpoint_id = n.id order by g.changed_at desc limit 1
      ) g
      join outbox.lane l on l.gate_id = g.id
      join outbox.delivery d on d.lane_id = l.id and d.lane_id > 0
      where n.org_id = p_org_id and n.status <> 'deleted' and d.event_id > p_after
        and d.event_id <= p_upto and exists (select from outbox.event e where e.id = d.event_id)
      order by d.event_id
      limit p_limit);
  end if;
  return array(
    select e.id from outbox.event e
    where e.org_id > '' and (e.org_id, e.id) > (p_org_id, p_after)
      and (e.org_id, e.id) <= (p_org_id, p_upto)
      and exists (
        select from outbox.delivery d
        join outbox.endpoint n on n.id = d.endpoint_id and n.status <> 'deleted'
        where d.event_id = e.id)
    order by e.org_id, e.id
    limit p_limit);
end
$$;
comment on function outbox.open_event_ids(text, uuid, uuid, integer) is
  'Events of an organisation with an open delivery, in the order of their ids, between two ids. '
  'p_limit null: all.';

create function outbox.read_moved_events(
  p_org_id text, p_after text, p_upto text, p_limit integer
) returns table (key text, item jsonb)
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_ids uuid[] := outbox.open_event_ids(p_org_id,
    coalesce(nullif(p_after, ''), '00000000-0000-0000-0000-000000000000')::uuid,
    coalesce(p_upto, 'ffffffff-ffff-ffff-ffff-ffffffffffff')::uuid, p_limit);
  v_first constant uuid := v_ids[1];
  v_last constant uuid := v_ids[pg_catalog.cardinality(v_ids)];
  v_most_bytes constant bigint := 4194304;
  v_bytes bigint := 0;
  v_rows integer := 0;
begin
  for key, item in
    select e.id::text, pg_catalog.jsonb_build_object(
      'event', pg_catalog.to_jsonb(e) - 'org_id', 'deliveries', o.deliveries)
    from pg_catalog.unnest(v_ids) i
    cross join lateral (
      -- The bounds select the partitions. Offset: the order of the ids is that of the rows.
      select e.* from outbox.event e where e.id = i and e.id between v_first and v_last offset 0
    ) e
    -- Not a function: a call takes 1 ms of each event.
    cross join lateral (
      select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
        'endpoint_id', d.endpoint_id, 'ordered', l.ordered, 'due_at', d.due_at,
        'attempt', d.attempt, 'failed_attempts', d.failed_attempts, 'replayed_at', d.replayed_at,
        'deliver_at', d.deliver_at, 'secret_id', d.secret_id,
        'rejected_secrets', d.rejected_secrets, 'lost_before', d.lost_before,
        -- It has left its isolated lane: the next lost lease isolates it again.
        'lost_leases', least(d.lost_leases, 1)) order by d.endpoint_id) as deliveries
      from outbox.delivery d
      cross join lateral (
        select l.ordered from outbox.lane l
        where l.id = d.lane_id order by l.changed_at desc limit 1
      ) l
      where d.event_id = e.id and exists (
        select from outbox.endpoint n where n.id = d.endpoint_id and n.status <> 'deleted')
      offset 0
    ) o
    where o.deliveries is not null
  loop
    return next;
    v_rows := v_rows + 1;
    v_bytes := v_bytes + pg_catalog.octet_length(item::text);
    -- The last one shows read_move_page() that more follow. Without a limit, a page ends at p_upto.
    exit when v_bytes > v_most_bytes and v_rows > 1 and p_limit is not null;
  end loop;
end
$$;
comment on function outbox.read_moved_events(text, text, text, integer) is
  'Events with at least one open delivery, in the order of their ids. Without the deliveries of '
  'deleted endpoints. With a limit it ends one event after 4 MiB.';
