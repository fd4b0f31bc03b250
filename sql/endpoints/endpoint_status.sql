-- Holding endpoints. Each of these writes the endpoint's row and nothing else, so it waits for no
-- run and no run waits for it; claim() reads the row. Deliveries stay where they are, whatever
-- happens here.

create function outbox.set_endpoint_status(
  p_endpoint_id uuid, p_status text, p_reason text
) returns jsonb
language plpgsql set search_path = ''
as $$
declare
  v_was text := (outbox.lock_endpoint(p_endpoint_id)).status;
  v_now timestamptz := outbox.clock();
begin
  update outbox.endpoint e
  set status = p_status, status_reason = p_reason, version = e.version + 1, updated_at = v_now,
    ramp_from = case
      when p_status = 'enabled' and e.status <> 'enabled' then v_now
      else e.ramp_from
    end
  where e.id = p_endpoint_id;
  return pg_catalog.jsonb_build_object('id', p_endpoint_id, 'status', p_status, 'was', v_was,
    'reason', p_reason,
    'open', coalesce((select g.depth from outbox.gate g where g.endpoint_id = p_endpoint_id), 0));
end
$$;
comment on function outbox.set_endpoint_status(uuid, text, text) is
  'Changes an endpoint''s status: {"id", "status", "was", "reason", "open": deliveries that are '
  'open}. OH002.';

create function outbox.pause_endpoint(p_endpoint_id uuid, p_reason text default null) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  return outbox.set_endpoint_status(p_endpoint_id, 'paused', coalesce(p_reason, 'paused by hand'));
end
$$;
comment on function outbox.pause_endpoint(uuid, text) is
  'Holds an endpoint''s deliveries until resume_endpoint(); they stay, and new ones join them. '
  'Returns {"id", "status", "was", "reason", "open"}. OH002.';

create function outbox.resume_endpoint(p_endpoint_id uuid) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  return outbox.set_endpoint_status(p_endpoint_id, 'enabled', null);
end
$$;
comment on function outbox.resume_endpoint(uuid) is
  'Serves a paused or disabled endpoint again, within a second of the commit, a little at first '
  'and fully after 10 s. Returns {"id", "status", "was", "reason", "open"}. OH002.';

create function outbox.disable_endpoint(
  p_endpoint_id uuid, p_reason text default null
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_answer jsonb := outbox.set_endpoint_status(p_endpoint_id, 'disabled',
    coalesce(p_reason, 'disabled by hand'));
begin
  perform outbox.announce('outhook.endpoint.disabled', array[p_endpoint_id], outbox.clock());
  return v_answer;
end
$$;
comment on function outbox.disable_endpoint(uuid, text) is
  'As pause_endpoint(), for an endpoint that is broken; publishes outhook.endpoint.disabled. '
  'OH002.';

create function outbox.disable_itself(
  p_endpoint_ids uuid[], p_reason text, p_now timestamptz
) returns void
language plpgsql set search_path = ''
as $$
declare
  v_disabled uuid[];
begin
  -- SKIP LOCKED: a change left open at the console holds up no run; the next failure disables it
  -- then.
  with free as (
    select e.id
    from outbox.endpoint e
    where e.id = any (p_endpoint_ids) and e.status = 'enabled'
    for no key update skip locked
  ), done as (
    update outbox.endpoint e
    set status = 'disabled', status_reason = p_reason, version = e.version + 1, updated_at = p_now
    from free f where e.id = f.id returning e.id
  )
  select pg_catalog.array_agg(d.id) into v_disabled from done d;
  if v_disabled is not null then
    perform outbox.announce('outhook.endpoint.disabled', v_disabled, p_now);
  end if;
end
$$;
comment on function outbox.disable_itself(uuid[], text, timestamptz) is
  'Disables endpoints that answered 410 (gone) or have failed for days (failing_for_days), and '
  'says so.';

create function outbox.delete_endpoint(p_endpoint_id uuid) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  return outbox.set_endpoint_status(p_endpoint_id, 'deleted', 'deleted');
end
$$;
comment on function outbox.delete_endpoint(uuid) is
  'Deletes an endpoint: from the commit on nothing of it is sent, and every view says cancelled. '
  'Its rows go in batches (see endpoint_status.open). Returns {"id", "status", "was", "reason", '
  '"open"}. OH002.';

create function outbox.send_test_event(p_endpoint_id uuid) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_endpoint outbox.endpoint := outbox.check_endpoint(p_endpoint_id);
  v_breaker text;
begin
  select g.breaker into v_breaker from outbox.gate g where g.endpoint_id = p_endpoint_id;
  if v_endpoint.status <> 'enabled' then
    raise exception using errcode = 'OH004',
      message = pg_catalog.format('endpoint %s is %s', p_endpoint_id, v_endpoint.status),
      hint = 'resume_endpoint() serves it again';
  elsif v_breaker <> 'closed' and v_endpoint.breaker_enabled then
    raise exception using errcode = 'OH006',
      message = pg_catalog.format('the breaker of endpoint %s is %s', p_endpoint_id, v_breaker),
      hint = 'A probe is sent by itself once its time is up: outbox.endpoint_status says when';
  end if;
  return pg_catalog.jsonb_build_object('event_id',
    outbox.publish('outhook.test', '{"test": true}', v_endpoint.org_id,
      p_endpoint_id => p_endpoint_id));
end
$$;
comment on function outbox.send_test_event(uuid) is
  'Publishes an event outhook.test for one endpoint alone: {"event_id"}. OH002; OH004 when the '
  'endpoint is held; OH006 when its breaker is not closed.';
