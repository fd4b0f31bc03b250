-- The parts of the response of dispatch() that no other file builds: the settings that a run needs,
-- and the retries that its results caused.

create function outbox.run_settings() returns jsonb
language plpgsql stable set search_path = ''
as $$
declare
  -- A look-up, because a join with these names makes an idle call slower.
  v_keys constant jsonb := pg_catalog.jsonb_build_object(
    'egress.allow_http', 'allow_http', 'egress.allow_cidrs', 'allow_cidrs',
    'egress.allow_ports', 'allow_ports', 'egress.deny_ports', 'deny_ports',
    'egress.proxy_url', 'proxy_url',
    'response.success_bytes', 'success_bytes', 'response.failure_bytes', 'failure_bytes',
    'worker.poll_interval_ms', 'poll_ms', 'worker.max_wall_ms', 'max_wall_ms',
    'worker.max_deliveries', 'max_deliveries', 'worker.batch_size', 'batch_size',
    'worker.notify', 'notify');
begin
  return (
    select pg_catalog.jsonb_object_agg(v_keys ->> s.name, s.value)
    from outbox.setting s where v_keys ? s.name);
end
$$;
comment on function outbox.run_settings() is
  'The settings that a run needs: {"allow_http", "allow_cidrs", "allow_ports", "deny_ports", '
  '"proxy_url", "success_bytes", "failure_bytes", "poll_ms", "max_wall_ms", "max_deliveries", '
  '"batch_size", "notify"}.';

create function outbox.retries_at(p_endpoint_ids uuid[], p_now timestamptz) returns json
language plpgsql stable
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup.
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
      where a.endpoint_id = e and a.at = p_now and a.kind = 'attempt'
        and a.outcome = 'failed'
      offset 0
    ) a);
end
$$;
comment on function outbox.retries_at(uuid[], timestamptz) is
  'The retries of failed attempts of these endpoints that were recorded exactly at p_now: '
  '[{"event", "endpoint", "attempt", "delay_ms": until the next attempt, null if it was the '
  'last}], or null if there is none.';

create function outbox.build_response(
  p_applied integer,
  p_stale integer,
  p_routed integer,
  p_repeat boolean,
  p_stop text,
  p_parcel outbox.parcel,
  p_retries json,
  p_renewed json,
  p_errors json,
  p_problem text default null,
  p_more boolean default false
) returns json
language plpgsql set search_path = ''
as $$
begin
  return pg_catalog.json_build_object(
    'applied', p_applied, 'stale', p_stale, 'routed', p_routed, 'repeat', p_repeat,
    'stop', p_stop, 'more', p_more, 'settings', outbox.run_settings(),
    'error', case when p_errors::text <> '{}' then p_errors end,
    'retries', p_retries, 'renewed', p_renewed,
    'deliveries', coalesce(p_parcel.deliveries, '[]'), 'events', coalesce(p_parcel.events, '{}'),
    'endpoints', coalesce(p_parcel.endpoints, '{}'),
    'contracts', outbox.contracts(), 'problem', coalesce(p_problem, outbox.tick_problem()),
    'now_ms', pg_catalog.floor(extract(epoch from outbox.clock()) * 1000)::bigint);
end
$$;
comment on function outbox.build_response(
  integer, integer, integer, boolean, text, outbox.parcel, json, json, json, text, boolean
) is
  'The response of dispatch(). p_errors: {"results", "route", "claim"}, only those that occurred; '
  'p_problem: the problem to report, null for tick_problem(). p_more: is_cut(). now_ms: the time '
  'of the database in milliseconds since 1970, for signatures.';
