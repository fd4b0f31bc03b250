create function outbox.group_dead_letters(
  p_org_id text, p_endpoint_id uuid default null, p_from timestamptz default null
) returns jsonb
language plpgsql stable security definer
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
set plan_cache_mode = force_custom_plan
as $$
declare
  v_most constant integer := 20000;
  v_groups constant integer := 100;
  v_from timestamptz := coalesce(p_from, '-infinity');
  v_result jsonb;
begin
  with latest as materialized (
    select x.endpoint_id, pg_catalog.left(x.error, 200) as error, x.failed_at,
      x.replayed_at is null and x.discarded_at is null as waits
    from outbox.dead_letter x
    -- A range of one value, which leaves one index for the order. With the time as a further bound,
    -- the scan would go on below it.
    where p_endpoint_id is null and x.org_id >= p_org_id and x.org_id <= p_org_id
    order by x.org_id desc, x.failed_at desc, x.id desc
    limit v_most + 1
  ), of_endpoint as materialized (
    select x.endpoint_id, pg_catalog.left(x.error, 200) as error, x.failed_at,
      x.replayed_at is null and x.discarded_at is null as waits
    from outbox.dead_letter x
    where x.endpoint_id = p_endpoint_id and x.failed_at > '-infinity' and x.org_id = p_org_id
      and x.failed_at >= v_from
    order by x.failed_at desc
    limit v_most + 1
  ), read as materialized (
    select * from latest union all select * from of_endpoint
  ), tried as materialized (
    select r.* from read r where r.failed_at >= v_from
  ), alike as (
    select t.endpoint_id, t.error, pg_catalog.count(*) as n,
      pg_catalog.min(t.failed_at) as first_at, pg_catalog.max(t.failed_at) as last_at
    from tried t
    where t.waits
    group by t.endpoint_id, t.error
    order by 3 desc, 5 desc, 1, 2
    limit v_groups + 1
  ), numbered as (
    select a.*, pg_catalog.row_number() over (order by a.n desc, a.last_at desc, a.endpoint_id,
      a.error) as place
    from alike a
  )
  select pg_catalog.jsonb_build_object(
    'data', coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
        'endpointId', a.endpoint_id, 'error', a.error, 'count', a.n,
        'firstAt', outbox.iso_time(a.first_at), 'lastAt', outbox.iso_time(a.last_at))
      order by a.place) filter (where a.place <= v_groups), '[]'),
    'isWhole', pg_catalog.count(*) <= v_groups
      and (select pg_catalog.count(*) from tried) <= v_most,
    'rows', (select pg_catalog.count(*) from read))
  into v_result
  from numbered a;
  return v_result;
end
$$;
comment on function outbox.group_dead_letters(text, uuid, timestamptz) is
  'The dead letters of an organisation that wait for a decision, in groups by endpoint and error: '
  '{"data": [{"endpointId", "error": its first 200 characters, "count", "firstAt", "lastAt"}], the '
  'largest 100, "isWhole", "rows": how many were read}. Reads the newest 20,000 dead letters; '
  'isWhole is false if there are more, or further groups. p_from: only those that failed since.';
