-- One step of a backfill of kept events: see operations/backfill_events.

create function outbox.has_or_had(p_event_id uuid, p_endpoint_id uuid) returns boolean
language plpgsql stable set search_path = ''
as $$
begin
  return exists (
      select from outbox.delivery d
      where d.event_id = p_event_id and d.endpoint_id = p_endpoint_id)
    or exists (
      select from outbox.refusal r
      where r.endpoint_id = p_endpoint_id and r.event_id = p_event_id)
    or outbox.last_attempt(p_event_id, p_endpoint_id) is not null;
end
$$;
comment on function outbox.has_or_had(uuid, uuid) is
  'Whether a delivery of an event to an endpoint is open, is refused, or has ended.';

create function outbox.was_delivered(
  p_event_id uuid, p_endpoint_id uuid, p_until timestamptz
) returns boolean
language plpgsql stable set search_path = ''
as $$
begin
  return not exists (
      select from outbox.delivery d
      where d.event_id = p_event_id and d.endpoint_id = p_endpoint_id)
    -- The last end counts, as in delivery_status.
    and coalesce(
      (
        select a.outcome = 'delivered' and a.at <= p_until from outbox.attempt a
        -- Not =: see last_attempt().
        where a.event_id = p_event_id and a.endpoint_id is not distinct from p_endpoint_id
          and (a.kind = 'close' or a.outcome = 'delivered')
        order by a.attempt desc, a.at desc limit 1
      ),
      (
        select x.delivered_at >= coalesce(x.replayed_at, '-infinity') and x.delivered_at <= p_until
        from outbox.dead_letter x
        where x.event_id = p_event_id and x.endpoint_id = p_endpoint_id
      ),
      false);
end
$$;
comment on function outbox.was_delivered(uuid, uuid, timestamptz) is
  'Whether the delivery of an event to an endpoint has ended, and the last time as delivered, at '
  'p_until or before.';

create function outbox.kept_action(
  p_job outbox.replay_job, p_event_id uuid
) returns text
language plpgsql stable set search_path = ''
as $$
begin
  return case
    when not outbox.has_or_had(p_event_id, p_job.endpoint_id) then 'new'
    -- Not what is delivered while the job runs: its receiver has not lost that.
    when p_job.include_delivered
      and outbox.was_delivered(p_event_id, p_job.endpoint_id, p_job.created_at)
    then 'again'
    else 'none'
  end;
end
$$;
comment on function outbox.kept_action(outbox.replay_job, uuid) is
  'What a backfill does with an event that it selects. new: it creates the delivery; again: it '
  'opens the delivered one again; none: it leaves out what is open, refused or ended otherwise.';

create function outbox.kept_problem(
  p_filter outbox.filter, p_event outbox.kept_event, p_body text
) returns text
language plpgsql stable set search_path = ''
as $$
declare
  v_problem text;
begin
  if not p_event.is_open then
    v_problem := outbox.body_problem(p_body, p_event.filters, p_event.weights);
  end if;
  if v_problem is null and p_filter.path is not null then
    v_problem := outbox.body_problem(p_body, array[p_filter.path], array[p_filter.weight]);
  end if;
  return v_problem;
end
$$;
comment on function outbox.kept_problem(outbox.filter, outbox.kept_event, text) is
  'The problem of an event, as in outbox.pair, with the filters of the subscriptions and of the '
  'backfill.';

create function outbox.lock_events(p_event_ids uuid[]) returns uuid[]
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
as $$
begin
  -- One by one in the order of their ids, so that two callers cannot deadlock.
  return array(
    select e.id
    from (select u from pg_catalog.unnest(p_event_ids) u order by u) o
    cross join lateral (select e.id from outbox.event e where e.id = o.u for key share) e);
end
$$;
comment on function outbox.lock_events(uuid[]) is
  'Locks these events against the sweep, and returns those that are stored.';

create function outbox.send_again(
  p_job outbox.replay_job, p_event_id uuid, p_problem text, p_now timestamptz
) returns integer
language plpgsql set search_path = ''
as $$
begin
  return case
    when p_problem is not null then 0
    else outbox.replay_one(
      row(p_job.id, p_event_id, p_job.endpoint_id, null, null)::outbox.replay_step, p_now)
  end;
end
$$;
comment on function outbox.send_again(outbox.replay_job, uuid, text, timestamptz) is
  'Opens a delivered delivery again for a backfill, in the lane of the job: 1. 0: the job skips '
  'it, because its filter failed (p_problem) or it cannot be opened. Null: it has to try again. '
  'locks: as reopen_delivery().';

create function outbox.backfill_kept(
  p_job outbox.replay_job, p_most integer, p_now timestamptz
) returns uuid[]
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_rows constant integer := 1000;
  -- 0.1 s of filters.
  v_most_work constant bigint := 200000;
  v_work bigint := 0;
  v_ordering text := (select e.ordering from outbox.endpoint e where e.id = p_job.endpoint_id);
  v_filter outbox.filter := outbox.job_filter(p_job);
  v_event outbox.kept_event;
  v_body text;
  v_problem text;
  v_pairs outbox.pair[] := array[]::outbox.pair[];
  v_sent outbox.pair[];
  v_action text;
  v_put integer;
  v_again uuid[] := array[]::uuid[];
  v_added integer;
  v_looked integer := 0;
  v_skipped integer := 0;
  v_at uuid;
  v_before uuid;
  v_stored uuid[];
  v_is_done boolean := true;
begin
  for v_event in select * from outbox.next_kept(p_job, v_rows) loop
    if pg_catalog.cardinality(v_pairs) + pg_catalog.cardinality(v_again) >= p_most
      or v_work > v_most_work
      -- Its routing decides first: this endpoint may have been subscribed then.
      or exists (select from outbox.unrouted u where u.event_id = v_event.id)
    then
      v_is_done := false;
      if v_looked = 0 then
        perform outbox.wait_for(p_job.id, 'the routing of earlier events');
      end if;
      exit;
    end if;
    v_looked := v_looked + 1;
    v_before := v_at;
    v_at := v_event.id;
    continue when not v_event.is_wanted;
    v_action := outbox.kept_action(p_job, v_event.id);
    continue when v_action = 'none';
    if exists (select from outbox.unroutable u where u.event_id = v_event.id) then
      -- route_again() decides.
      v_skipped := v_skipped + 1;
      continue;
    end if;
    if v_ordering <> 'none' and v_event.deliver_at > p_now then
      -- A lane has one order. It would be sent now; publish() refuses it too.
      v_skipped := v_skipped + 1;
      continue;
    end if;
    v_problem := null;
    if v_filter.path is not null or not v_event.is_open then
      v_body := (select e.body from outbox.event e where e.id = v_event.id);
      if v_body is null then
        -- The sweep has deleted it.
        v_skipped := v_skipped + 1;
        continue;
      end if;
      v_work := v_work + outbox.body_work(v_body) + outbox.filter_steps(
        v_event.weights || v_filter.weight, outbox.count_values(v_body));
      v_problem := outbox.kept_problem(v_filter, v_event, v_body);
      continue when v_problem = '';
    end if;
    if v_action = 'again' then
      v_put := outbox.send_again(p_job, v_event.id, v_problem, p_now);
      if v_put is null then
        v_is_done := false;
        v_looked := v_looked - 1;
        v_at := v_before;
        exit;
      end if;
      v_again := v_again || pg_catalog.array_fill(v_event.id, array[v_put]);
      v_skipped := v_skipped + 1 - v_put;
      continue;
    end if;
    v_pairs := v_pairs || row(v_event.id, p_job.endpoint_id, v_problem, v_event.deliver_at,
      case
        when v_ordering = 'none' then p_job.id
        else outbox.key_hash(v_ordering, v_event.partition_key)
      end,
      v_event.body_bytes, false)::outbox.pair;
  end loop;
  v_stored := outbox.lock_events(array(select p.event_id from pg_catalog.unnest(v_pairs) p));
  v_sent := array(
    select p from pg_catalog.unnest(v_pairs) p where p.event_id = any (v_stored));
  v_added := outbox.add_backfilled(p_job, v_sent, p_now);
  perform outbox.move_backfill(p_job, v_looked, v_added + pg_catalog.cardinality(v_again),
    v_skipped + pg_catalog.cardinality(v_pairs) - v_added, v_at,
    v_is_done and v_looked < v_rows, p_now);
  return v_stored || v_again;
end
$$;
comment on function outbox.backfill_kept(outbox.replay_job, integer, timestamptz) is
  'Sends the next kept events of a backfill, p_most at most, and returns them. It stops before an '
  'event that is not routed yet, and counts one as skipped that was set aside, was deleted '
  'meanwhile, is for later while the endpoint is ordered, or whose filter failed. locks: the '
  'caller holds the gate; dead letters or events, as reopen_delivery(); events by id.';
