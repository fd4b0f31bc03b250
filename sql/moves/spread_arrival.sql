-- The steps of the target in which an endpoint moves here (see spread_endpoint for all steps):
--
--   receive_endpoint()   creates it, paused, as the source has it
--   open_endpoint()      enables it, after the source has left it
--   drop_arrival()       removes it, because the source has not left it: a run was stopped
--
-- The last two lock its row first, because another run may have ended the move meanwhile.

create function outbox.receive_endpoint(p_org_id text, p_from text, p_item text) returns void
language plpgsql
set search_path = ''
set timezone = 'UTC'
set enable_seqscan = off
as $$
declare
  v_item constant jsonb := p_item::jsonb;
  v_id constant uuid := (v_item #>> '{endpoint,id}')::uuid;
  v_move outbox.org_move;
begin
  perform outbox.check_move_name(p_from);
  perform outbox.check_spread(p_org_id);
  if exists (select from outbox.endpoint e where e.id = v_id and e.status <> 'deleted') then
    if outbox.arrives_from(outbox.lock_idle_endpoint(v_id)) is distinct from p_from then
      raise exception using errcode = 'OH004',
        message = pg_catalog.format('endpoint %s is in both databases', v_id),
        hint = 'Delete it in one of them';
    end if;
    -- Of a run that ended before the source had left it: the source has delivered what waits.
    perform outbox.drop_moved_endpoint(v_id);
  end if;
  v_move.org_id := p_org_id;
  v_move.role := 'target';
  v_move.other := p_from;
  perform outbox.put_moved_endpoint(v_move, v_item);
  update outbox.endpoint e set status_reason = outbox.arrival_reason(p_from) where e.id = v_id;
  -- All events before are routed. One that waits for hold_events() has its time already.
  update outbox.subscription s
  set created_at = least(s.created_at, outbox.clock() - interval '1 hour')
  where s.endpoint_id = v_id;
  perform outbox.note_endpoint(v_id, 'MOVE_BEGUN', 'The endpoint moves here from ' || p_from,
    pg_catalog.jsonb_build_object('other', p_from));
end
$$;
comment on function outbox.receive_endpoint(text, text, text) is
  'Creates an endpoint from send_endpoint() of the database p_from, or replaces what an earlier '
  'run has created. It is paused until open_endpoint(), and what comes meanwhile waits. OH001, '
  'OH002; OH004: it is here already. locks: then as lock_idle_endpoint().';

create function outbox.lock_arrival(p_endpoint_id uuid, p_from text) returns boolean
language plpgsql set search_path = ''
as $$
declare
  v_endpoint outbox.endpoint;
begin
  perform from outbox.endpoint e where e.id = p_endpoint_id for no key update;
  select * into v_endpoint from outbox.endpoint e where e.id = p_endpoint_id;
  return coalesce(outbox.arrives_from(v_endpoint) = p_from, false);
end
$$;
comment on function outbox.lock_arrival(uuid, text) is
  'Whether an endpoint still waits to arrive from a database. locks: its row.';

create function outbox.open_endpoint(p_endpoint_id uuid, p_from text) returns void
language plpgsql
set search_path = ''
set lock_timeout = '2s'
as $$
begin
  if outbox.lock_arrival(p_endpoint_id, p_from) then
    -- With its reason, lock_endpoint() would refuse it.
    update outbox.endpoint e set status_reason = null where e.id = p_endpoint_id;
    perform outbox.set_endpoint_status(p_endpoint_id, 'enabled', null);
    perform outbox.note_endpoint(p_endpoint_id, 'MOVED',
      'The endpoint has moved here from ' || p_from,
      pg_catalog.jsonb_build_object('other', p_from));
    perform outbox.kick_on_commit();
  end if;
end
$$;
comment on function outbox.open_endpoint(uuid, text) is
  'Enables an endpoint that has_left() the other database. Nothing if it is enabled already. '
  '55P03 after 2 s. locks: its row.';

create function outbox.drop_arrival(p_endpoint_id uuid, p_from text) returns void
language plpgsql
set search_path = ''
set lock_timeout = '2s'
as $$
begin
  if outbox.lock_arrival(p_endpoint_id, p_from) then
    perform outbox.note_endpoint(p_endpoint_id, 'MOVE_UNDONE',
      'The endpoint has not left ' || p_from, pg_catalog.jsonb_build_object('other', p_from));
    -- After the row of the endpoint, as in lock_deleted(). A run that routes to it has the gate:
    -- what this run adds is removed, too.
    perform outbox.lock_gates(array[p_endpoint_id]);
    perform outbox.drop_moved_endpoint(p_endpoint_id);
  end if;
end
$$;
comment on function outbox.drop_arrival(uuid, text) is
  'Removes an endpoint that has not left the other database, and what waits for it: the other one '
  'delivers that, or the endpoint was deleted there. Hold the transaction of has_left() meanwhile. '
  '55P03 after 2 s. locks: its row, then its gate.';
