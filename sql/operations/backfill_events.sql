-- A backfill of kept events: an endpoint that subscribed later gets what was published before.
-- Each event is sent under its own id, and only if the endpoint has no delivery of it and had none.
-- If the caller asks for it, what was delivered is sent again, for a receiver that has lost it.

create function outbox.check_bound(p_name text, p_at timestamptz) returns void
language plpgsql volatile set search_path = ''
as $$
begin
  -- No id of an event has an earlier time.
  if p_at < '1970-01-01 00:00:00+00' or not pg_catalog.isfinite(p_at) then
    perform outbox.invalid(p_name, 'is no time of an event', 'Expected a time from 1970 on');
  end if;
end
$$;
comment on function outbox.check_bound(text, timestamptz) is
  'Raises OH001 for a bound that no id of an event can have. Null is allowed.';

create function outbox.backfill_events(
  p_endpoint_id uuid,
  p_types text[] default null,
  p_from timestamptz default null,
  p_until timestamptz default null,
  p_filter text default null,
  p_by_subscription boolean default true,
  p_rate_per_second integer default 50,
  p_include_delivered boolean default false
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_endpoint outbox.endpoint := outbox.backfilled_endpoint(p_endpoint_id);
  v_id bigint;
begin
  perform outbox.check_bound('from', p_from);
  perform outbox.check_bound('until', p_until);
  -- Only events from before the job: later ones go to the subscriptions of their time.
  if p_from > least(p_until, outbox.clock()) then
    perform outbox.invalid('from', 'is after until', 'Expected a span in the past');
  elsif p_types = '{}' then
    perform outbox.invalid('types', 'is an empty list', 'Name event types, or leave it out');
  elsif p_by_subscription is null then
    perform outbox.invalid('by_subscription', 'is null', 'Expected true or false');
  elsif p_include_delivered is null then
    perform outbox.invalid('include_delivered', 'is null', 'Expected true or false');
  elsif p_by_subscription and not exists (
    select from outbox.subscription s where s.endpoint_id = p_endpoint_id)
  then
    perform outbox.invalid('endpoint_id', 'has no subscription', 'Subscribe the endpoint first');
  end if;
  perform outbox.check_patterns(p_types);
  v_id := outbox.new_backfill(v_endpoint, 'events', p_types, p_from, p_until, p_filter,
    p_rate_per_second, null, p_include_delivered);
  update outbox.replay_job j set by_subscription = p_by_subscription where j.id = v_id;
  return pg_catalog.jsonb_build_object('id', v_id::text);
end
$$;
comment on function
  outbox.backfill_events(uuid, text[], timestamptz, timestamptz, text, boolean, integer, boolean) is
  'Starts a job that sends the kept events of the endpoint''s organisation to this endpoint, the '
  'oldest first: {"id"}. By default, events that it has or had a delivery of are left out, and '
  'always those that are addressed to another endpoint. p_types: only these event types, in the '
  'form of a subscription; p_from, p_until: only those published then; p_filter: only those whose '
  'payload passes it. '
  'p_by_subscription: only those that its present subscriptions and their filters select. '
  'p_include_delivered: also those that were delivered to it before, which are sent again as by '
  'replay(). '
  'outbox.replay_job has its progress, set_replay_job() pauses or cancels it. OH001, OH002.';

create type outbox.kept_event as (
  id uuid,
  partition_key text,
  deliver_at timestamptz,
  body_bytes integer,
  is_wanted boolean,
  is_open boolean,
  filters jsonpath[],
  weights integer[]
);
comment on type outbox.kept_event is
  'An event that a backfill reads. is_wanted: its type is selected and it is not addressed to '
  'another endpoint; is_open: no filter of a subscription applies; filters, weights: else those '
  'that apply.';

create function outbox.next_kept(
  p_job outbox.replay_job, p_rows integer
) returns setof outbox.kept_event
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_incremental_sort = off
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
  -- Events of the same millisecond too: those that came later are already routed, or wait for it.
  v_end uuid := outbox.uuid_v7_floor(p_job.failed_to + interval '1 ms');
begin
  return query
  select e.id, e.partition_key, e.deliver_at, e.body_bytes,
    coalesce(e.endpoint_id = p_job.endpoint_id, true)
      and (p_job.types is null or e.patterns && p_job.types)
      and (not p_job.by_subscription or s.is_open is not null),
    not p_job.by_subscription or s.is_open, s.filters, s.weights
  from (
    select e.org_id, e.id, e.partition_key, e.deliver_at, e.endpoint_id,
      pg_catalog.octet_length(e.body) as body_bytes, outbox.type_patterns(e.type) as patterns
    from outbox.event e
    where e.org_id > ''
      and (e.org_id, e.id) > (p_job.org_id, p_job.at_id)
      and (e.org_id, e.id) < (p_job.org_id, v_end)
      -- Selects the partitions.
      and e.id > p_job.at_id and e.id < v_end
    order by e.org_id, e.id
    limit p_rows
  ) e
  cross join lateral (
    select pg_catalog.bool_or(s.filter is null) as is_open,
      pg_catalog.array_agg(s.filter) filter (where s.filter is not null) as filters,
      pg_catalog.array_agg(s.filter_weight) filter (where s.filter is not null) as weights
    from outbox.subscription s
    where p_job.by_subscription and s.org_id = p_job.org_id and s.pattern = any (e.patterns)
      and s.endpoint_id = p_job.endpoint_id
  ) s
  order by e.org_id, e.id;
end
$$;
comment on function outbox.next_kept(outbox.replay_job, integer) is
  'The next p_rows events of the organisation of a backfill, in the order of their ids.';
