-- Rows of the audit trail and the timeline are only added, so the cursor is the last id.

create index audit_event_action on outbox.audit_event (org_id, action, id);
create index activity_org on outbox.activity (org_id, id);
create index activity_type on outbox.activity (org_id, type, id);

create function outbox.audit_json(p_row outbox.audit_event) returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return pg_catalog.jsonb_build_object(
    'id', p_row.id::text, 'entityType', p_row.entity_type, 'entityId', p_row.entity_id,
    'action', p_row.action, 'details', p_row.details, 'actor', p_row.actor,
    'correlationId', p_row.correlation_id, 'at', outbox.iso_time(p_row.created_at));
end
$$;
comment on function outbox.audit_json(outbox.audit_event) is
  'A row of the audit trail in the form of the API: {"id", "entityType", "entityId", "action", '
  '"details", "actor", "correlationId", "at"}.';

-- A comparison of rows begins the scan of an index, but ends it only where its first column
-- differs: the organisation. So the caller stops at the first row of another correlation id, entity
-- or action.
create function outbox.open_audit_list(
  p_org_id text, p_below bigint, p_entity_type text, p_entity_id text, p_audit_action text,
  p_correlation_id text
) returns refcursor
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_list refcursor;
begin
  if p_correlation_id is not null then
    open v_list for
    select x.* from outbox.audit_event x
    where (x.org_id, x.correlation_id, x.id) < (p_org_id, p_correlation_id, p_below)
      and x.org_id >= p_org_id and x.correlation_id is not null
    order by x.org_id desc, x.correlation_id desc, x.id desc;
  elsif p_entity_type is not null and p_entity_id is not null then
    open v_list for
    select x.* from outbox.audit_event x
    where (x.org_id, x.entity_type, x.entity_id, x.id)
        < (p_org_id, p_entity_type, p_entity_id, p_below) and x.org_id >= p_org_id
    order by x.org_id desc, x.entity_type desc, x.entity_id desc, x.id desc;
  elsif p_audit_action is not null then
    open v_list for
    select x.* from outbox.audit_event x
    where (x.org_id, x.action, x.id) < (p_org_id, p_audit_action, p_below)
      and x.org_id >= p_org_id
    order by x.org_id desc, x.action desc, x.id desc;
  else
    open v_list for
    select x.* from outbox.audit_event x
    where (x.org_id, x.id) < (p_org_id, p_below) and x.org_id >= p_org_id
    order by x.org_id desc, x.id desc;
  end if;
  return v_list;
end
$$;
comment on function outbox.open_audit_list(text, bigint, text, text, text, text) is
  'A cursor over the audit trail of an organisation, below an id: by correlation id, by entity, by '
  'action, or else all. It goes on with what is sorted before; the caller stops there, and checks '
  'the other conditions.';

create function outbox.list_audit_events(
  p_org_id text, p_cursor text default null, p_limit integer default 50,
  p_entity_type text default null, p_entity_id text default null, p_audit_action text default null,
  p_correlation_id text default null
) returns jsonb
language plpgsql stable security definer set search_path = ''
as $$
declare
  v_most_rows constant integer := 20000;
  v_below bigint := coalesce(
    outbox.cursor_to_key(p_cursor, '^[0-9]{1,18}$')::bigint, 9223372036854775807);
  v_list refcursor;
  v_row outbox.audit_event;
  v_matches boolean;
  v_last bigint;
  v_seen integer := 0;
  v_data jsonb[] := array[]::jsonb[];
begin
  perform outbox.check_page(p_limit);
  v_list := outbox.open_audit_list(p_org_id, v_below, p_entity_type, p_entity_id, p_audit_action,
    p_correlation_id);
  loop
    fetch v_list into v_row;
    exit when not found
      or case
        when p_correlation_id is not null then v_row.correlation_id <> p_correlation_id
        when p_entity_type is not null and p_entity_id is not null
          then (v_row.entity_type, v_row.entity_id) <> (p_entity_type, p_entity_id)
        when p_audit_action is not null then v_row.action <> p_audit_action
        else false
      end;
    v_seen := v_seen + 1;
    v_matches := v_row.entity_type = coalesce(p_entity_type, v_row.entity_type)
      and v_row.entity_id = coalesce(p_entity_id, v_row.entity_id)
      and v_row.action = coalesce(p_audit_action, v_row.action)
      and (p_correlation_id is null or v_row.correlation_id = p_correlation_id);
    if v_seen > v_most_rows or v_matches and pg_catalog.cardinality(v_data) = p_limit then
      close v_list;
      return pg_catalog.jsonb_build_object('data', pg_catalog.to_jsonb(v_data),
        'nextCursor', outbox.key_to_cursor(v_last::text), 'rows', v_seen);
    end if;
    v_last := v_row.id;
    if v_matches then
      v_data := v_data || outbox.audit_json(v_row);
    end if;
  end loop;
  close v_list;
  return pg_catalog.jsonb_build_object('data', pg_catalog.to_jsonb(v_data), 'nextCursor', null,
    'rows', v_seen);
end
$$;
comment on function outbox.list_audit_events(text, text, integer, text, text, text, text) is
  'The audit trail of an organisation, of one entity, action or correlation id, newest first: '
  '{"data": [audit_json()], "nextCursor", "rows": how many were read}. Reads at most 20,000 rows, '
  'so a page of a rare kind may be short; the list ends when nextCursor is null. OH001.';

create function outbox.list_activity(
  p_org_id text, p_dossier_id text default null, p_cursor text default null,
  p_limit integer default 50, p_activity_type text default null
) returns jsonb
language plpgsql stable security definer
set search_path = ''
set enable_seqscan = off
set plan_cache_mode = force_custom_plan
as $$
declare
  v_below text := outbox.cursor_to_key(p_cursor, '^[0-9]{1,18}$');
  v_result jsonb;
begin
  perform outbox.check_page(p_limit);
  select pg_catalog.jsonb_build_object(
    'data', coalesce(
      pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
          'id', p.id::text, 'dossierId', p.dossier_id, 'type', p.type, 'metadata', p.metadata,
          'at', outbox.iso_time(p.created_at))
        order by p.n) filter (where p.n <= p_limit),
      '[]'),
    'nextCursor', case when pg_catalog.count(*) > p_limit then
      pg_catalog.min(outbox.key_to_cursor(p.id::text)) filter (where p.n = p_limit) end)
  into v_result
  from (
    select x.*, pg_catalog.row_number() over (order by x.id desc) as n
    from outbox.activity x
    where x.org_id = p_org_id
      and (p_dossier_id is null or x.dossier_id = p_dossier_id)
      and (p_activity_type is null or x.type = p_activity_type)
      and (p_cursor is null or x.id < v_below::bigint)
    order by x.id desc
    limit p_limit + 1
  ) p;
  return v_result;
end
$$;
comment on function outbox.list_activity(text, text, text, integer, text) is
  'The timeline of a dossier or of all, of one type or of all, newest first: {"data": [{"id", '
  '"dossierId", "type", "metadata", "at"}], "nextCursor"}. OH001.';
