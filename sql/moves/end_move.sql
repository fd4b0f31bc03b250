-- The end of a move. close_source() refuses publishing; leave_source() is the point of no return;
-- open_target() lets the target deliver. Then the source ends its own copies: each gets an attempt
-- of kind close that says where it went. finish_source() deletes the endpoints.
--
-- A transaction with REPEATABLE READ that began before the source was closed may publish after it.
-- So before the source ends an event, the command asks the target whether it knows it. An event
-- that the target does not know came so late, and is added there.

create function outbox.set_move_status(p_org_id text, p_status text) returns void
language plpgsql set search_path = ''
as $$
begin
  update outbox.org_move m
  set status = p_status, settled_at = null, changed_at = outbox.clock()
  where m.org_id = p_org_id;
end
$$;
comment on function outbox.set_move_status(text, text) is
  'Changes the status of a move. The caller has checked the status before.';

create function outbox.close_source(p_org_id text) returns void
language plpgsql set search_path = ''
as $$
begin
  if (outbox.check_move(p_org_id, array['copying', 'closed'])).status = 'closed' then
    return;
  elsif not (outbox.settle_move(p_org_id) ->> 'settled')::boolean then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('deliveries of organisation %s are in flight', p_org_id),
      hint = 'Call settle_move() until it has settled';
  end if;
  -- What somebody has begun since the move has.
  perform outbox.check_blockers(p_org_id);
  perform outbox.pause_for_move(m) from outbox.org_move m where m.org_id = p_org_id;
  perform outbox.set_move_status(p_org_id, 'closed');
  perform outbox.close_publishing(p_org_id, outbox.clock());
end
$$;
comment on function outbox.close_source(text) is
  'Refuses publishing for the organisation in the source, until the move ends or is undone. '
  'Pauses endpoints that a transaction from before the move has enabled. OH004.';

create function outbox.leave_source(p_org_id text, p_target jsonb) returns void
language plpgsql set search_path = ''
as $$
declare
  v_totals jsonb := outbox.move_totals(p_org_id);
begin
  if (outbox.check_move(p_org_id, array['closed', 'moved'])).status = 'moved' then
    return;
  elsif not (outbox.settle_move(p_org_id) ->> 'settled')::boolean then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('organisation %s has not settled', p_org_id),
      hint = 'Call settle_move() until it has settled, and compare all parts again';
  elsif v_totals is distinct from p_target then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('the copy of organisation %s is not complete: %s here, %s in the '
        'target', p_org_id, v_totals, p_target),
      hint = 'Compare all parts again';
  end if;
  perform outbox.check_blockers(p_org_id);
  perform outbox.set_move_status(p_org_id, 'moved');
end
$$;
comment on function outbox.leave_source(text, jsonb) is
  'The point of no return, in the source: from now on only the target may deliver. p_target: '
  'move_totals() of the target. OH004: the totals differ, or the source has not settled.';

create function outbox.open_target(p_org_id text, p_move_id uuid) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_move outbox.org_move := outbox.check_move(p_org_id, array['receiving', 'live']);
  v_now timestamptz := outbox.clock();
begin
  if v_move.move_id <> p_move_id then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('organisation %s is here by another move', p_org_id),
      hint = 'Give the two databases of one move';
  elsif v_move.status = 'live' then
    return;
  end if;
  perform outbox.set_move_status(p_org_id, 'live');
  update outbox.endpoint e set
    status = s.item ->> 'status', status_reason = s.item ->> 'reason',
    version = e.version + 1, updated_at = v_now, ramp_from = v_now
  from pg_catalog.jsonb_each(v_move.endpoints) s (id, item)
  where e.id = s.id::uuid and e.org_id = p_org_id and e.status = 'paused';
  update outbox.org_move m set endpoints = '{}' where m.org_id = p_org_id;
  -- The clock of the source may be ahead. A subscription does not apply to older events.
  update outbox.subscription s set created_at = v_now
  where s.org_id = p_org_id and s.created_at > v_now;
  -- A paused gate is parked for 5 s.
  perform outbox.park(outbox.lock_org_gates(p_org_id), v_now);
  perform outbox.open_publishing(p_org_id);
  perform outbox.kick_on_commit();
end
$$;
comment on function outbox.open_target(text, uuid) is
  'The target delivers and accepts events of the organisation. Call it after leave_source(). '
  'Nothing if it is live. OH004. locks: the gates of the organisation.';

create function outbox.unknown_events(p_org_id text, p_keys jsonb) returns jsonb
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  perform outbox.check_move(p_org_id, array['live']);
  return (
    select coalesce(pg_catalog.jsonb_agg(k order by k), '[]')
    from pg_catalog.jsonb_array_elements_text(p_keys) k
    where not exists (
      select from outbox.event e where e.id = k::uuid and e.org_id = p_org_id));
end
$$;
comment on function outbox.unknown_events(text, jsonb) is
  'Those of these ids of which the target has no event: they were published after the last '
  'comparison. OH004.';

create function outbox.add_late_events(p_org_id text, p_items text) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_unknown jsonb := outbox.unknown_events(p_org_id, (
    select coalesce(pg_catalog.jsonb_agg(i -> 'key'), '[]')
    from pg_catalog.jsonb_array_elements(p_items::jsonb) i));
begin
  perform outbox.add_moved_events(p_org_id, coalesce((
    select pg_catalog.jsonb_agg(i) from pg_catalog.jsonb_array_elements(p_items::jsonb) i
    where v_unknown operator(pg_catalog.?) (i ->> 'key')), '[]'), outbox.clock());
  perform outbox.kick_on_commit();
end
$$;
comment on function outbox.add_late_events(text, text) is
  'Adds items of read_move_page() to the target after the switch, without those that it knows. '
  'OH004.';

create function outbox.end_moved_events(p_org_id text, p_keys jsonb) returns integer
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
    from pg_catalog.jsonb_array_elements_text(p_keys) k
    cross join lateral (
      select d.ctid as row_at, d.endpoint_id from outbox.delivery d where d.event_id = k::uuid
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
  perform outbox.remove_empty_lanes(v_endpoints);
  perform outbox.park(v_endpoints, v_now);
  return v_ended;
end
$$;
comment on function outbox.end_moved_events(text, jsonb) is
  'Ends the open deliveries of these events in the source, each with an attempt of kind close that '
  'names the target; returns how many. The target must know the events. OH004. locks: the gates of '
  'the organisation.';

create function outbox.finish_source(p_org_id text) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_part outbox.move_part;
begin
  if (outbox.check_move(p_org_id, array['moved', 'finished'])).status = 'finished' then
    return;
  elsif not (outbox.settle_move(p_org_id) ->> 'settled')::boolean
    or (outbox.move_totals(p_org_id) ->> 'open') <> '0'
  then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('the source has open deliveries of organisation %s', p_org_id),
      hint = 'Run outhook move-org again without --finish';
  end if;
  perform outbox.set_move_status(p_org_id, 'finished');
  perform outbox.set_endpoint_status(e.id, 'deleted', 'the organisation has moved')
  from outbox.endpoint e
  where e.org_id = p_org_id and e.status <> 'deleted';
  for v_part in
    select * from outbox.move_part p
    where p.position is not null and p.name not in ('endpoint', 'event', 'lane')
  loop
    execute pg_catalog.format('select %s($1, $2, null, $3)', v_part.write_function)
    using p_org_id, '', '[]'::jsonb;
  end loop;
end
$$;
comment on function outbox.finish_source(text) is
  'Deletes the endpoints, event types, settings, dead letters and idempotency keys of the '
  'organisation in the source. Its events and attempts stay until their retention ends. OH004: '
  'something is open.';
