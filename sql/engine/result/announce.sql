-- Operational events: events of the organisation outhook that report dead letters, breakers and
-- disabled endpoints. functions/_shared/base/operational_events.ts lists all types, and who handles
-- each of them. Deliveries and endpoints of this organisation cause no such events, so there
-- is no loop.

create function outbox.put_news(p_type text, p_bodies text[]) returns void
language plpgsql set search_path = ''
as $$
declare
  v_at timestamptz := outbox.event_time();
begin
  with news as (
    -- An endpoint with ordering partition receives what happened to one endpoint in this order.
    insert into outbox.event (id, org_id, type, body, partition_key, created_at)
    select outbox.uuid_v7(v_at), 'outhook', p_type, b, b::jsonb ->> 'endpointId', v_at
    from pg_catalog.unnest(p_bodies) b
    returning id, org_id
  )
  insert into outbox.unrouted (event_id, org_id) select n.id, n.org_id from news n;
  perform outbox.count_up('operational_events', array[p_type], pg_catalog.cardinality(p_bodies));
end
$$;
comment on function outbox.put_news(text, text[]) is
  'Publishes operational events of one type, with the endpoint as partition key, and counts them.';

create function outbox.announce_dead(p_events uuid[], p_endpoints uuid[]) returns void
language plpgsql
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  perform outbox.put_news('outhook.delivery.dead_lettered', array(
    select pg_catalog.json_build_object(
      'deadLetterId', x.id, 'eventId', x.event_id, 'endpointId', x.endpoint_id, 'orgId', x.org_id,
      'eventType', x.original_topic, 'error', x.error, 'retryCount', x.retry_count, 'why', x.why
    )::text
    from unnest(p_events, p_endpoints) as p (event_id, endpoint_id)
    cross join lateral (
      select x.* from outbox.dead_letter x
      where x.event_id = p.event_id and x.endpoint_id = p.endpoint_id offset 0
    ) x
    where x.org_id <> 'outhook'));
end
$$;
comment on function outbox.announce_dead(uuid[], uuid[]) is
  'Publishes outhook.delivery.dead_lettered for deliveries that just became dead letters.';

create function outbox.announce(p_type text, p_endpoints uuid[]) returns void
language plpgsql set search_path = ''
as $$
begin
  perform outbox.put_news(p_type, array(
    select pg_catalog.json_build_object('endpointId', e.id, 'orgId', e.org_id, 'url', e.url,
      'status', e.status, 'reason', e.status_reason)::text
    from outbox.endpoint e
    where e.id = any (p_endpoints) and e.org_id <> 'outhook'));
end
$$;
comment on function outbox.announce(text, uuid[]) is
  'Publishes an operational event about each endpoint: outhook.breaker.opened, '
  'outhook.breaker.closed, outhook.endpoint.disabled.';
