-- The steps in which one endpoint changes its database (see spread_status). This file has those of
-- the source and of both, and spread_arrival those of the target. The command holds a transaction
-- in both databases:
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

create function outbox.lock_idle_endpoint(p_endpoint_id uuid) returns outbox.endpoint
language plpgsql set search_path = ''
-- SKIP LOCKED may wait (see engine/queue/gate). The command tries again after 55P03.
set lock_timeout = '20ms'
as $$
declare
  v_endpoint outbox.endpoint;
  v_user text;
begin
  -- Not waited for, because the caller has called hold_events(): publishers would wait as long, and
  -- a run that has the gate may wait for it.
  perform from outbox.endpoint e where e.id = p_endpoint_id for no key update skip locked;
  v_user := case when not found then 'another transaction' end;
  -- Read it after the lock, as lock_endpoint() does.
  v_endpoint := outbox.check_endpoint(p_endpoint_id);
  -- replay() creates deliveries without routing, and holds the gate.
  if v_user is null
    and pg_catalog.cardinality(outbox.try_lock_gates(array[p_endpoint_id])) = 0
  then
    v_user := 'a run or a replay';
  end if;
  if v_user is not null then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('endpoint %s is in use by %s', p_endpoint_id, v_user),
      hint = 'It stays where it is. Run the command again when this has ended';
  end if;
  return v_endpoint;
end
$$;
comment on function outbox.lock_idle_endpoint(uuid) is
  'Locks and returns an endpoint that neither a run nor anybody else has locked. OH002, OH004. '
  'locks: its row, then its gate, with SKIP LOCKED.';

create function outbox.check_leaves(p_endpoint_id uuid) returns outbox.endpoint
language plpgsql set search_path = ''
as $$
declare
  v_endpoint constant outbox.endpoint := outbox.lock_idle_endpoint(p_endpoint_id);
  v_why text;
begin
  perform outbox.check_spread(v_endpoint.org_id);
  v_why := outbox.why_endpoint_stays(v_endpoint);
  if v_why is not null then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('endpoint %s %s', p_endpoint_id, v_why),
      hint = 'It stays where it is. Run the command again when this has ended';
  end if;
  return v_endpoint;
end
$$;
comment on function outbox.check_leaves(uuid) is
  'Locks and returns an endpoint that can move to another database. OH002, OH004. locks: as '
  'lock_idle_endpoint().';

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
language plpgsql
set search_path = ''
set lock_timeout = '2s'
as $$
declare
  v_reason text;
begin
  -- Read it after the lock: another run may have moved it.
  perform from outbox.endpoint e where e.id = p_endpoint_id for no key update;
  v_reason := (
    select e.status_reason from outbox.endpoint e
    where e.id = p_endpoint_id and e.status = 'deleted');
  -- False would let the command drop what may be the only copy.
  if pg_catalog.starts_with(v_reason, outbox.departure_reason(''))
    and v_reason <> outbox.departure_reason(p_to)
  then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('endpoint %s has %s, and not to %s', p_endpoint_id, v_reason,
        p_to),
      hint = 'If the database was renamed, give it the name that it had. If the endpoint went to a '
        'third one, remove the copy with drop_arrival()';
  end if;
  return coalesce(v_reason = outbox.departure_reason(p_to), false);
end
$$;
comment on function outbox.has_left(uuid, text) is
  'Whether leave_endpoint() has been committed. If not, it is not until the end of this '
  'transaction. OH004: it has left for a database of another name; 55P03 after 2 s. locks: its '
  'row.';
