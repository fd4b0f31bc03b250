-- The list of the audit trail over the HTTP API. Rows are only added, so the cursor is the last id.

-- A comparison of rows begins the scan of an index, but ends it only where its first column
-- differs: the organisation. So the caller stops at the first row of another correlation id,
-- entity, actor or action.
create function outbox.open_audit_list(
  p_org_id text, p_below bigint, p_entity_type text, p_entity_id text, p_audit_action text,
  p_correlation_id text, p_actor text
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
  elsif p_actor is not null then
    open v_list for
    select x.* from outbox.audit_event x
    where (x.org_id, pg_catalog.left(x.actor, 200), x.id)
        < (p_org_id, pg_catalog.left(p_actor, 200), p_below)
      and x.org_id >= p_org_id and x.actor is not null
    order by x.org_id desc, pg_catalog.left(x.actor, 200) desc, x.id desc;
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
comment on function outbox.open_audit_list(text, bigint, text, text, text, text, text) is
  'A cursor over the audit trail of an organisation, below an id: by correlation id, by entity, by '
  'actor, by action, or else all. It goes on with what is sorted before; the caller stops there, '
  'and checks the other conditions.';

-- Ids and times have nearly the same order, so half of the ids are left out with each look at the
-- index of the organisation, and the times need no index of their own.
create function outbox.audit_id_after(p_org_id text, p_at timestamptz) returns bigint
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
as $$
declare
  -- Of two transactions, the one with the lower id may have the later time.
  v_at timestamptz := p_at + interval '1 minute';
  v_low bigint := 0;
  v_high bigint := coalesce((
    select x.id from outbox.audit_event x where x.org_id = p_org_id
    order by x.org_id desc, x.id desc limit 1), 0) + 1;
  v_middle bigint;
  v_found timestamptz;
begin
  while v_low < v_high loop
    v_middle := v_low + (v_high - v_low) / 2;
    select x.created_at into v_found from outbox.audit_event x
    where (x.org_id, x.id) >= (p_org_id, v_middle) and x.org_id <= p_org_id
    order by x.org_id, x.id limit 1;
    if not found or v_found >= v_at then
      v_high := v_middle;
    else
      v_low := v_middle + 1;
    end if;
  end loop;
  return v_low;
end
$$;
comment on function outbox.audit_id_after(text, timestamptz) is
  'An id such that no row of the audit trail of an organisation with this or a higher id is from '
  'before p_at, unless transactions of a minute were under way.';

create function outbox.list_audit_events(
  p_org_id text, p_cursor text default null, p_limit integer default 50,
  p_entity_type text default null, p_entity_id text default null, p_audit_action text default null,
  p_correlation_id text default null, p_actor text default null,
  p_from timestamptz default null, p_to timestamptz default null
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
  if p_from >= p_to then
    perform outbox.invalid('from', 'is not before to', 'Expected a span of time');
  end if;
  if p_to is not null then
    v_below := least(v_below, outbox.audit_id_after(p_org_id, p_to));
  end if;
  v_list := outbox.open_audit_list(p_org_id, v_below, p_entity_type, p_entity_id, p_audit_action,
    p_correlation_id, p_actor);
  loop
    fetch v_list into v_row;
    exit when not found
      or v_row.created_at < p_from - interval '1 minute'
      or case
        when p_correlation_id is not null then v_row.correlation_id <> p_correlation_id
        when p_entity_type is not null and p_entity_id is not null
          then (v_row.entity_type, v_row.entity_id) <> (p_entity_type, p_entity_id)
        when p_actor is not null
          then pg_catalog.left(v_row.actor, 200) <> pg_catalog.left(p_actor, 200)
        when p_audit_action is not null then v_row.action <> p_audit_action
        else false
      end;
    v_seen := v_seen + 1;
    v_matches := v_row.entity_type = coalesce(p_entity_type, v_row.entity_type)
      and v_row.entity_id = coalesce(p_entity_id, v_row.entity_id)
      and v_row.action = coalesce(p_audit_action, v_row.action)
      and (p_actor is null or v_row.actor is not distinct from p_actor)
      and (p_correlation_id is null or v_row.correlation_id = p_correlation_id)
      and v_row.created_at >= coalesce(p_from, '-infinity')
      and v_row.created_at < coalesce(p_to, 'infinity');
    if v_seen > v_most_rows or v_matches and pg_catalog.cardinality(v_data) = p_limit then
      close v_list;
      return pg_catalog.jsonb_build_object('data', pg_catalog.to_jsonb(v_data),
        'nextCursor', outbox.key_to_cursor(v_last::text), 'rows', v_seen);
    end if;
    v_last := v_row.id;
    if v_matches then
      v_data := v_data || outbox.audit_event_json(v_row);
    end if;
  end loop;
  close v_list;
  return pg_catalog.jsonb_build_object('data', pg_catalog.to_jsonb(v_data), 'nextCursor', null,
    'rows', v_seen);
end
$$;
comment on function outbox.list_audit_events(
  text, text, integer, text, text, text, text, text, timestamptz, timestamptz) is
  'The audit trail of an organisation, of one entity, action, actor, correlation id or span of '
  'time (p_to itself is left out), newest first: {"data": [audit_event_json()], "nextCursor", '
  '"rows": how many were read}. Reads at most 20,000 rows, so a page of a rare kind may be short; '
  'the list ends when nextCursor is null. OH001.';
