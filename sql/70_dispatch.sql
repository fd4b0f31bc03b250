-- The one call of a run. It records what the run reports, routes new events if no other call does,
-- and claims what the run has room for: one round trip, one transaction, one JSON. The call is
-- numbered; when its answer is lost, the same call again applies nothing and returns what is still
-- leased of it.

create function outbox.has_due(p_now timestamptz) returns boolean
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_from timestamptz := outbox.ring_from(p_now);
begin
  return exists (
      select from outbox.gate g
      where g.next_at >= v_from and g.next_at <= p_now and g.next_at < 'infinity'
    )
    or outbox.has_unrouted();
end
$$;
comment on function outbox.has_due(timestamptz) is
  'Whether a run would find work: a gate is due, or an event is unrouted.';

create function outbox.run_settings() returns jsonb
language plpgsql stable set search_path = ''
as $$
begin
  return (
    select pg_catalog.jsonb_object_agg(n.key, s.value)
    from outbox.setting s
    join (values
      ('egress.allow_http', 'allow_http'), ('egress.allow_cidrs', 'allow_cidrs'),
      ('egress.allow_ports', 'allow_ports'), ('egress.deny_ports', 'deny_ports'),
      ('egress.proxy_url', 'proxy_url'),
      ('response.success_bytes', 'success_bytes'), ('response.failure_bytes', 'failure_bytes'),
      ('worker.poll_interval_ms', 'poll_ms'), ('worker.max_wall_ms', 'max_wall_ms'),
      ('worker.max_deliveries', 'max_deliveries')
    ) n (name, key) on n.name = s.name);
end
$$;
comment on function outbox.run_settings() is
  'What a run needs to know: {"allow_http", "allow_cidrs", "allow_ports", "deny_ports", '
  '"proxy_url", "success_bytes", "failure_bytes", "poll_ms", "max_wall_ms", "max_deliveries"}.';

create type outbox.parcel as (deliveries json, events json, endpoints json);
comment on type outbox.parcel is 'What a run needs to send what it has claimed, as JSON text.';

create function outbox.dropped_events(p_claimed outbox.claimed) returns outbox.event[]
language plpgsql stable
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see 00_setup.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  return (
    select pg_catalog.array_agg(f)
    from (
      select distinct on (u.event_id) u.event_id, u.endpoint_id
      from unnest(p_claimed.events, p_claimed.endpoints, p_claimed.replayed)
        as u (event_id, endpoint_id, replayed)
      where u.replayed
    ) c
    cross join lateral outbox.find_event(c.event_id, c.endpoint_id) f
    where not exists (select from outbox.event v where v.id = c.event_id offset 0));
end
$$;
comment on function outbox.dropped_events(outbox.claimed) is
  'The events of claimed replays whose day has been dropped, from their dead letters; null when '
  'there is none.';

create function outbox.batch(
  p_claimed outbox.claimed, p_known jsonb, p_now timestamptz
) returns outbox.parcel
language plpgsql
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see 00_setup.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_parcel outbox.parcel;
  v_dropped outbox.event[];
begin
  -- json, which is text already, and of whole rows: json_build_object looks up the type of each of
  -- its arguments anew: 5.6 us a delivery where a row takes 2.6, and 18 us an event, now 14.
  v_parcel.deliveries := (
    select coalesce(pg_catalog.json_agg(d), '[]')
    from (
      select c.event_id as event, c.endpoint_id as endpoint, c.attempt, c.tries,
        c.lane_id::text as lane, c.ordered, c.lease_ms
      from unnest(p_claimed.events, p_claimed.endpoints, p_claimed.attempts, p_claimed.tries,
        p_claimed.lanes, p_claimed.ordered, p_claimed.leases_ms) with ordinality
        as c (event_id, endpoint_id, attempt, tries, lane_id, ordered, lease_ms, place)
      order by c.place
    ) d);
  -- Only a replay outlives its event.
  if true = any (p_claimed.replayed) then
    v_dropped := outbox.dropped_events(p_claimed);
  end if;
  v_parcel.events := (
    select coalesce(pg_catalog.json_object_agg(e.id, x), '{}')
    from (
      select v.id, v.type, v.org_id, v.correlation_id, v.idempotency_key, v.traceparent,
        v.partition_key, v.created_at, v.body
      from (select distinct u.id from pg_catalog.unnest(p_claimed.events) as u (id)) c
      cross join lateral (select v.* from outbox.event v where v.id = c.id offset 0) v
      union all
      select v.id, v.type, v.org_id, v.correlation_id, v.idempotency_key, v.traceparent,
        v.partition_key, v.created_at, v.body
      from pg_catalog.unnest(v_dropped) v
    ) e
    cross join lateral (
      select e.type, e.org_id, coalesce(e.correlation_id, e.id::text) as correlation_id,
        coalesce(e.idempotency_key, e.id::text) as idempotency_key, e.traceparent, e.partition_key,
        -- The envelope up to its data: head, body and } make the payload. It comes from the event
        -- alone, so it is the same on every try.
        '{"id":"' || e.id || '","eventType":' || pg_catalog.to_json(e.type)
          || ',"createdAt":"'
          || pg_catalog.to_char(e.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
          || '","correlationId":' || pg_catalog.to_json(coalesce(e.correlation_id, e.id::text))
          || ',"data":' as head,
        e.body
    ) x);
  v_parcel.endpoints := (
    select coalesce(pg_catalog.json_object_agg(e.id, x), '{}')
    from (select distinct u.id from pg_catalog.unnest(p_claimed.endpoints) as u (id)) c
    cross join lateral (
      select e.*, e.xmin::text as revision from outbox.endpoint e where e.id = c.id offset 0
    ) e
    cross join lateral (
      select e.revision, e.version, e.kind, e.url, e.timeout_ms, e.payload,
        case
          when e.headers_vault_id is null then '{}'
          else outbox.stored_headers(e.headers_vault_id)
        end as headers,
        outbox.live_secrets(e.id, p_now) as secrets,
        case
          when e.credentials_vault_id is not null
          then outbox.stored_credentials(e.credentials_vault_id)
        end as credentials,
        e.broker
    ) x
    -- To read a secret takes 30 us. A channel's token is replaced without its endpoint. And a
    -- secret that runs out changes no row: whoever was told of it, at most 30 s ago, is told anew.
    where p_known ->> e.id::text is distinct from e.revision or e.kind = 'whatsapp'
      or exists (
        select from outbox.endpoint_secret s
        where s.endpoint_id = e.id and s.expires_at > p_now - interval '1 minute'));
  if exists (select from outbox.whatsapp_channel) then
    v_parcel := outbox.with_messages(v_parcel, p_claimed);
  end if;
  return v_parcel;
end
$$;
comment on function outbox.batch(outbox.claimed, jsonb, timestamptz) is
  'What a run needs to send claimed deliveries: '
  'deliveries […], events {id: …}, endpoints {id: …}; each event and endpoint once, without the '
  'endpoints that p_known has with their present revision.';

create function outbox.retries_at(p_endpoint_ids uuid[], p_now timestamptz) returns json
language plpgsql stable
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see 00_setup.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return (
    select pg_catalog.json_agg(pg_catalog.json_build_object(
      'event', a.event_id, 'endpoint', a.endpoint_id, 'attempt', a.attempt,
      'delay_ms', (extract(epoch from a.next_retry_at - p_now) * 1000)::bigint))
    from pg_catalog.unnest(p_endpoint_ids) e
    cross join lateral (
      select a.* from outbox.attempt a
      where a.endpoint_id = e and a.at = p_now and a.kind = 'try' and a.outcome = 'failed' offset 0
    ) a);
end
$$;
comment on function outbox.retries_at(uuid[], timestamptz) is
  'What follows the failed attempts of these endpoints that were recorded at that very time: '
  '[{"event", "endpoint", "attempt", "delay_ms": until the next one, null when it was the last}], '
  'or null when there is none.';

create function outbox.dispatch(
  p_run uuid,
  p_seq bigint,
  p_results jsonb default '[]',
  p_limit integer default 0,
  p_kind text default 'edge',
  p_ended boolean default false,
  p_known jsonb default '{}'
) returns json
language plpgsql security definer
set search_path = ''
set statement_timeout = '5s'
-- For all that it calls. A plan is made once; and what a batch looks up it looks up once, so there
-- is nothing to memoize.
set plan_cache_mode = force_generic_plan
set enable_memoize = off
set jit = off
as $$
declare
  v_now timestamptz := outbox.clock();
  v_stop text := outbox.touch_run(p_run, p_kind, v_now, p_ended);
  v_limit integer := case
    when v_stop is null then least(coalesce(p_limit, 0), outbox.setting_int('worker.batch_size'))
    else 0
  end;
  v_given integer := pg_catalog.jsonb_array_length(coalesce(p_results, '[]'));
  v_results outbox.result[];
  v_batch outbox.routing;
  v_touched uuid[];
  v_applied integer := 0;
  v_route jsonb := '{"routed": 0, "error": null}'::jsonb;
  v_claimed outbox.claimed;
  v_claim_error text;
  v_failing uuid[];
  v_retries json;
begin
  insert into outbox.run_batch (run_id, seq, at)
  values (p_run, p_seq, v_now)
  on conflict do nothing;
  if not found then
    v_claimed := outbox.claimed_before(p_run, p_seq, v_now);
    return outbox.answer(0, 0, 0, true, v_stop, v_claimed, p_known, null, null, null,
      v_now);
  end if;
  -- Three calls of a run may be under way at most, so older batches are not asked for again.
  -- Not all below: that would walk what a transaction left open keeps of them.
  delete from outbox.run_batch b
  where b.run_id = p_run and b.seq between p_seq - 16 and p_seq - 9;
  if v_given = 0 and (v_stop is not null or not outbox.has_due(v_now)) then
    return outbox.answer(0, 0, 0, false, v_stop, null, p_known, null, null, null, v_now);
  end if;
  if v_given > 0 then
    select pg_catalog.array_agg(r) into v_results
    from pg_catalog.jsonb_populate_recordset(null::outbox.result, p_results) r;
  end if;
  if v_stop is null then
    begin
      v_batch := outbox.read_unrouted();
    exception when query_canceled or others then
      v_route := pg_catalog.jsonb_build_object(
        'routed', 0, 'error', sqlerrm, 'out_of_time', sqlstate = '57014');
      perform outbox.shrink_routing(null, sqlerrm, v_now);
    end;
  end if;
  v_touched := array(
    select r.endpoint from pg_catalog.unnest(v_results) r where r.endpoint is not null
    union
    select p.endpoint_id from pg_catalog.unnest(v_batch.pairs) p);
  if pg_catalog.cardinality(v_touched) > 0 then
    perform outbox.lock_gates(v_touched);
  end if;
  if v_given > 0 then
    v_applied := outbox.complete(v_results, v_now);
    perform outbox.count_up('stale_results', '{}', v_given - v_applied);
    v_failing := array(
      select distinct r.endpoint from pg_catalog.unnest(v_results) r where r.outcome = 'failed');
    if pg_catalog.cardinality(v_failing) > 0 then
      v_retries := outbox.retries_at(v_failing, v_now);
    end if;
  end if;
  if v_batch.events is not null then
    v_route := outbox.route(v_batch, v_now);
  end if;
  begin
    -- The limit of the statement has struck and will not again: nothing more is begun.
    v_claimed := outbox.claim(
      case when (v_route -> 'out_of_time')::boolean then 0 else v_limit end, v_touched, v_now);
  exception when query_canceled or others then
    v_claim_error := sqlerrm;
    perform outbox.park(v_touched, v_now);
  end;
  if v_claimed.events is not null then
    update outbox.run_batch b set
      events = v_claimed.events, endpoints = v_claimed.endpoints, attempts = v_claimed.attempts
    where b.run_id = p_run and b.seq = p_seq;
  end if;
  return outbox.answer(v_applied, v_given - v_applied, (v_route ->> 'routed')::integer, false,
    v_stop, v_claimed, p_known, v_retries, v_route ->> 'error', v_claim_error, v_now);
end
$$;
comment on function outbox.dispatch(uuid, bigint, jsonb, integer, text, boolean, jsonb) is
  'The only call that a run makes. p_results: [{"event", "endpoint", "attempt", "outcome": '
  '"delivered" | "failed" | "released", "status", "error_class", "error", "retry_after", '
  '"duration_ms", "response", "lossy", "code", "provider_id", "provider"}]; p_limit: free slots; '
  'p_ended: the run''s last call; p_known: {endpoint id: revision} of the endpoints that the run '
  'has from an earlier answer, which are left out of this one while they are the same. '
  'Returns {"applied", "stale", "routed", "repeat", "stop", "settings", "error", "retries", '
  '"deliveries", "events", "endpoints"}. A call whose answer was lost is made again with the same '
  'p_run and p_seq. locks: router with SKIP LOCKED, then the gates of results and new deliveries '
  'by id, then due gates with SKIP LOCKED.';

create function outbox.answer(
  p_applied integer,
  p_stale integer,
  p_routed integer,
  p_repeat boolean,
  p_stop text,
  p_claimed outbox.claimed,
  p_known jsonb,
  p_retries json,
  p_route_error text,
  p_claim_error text,
  p_now timestamptz
) returns json
language plpgsql set search_path = ''
as $$
declare
  v_parcel outbox.parcel := case
    when p_claimed.events is null then row('[]', '{}', '{}')::outbox.parcel
    else outbox.batch(p_claimed, p_known, p_now)
  end;
begin
  return pg_catalog.json_build_object(
    'applied', p_applied, 'stale', p_stale, 'routed', p_routed, 'repeat', p_repeat,
    'stop', p_stop, 'settings', outbox.run_settings(),
    'error', case
      when p_route_error is not null or p_claim_error is not null then
        pg_catalog.json_strip_nulls(
          pg_catalog.json_build_object('route', p_route_error, 'claim', p_claim_error))
    end,
    'retries', p_retries, 'deliveries', v_parcel.deliveries, 'events', v_parcel.events,
    'endpoints', v_parcel.endpoints);
end
$$;
comment on function outbox.answer(
  integer, integer, integer, boolean, text, outbox.claimed, jsonb, json, text, text, timestamptz
) is
  'The answer of dispatch().';
