-- What the command has to know of one side before it moves an organisation: what prevents the move,
-- what the target has already, and the status of a move that has begun.

create function outbox.move_totals(p_org_id text) returns jsonb
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return pg_catalog.jsonb_build_object(
    'endpoints', (
      select pg_catalog.count(*) from outbox.endpoint e
      where e.org_id = p_org_id and e.status <> 'deleted'),
    'open', outbox.open_depth(p_org_id),
    'dead_letters', (
      select pg_catalog.count(*) from outbox.dead_letter x where x.org_id = p_org_id));
end
$$;
comment on function outbox.move_totals(text) is
  '{"endpoints", "open": open deliveries, "dead_letters"} of an organisation. Both sides have the '
  'same when a copy is complete.';

create function outbox.move_blockers(p_org_id text) returns text[]
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_blockers text[];
  v_table text;
  v_is_used boolean;
begin
  select pg_catalog.array_agg(b.problem) into v_blockers
  from (
    select pg_catalog.format('endpoint %s is of the kind %s: only webhooks move', e.id, e.kind)
      as problem
    from outbox.endpoint e
    where e.org_id = p_org_id and e.status <> 'deleted' and e.kind <> 'webhook'
    union all
    select pg_catalog.format('endpoint %s moves here from %s: run outhook spread-org again', e.id,
      outbox.arrives_from(e))
    from outbox.endpoint e
    where e.org_id = p_org_id and outbox.arrives_from(e) is not null
    union all
    select pg_catalog.format('replay job %s is %s: wait for its end, or cancel it', j.id, j.status)
    from outbox.replay_job j
    where j.status in ('running', 'paused') and coalesce(j.org_id, p_org_id) = p_org_id
    union all
    select pg_catalog.format('the job %s of mark_delivered() is running', m.id)
    from outbox.delivered_mark m
    where m.finished_at is null and coalesce(m.org_id, p_org_id) = p_org_id
    union all
    select pg_catalog.format('event %s was set aside by routing: call route_again()', u.event_id)
    from outbox.unroutable u
    where u.org_id = p_org_id and u.again_at = 'infinity'
    union all
    select pg_catalog.format('the delivery of event %s to endpoint %s could not be created: call '
      'retry_now() or cancel_delivery()', r.event_id, r.endpoint_id)
    from outbox.refusal r
    join outbox.endpoint e on e.id = r.endpoint_id and e.status <> 'deleted'
    where e.org_id = p_org_id and r.step = 'routing' and r.again_at = 'infinity'
    union all
    select pg_catalog.format('endpoint %s is %s', s.id, s.why)
    from (
      select e.id, outbox.why_unreadable(e.id) as why from outbox.endpoint e
      where e.org_id = p_org_id and e.status <> 'deleted' offset 0
    ) s
    where s.why is not null
    union all
    select pg_catalog.format('the event %s of an open replay for endpoint %s is no longer stored: '
      'wait until it is delivered', x.event_id, x.endpoint_id)
    from outbox.dead_letter x
    where x.org_id = p_org_id and x.replayed_at is not null
      and not exists (select from outbox.event v where v.id = x.event_id)
      and exists (
        select from outbox.delivery d
        where d.event_id = x.event_id and d.endpoint_id = x.endpoint_id)
    limit 100
  ) b;
  for v_table in
    select c.relname
    from pg_catalog.pg_class c
    join pg_catalog.pg_attribute a
      on a.attrelid = c.oid and a.attname = 'org_id' and not a.attisdropped
    where c.relnamespace = 'outbox'::regnamespace and c.relkind in ('r', 'p')
      and not c.relispartition
      and not exists (select from outbox.move_part p where p.name = c.relname)
    order by c.relname
  loop
    execute pg_catalog.format(
      'select exists (select from outbox.%I t where t.org_id = $1)', v_table)
    into v_is_used using p_org_id;
    if v_is_used then
      v_blockers := v_blockers || pg_catalog.format(
        'outbox.%s has rows of the organisation, which cannot move yet', v_table);
    end if;
  end loop;
  return coalesce(v_blockers, '{}');
end
$$;
comment on function outbox.move_blockers(text) is
  'Why an organisation cannot move, as sentences; empty: it can.';

create function outbox.check_blockers(p_org_id text) returns void
language plpgsql stable set search_path = ''
as $$
declare
  v_blockers text[] := outbox.move_blockers(p_org_id);
begin
  if pg_catalog.cardinality(v_blockers) > 0 then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('organisation %s cannot move: %s', p_org_id,
        pg_catalog.array_to_string(v_blockers, '; ')),
      hint = 'End or remove what is named, and run the command again';
  end if;
end
$$;
comment on function outbox.check_blockers(text) is
  'Raises OH004 with all reasons why an organisation cannot move.';

create function outbox.occupied_by(p_org_id text) returns text
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_part text;
  v_is_there boolean;
begin
  for v_part in
    select p.name from outbox.move_part p where p.position is not null order by p.position
  loop
    v_is_there := case v_part
      -- Without its secrets, which may be unreadable.
      when 'endpoint' then exists (
        select from outbox.endpoint e where e.org_id = p_org_id and e.status <> 'deleted')
      else outbox.read_move_page(p_org_id, v_part) ->> 'n' <> '0'
    end;
    if v_is_there then
      return v_part;
    end if;
  end loop;
  return case
    when exists (select from outbox.unrouted u where u.org_id = p_org_id)
      or exists (select from outbox.unroutable u where u.org_id = p_org_id)
    then 'events that are not routed'
    -- It may come back with the same endpoints.
    when exists (
      select from outbox.endpoint e
      where e.org_id = p_org_id and e.status = 'deleted' and not e.is_purged)
    then 'deleted endpoints that a job removes'
  end;
end
$$;
comment on function outbox.occupied_by(text) is
  'What this database has of an organisation that would be mixed with what arrives; null: nothing.';

create function outbox.has_anything(p_org_id text) returns boolean
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return exists (select from outbox.endpoint e where e.org_id = p_org_id)
    or exists (
      select from outbox.event v
      where v.org_id > '' and (v.org_id, v.id) >= (
          p_org_id, '00000000-0000-0000-0000-000000000000'::uuid)
        and v.org_id <= p_org_id)
    or outbox.occupied_by(p_org_id) is not null;
end
$$;
comment on function outbox.has_anything(text) is
  'Whether this database has anything of an organisation that may move, or an event of it.';

create function outbox.move_status(p_org_id text) returns jsonb
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_move outbox.org_move;
begin
  perform outbox.check_user_org(p_org_id);
  select * into v_move from outbox.org_move m where m.org_id = p_org_id;
  return pg_catalog.jsonb_build_object(
    'move_id', v_move.move_id, 'role', v_move.role, 'status', v_move.status, 'other', v_move.other,
    'other_database', v_move.other_database,
    'database', outbox.database_id(), 'server', outbox.server_id(),
    'occupied_by', case
      when v_move.status in ('copying', 'closed', 'moved', 'receiving') then null
      else outbox.occupied_by(p_org_id)
    end,
    'is_known', v_move.status is not null or outbox.has_anything(p_org_id),
    'version', outbox.version() ->> 'version',
    'key_hash', outbox.key_hash('partition', 'outhook')::text,
    'parts', (
      select pg_catalog.jsonb_agg(p.name order by p.position)
      from outbox.move_part p where p.position is not null),
    'blockers', case
      when v_move.status is null or v_move.status in ('live', 'copying')
      then pg_catalog.to_jsonb(outbox.move_blockers(p_org_id)) else '[]'
    end,
    'totals', outbox.move_totals(p_org_id));
end
$$;
comment on function outbox.move_status(text) is
  'What a move needs to know of one side: {"move_id", "role", "status", "other", '
  '"other_database" (null: no move), "database": database_id(), "server": server_id(), "is_known": '
  'whether there is anything of the organisation or a move, "occupied_by": see occupied_by(), '
  '"version", "key_hash": lanes can move only between databases with the same, '
  '"parts": the names for read_move_page(), "blockers": see move_blockers(), "totals"}. OH001.';
