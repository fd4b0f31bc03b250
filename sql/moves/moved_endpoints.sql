-- Endpoints that move, each with its subscriptions, signing secrets, headers and what its gate
-- knows of its receiver. They keep their ids, so receivers, applications and open deliveries need
-- no change. The secrets are in the pages that pass from one database to the other, and nowhere
-- else.

create function outbox.moved_status(p_endpoint outbox.endpoint) returns jsonb
language plpgsql stable set search_path = ''
as $$
declare
  v_move outbox.org_move;
begin
  select * into v_move from outbox.org_move m where m.org_id = p_endpoint.org_id;
  return case
    when p_endpoint.status = 'paused' and p_endpoint.status_reason = outbox.move_reason(v_move)
    then v_move.endpoints -> p_endpoint.id::text
    else pg_catalog.jsonb_build_object(
      'status', p_endpoint.status, 'reason', p_endpoint.status_reason)
  end;
end
$$;
comment on function outbox.moved_status(outbox.endpoint) is
  'The status that an endpoint has without the pause of the move: {"status", "reason"}.';

create function outbox.read_moved_endpoints(
  p_org_id text, p_after text, p_upto text, p_limit integer
) returns table (key text, item jsonb)
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return query
  select e.id::text, pg_catalog.jsonb_build_object(
    'endpoint', pg_catalog.to_jsonb(e) - array['org_id', 'status', 'status_reason', 'ramp_from',
      'updated_at', 'headers_vault_id', 'credentials_vault_id', 'is_purged'],
    'status', outbox.moved_status(e),
    'headers', outbox.stored_headers(e.headers_vault_id),
    'secrets', (
      select coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
        'id', s.id, 'secret', s.secret, 'created_at', s.created_at, 'expires_at', s.expires_at)
        order by s.id), '[]')
      from (
        select s.id, s.created_at, s.expires_at, case
          when s.expires_at is null then outbox.vault_text(s.vault_id, 'the signing secret')
          -- A replaced secret that cannot be read only expires earlier.
          else outbox.try_read(s.vault_id)
        end as secret
        from outbox.endpoint_secret s where s.endpoint_id = e.id offset 0
      ) s
      where s.secret is not null),
    'subscriptions', (
      select coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
        'pattern', s.pattern, 'filter', s.filter_text, 'created_at', s.created_at)
        order by s.pattern collate "C"), '[]')
      from outbox.subscription s where s.endpoint_id = e.id),
    'gate', (
      select pg_catalog.jsonb_build_object('not_before', g.not_before, 'streak', g.streak,
        'first_failure_at', g.first_failure_at, 'secret_id', g.secret_id)
      from outbox.gate g where g.endpoint_id = e.id))
  from outbox.endpoint e
  where e.org_id = p_org_id and e.status <> 'deleted' and e.id::text collate "C" > p_after
    and (p_upto is null or e.id::text collate "C" <= p_upto)
  order by e.id
  limit p_limit;
end
$$;
comment on function outbox.read_moved_endpoints(text, text, text, integer) is
  'Endpoints with their secrets in the clear. OH004 if one cannot be read from Vault.';

create function outbox.drop_moved_endpoint(p_endpoint_id uuid) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_gate bigint := (select g.id from outbox.gate g where g.endpoint_id = p_endpoint_id);
begin
  delete from outbox.delivery d using outbox.lane l
  where l.gate_id = v_gate and d.lane_id = l.id and d.lane_id > 0;
  perform outbox.remove_endpoint(p_endpoint_id, v_gate);
  delete from outbox.subscription s where s.endpoint_id = p_endpoint_id;
  if exists (select from outbox.attempt a where a.endpoint_id = p_endpoint_id) then
    -- History of the time before the organisation left this database refers to it.
    update outbox.endpoint e set status = 'deleted', status_reason = 'the move was undone'
    where e.id = p_endpoint_id;
  else
    delete from outbox.endpoint e where e.id = p_endpoint_id;
  end if;
end
$$;
comment on function outbox.drop_moved_endpoint(uuid) is
  'Removes an endpoint that a move has created and that has never delivered here.';

create function outbox.put_moved_endpoint(p_move outbox.org_move, p_item jsonb) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_id uuid := (p_item #>> '{endpoint,id}')::uuid;
  v_secret record;
  v_added uuid;
begin
  if exists (
    select from outbox.endpoint e
    where e.id = v_id and (e.org_id <> p_move.org_id or e.status = 'deleted' and not e.is_purged))
  then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('endpoint %s exists here and is deleted, or belongs to another '
        'organisation', v_id),
      hint = 'A deleted endpoint is removed by a job: try again when its open deliveries are gone';
  end if;
  delete from vault.secrets v using outbox.endpoint_secret s
  where s.endpoint_id = v_id and v.id = s.vault_id;
  delete from outbox.endpoint_secret s where s.endpoint_id = v_id;
  delete from outbox.subscription s where s.endpoint_id = v_id;
  perform outbox.put_headers(e.id, '{}') from outbox.endpoint e where e.id = v_id;
  -- Replaced as a whole, so that no column is forgotten.
  delete from outbox.endpoint e where e.id = v_id;
  insert into outbox.endpoint
  select e.* from pg_catalog.jsonb_populate_record(null::outbox.endpoint, p_item -> 'endpoint'
    || pg_catalog.jsonb_build_object('org_id', p_move.org_id, 'status', 'paused',
      'status_reason', outbox.move_reason(p_move), 'ramp_from', 'epoch',
      'updated_at', outbox.clock(), 'header_names', '[]'::jsonb, 'is_purged', false)) e;
  if p_item -> 'headers' <> '{}' then
    perform outbox.put_headers(v_id, p_item -> 'headers');
  end if;
  for v_secret in
    select * from pg_catalog.jsonb_to_recordset(p_item -> 'secrets')
      as s (id uuid, secret text, created_at timestamptz, expires_at timestamptz)
  loop
    v_added := outbox.add_secret(v_id, v_secret.secret, v_secret.created_at);
    -- Open deliveries and the gate name a secret by its id.
    update outbox.endpoint_secret s set id = v_secret.id, expires_at = v_secret.expires_at
    where s.id = v_added;
  end loop;
  insert into outbox.subscription (
    org_id, pattern, endpoint_id, filter, created_at, filter_text, filter_weight)
  select p_move.org_id, s.pattern, v_id, (f.filter).path, s.created_at, s.filter,
    coalesce((f.filter).weight, 0)
  from pg_catalog.jsonb_to_recordset(p_item -> 'subscriptions')
    as s (pattern text, filter text, created_at timestamptz)
  cross join lateral (
    select case when s.filter is not null then outbox.read_filter(s.filter) end as filter
  ) f;
  if not exists (select from outbox.gate g where g.endpoint_id = v_id) then
    perform outbox.add_gate(v_id, p_item #>> '{endpoint,ordering}');
  end if;
  update outbox.gate g set not_before = n.not_before, streak = n.streak,
    first_failure_at = n.first_failure_at, secret_id = n.secret_id
  from pg_catalog.jsonb_to_record(p_item -> 'gate')
    as n (not_before timestamptz, streak integer, first_failure_at timestamptz, secret_id uuid)
  where g.endpoint_id = v_id;
end
$$;
comment on function outbox.put_moved_endpoint(outbox.org_move, jsonb) is
  'Creates or replaces an endpoint from an item of read_moved_endpoints(), paused. OH004: its id '
  'is in use here.';

create function outbox.write_moved_endpoints(
  p_org_id text, p_after text, p_upto text, p_items jsonb
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_move outbox.org_move := outbox.check_move(p_org_id, array['receiving']);
  -- open_target() would give it this reason, and it would move here from a database that does not
  -- have it.
  v_arriving constant text := (
    select i ->> 'key' from pg_catalog.jsonb_array_elements(p_items) i
    where pg_catalog.starts_with(i #>> '{item,status,reason}', outbox.arrival_reason(''))
    limit 1);
begin
  if v_arriving is not null then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('endpoint %s has not arrived in the source', v_arriving),
      hint = 'Run outhook spread-org again for the source: it continues that move';
  end if;
  perform outbox.drop_moved_endpoint(e.id)
  from outbox.endpoint e
  where e.org_id = p_org_id and e.status <> 'deleted' and e.id::text collate "C" > p_after
    and (p_upto is null or e.id::text collate "C" <= p_upto)
    and not exists (
      select from pg_catalog.jsonb_array_elements(p_items) i where i ->> 'key' = e.id::text);
  perform outbox.put_moved_endpoint(v_move, i -> 'item')
  from pg_catalog.jsonb_array_elements(p_items) i;
  update outbox.org_move m set endpoints = m.endpoints || n.statuses
  from (
    select pg_catalog.jsonb_object_agg(i ->> 'key', i #> '{item,status}') as statuses
    from pg_catalog.jsonb_array_elements(p_items) i
  ) n
  where m.org_id = p_org_id and n.statuses is not null;
end
$$;
comment on function outbox.write_moved_endpoints(text, text, text, jsonb) is
  'The write_function of endpoints (see move_part). OH004: one is an arrival in the source.';
