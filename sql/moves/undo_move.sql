-- The way back, until leave_source(): first the target forgets what it has received, then the
-- source delivers again.

create function outbox.undo_receiving(p_org_id text, p_limit integer default 500) returns boolean
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_events uuid[];
  v_part text;
begin
  if not exists (
    select from outbox.org_move m
    where m.org_id = p_org_id and m.role = 'target' and m.status <> 'undone')
  then
    return false;
  end if;
  perform outbox.check_move(p_org_id, array['receiving']);
  perform outbox.lock_org_gates(p_org_id);
  v_events := outbox.open_event_ids(p_org_id, '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff', p_limit);
  if pg_catalog.cardinality(v_events) > 0 then
    perform outbox.remove_moved_deliveries(p_org_id, v_events);
    delete from outbox.event e
    where e.id = any (v_events)
      and not exists (select from outbox.attempt a where a.event_id = e.id);
    return true;
  end if;
  for v_part in
    select p.name from outbox.move_part p
    where p.position is not null and p.name not in ('event', 'lane')
    order by p.position desc
  loop
    if outbox.clear_moved_part(p_org_id, v_part) then
      return true;
    end if;
  end loop;
  perform outbox.set_move_status(p_org_id, 'undone');
  return false;
end
$$;
comment on function outbox.undo_receiving(text, integer) is
  'Removes what the target has received: up to p_limit events or a page of another part in each '
  'call. Publishing stays refused here. Returns whether to call it again. OH004: the organisation '
  'is live here.';

create function outbox.undo_leaving(p_org_id text) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_move outbox.org_move;
  v_now timestamptz := outbox.clock();
begin
  if not exists (select from outbox.org_move m where m.org_id = p_org_id) then
    return;
  end if;
  v_move := outbox.check_move(p_org_id, array['copying', 'closed']);
  delete from outbox.org_move m where m.org_id = p_org_id;
  update outbox.endpoint e set
    status = s.item ->> 'status', status_reason = s.item ->> 'reason',
    version = e.version + 1, updated_at = v_now, ramp_from = v_now
  from pg_catalog.jsonb_each(v_move.endpoints) s (id, item)
  where e.id = s.id::uuid and e.org_id = p_org_id and e.status = 'paused'
    and e.status_reason = outbox.move_reason(v_move);
  perform outbox.park(outbox.lock_org_gates(p_org_id), v_now);
  perform outbox.open_publishing(p_org_id, v_now);
  perform outbox.kick_on_commit();
  perform outbox.note_move(v_move, 'MOVE_UNDONE');
end
$$;
comment on function outbox.undo_leaving(text) is
  'The source delivers and accepts events again. Nothing if there is no move. OH004: the source '
  'has left the organisation to the target. locks: the gates of the organisation.';
