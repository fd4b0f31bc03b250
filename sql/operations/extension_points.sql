-- Extension points of operations. The functions here do nothing. One module may replace each of
-- them by `create or replace function` in its own folder. Repeat the arguments, the result, the SET
-- clauses and the security option, because Postgres drops what a replacement does not repeat.
-- engine/extension_points and endpoints/extension_points have the others. Each body reads its
-- arguments, because `supabase db lint` warns of unused ones.

create function outbox.on_closed(
  p_event_id uuid, p_outcome text, p_why text, p_now timestamptz
) returns void
language plpgsql set search_path = ''
as $$
begin
  if p_event_id is null or p_outcome is null or p_why is null or p_now is null then
    return;
  end if;
end
$$;
comment on function outbox.on_closed(uuid, text, text, timestamptz) is
  'Extension point of close_delivery(): a delivery ended without an attempt. p_outcome: cancelled '
  'or expired; p_why: the reason. The caller has the gate locked. Does nothing here; the module '
  'messages replaces it.';

create function outbox.on_purged(
  p_endpoint_id uuid, p_limit integer, p_now timestamptz
) returns integer
language plpgsql set search_path = ''
as $$
begin
  return case when p_endpoint_id is null or p_limit is null or p_now is null then 0 else 0 end;
end
$$;
comment on function outbox.on_purged(uuid, integer, timestamptz) is
  'Extension point of purge_endpoint(): a deleted endpoint has no open delivery any more. Removes '
  'up to p_limit rows that a module has for it, and returns how many. Fewer than p_limit means '
  'that none is left, and that the gate can be removed. The caller has the endpoint and its gate '
  'locked. Returns 0 here; the module messages replaces it.';

create function outbox.release_first(p_endpoint outbox.endpoint) returns text
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return case when p_endpoint.id is null then '' end;
end
$$;
comment on function outbox.release_first(outbox.endpoint) is
  'Extension point of release_command(): the calls that must come before resume_endpoint(), '
  'separated by commas. If a secret of the endpoint cannot be read: the call that sets this '
  'secret again. Null: none. Null here; the module messages replaces it.';

create function outbox.more_counters()
returns table (metric text, labels text[], n bigint, total bigint)
language plpgsql stable set search_path = ''
as $$
begin
  return query select ''::text, array[]::text[], 0::bigint, 0::bigint where false;
end
$$;
comment on function outbox.more_counters() is
  'Extension point of counters(): the counters that a module stores in its own table, in the form '
  'of the table counter. No row here; the module messages replaces it.';

create function outbox.more_gauges()
returns table (metric text, labels text[], value double precision)
language plpgsql stable set search_path = ''
as $$
begin
  return query select ''::text, array[]::text[], 0::double precision where false;
end
$$;
comment on function outbox.more_gauges() is
  'Extension point of get_metrics(): what a module measures now, such as a number of objects in a '
  'state that somebody has to end. No row here; the module messages replaces it.';

create function outbox.more_problems() returns text[]
language plpgsql stable set search_path = ''
as $$
begin
  return '{}'::text[];
end
$$;
comment on function outbox.more_problems() is
  'Extension point of queue_problems(): problems of a module, as texts. None here; the module '
  'watch replaces it.';

create function outbox.found_messages(
  p_org_id text, p_event_ids uuid[], p_correlation_id text, p_key text, p_limit integer
) returns jsonb
language plpgsql stable
set search_path = ''
set enable_seqscan = off
as $$
begin
  return case
    when p_org_id is null or p_event_ids is null or p_correlation_id is null or p_key is null
      or p_limit is null
    then '{}'::jsonb else '{}'::jsonb
  end;
end
$$;
comment on function outbox.found_messages(text, uuid[], text, text, integer) is
  'Extension point of search_org(): {"messages", "auditEvents", "moreOf"} of these events, or with '
  'this correlation id or idempotency key. Without members here; the module messages replaces it.';

create function outbox.backfill_rows(
  p_job outbox.replay_job, p_most integer, p_now timestamptz
) returns uuid[]
language plpgsql set search_path = ''
as $$
begin
  return case
    when p_job.id is null or p_most is null or p_now is null
    then array[]::uuid[] else array[]::uuid[]
  end;
end
$$;
comment on function outbox.backfill_rows(outbox.replay_job, integer, timestamptz) is
  'Extension point of work_backfill(): sends up to p_most rows of a table, stores the progress and '
  'returns the events. The caller holds the gate. None here; the module watch replaces it.';
