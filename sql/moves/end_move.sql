-- The end of a move. close_source() refuses publishing; leave_source() is the point of no return;
-- open_target() lets the target deliver. Then the source ends its own copies (end_copies).
-- finish_source() deletes what it still has.

create function outbox.set_move_status(p_org_id text, p_status text) returns void
language plpgsql set search_path = ''
as $$
declare
  v_move outbox.org_move;
begin
  update outbox.org_move m
  set status = p_status, settled_at = null, changed_at = outbox.clock()
  where m.org_id = p_org_id
  returning * into v_move;
  perform outbox.note_move(v_move, case p_status
    when 'closed' then 'MOVE_CLOSED'
    when 'undone' then 'MOVE_UNDONE'
    when 'finished' then 'MOVE_FINISHED'
    else 'MOVED'
  end);
end
$$;
comment on function outbox.set_move_status(text, text) is
  'Changes the status of a move. The caller has checked the status before.';

create function outbox.note_move(p_move outbox.org_move, p_action text) returns void
language plpgsql set search_path = ''
as $$
begin
  perform outbox.note_action(p_move.org_id, 'ORGANISATION', p_move.org_id, p_action,
    pg_catalog.format(case p_move.role
      when 'source' then 'The organisation moves to %s'
      else 'The organisation moves here from %s'
    end, p_move.other),
    pg_catalog.jsonb_build_object('moveId', p_move.move_id, 'other', p_move.other));
end
$$;
comment on function outbox.note_move(outbox.org_move, text) is
  'Records a step of a move in the audit trail, which stays in each database: so its end in the '
  'source names the database that has what came later, and its begin in the target the other one.';

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
  v_totals jsonb;
begin
  if (outbox.check_move(p_org_id, array['closed', 'moved'])).status = 'moved' then
    return;
  elsif not (outbox.settle_move(p_org_id) ->> 'settled')::boolean then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('organisation %s has not settled', p_org_id),
      hint = 'Call settle_move() until it has settled, and compare all parts again';
  end if;
  -- settle_move() has locked the gates, so no delivery ends between this and the switch.
  v_totals := outbox.move_totals(p_org_id);
  if v_totals is distinct from p_target then
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
  'move_totals() of the target. OH004: the totals differ, or the source has not settled. '
  'locks: the gates of the organisation.';

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
  perform outbox.open_publishing(p_org_id, v_now);
  perform outbox.kick_on_commit();
end
$$;
comment on function outbox.open_target(text, uuid) is
  'The target delivers and accepts events of the organisation. Call it after leave_source(). '
  'Nothing if it is live. OH004. locks: the gates of the organisation.';

create function outbox.follow_target(p_org_id text, p_move_id uuid) returns void
language plpgsql set search_path = ''
as $$
declare
  v_move outbox.org_move :=
    outbox.check_move(p_org_id, array['copying', 'closed', 'moved']);
begin
  if v_move.move_id <> p_move_id then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('organisation %s leaves by another move', p_org_id),
      hint = 'Give the two databases of one move';
  end if;
  perform outbox.pause_for_move(v_move);
  perform outbox.set_move_status(p_org_id, 'moved');
  perform outbox.close_publishing(p_org_id, outbox.clock());
end
$$;
comment on function outbox.follow_target(text, uuid) is
  'Leaves a source that was restored to a time before the switch, although the target of the same '
  'move is live. OH004.';

create function outbox.finish_source(p_org_id text) returns boolean
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_move outbox.org_move := outbox.check_move(p_org_id, array['moved', 'finished']);
  v_part text;
begin
  if v_move.status = 'moved' then
    if not (outbox.settle_move(p_org_id) ->> 'settled')::boolean
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
  end if;
  for v_part in
    select p.name from outbox.move_part p
    where p.position is not null and p.name not in ('endpoint', 'event', 'lane')
    order by p.position
  loop
    if outbox.clear_moved_part(p_org_id, v_part) then
      return true;
    end if;
  end loop;
  return false;
end
$$;
comment on function outbox.finish_source(text) is
  'Deletes the endpoints of the organisation in the source, and then in each call a page of its '
  'event types, settings, dead letters and idempotency keys; returns whether to call it again. Its '
  'events and attempts stay until their retention ends. OH004: something is open.';
