-- The steps in which one endpoint changes its database (see spread_status). The command holds a
-- transaction in both databases:
--
--   1 hold_events()        in both: no event is taken or routed until the end of the transaction
--   2 carried_keys()       in both: both have taken the same events
--   3 send_endpoint()      in the source: locks the endpoint and reads it
--   4 receive_endpoint()   in the target, which commits: what it takes from now on waits there
--   5 leave_endpoint()     in the source, which commits: the endpoint has left
--   6 open_endpoint()      in the target, in a transaction of its own: it delivers
--
-- Both databases take all events of the organisation, in any order. Because of 1 and 2 each event
-- is either known to both, and was routed by the source, or to none, and is routed by the target.
-- It has no open deliveries in the source, so the later ones cannot overtake them.

create function outbox.hold_events() returns void
language plpgsql
set search_path = ''
set lock_timeout = '2s'
as $$
begin
  -- If the command is stopped, publishers go on after ten seconds.
  perform pg_catalog.set_config('idle_in_transaction_session_timeout', '10000', true);
  lock table outbox.unrouted in share mode;
end
$$;
comment on function outbox.hold_events() is
  'Waits for all transactions that publish or route events, and lets no other one do so until the '
  'end of this transaction. Fails if they do not end within 2 s, so that publishers do not wait '
  'for longer. locks: the table unrouted.';

create function outbox.check_spread(p_org_id text) returns void
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_blockers text[] := outbox.spread_blockers(p_org_id);
begin
  if exists (select from outbox.unrouted u where u.org_id = p_org_id) then
    v_blockers := v_blockers || 'events wait for routing'::text;
  end if;
  if pg_catalog.cardinality(v_blockers) > 0 then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('no endpoint of organisation %s can move: %s', p_org_id,
        pg_catalog.array_to_string(v_blockers, '; ')),
      hint = 'End what is named, and run the command again';
  end if;
end
$$;
comment on function outbox.check_spread(text) is
  'Raises OH004 if no endpoint of the organisation can leave or reach this database now.';

create function outbox.check_leaves(p_endpoint_id uuid) returns outbox.endpoint
language plpgsql set search_path = ''
as $$
declare
  v_endpoint outbox.endpoint := outbox.lock_endpoint(p_endpoint_id);
  -- replay() creates deliveries without routing, and holds the gate. Not waited for: a run that has
  -- it may wait for hold_events().
  v_is_free constant boolean :=
    pg_catalog.cardinality(outbox.try_lock_gates(array[p_endpoint_id])) > 0;
  v_why text := 'is in use by a run or a replay';
begin
  perform outbox.check_spread(v_endpoint.org_id);
  if v_is_free then
    v_why := outbox.why_endpoint_stays(v_endpoint);
  end if;
  if v_why is not null then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('endpoint %s %s', p_endpoint_id, v_why),
      hint = 'It stays where it is until then';
  end if;
  return v_endpoint;
end
$$;
comment on function outbox.check_leaves(uuid) is
  'Locks and returns an endpoint that can move to another database. OH002, OH004. locks: its row, '
  'and its gate with SKIP LOCKED.';

create function outbox.send_endpoint(p_endpoint_id uuid) returns text
language plpgsql set search_path = '' set timezone = 'UTC' set extra_float_digits = 1
as $$
declare
  v_endpoint outbox.endpoint := outbox.check_leaves(p_endpoint_id);
  v_key constant text := p_endpoint_id::text;
begin
  return (
    -- A beginning of the key is before it, so the page has nothing else.
    select r.item::text
    from outbox.read_moved_endpoints(v_endpoint.org_id, pg_catalog.left(v_key, -1), v_key, null) r
    where r.key = v_key);
end
$$;
comment on function outbox.send_endpoint(uuid) is
  'An item of read_moved_endpoints() as text, with the secrets in the clear. Nobody changes the '
  'endpoint until the end of this transaction. OH002, OH004. locks: its row and its gate.';

create function outbox.receive_endpoint(p_org_id text, p_from text, p_item text) returns void
language plpgsql
set search_path = ''
set timezone = 'UTC'
set enable_seqscan = off
as $$
declare
  v_item constant jsonb := p_item::jsonb;
  v_id constant uuid := (v_item #>> '{endpoint,id}')::uuid;
  v_there outbox.endpoint;
  v_move outbox.org_move;
begin
  perform outbox.check_move_name(p_from);
  perform outbox.check_spread(p_org_id);
  select * into v_there from outbox.endpoint e where e.id = v_id and e.status <> 'deleted';
  if found then
    if outbox.arrives_from(v_there) is distinct from p_from then
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
  'run has created. It is paused until open_endpoint(), and what comes meanwhile waits. OH001; '
  'OH004: it is here already.';

create function outbox.leave_endpoint(p_endpoint_id uuid, p_to text) returns void
language plpgsql set search_path = ''
as $$
begin
  perform outbox.check_move_name(p_to);
  perform outbox.check_leaves(p_endpoint_id);
  perform outbox.set_endpoint_status(p_endpoint_id, 'deleted', outbox.departure_reason(p_to));
  perform outbox.note_endpoint(p_endpoint_id, 'MOVED', 'The endpoint has moved to ' || p_to,
    pg_catalog.jsonb_build_object('other', p_to));
end
$$;
comment on function outbox.leave_endpoint(uuid, text) is
  'Deletes an endpoint that the database p_to has received. Call it in the transaction of '
  'send_endpoint(). OH001, OH002, OH004. locks: its row and its gate.';

create function outbox.has_left(p_endpoint_id uuid, p_to text) returns boolean
language plpgsql set search_path = ''
as $$
begin
  -- Read it after the lock: another run may have moved it.
  perform from outbox.endpoint e where e.id = p_endpoint_id for no key update;
  return exists (
    select from outbox.endpoint e
    where e.id = p_endpoint_id and e.status = 'deleted'
      and e.status_reason = outbox.departure_reason(p_to));
end
$$;
comment on function outbox.has_left(uuid, text) is
  'Whether leave_endpoint() has been committed. If not, it is not until the end of this '
  'transaction. locks: its row.';

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
language plpgsql set search_path = ''
as $$
begin
  if outbox.lock_arrival(p_endpoint_id, p_from) then
    -- With its reason, set_endpoint_status() would refuse it.
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
  'locks: its row.';

create function outbox.drop_arrival(p_endpoint_id uuid, p_from text) returns void
language plpgsql set search_path = ''
as $$
begin
  if outbox.lock_arrival(p_endpoint_id, p_from) then
    perform outbox.note_endpoint(p_endpoint_id, 'MOVE_UNDONE',
      'The endpoint has not left ' || p_from, pg_catalog.jsonb_build_object('other', p_from));
    perform outbox.drop_moved_endpoint(p_endpoint_id);
  end if;
end
$$;
comment on function outbox.drop_arrival(uuid, text) is
  'Removes an endpoint that has not left the other database, and what waits for it: the other one '
  'delivers that, or the endpoint was deleted there. Hold the transaction of has_left() meanwhile. '
  'locks: its row.';
