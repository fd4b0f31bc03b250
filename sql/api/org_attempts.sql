-- The attempts of an organisation in one list, the newest first. An attempt has no organisation, so
-- a page reads the newest attempts of each endpoint. It is complete down to the oldest of them of
-- the endpoint that has the most recent ones, and ends there.

create function outbox.list_org_attempts(
  p_org_id text,
  p_outcome text default null,
  p_endpoint_id uuid default null,
  p_from timestamptz default null,
  p_to timestamptz default null,
  p_cursor text default null,
  p_limit integer default 50
) returns jsonb
language plpgsql stable security definer
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_most constant integer := 10000;
  v_key text[] := pg_catalog.string_to_array(outbox.cursor_to_key(p_cursor,
    '^-?[0-9]{1,17}(\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}){2}$'), '.');
  v_none constant uuid := '00000000-0000-0000-0000-000000000000'::uuid;
  v_from timestamptz := coalesce(p_from, '-infinity');
  v_at timestamptz := coalesce(p_to, 'infinity');
  v_event uuid := v_none;
  v_endpoint uuid := v_none;
  v_endpoints integer;
  v_each integer;
  v_read integer;
  v_since timestamptz;
  v_data jsonb;
  v_last jsonb;
  v_found integer;
begin
  perform outbox.check_page(p_limit);
  if p_outcome is not null then
    perform outbox.check_choice('outcome', p_outcome, array['delivered', 'failed']);
  end if;
  if v_from >= v_at then
    perform outbox.invalid('from', 'is not before to', 'Expected a span of time');
  end if;
  if timestamptz 'epoch' + v_key[1]::bigint * interval '1 microsecond' < v_at then
    v_at := timestamptz 'epoch' + v_key[1]::bigint * interval '1 microsecond';
    v_event := v_key[2]::uuid;
    v_endpoint := v_key[3]::uuid;
  end if;
  v_endpoints := (
    select pg_catalog.count(*)
    from (
      select from outbox.endpoint e
      where e.org_id = p_org_id and e.status <> 'deleted' and e.id = coalesce(p_endpoint_id, e.id)
      limit v_most
    ) c);
  v_each := greatest(2, least(v_most / greatest(1, v_endpoints),
    case when p_outcome is null then p_limit + 1 else v_most end));
  with own as materialized (
    select e.id from outbox.endpoint e
    where e.org_id = p_org_id and e.status <> 'deleted' and e.id = coalesce(p_endpoint_id, e.id)
    limit v_most
  ), latest as materialized (
    select o.id, t.*, pg_catalog.row_number() over (partition by o.id order by t.at desc) as n
    from own o
    cross join lateral (
      select a.at, a.event_id, a.attempt, a.outcome, a.status, a.error_class, a.error,
        a.duration_ms
      from outbox.attempt a
      where a.endpoint_id = o.id and a.at >= v_from and a.at <= v_at and a.kind = 'attempt'
        and (a.at, a.event_id, a.endpoint_id) < (v_at, v_event, v_endpoint)
      order by a.at desc
      -- A call records many results at the same time: a page must not end among them unseen.
      fetch first (v_each) rows with ties
    ) t
  ), complete as materialized (
    select pg_catalog.max(l.at) filter (where l.n = v_each) as since, pg_catalog.count(*) as n
    from latest l
  ), page as materialized (
    select l.*, pg_catalog.row_number() over (order by l.at desc, l.event_id desc, l.id desc)
      as place
    from latest l cross join complete c
    where l.at >= coalesce(c.since, '-infinity')
      and (l.outcome = 'delivered') = coalesce(p_outcome = 'delivered', l.outcome = 'delivered')
    order by l.at desc, l.event_id desc, l.id desc
    limit p_limit + 1
  )
  select c.since, c.n, (select pg_catalog.count(*) from page),
    (select pg_catalog.jsonb_build_array(
      (extract(epoch from p.at) * 1000000)::bigint, p.event_id, p.id) from page p
      where p.place = p_limit),
    (select coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
      'deliveryId', p.event_id::text || '.' || p.id::text, 'eventId', p.event_id,
      'endpointId', p.id, 'eventType', (select v.type from outbox.event v where v.id = p.event_id),
      'attempt', p.attempt, 'at', outbox.iso_time(p.at),
      'outcome', case when p.outcome = 'delivered' then 'delivered' else 'failed' end,
      'status', p.status, 'errorClass', p.error_class, 'error', p.error,
      'durationMs', p.duration_ms,
      'sinceEventMs', greatest(0, pg_catalog.floor(
        extract(epoch from p.at - outbox.uuid_v7_time(p.event_id)) * 1000))::bigint)
      order by p.place), '[]') from page p where p.place <= p_limit)
  into v_since, v_read, v_found, v_last, v_data
  from complete c;
  return pg_catalog.jsonb_build_object(
    'data', v_data,
    'nextCursor', case
      when v_found > p_limit
      then outbox.key_to_cursor(pg_catalog.concat_ws('.', v_last ->> 0, v_last ->> 1, v_last ->> 2))
      when v_since is not null
      then outbox.key_to_cursor(pg_catalog.concat_ws('.',
        (extract(epoch from v_since) * 1000000)::bigint, v_none, v_none))
    end,
    'rows', v_read + v_endpoints);
end
$$;
comment on function outbox.list_org_attempts(
  text, text, uuid, timestamptz, timestamptz, text, integer) is
  'The attempts of the endpoints of an organisation, newest first: {"data": [{"deliveryId", '
  '"eventId", "endpointId", "eventType": null if the event is no longer stored, "attempt", "at", '
  '"outcome" (delivered, failed), "status", "errorClass", "error", "durationMs", "sinceEventMs": '
  'the time from the event}], "nextCursor", "rows": how many were read}. p_outcome: one of these '
  'two; p_from, p_to: the time of the attempt. It reads about 10,000 attempts, so a page may be '
  'short; the list ends when nextCursor is null. OH001.';
