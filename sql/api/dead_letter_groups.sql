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
  v_endpoints constant integer := 10000;
  v_from timestamptz := coalesce(p_from, '-infinity');
  v_result jsonb;
begin
  with own as materialized (
    select e.id
    from outbox.endpoint e
    where p_endpoint_id is null and e.org_id = p_org_id and e.status <> 'deleted'
    limit v_endpoints
  ), named as materialized (
    select e.id
    from outbox.endpoint e
    where e.id = p_endpoint_id and e.org_id = p_org_id and e.status <> 'deleted'
  ), chosen as materialized (
    select * from own union all select * from named
  ), share as materialized (
    select v_most / 4 / greatest(1, pg_catalog.count(*)) + 1 as each from chosen
  ), counted as materialized (
    select c.id, s.each, n.found
    from chosen c
    cross join share s
    cross join lateral (
      select pg_catalog.count(*) as found
      from (
        -- A range of one value, which leaves one index for the order: where all letters that wait
        -- are of another endpoint, the planner would read all of them to find none of this one.
        select from outbox.dead_letter x
        where x.endpoint_id >= c.id and x.endpoint_id <= c.id
          and x.replayed_at is null and x.discarded_at is null and x.failed_at >= v_from
        order by x.endpoint_id desc, x.failed_at desc
        limit s.each
      ) w
    ) n
  ), rest as materialized (
    -- Those with a small number leave their share to the others.
    select (v_most - coalesce(pg_catalog.sum(c.found) filter (where c.found < c.each), 0))::bigint
      / greatest(1, pg_catalog.count(*) filter (where c.found = c.each)) as each
    from counted c
  ), newest as materialized (
    select c.id as endpoint_id, w.error, w.failed_at, w.n > r.each as is_more
    from counted c
    cross join rest r
    cross join lateral (
      select pg_catalog.left(x.error, 200) as error, x.failed_at,
        pg_catalog.row_number() over (order by x.endpoint_id desc, x.failed_at desc) as n
      from outbox.dead_letter x
      where x.endpoint_id >= c.id and x.endpoint_id <= c.id
        and x.replayed_at is null and x.discarded_at is null and x.failed_at >= v_from
      order by x.endpoint_id desc, x.failed_at desc
      limit r.each + 1
    ) w
    where c.found > 0
  ), alike as (
    select t.endpoint_id, t.error, pg_catalog.count(*) as n,
      pg_catalog.min(t.failed_at) as first_at, pg_catalog.max(t.failed_at) as last_at
    from newest t
    where not t.is_more
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
      and not exists (select from newest t where t.is_more),
    'rows', (select coalesce(pg_catalog.sum(c.found + 1), 0) from counted c)
      + (select pg_catalog.count(*) from newest))
  into v_result
  from numbered a;
  return v_result;
end
$$;
comment on function outbox.group_dead_letters(text, uuid, timestamptz) is
  'The dead letters of an organisation that wait for a decision, in groups by endpoint and error: '
  '{"data": [{"endpointId", "error": its first 200 characters, "count", "firstAt", "lastAt"}], the '
  'largest 100, "isWhole", "rows": how many were read}. Counts at most 20,000, the newest of each '
  'endpoint; isWhole is false if more wait, or there are further groups. p_from: only those that '
  'failed since.';
