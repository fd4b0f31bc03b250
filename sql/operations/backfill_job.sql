-- Backfills: jobs that send one endpoint what was there before it, kept events (operations/
-- backfill_events) or the rows of a table (module watch). A backfill is a replay job with another
-- source: it is paused, cancelled and listed in the same way. What is common to all backfills is
-- here.
--
--   begins    when every transaction that was open at its start has ended. Only then it sets its
--             end, so it sends all that these have committed. What comes later is routed to the
--             subscriptions of then.
--   steps     one a second. Each is a transaction of its own behind the tick, because it locks rows
--             of the application and the gate of its endpoint until it ends.
--   adds      at most rate_per_second, its share of 1,000 for all backfills (job_shares()), and
--             only while fewer than 1,000 deliveries wait: at an unordered endpoint those of the
--             job, which has its own lane; at an ordered endpoint all, because live deliveries wait
--             behind them
--   position  is committed together with the deliveries, so no crash loses or repeats a row

create function outbox.backfilled_endpoint(p_endpoint_id uuid) returns outbox.endpoint
language plpgsql volatile set search_path = ''
as $$
declare
  v_endpoint outbox.endpoint := outbox.check_endpoint(p_endpoint_id);
begin
  if exists (
    select from outbox.endpoint_kind k
    where k.kind = v_endpoint.kind and k.managed_as is not null)
  then
    perform outbox.invalid('endpoint_id',
      pg_catalog.format('is of the kind %s, which only sends messages', v_endpoint.kind),
      'Name an endpoint that gets events');
  end if;
  return v_endpoint;
end
$$;
comment on function outbox.backfilled_endpoint(uuid) is
  'The endpoint of a new backfill. OH002 if it does not exist; OH001 if it is a channel.';

create function outbox.new_backfill(
  p_endpoint outbox.endpoint, p_source text, p_types text[], p_from timestamptz, p_to timestamptz,
  p_filter text, p_rate_per_second integer, p_total bigint,
  p_include_delivered boolean default false
) returns bigint
language plpgsql set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_id bigint;
begin
  if p_filter is not null then
    perform outbox.read_filter(p_filter);
  end if;
  -- Without the organisation: create_backfill() checks its limit.
  perform outbox.check_new_job(null, p_rate_per_second);
  insert into outbox.replay_job (org_id, endpoint_id, failed_from, failed_to, rate_per_second,
    created_at, source, types, filter, total, at_id, until_at, worked_at, waits_for,
    include_delivered)
  values (p_endpoint.org_id, p_endpoint.id, p_from, least(p_to, v_now), p_rate_per_second, v_now,
    p_source, p_types, p_filter, p_total,
    outbox.uuid_v7_floor(coalesce(p_from, '1970-01-01 00:00:00+00')), p_to, v_now,
    outbox.older_transactions(), p_include_delivered)
  returning id into v_id;
  perform outbox.note_action(p_endpoint.org_id, 'REPLAY_JOB', v_id::text, 'CREATED',
    'Backfill created', pg_catalog.jsonb_build_object('source', p_source,
      'endpointId', p_endpoint.id, 'from', outbox.iso_time(p_from),
      'until', outbox.iso_time(p_to), 'includeDelivered', p_include_delivered));
  return v_id;
end
$$;
comment on function outbox.new_backfill(
  outbox.endpoint, text, text[], timestamptz, timestamptz, text, integer, bigint, boolean) is
  'Stores a new backfill and returns its number. OH001.';

create function outbox.older_transactions() returns text
language sql immutable set search_path = ''
as $$
  select 'transactions that were open at its start'
$$;
comment on function outbox.older_transactions() is
  'What a backfill waits for before its first step, as in replay_job.waits_for.';

create function outbox.begin_backfill(
  p_job outbox.replay_job, p_now timestamptz
) returns boolean
language plpgsql set search_path = ''
as $$
begin
  if p_job.begun_at is not null then
    return true;
  elsif p_job.after_xid
      <= pg_catalog.pg_snapshot_xmin(pg_catalog.pg_current_snapshot())
    -- A larger id is of another cluster, from which this database was restored.
    or p_job.after_xid > pg_catalog.pg_current_xact_id()
  then
    -- The end is of now: an event of one of these transactions may be later than the call.
    update outbox.replay_job j
    set begun_at = p_now, failed_to = least(j.until_at, outbox.latest_event_time())
    where j.id = p_job.id;
    return true;
  elsif p_job.after_xid is not null then
    return false;
  end if;
  -- Later, because a publisher may get its transaction id a moment after the time of its event.
  update outbox.replay_job j set after_xid = pg_catalog.pg_current_xact_id()
  where j.id = p_job.id and j.created_at <= p_now - interval '1 s';
  return false;
end
$$;
comment on function outbox.begin_backfill(outbox.replay_job, timestamptz) is
  'Whether every transaction that was open when the backfill was started has ended. The first time '
  'that they have, the job gets its end.';

create function outbox.backfill_room(p_job outbox.replay_job, p_most integer) returns integer
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_most_waiting constant bigint := 1000;
  v_waiting bigint;
begin
  select case when e.ordering = 'none' then coalesce(l.depth, 0) else g.depth end
  into v_waiting
  from outbox.endpoint e
  cross join lateral (
    select g.id, g.depth from outbox.gate g
    where g.endpoint_id = e.id order by g.changed_at desc limit 1
  ) g
  left join lateral (
    select l.depth from outbox.lane l
    where l.gate_id = g.id and not l.ordered and l.key_hash = p_job.id
    order by l.changed_at desc limit 1
  ) l on true
  where e.id = p_job.endpoint_id;
  return greatest(0, least(p_job.rate_per_second, p_most, v_most_waiting - v_waiting));
end
$$;
comment on function outbox.backfill_room(outbox.replay_job, integer) is
  'How many deliveries a backfill may create now, p_most at most.';

create function outbox.add_backfilled(
  p_job outbox.replay_job, p_pairs outbox.pair[], p_now timestamptz
) returns integer
language plpgsql set search_path = ''
as $$
declare
  v_done outbox.pairs_apart;
begin
  if pg_catalog.cardinality(p_pairs) = 0 then
    return 0;
  end if;
  v_done := outbox.add_apart(p_pairs, true, p_now);
  -- As route_what_fits(): created later if the error was temporary, else by retry_now().
  for v_place in 1 .. coalesce(pg_catalog.cardinality(v_done.refused), 0) loop
    perform outbox.note_refusal((v_done.refused[v_place]).event_id, p_job.endpoint_id, 'routing',
      v_done.sqlstates[v_place], v_done.errors[v_place],
      outbox.create_again_at(v_done.sqlstates[v_place], 1, p_now), p_now);
  end loop;
  return v_done.added;
end
$$;
comment on function outbox.add_backfilled(outbox.replay_job, outbox.pair[], timestamptz) is
  'Creates the deliveries of a backfill and returns how many; those that the database refuses are '
  'recorded in refusal, as for a new event. locks: the caller holds the gate.';

create function outbox.move_backfill(
  p_job outbox.replay_job, p_looked integer, p_added integer, p_skipped integer, p_at_id uuid,
  p_is_done boolean, p_now timestamptz
) returns void
language plpgsql set search_path = ''
as $$
begin
  update outbox.replay_job j set
    at_id = coalesce(p_at_id, j.at_id),
    at_failed = case
      when j.source = 'events' then outbox.uuid_v7_time(coalesce(p_at_id, j.at_id))
      else j.at_failed
    end,
    looked = j.looked + p_looked, replayed = j.replayed + p_added,
    skipped = j.skipped + p_skipped,
    -- It may have been paused or cancelled meanwhile.
    status = case when p_is_done and j.status = 'running' then 'done' else j.status end,
    finished_at = case when p_is_done and j.status = 'running' then p_now else j.finished_at end
  where j.id = p_job.id;
end
$$;
comment on function outbox.move_backfill(
  outbox.replay_job, integer, integer, integer, uuid, boolean, timestamptz) is
  'Stores the progress of one step of a backfill. p_at_id: the last event; null: unchanged.';
