-- The newest deliveries. Postgres does not push an order into the branches of a view with joins and
-- a union: a query of delivery_status for the newest rows sorts all history. This function reads
-- the newest events first and then queries the view once per event.

create function outbox.recent_deliveries(
  p_org_id text default null, p_limit integer default 100
) returns setof outbox.delivery_status
language plpgsql stable security definer
set search_path = ''
-- These settings force index lookups: see foundation/setup.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  v_ids uuid[];
  v_id uuid;
  v_found bigint;
  v_left bigint := p_limit;
begin
  perform outbox.check_range('limit', p_limit, 1, 1000);
  if p_org_id is null then
    v_ids := array(select e.id from outbox.event e order by e.id desc limit p_limit);
  else
    perform outbox.check_org(p_org_id);
    v_ids := array(
      select e.id from outbox.event e
      where e.org_id > ''
        and (e.org_id, e.id) >= (p_org_id, '00000000-0000-0000-0000-000000000000'::uuid)
        and (e.org_id, e.id) <= (p_org_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
      order by e.org_id desc, e.id desc
      limit p_limit);
  end if;
  foreach v_id in array v_ids loop
    return query
    select s.* from outbox.delivery_status s
    where s.event_id = v_id
    order by s.endpoint_id
    limit v_left;
    get diagnostics v_found = row_count;
    v_left := v_left - v_found;
    exit when v_left <= 0;
  end loop;
end
$$;
comment on function outbox.recent_deliveries(text, integer) is
  'The deliveries of the newest events, of one organisation or (null) of all, as rows of '
  'delivery_status: by event_id, highest first, then by endpoint_id. p_limit (1 to 1000) limits '
  'both the rows and the events. So the last event may be incomplete, and unrouted events make '
  'the result shorter. The cost does not grow with history. OH001.';
