-- A filter, tried on events that are stored, before an endpoint has it. The cost is bounded as in
-- routing: by the rows that are read, by the steps of all payloads, and by those of each payload.

create function outbox.try_filter(
  p_org_id text,
  p_filter text,
  p_event_types text[] default '{*}',
  p_limit integer default 100
) returns jsonb
language plpgsql stable security definer
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_most_rows constant integer := 5000;
  -- A step takes at most 0.5 us.
  v_most_work constant bigint := 400000;
  v_filter outbox.filter := outbox.read_filter(p_filter);
  v_rows integer := 0;
  v_work bigint := 0;
  v_own_work bigint;
  v_steps bigint;
  v_ends boolean := true;
  v_matched integer := 0;
  v_failed integer := 0;
  v_problem text;
  v_event record;
  v_data jsonb[] := array[]::jsonb[];
begin
  perform outbox.check_page(p_limit);
  perform outbox.check_patterns(p_event_types);
  for v_event in
    select e.id, e.type, e.created_at, e.endpoint_id, e.body
    from outbox.event e
    where e.org_id > '' and (e.org_id, e.id) >= (p_org_id, '00000000-0000-0000-0000-000000000000')
      and (e.org_id, e.id) <= (p_org_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
    order by e.org_id desc, e.id desc
    limit v_most_rows + 1
  loop
    if v_rows = v_most_rows or pg_catalog.cardinality(v_data) = p_limit then
      v_ends := false;
      exit;
    end if;
    -- An event for one endpoint goes to it whatever the filters.
    if v_event.endpoint_id is not null
      or not outbox.type_patterns(v_event.type) operator(pg_catalog.&&) p_event_types
    then
      v_rows := v_rows + 1;
      continue;
    end if;
    v_steps := outbox.body_work(v_event.body)
      + least(outbox.most_filter_steps(),
        v_filter.weight * outbox.count_values(v_event.body));
    -- A payload that alone takes too long is not read: its steps were counted.
    v_own_work := case
      when v_steps <= v_most_work then v_steps
      else least(pg_catalog.octet_length(v_event.body) / 4, v_most_work)
    end;
    if v_work + v_own_work > v_most_work then
      v_ends := false;
      exit;
    end if;
    v_work := v_work + v_own_work;
    v_problem := case
      when v_steps <= v_most_work then
        outbox.body_problem(v_event.body, array[v_filter.path], array[v_filter.weight])
      else pg_catalog.format('filter: takes up to %s steps for this payload, and a trial takes at '
        'most %s', v_steps, v_most_work)
    end;
    v_rows := v_rows + 1;
    v_matched := v_matched + (v_problem is null)::integer;
    v_failed := v_failed + (coalesce(v_problem, '') <> '')::integer;
    v_data := v_data || pg_catalog.jsonb_build_object('id', v_event.id, 'type', v_event.type,
      'createdAt', outbox.iso_time(v_event.created_at), 'matches', v_problem is null,
      'problem', nullif(v_problem, ''));
  end loop;
  return pg_catalog.jsonb_build_object('tried', pg_catalog.cardinality(v_data),
    'matched', v_matched, 'failed', v_failed, 'isWhole', v_ends,
    'data', pg_catalog.to_jsonb(v_data), 'rows', v_rows, 'work', v_work);
end
$$;
comment on function outbox.try_filter(text, text, text[], integer) is
  'Evaluates a filter on the newest events of an organisation that have one of these types, and '
  'that are not for one endpoint alone: {"tried": how many, "matched", "failed": for how many the '
  'filter fails, "isWhole": whether all that are stored were looked at, "data": [{"id", "type", '
  '"createdAt", "matches", "problem"}], newest first, "rows": how many were read, "work": steps of '
  'at most 0.5 us}. Reads at most 5,000 events and stops at 400,000 steps. OH001.';
