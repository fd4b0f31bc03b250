-- The begin of a move: the target refuses events, and the source pauses the endpoints.

create function outbox.pause_for_move(p_move outbox.org_move) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  -- A resume of another transaction waits for these locks, and then finds the move.
  perform from outbox.endpoint e
  where e.org_id = p_move.org_id and e.status <> 'deleted' order by e.id for no key update;
  with paused as (
    update outbox.endpoint e set status = 'paused', status_reason = outbox.move_reason(p_move),
      version = e.version + 1, updated_at = outbox.clock()
    from outbox.endpoint f
    where f.org_id = p_move.org_id and f.status = 'enabled' and e.id = f.id
    returning e.id, f.status as was, f.status_reason as reason
  )
  update outbox.org_move m set endpoints = m.endpoints || n.statuses
  from (
    select pg_catalog.jsonb_object_agg(p.id, pg_catalog.jsonb_build_object(
      'status', p.was, 'reason', p.reason)) as statuses
    from paused p
  ) n
  where m.org_id = p_move.org_id and n.statuses is not null;
end
$$;
comment on function outbox.pause_for_move(outbox.org_move) is
  'Pauses the enabled endpoints of an organisation and notes their status. locks: its endpoints by '
  'id.';

create function outbox.begin_receiving(
  p_org_id text, p_move_id uuid, p_other text, p_database text default null
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_now timestamptz := outbox.clock();
  v_move outbox.org_move;
  v_found text;
begin
  perform outbox.check_move_name(p_other);
  perform outbox.take_endpoint_turn(p_org_id);
  select * into v_move from outbox.org_move m where m.org_id = p_org_id;
  if v_move.move_id = p_move_id then
    return;
  elsif v_move.status in ('copying', 'closed', 'moved', 'receiving') then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('another move of organisation %s is %s', p_org_id, v_move.status),
      hint = 'End that move first';
  end if;
  v_found := outbox.occupied_by(p_org_id);
  if v_found is not null then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('the target has something of organisation %s already: %s',
        p_org_id, v_found),
      hint = 'A move needs a target without endpoints, event types, settings, open deliveries, '
        'dead letters and idempotency keys of the organisation';
  end if;
  insert into outbox.org_move (org_id, move_id, role, status, other, other_database, started_at,
    changed_at)
  values (p_org_id, p_move_id, 'target', 'receiving', p_other, p_database, v_now, v_now)
  on conflict (org_id) do update set move_id = excluded.move_id, role = 'target',
    status = 'receiving', other = excluded.other, other_database = excluded.other_database,
    run_id = null, endpoints = '{}', settled_at = null,
    started_at = excluded.started_at, changed_at = excluded.changed_at
  returning * into v_move;
  perform outbox.close_publishing(p_org_id, v_now);
  perform outbox.note_move(v_move, 'MOVE_BEGUN');
end
$$;
comment on function outbox.begin_receiving(text, uuid, text, text) is
  'The first step, in the target: nobody can publish for the organisation here until it is live. '
  'p_other, p_database: the name and the database_id() of the source. Nothing if this move has '
  'begun. OH001; OH004: the target has something of the organisation.';

create function outbox.begin_leaving(
  p_org_id text, p_move_id uuid, p_other text, p_database text default null
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_now timestamptz := outbox.clock();
  v_move outbox.org_move;
begin
  perform outbox.check_move_name(p_other);
  -- Nobody creates an endpoint meanwhile.
  perform outbox.take_endpoint_turn(p_org_id);
  select * into v_move from outbox.org_move m where m.org_id = p_org_id;
  if v_move.move_id = p_move_id and v_move.role = 'source' then
    return;
  elsif v_move.status <> 'live' then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('organisation %s cannot move: another move of it is %s', p_org_id,
        v_move.status),
      hint = 'End that move first';
  end if;
  perform outbox.check_blockers(p_org_id);
  insert into outbox.org_move (org_id, move_id, role, status, other, other_database, started_at,
    changed_at)
  values (p_org_id, p_move_id, 'source', 'copying', p_other, p_database, v_now, v_now)
  on conflict (org_id) do update set move_id = excluded.move_id, role = 'source',
    status = 'copying', other = excluded.other, other_database = excluded.other_database,
    run_id = null, endpoints = '{}', settled_at = null,
    started_at = excluded.started_at, changed_at = excluded.changed_at
  returning * into v_move;
  perform outbox.pause_for_move(v_move);
  perform outbox.note_move(v_move, 'MOVE_BEGUN');
end
$$;
comment on function outbox.begin_leaving(text, uuid, text, text) is
  'The second step, in the source: pauses the endpoints. Events are accepted and routed, and wait. '
  'p_other, p_database: the name and the database_id() of the target. Nothing if this move has '
  'begun. OH001; OH004: what prevents the move.';

create function outbox.check_move_name(p_other text) returns void
language plpgsql immutable set search_path = ''
as $$
begin
  if p_other is null or p_other !~ '^[\x21-\x7e]{1,100}$' then
    perform outbox.invalid('other', 'is not 1 to 100 visible ASCII characters',
      'Expected a name of the other project that publishers know, such as eu-2; no URL with a '
      'password');
  end if;
end
$$;
comment on function outbox.check_move_name(text) is
  'Raises OH001 unless this can be the name of a project. Publishers see it in OH012.';
