-- Pausing, disabling and deleting endpoints. These functions only write the row of the endpoint, so
-- they wait for no run and no run waits for them. claim() reads the row. Open deliveries do not
-- change. A pause does not change subscriptions; a deletion ends them.

create function outbox.set_endpoint_status(
  p_endpoint_id uuid, p_status text, p_reason text
) returns jsonb
language plpgsql set search_path = ''
as $$
declare
  v_before constant outbox.endpoint := outbox.lock_endpoint(p_endpoint_id);
  v_now timestamptz := outbox.clock();
begin
  update outbox.endpoint e
  set status = p_status, status_reason = p_reason, version = e.version + 1, updated_at = v_now,
    ramp_from = case
      when p_status = 'enabled' and e.status <> 'enabled' then v_now
      else e.ramp_from
    end
  where e.id = p_endpoint_id;
  if p_status = 'deleted' then
    perform outbox.end_subscriptions(p_endpoint_id, array(
      select s.pattern from outbox.subscription s where s.endpoint_id = p_endpoint_id),
      outbox.subscription_time(p_endpoint_id));
  end if;
  return pg_catalog.jsonb_build_object('id', p_endpoint_id, 'status', p_status,
    'was', v_before.status, 'reason', p_reason,
    'open', coalesce((select g.depth from outbox.gate g where g.endpoint_id = p_endpoint_id), 0));
end
$$;
comment on function outbox.set_endpoint_status(uuid, text, text) is
  'Changes the status of an endpoint and returns {"id", "status", "was", "reason", "open": the '
  'number of open deliveries}. OH002; OH004: see refuse_arrival().';

create function outbox.pause_endpoint(p_endpoint_id uuid, p_reason text default null) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_result jsonb;
begin
  perform outbox.check_reason(p_reason);
  v_result := outbox.set_endpoint_status(p_endpoint_id, 'paused',
    coalesce(p_reason, 'paused by hand'));
  perform outbox.note_endpoint(p_endpoint_id, 'PAUSED',
    pg_catalog.format('Paused: %s', coalesce(p_reason, 'by hand')));
  return v_result;
end
$$;
comment on function outbox.pause_endpoint(uuid, text) is
  'Pauses an endpoint until resume_endpoint(). Its open deliveries stay open, and new events '
  'still create deliveries. Returns {"id", "status", "was", "reason", "open"}. OH001: see '
  'check_reason(); OH002, OH004.';

create function outbox.resume_endpoint(p_endpoint_id uuid) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_result jsonb := outbox.set_endpoint_status(p_endpoint_id, 'enabled', null);
begin
  perform outbox.note_endpoint(p_endpoint_id, 'RESUMED',
    pg_catalog.format('Resumed, which was %s', v_result ->> 'was'));
  return v_result;
end
$$;
comment on function outbox.resume_endpoint(uuid) is
  'Resumes a paused or disabled endpoint. Deliveries start within a second of the commit, slowly '
  'at first and at the full rate after 10 s. Returns {"id", "status", "was", "reason", "open"}. '
  'OH002; OH004: it moves here from another database, which may still deliver to it.';

create function outbox.disable_endpoint(
  p_endpoint_id uuid, p_reason text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_result jsonb;
begin
  perform outbox.check_reason(p_reason);
  v_result := outbox.set_endpoint_status(p_endpoint_id, 'disabled',
    coalesce(p_reason, 'disabled by hand'));
  perform outbox.announce('outhook.endpoint.disabled', array[p_endpoint_id]);
  perform outbox.note_endpoint(p_endpoint_id, 'DISABLED',
    pg_catalog.format('Disabled: %s', coalesce(p_reason, 'by hand')));
  return v_result;
end
$$;
comment on function outbox.disable_endpoint(uuid, text) is
  'As pause_endpoint(), for a broken endpoint; also publishes outhook.endpoint.disabled. OH001, '
  'OH002, OH004.';

create function outbox.disable_endpoints(
  p_endpoint_ids uuid[], p_reason text, p_now timestamptz
) returns void
language plpgsql set search_path = ''
as $$
declare
  v_disabled uuid[];
begin
  -- SKIP LOCKED: a transaction that an operator left open must not block a run. The next failure
  -- disables the endpoint.
  with enabled as (
    select e.id
    from outbox.endpoint e
    where e.id = any (p_endpoint_ids) and e.status = 'enabled'
    for no key update skip locked
  ), done as (
    update outbox.endpoint e
    set status = 'disabled', status_reason = p_reason, version = e.version + 1, updated_at = p_now
    from enabled x where e.id = x.id returning e.id
  )
  select pg_catalog.array_agg(d.id) into v_disabled from done d;
  if v_disabled is not null then
    perform outbox.announce('outhook.endpoint.disabled', v_disabled);
  end if;
end
$$;
comment on function outbox.disable_endpoints(uuid[], text, timestamptz) is
  'Disables endpoints that responded with 410 (gone), that another failure rule holds '
  '(failure_rule) or that have failed for days (failing_for_days), '
  'and publishes outhook.endpoint.disabled.';

create function outbox.delete_endpoint(p_endpoint_id uuid) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_result jsonb := outbox.set_endpoint_status(p_endpoint_id, 'deleted', 'deleted');
begin
  perform outbox.note_endpoint(p_endpoint_id, 'DELETED', 'Endpoint deleted',
    pg_catalog.jsonb_build_object('open', v_result -> 'open'));
  return v_result;
end
$$;
comment on function outbox.delete_endpoint(uuid) is
  'Deletes an endpoint. After the commit nothing is sent to it, and every view shows its '
  'deliveries as cancelled. A job removes its rows in batches (endpoint_status.open counts the '
  'rest). Returns {"id", "status", "was", "reason", "open"}. OH002; OH004: see refuse_arrival().';

create function outbox.send_test_event(p_endpoint_id uuid) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_endpoint outbox.endpoint := outbox.check_endpoint(p_endpoint_id);
  v_breaker text;
  v_id uuid;
begin
  select g.breaker into v_breaker from outbox.gate g where g.endpoint_id = p_endpoint_id;
  if v_endpoint.status <> 'enabled' then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('endpoint %s is %s', p_endpoint_id, v_endpoint.status),
      hint = 'Resume it with resume_endpoint()';
  elsif v_breaker <> 'closed' and v_endpoint.breaker_enabled then
    raise exception using errcode = 'OH006',
      message = pg_catalog.format('the breaker of endpoint %s is %s', p_endpoint_id, v_breaker),
      hint = 'The next probe is automatic: outbox.endpoint_status.probe_at has its time';
  end if;
  v_id := outbox.put_event(outbox.new_event(outbox.event_time(), 'outhook.test', '{"test": true}',
    v_endpoint.org_id, null, null, null, p_endpoint_id, null, null), true);
  perform outbox.kick_on_commit();
  return pg_catalog.jsonb_build_object('event_id', v_id);
end
$$;
comment on function outbox.send_test_event(uuid) is
  'Publishes an event outhook.test for this endpoint only: {"event_id"}. OH002; OH004 if the '
  'endpoint is not enabled; OH006 if its breaker is not closed.';
