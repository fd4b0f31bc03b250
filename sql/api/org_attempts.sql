-- The attempts of an organisation in one list, the newest first. An attempt has no organisation, so
-- a page reads the newest rows of each endpoint: few at first, then more of the endpoints whose
-- oldest row read so far is newer than the last row of the page. Rows are limited before they are
-- filtered, because an endpoint may have a million ends without an attempt. If the limit is reached
-- first, the page ends at the time from which on it has read all rows.

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
  -- One call of a run records some hundred results at the same time, and a page must not skip the
  -- rest of them. More rows of one endpoint and time are those that cancel_open() wrote.
  v_most_tied constant integer := 5000;
  v_key text[] := pg_catalog.string_to_array(outbox.cursor_to_key(p_cursor,
    '^-?[0-9]{1,17}(\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}){2}$'), '.');
  v_none constant uuid := '00000000-0000-0000-0000-000000000000'::uuid;
  v_from timestamptz := coalesce(p_from, '-infinity');
  v_at timestamptz := coalesce(p_to, 'infinity');
  v_event uuid := v_none;
  v_endpoint uuid := v_none;
  -- The endpoints that may have older rows, each with the time before which to read on.
  v_ids uuid[];
  v_lows timestamptz[];
  v_deeper integer;
  v_endpoints integer;
  v_size integer := p_limit + 1;
  v_each integer;
  v_read integer := 0;
  v_round integer;
  v_page outbox.attempt[] := array[]::outbox.attempt[];
  v_last_at timestamptz := timestamptz '-infinity';
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
  if p_endpoint_id is null then
    v_ids := array(
      select e.id from outbox.endpoint e
      where e.org_id = p_org_id and e.status <> 'deleted' limit v_most);
  else
    v_ids := array(
      select e.id from outbox.endpoint e
      where e.id = p_endpoint_id and e.org_id = p_org_id and e.status <> 'deleted');
  end if;
  v_endpoints := pg_catalog.cardinality(v_ids);
  -- A cursor may be between rows of the same time, so this time is read again.
  v_lows := pg_catalog.array_fill(
    case when v_event = v_none then v_at else v_at + interval '1 microsecond' end,
    array[v_endpoints]);
  v_each := greatest(1, least(p_limit + 1, v_most / greatest(1, 2 * v_endpoints)));
  loop
    v_deeper := (
      select pg_catalog.count(*) from pg_catalog.unnest(v_lows) u (low) where u.low > v_last_at);
    exit when v_deeper = 0 or v_read >= v_most + v_endpoints;
    if v_read > 0 then
      v_size := least(v_size * 4, v_most);
      v_each := greatest(1, least(v_size, (v_most + v_endpoints - v_read) / v_deeper));
    end if;
    with open as materialized (
      select u.id, u.low from unnest(v_ids, v_lows) u (id, low)
    ), found as materialized (
      select o.id, t.one
      from open o
      cross join lateral (
        select b.one
        from (
          select a as one
          from outbox.attempt a
          where a.endpoint_id = o.id and a.at >= v_from and a.at < o.low
          order by a.at desc
          fetch first (v_each) rows with ties
        ) b
        limit v_each + v_most_tied
      ) t
      where o.low > v_last_at
    ), next as materialized (
      select o.id, o.low from open o where o.low <= v_last_at
      union all
      select f.id, pg_catalog.min((f.one).at) from found f
      group by f.id having pg_catalog.count(*) >= v_each
    ), page as materialized (
      select p.one
      from (
        select f.one from found f
        where (f.one).kind = 'attempt'
          and (p_outcome is null or ((f.one).outcome = 'delivered') = (p_outcome = 'delivered'))
          and ((f.one).at, (f.one).event_id, f.id) < (v_at, v_event, v_endpoint)
        union all
        select k.one
        from pg_catalog.generate_subscripts(v_page, 1) i
        cross join lateral (select v_page[i] as one) k
      ) p
      order by (p.one).at desc, (p.one).event_id desc, (p.one).endpoint_id desc
      limit p_limit + 1
    )
    select (select pg_catalog.count(*) from found),
      array(select n.id from next n), array(select n.low from next n),
      array(select p.one from page p),
      coalesce((
        select pg_catalog.min((p.one).at) from page p
        having pg_catalog.count(*) > p_limit), '-infinity')
    into v_round, v_ids, v_lows, v_page, v_last_at;
    v_read := v_read + v_round;
  end loop;
  -- Complete down to the newest of the times where a read stopped.
  v_since := (
    select pg_catalog.max(u.low) from pg_catalog.unnest(v_lows) u (low) where u.low > v_last_at);
  with page as materialized (
    select p.*, pg_catalog.row_number() over (
      order by p.at desc, p.event_id desc, p.endpoint_id desc) as place
    from pg_catalog.unnest(v_page) p
    where p.at >= coalesce(v_since, '-infinity')
  )
  select (select pg_catalog.count(*) from page),
    (select pg_catalog.jsonb_build_array(
      (extract(epoch from p.at) * 1000000)::bigint, p.event_id, p.endpoint_id) from page p
      where p.place = p_limit),
    (select coalesce(pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object(
      'deliveryId', p.event_id::text || '.' || p.endpoint_id::text, 'eventId', p.event_id,
      'endpointId', p.endpoint_id,
      'eventType', (select v.type from outbox.event v where v.id = p.event_id),
      'attempt', p.attempt, 'at', outbox.iso_time(p.at),
      'outcome', case when p.outcome = 'delivered' then 'delivered' else 'failed' end,
      'status', p.status, 'errorClass', p.error_class, 'error', p.error,
      'durationMs', p.duration_ms,
      'sinceEventMs', greatest(0, pg_catalog.floor(
        extract(epoch from p.at - outbox.uuid_v7_time(p.event_id)) * 1000))::bigint)
      order by p.place), '[]') from page p where p.place <= p_limit)
  into v_found, v_last, v_data;
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
  'the time from the event}], "nextCursor", "rows": how many were read}. p_outcome: delivered or '
  'failed; p_from, p_to: the time of the attempt. It reads about 10,000 attempts and ends, and up '
  'to 5,000 more for each endpoint with ends of the same time. So a page may be short; the list '
  'ends when nextCursor is null. OH001.';
