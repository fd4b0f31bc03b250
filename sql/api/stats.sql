create function outbox.test_org_endpoint(p_org_id text, p_endpoint_id uuid) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  perform outbox.org_endpoint(p_org_id, p_endpoint_id);
  return pg_catalog.jsonb_build_object(
    'eventId', outbox.send_test_event(p_endpoint_id) -> 'event_id');
end
$$;
comment on function outbox.test_org_endpoint(text, uuid) is
  'Publishes a test event for an endpoint, as send_test_event() does: {"eventId"}. OH002, OH004, '
  'OH006.';

create function outbox.get_org_test(
  p_org_id text, p_endpoint_id uuid, p_event_id uuid
) returns jsonb
language plpgsql stable security definer
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_last outbox.attempt;
begin
  perform outbox.org_endpoint(p_org_id, p_endpoint_id);
  select *
  into v_last
  from outbox.attempt a
  -- Not =: see last_attempt().
  where a.event_id = p_event_id and a.endpoint_id is not distinct from p_endpoint_id
  order by a.attempt desc, a.kind
  limit 1;
  return pg_catalog.jsonb_build_object('eventId', p_event_id,
    'outcome', coalesce(v_last.outcome, 'pending'), 'status', v_last.status,
    'errorClass', v_last.error_class, 'error', v_last.error, 'durationMs', v_last.duration_ms,
    'response', v_last.response, 'attempt', v_last.attempt,
    'nextRetryAt', outbox.iso_time(v_last.next_retry_at));
end
$$;
comment on function outbox.get_org_test(text, uuid, uuid) is
  'The last attempt of an event for an endpoint; the outcome is pending if there is none. OH002.';

create function outbox.get_org_stats(
  p_org_id text, p_endpoint_id uuid, p_hours integer default 24
) returns jsonb
language plpgsql stable security definer
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
as $$
declare
  v_most constant integer := 10000;
  v_since timestamptz;
  v_gate outbox.gate;
  v_attempts jsonb;
begin
  perform outbox.org_endpoint(p_org_id, p_endpoint_id);
  perform outbox.check_range('hours', p_hours, 1, 168);
  v_since := outbox.clock() - pg_catalog.make_interval(hours => p_hours);
  select * into v_gate from outbox.gate g where g.endpoint_id = p_endpoint_id;
  select pg_catalog.jsonb_build_object(
    'total', pg_catalog.count(*),
    'delivered', pg_catalog.count(*) filter (where a.outcome = 'delivered'),
    'failed', pg_catalog.count(*) filter (where a.outcome <> 'delivered'),
    'capped', pg_catalog.count(*) = v_most,
    'since', outbox.iso_time(
      case when pg_catalog.count(*) = v_most then pg_catalog.min(a.at) else v_since end),
    'lastAt', outbox.iso_time(pg_catalog.max(a.at)),
    'p50Ms', pg_catalog.percentile_disc(0.5) within group (order by a.duration_ms),
    'p95Ms', pg_catalog.percentile_disc(0.95) within group (order by a.duration_ms))
  into v_attempts
  from (
    select t.outcome, t.duration_ms, t.at
    from outbox.attempt t
    where t.endpoint_id = p_endpoint_id and t.at > v_since and t.kind = 'attempt'
    order by t.at desc
    limit v_most
  ) a;
  return pg_catalog.jsonb_build_object('endpointId', p_endpoint_id,
    'open', coalesce(v_gate.depth, 0), 'inFlight', coalesce(v_gate.in_flight, 0),
    'failuresRunning', coalesce(v_gate.streak, 0),
    'failingSince', outbox.iso_time(v_gate.first_failure_at),
    'breaker', coalesce(v_gate.breaker, 'closed'),
    'probeAt', case
      when v_gate.breaker = 'open'
      then outbox.iso_time(greatest(v_gate.open_until, nullif(v_gate.next_at, 'infinity')))
    end,
    'nextAt', outbox.iso_time(v_gate.next_at),
    'deadLetters', (
      select pg_catalog.count(*)
      from (
        select from outbox.dead_letter x
        where x.endpoint_id = p_endpoint_id and x.failed_at > '-infinity'
          and x.replayed_at is null and x.discarded_at is null
        limit v_most
      ) l
    ),
    'attempts', v_attempts);
end
$$;
comment on function outbox.get_org_stats(text, uuid, integer) is
  'The backlog of an endpoint, and statistics of its last attempts within p_hours, at most 10,000 '
  '("capped": there are more; "since": they are complete from this time on). OH001, OH002.';
