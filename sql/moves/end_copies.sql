-- After the switch the source ends its open deliveries: each gets an attempt of kind close that
-- says where it went.
--
-- A delivery may still be created in the source after the last comparison: an event of Outhook
-- itself does not ask whether publishing is closed, and a source that was restored has forgotten
-- the switch. So before the source ends a delivery, the command asks the target whether it has
-- received it, and otherwise adds it there.

create function outbox.open_pairs(p_org_id text, p_after text) returns jsonb
language plpgsql stable set search_path = ''
as $$
declare
  v_most constant integer := 500;
begin
  return (
    select pg_catalog.jsonb_build_object(
      'n', pg_catalog.count(*), 'upto', pg_catalog.max(r.key collate "C"),
      'pairs', coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
        'event', r.key,
        'endpoints', pg_catalog.jsonb_path_query_array(r.item, '$.deliveries[*].endpoint_id'))),
        '[]'))
    from outbox.read_moved_events(p_org_id, p_after, null, v_most) r);
end
$$;
comment on function outbox.open_pairs(text, text) is
  'Open deliveries of the organisation after an event: {"n": events, "upto": the last one, '
  '"pairs": [{"event", "endpoints": [id]}]}.';

create function outbox.is_pair_known(
  p_move outbox.org_move, p_event_id uuid, p_endpoint_id uuid
) returns boolean
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
as $$
begin
  return exists (
      select from outbox.delivery d
      where d.event_id = p_event_id and d.endpoint_id = p_endpoint_id)
    -- Older ones are of the time before the organisation left this database, if it comes back.
    or exists (
      select from outbox.attempt a
      -- Not =: see last_attempt().
      where a.event_id = p_event_id and a.endpoint_id is not distinct from p_endpoint_id
        and a.at >= p_move.started_at);
end
$$;
comment on function outbox.is_pair_known(outbox.org_move, uuid, uuid) is
  'Whether the target has received a delivery: it is open, or has had an attempt or an end since '
  'the move began.';

create function outbox.unknown_events(p_org_id text, p_pairs jsonb) returns jsonb
language plpgsql set search_path = ''
as $$
declare
  v_move outbox.org_move := outbox.check_move(p_org_id, array['live']);
begin
  return (
    select coalesce(pg_catalog.jsonb_agg(p ->> 'event' order by p ->> 'event'), '[]')
    from pg_catalog.jsonb_array_elements(p_pairs) p
    where exists (
      select from pg_catalog.jsonb_array_elements_text(p -> 'endpoints') e
      where not outbox.is_pair_known(v_move, (p ->> 'event')::uuid, e::uuid)));
end
$$;
comment on function outbox.unknown_events(text, jsonb) is
  'Those events of open_pairs() of which the target has not received a delivery: they came after '
  'the last comparison. OH004.';

create function outbox.add_late_events(p_org_id text, p_items text) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_move outbox.org_move := outbox.check_move(p_org_id, array['live']);
  v_endpoints uuid[] := outbox.lock_org_gates(p_org_id);
  v_items jsonb;
begin
  select coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_set(i, '{item,deliveries}', u.deliveries)),
    '[]')
  into v_items
  from pg_catalog.jsonb_array_elements(p_items::jsonb) i
  cross join lateral (
    select pg_catalog.jsonb_agg(d) as deliveries
    from pg_catalog.jsonb_array_elements(i #> '{item,deliveries}') d
    where not outbox.is_pair_known(v_move, (i ->> 'key')::uuid, (d ->> 'endpoint_id')::uuid)
  ) u
  where u.deliveries is not null;
  perform outbox.add_moved_events(v_endpoints, p_org_id, v_items, outbox.clock());
  -- A publisher that repeats one of them here gets its id.
  insert into outbox.idempotency_key (org_id, key, event_id, content, created_at)
  select p_org_id, e.idempotency_key, e.id, outbox.event_content(e), e.created_at
  from pg_catalog.jsonb_array_elements(v_items) i
  join outbox.event e on e.id = (i ->> 'key')::uuid
  where e.idempotency_key is not null
  on conflict (org_id, key) do nothing;
  perform outbox.kick_on_commit();
end
$$;
comment on function outbox.add_late_events(text, text) is
  'Adds items of read_move_page() to the target after the switch, without the deliveries that it '
  'has received, and with the idempotency keys of these events. OH004. locks: the gates of the '
  'organisation.';

create function outbox.end_moved_events(p_org_id text, p_pairs jsonb) returns integer
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_move outbox.org_move := outbox.check_move(p_org_id, array['moved']);
  v_now timestamptz := outbox.clock();
  v_endpoints uuid[] := outbox.lock_org_gates(p_org_id);
  v_gate record;
  v_ended integer := 0;
begin
  for v_gate in
    select g.id, g.endpoint_id, pg_catalog.array_agg(d.row_at) as rows_at
    from pg_catalog.jsonb_array_elements(p_pairs) p
    cross join lateral pg_catalog.jsonb_array_elements_text(p -> 'endpoints') e
    cross join lateral (
      select d.ctid as row_at, d.endpoint_id from outbox.delivery d
      where d.event_id = (p ->> 'event')::uuid and d.endpoint_id = e::uuid
      offset 0
    ) d
    join outbox.gate g on g.endpoint_id = d.endpoint_id
    where d.endpoint_id = any (v_endpoints)
    group by g.id, g.endpoint_id
    order by g.id
  loop
    v_ended := v_ended + outbox.purge_rows(v_gate.endpoint_id, v_gate.id, v_gate.rows_at,
      'the organisation has moved to ' || v_move.other, v_now);
  end loop;
  -- It reads all lanes, of which there may be 100,000.
  if outbox.open_depth(p_org_id) = 0 then
    perform outbox.remove_empty_lanes(v_endpoints);
  end if;
  perform outbox.park(v_endpoints, v_now);
  return v_ended;
end
$$;
comment on function outbox.end_moved_events(text, jsonb) is
  'Ends these open deliveries (see open_pairs()) in the source, each with an attempt of kind close '
  'that names the target; returns how many. The target must have received them. OH004. locks: the '
  'gates of the organisation.';
