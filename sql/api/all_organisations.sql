-- What an operator reads across the organisations of a database: `outhook across` asks several
-- databases and does not know which of them has an organisation.

create function outbox.list_all_dead_letters(
  p_status text default null, p_cursor text default null, p_limit integer default 50
) returns jsonb
language plpgsql stable security definer
set search_path = ''
-- The order comes from an index whatever the statistics say: see foundation/setup.
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  -- The most rows that a page reads.
  v_budget integer := 20000;
  v_at timestamptz;
  v_id uuid;
  v_list refcursor;
  v_letter outbox.dead_letter;
  v_last outbox.dead_letter;
  v_one jsonb;
  v_data jsonb[] := array[]::jsonb[];
begin
  perform outbox.check_page(p_limit);
  if p_status is not null then
    perform outbox.check_choice('status', p_status,
      array['open', 'replayed', 'delivered', 'discarded']);
  end if;
  select c.p_at, c.p_id::uuid into v_at, v_id from outbox.read_cursor(p_cursor) c;
  open v_list for
  select x.* from outbox.dead_letter x
  where (x.failed_at, x.id) < (v_at, v_id)
  order by x.failed_at desc, x.id desc;
  while v_budget > 0 loop
    fetch v_list into v_letter;
    if not found then
      close v_list;
      return pg_catalog.jsonb_build_object('data', pg_catalog.to_jsonb(v_data), 'nextCursor', null);
    end if;
    exit when pg_catalog.cardinality(v_data) = p_limit;
    v_last := v_letter;
    v_budget := v_budget - 1;
    v_one := outbox.dead_letter_json(v_letter)
      || pg_catalog.jsonb_build_object('orgId', v_letter.org_id);
    if v_one ->> 'status' = coalesce(p_status, v_one ->> 'status') then
      v_data := v_data || v_one;
    end if;
  end loop;
  close v_list;
  return pg_catalog.jsonb_build_object('data', pg_catalog.to_jsonb(v_data),
    'nextCursor', outbox.to_cursor(v_last.failed_at, v_last.id::text));
end
$$;
comment on function outbox.list_all_dead_letters(text, text, integer) is
  'The dead letters of all organisations, newest first, by status: {"data": [dead_letter_json() '
  'with "orgId"], "nextCursor"}. Reads at most 20,000 rows, so a page may be short; the list ends '
  'when nextCursor is null. OH001.';

create function outbox.org_of_event(p_event_id uuid) returns text
language plpgsql stable security definer
set search_path = ''
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return coalesce(
    (select e.org_id from outbox.event e where e.id = p_event_id),
    -- Dead letters are stored longer than their events.
    (select x.org_id from outbox.dead_letter x where x.event_id = p_event_id limit 1));
end
$$;
comment on function outbox.org_of_event(uuid) is
  'The organisation of an event that is stored, or that a dead letter has; null if there is none.';
