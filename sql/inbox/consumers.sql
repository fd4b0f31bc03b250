-- The consumers as their inbox has them.

create function outbox.list_consumers(p_event_id text default null) returns jsonb
language plpgsql stable security definer
set search_path = ''
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_most_consumers constant integer := 200;
  v_newest constant integer := 10000;
  v_result jsonb;
begin
  with recursive name (consumer) as (
    (select i.consumer from outbox.consumer_inbox i order by i.consumer limit 1)
    union all
    -- One look into the index for each consumer, however much each has processed.
    select (
      select i.consumer from outbox.consumer_inbox i
      where i.consumer > n.consumer order by i.consumer limit 1)
    from name n where n.consumer is not null
  ), known as materialized (
    select n.consumer from name n where n.consumer is not null limit v_most_consumers
  ), newest as materialized (
    -- One more than are counted shows whether there are more.
    select i.consumer, i.accepted_at,
      pg_catalog.row_number() over (order by i.accepted_at desc) <= v_newest as is_counted
    from outbox.consumer_inbox i
    order by i.accepted_at desc limit v_newest + 1
  ), recent as (
    select n.consumer, pg_catalog.count(*) as n, pg_catalog.max(n.accepted_at) as last_at
    from newest n where n.is_counted group by n.consumer
  )
  select pg_catalog.jsonb_build_object(
    'data', coalesce((
      select pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
        'consumer', k.consumer, 'recent', coalesce(r.n, 0),
        'lastAt', outbox.iso_time(r.last_at), 'acceptedAt', outbox.iso_time(i.accepted_at))
        order by k.consumer)
      from known k
      left join recent r on r.consumer = k.consumer
      left join outbox.consumer_inbox i on i.consumer = k.consumer and i.event_id = p_event_id
    ), '[]'),
    'recentSince', outbox.iso_time((select pg_catalog.min(n.accepted_at) from newest n
      where n.is_counted)),
    'isWhole', (select pg_catalog.count(*) <= v_newest from newest))
  into v_result;
  return v_result;
end
$$;
comment on function outbox.list_consumers(text) is
  'The first 200 consumers by name: {"data": [{"consumer", "recent": how many of the newest 10,000 '
  'processed events are its, "lastAt": the newest of these, "acceptedAt": when it processed '
  'p_event_id, null: it has not}], "recentSince": the oldest of the 10,000, "isWhole": whether '
  'these are all}.';
