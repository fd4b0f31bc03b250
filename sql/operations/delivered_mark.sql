-- After a restore to yesterday: what was due until some time was delivered in the meantime, and the
-- database does not know it. mark_delivered() ends these deliveries, so that they are not sent
-- again. It is a job, because they may be many: the job of the tick ends them in steps of 200, each
-- with a recorded reason (time/job), and replay() sends one again.
--
-- A delivery is marked if it was due until then:
--
--   never attempted                      the time of its event, or deliver_at if that is later
--   in flight at the time of the backup  its lease is over, and it was due before
--   to be retried                        the time of its retry
--
-- So an event for later, or a retry that came only after that time, is still sent. A lease of
-- before the backup is released, not recorded as lost: a lost lease would delay an ordered lane
-- until after that time, so that the deliveries behind it would not count as due until then, and
-- it may make a dead letter.
--
-- The job goes through the endpoints in the order of their ids. What it has to leave out, because
-- its lease is not over or because the database refuses to end it, is tried in the next pass, and
-- the job ends after a pass that left nothing out. So it does with an endpoint whose gate somebody
-- holds. It leaves out message channels for good: the
-- status of a message would say that it was cancelled, and the statuses of the provider would no
-- longer count.

create table outbox.delivered_mark (
  id bigint generated always as identity primary key,
  until_at timestamptz not null,
  org_id text,
  endpoint_id uuid,
  why text not null,
  started_by text not null,
  created_at timestamptz not null,
  routed boolean not null default false,
  at_endpoint uuid,
  left_until timestamptz,
  resume_at timestamptz not null default '-infinity',
  marked bigint not null default 0,
  finished_at timestamptz
);
-- The tick looks for an open one each second.
create index delivered_mark_open on outbox.delivered_mark (id) where finished_at is null;
comment on table outbox.delivered_mark is
  'The calls of mark_delivered(), which are stored for ever: until_at, org_id and endpoint_id are '
  'its arguments (null: all), started_by is the role that called. routed: the events of before the '
  'call have their deliveries; at_endpoint: the last endpoint that is finished in this pass; '
  'left_until: until when a delivery cannot be ended that this pass left out; resume_at: when the '
  'next pass begins; marked: how many deliveries were ended. finished_at is null while the job '
  'continues.';

create function outbox.mark_delivered(
  p_until timestamptz,
  p_org_id text default null,
  p_endpoint_id uuid default null,
  p_why text default 'delivered before a restore'
) returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_org text := p_org_id;
  v_endpoint outbox.endpoint;
  v_channel text;
  v_id bigint;
begin
  if p_until is null or not pg_catalog.isfinite(p_until) or p_until > v_now then
    perform outbox.invalid('until',
      pg_catalog.format('is %s', coalesce(p_until::text, 'null')), 'Expected a time in the past');
  elsif p_why is null or p_why = '' or pg_catalog.length(p_why) > 200 then
    perform outbox.invalid('why', 'is missing or longer than 200 characters',
      'Say in a few words why these deliveries are not to be sent');
  elsif p_endpoint_id is not null then
    v_org := coalesce(p_org_id, (outbox.check_endpoint(p_endpoint_id)).org_id);
    v_endpoint := outbox.org_endpoint(v_org, p_endpoint_id);
    v_channel := (
      select k.managed_as from outbox.endpoint_kind k where k.kind = v_endpoint.kind);
    if v_channel is not null then
      perform outbox.invalid('endpoint_id', pg_catalog.format('is %s', v_channel),
        'Cancel its messages one by one');
    end if;
  elsif p_org_id is not null and not exists (
    select from outbox.endpoint e where e.org_id = p_org_id and e.status <> 'deleted')
  then
    raise exception using errcode = 'OH002',
      message = pg_catalog.format('organisation %s has no endpoint', p_org_id),
      hint = 'outbox.endpoint_status has the organisation of each endpoint';
  end if;
  insert into outbox.delivered_mark (until_at, org_id, endpoint_id, why, started_by, created_at)
  values (p_until, p_org_id, p_endpoint_id, p_why, outbox.caller_role(), v_now)
  returning id into v_id;
  return pg_catalog.jsonb_build_object(
    'id', v_id::text,
    'enabled', outbox.setting_on('worker.enabled'),
    'replay_jobs', (
      select pg_catalog.count(*) from outbox.replay_job j
      where j.status = 'running'
        and (v_org is null or j.org_id is null or j.org_id = v_org)));
end
$$;
comment on function outbox.mark_delivered(timestamptz, text, uuid, text) is
  'Starts a job that ends the open deliveries that were due until p_until, of one organisation, of '
  'one endpoint, or of all, without message channels: {"id", "enabled": whether runs deliver '
  'meanwhile: what they send before the job comes to it is sent a second time, "replay_jobs": how '
  'many replay jobs and backfills of this organisation, or of all, run and may send something '
  'again}. Each delivery gets an attempt of kind close with the number of the job and p_why, and '
  'can be replayed. Events until p_until that wait after an error of routing are set aside. '
  'outbox.delivered_mark has the progress. OH001, OH002: the organisation has no endpoint, or this '
  'endpoint does not exist.';

create function outbox.stop_marked(p_mark outbox.delivered_mark) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_org text := coalesce(p_mark.org_id,
    (select e.org_id from outbox.endpoint e where e.id = p_mark.endpoint_id));
begin
  update outbox.unroutable u set again_at = 'infinity'
  where u.again_at < 'infinity' and u.org_id = coalesce(v_org, u.org_id)
    and greatest(outbox.uuid_v7_time(u.event_id), (
      select v.deliver_at from outbox.event v where v.id = u.event_id)) <= p_mark.until_at;
  update outbox.refusal r set again_at = 'infinity'
  where r.step = 'routing' and r.again_at < 'infinity'
    and exists (
      select from outbox.endpoint e
      join outbox.endpoint_kind k on k.kind = e.kind and k.managed_as is null
      where e.id = r.endpoint_id and e.id = coalesce(p_mark.endpoint_id, e.id)
        and e.org_id = coalesce(p_mark.org_id, e.org_id))
    and greatest(outbox.uuid_v7_time(r.event_id), (
      select v.deliver_at from outbox.event v where v.id = r.event_id)) <= p_mark.until_at;
end
$$;
comment on function outbox.stop_marked(outbox.delivered_mark) is
  'Sets aside the events and deliveries until the time of a job that wait after a temporary error '
  'of routing, so that only a person continues them: route_again(), retry_now().';

create function outbox.deliveries_to_mark(
  p_mark outbox.delivered_mark, p_endpoint_id uuid, p_leased boolean, p_most integer,
  p_now timestamptz
) returns outbox.delivery[]
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  return array(
    select d
    from outbox.gate g
    join outbox.lane l on l.gate_id = g.id
    join outbox.delivery d on d.lane_id = l.id and d.lane_id > 0
    where g.endpoint_id = p_endpoint_id
      and (coalesce(d.leased_until, '-infinity') > p_now) = p_leased
      and case
        when d.attempt = 0
          then greatest(outbox.uuid_v7_time(d.event_id), d.deliver_at, d.replayed_at)
        else d.due_at
      end <= p_mark.until_at
      -- The retry of an ordered delivery is the time of its lane, and all others wait behind it.
      and (not l.ordered or l.not_before <= p_mark.until_at)
      and not outbox.rests(
        'outbox.mark_delivered', outbox.mark_member(d.event_id, p_endpoint_id), p_now)
    limit p_most);
end
$$;
comment on function outbox.deliveries_to_mark(
  outbox.delivered_mark, uuid, boolean, integer, timestamptz) is
  'Up to p_most deliveries of an endpoint that a job of mark_delivered() has to end: those that a '
  'run holds, or the others. Those that the database refused to end in the last 10 s are left out.';

create function outbox.mark_member(p_event_id uuid, p_endpoint_id uuid) returns text
language plpgsql immutable set search_path = ''
as $$
begin
  return pg_catalog.format('event %s for endpoint %s', p_event_id, p_endpoint_id);
end
$$;
comment on function outbox.mark_member(uuid, uuid) is
  'The name of a delivery in outbox.upkeep_refusal.';

create function outbox.mark_one(
  p_delivery outbox.delivery, p_why text, p_now timestamptz
) returns boolean
language plpgsql set search_path = ''
as $$
declare
  v_member text := outbox.mark_member(p_delivery.event_id, p_delivery.endpoint_id);
  v_delivery outbox.delivery := p_delivery;
begin
  if p_delivery.leased_until is not null then
    perform outbox.complete(array[
      row(p_delivery.event_id, p_delivery.endpoint_id, p_delivery.attempt, 'released', null, null,
        null, null, null, null, null, null, null, null, null, null, null)::outbox.result], p_now);
    select * into v_delivery from outbox.delivery d
    where d.event_id = p_delivery.event_id and d.endpoint_id = p_delivery.endpoint_id;
    if v_delivery.leased_until is not null then
      raise exception using errcode = 'OH004', message = 'its lease cannot be ended',
        hint = 'outbox.refusal has the error';
    end if;
  end if;
  perform outbox.close_delivery(v_delivery, 'cancelled', p_why, p_now);
  perform outbox.admit_upkeep('outbox.mark_delivered', v_member);
  return true;
exception when query_canceled or assert_failure or others then
  if outbox.fails_upkeep(sqlstate) or outbox.is_timeout(sqlstate) then
    raise;
  end if;
  perform outbox.refuse_upkeep('outbox.mark_delivered', v_member, sqlstate, sqlerrm, '5 minutes');
  return false;
end
$$;
comment on function outbox.mark_one(outbox.delivery, text, timestamptz) is
  'Ends one delivery that no run holds; false if the database refuses it, which queue_health '
  'shows. locks: the caller holds the gate.';

create function outbox.mark_endpoint(
  p_mark outbox.delivered_mark, p_endpoint_id uuid, p_most integer, p_now timestamptz
) returns outbox.delivered_mark
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_why constant text :=
    pg_catalog.format('marked as delivered, job %s: %s', p_mark.id, p_mark.why);
  v_mark outbox.delivered_mark := p_mark;
  v_found outbox.delivery[] :=
    outbox.deliveries_to_mark(p_mark, p_endpoint_id, false, p_most, p_now);
  v_one outbox.delivery;
  -- Each may wait for a lock, and runs for the gate.
  v_until timestamptz := pg_catalog.clock_timestamp() + interval '1 s';
begin
  foreach v_one in array v_found loop
    -- The next step continues with this endpoint.
    if pg_catalog.clock_timestamp() >= v_until then
      return v_mark;
    end if;
    if outbox.mark_one(v_one, v_why, p_now) then
      v_mark.marked := v_mark.marked + 1;
    else
      v_mark.left_until := greatest(v_mark.left_until, p_now + interval '10 s');
    end if;
  end loop;
  if pg_catalog.cardinality(v_found) < p_most then
    v_mark.at_endpoint := p_endpoint_id;
    v_mark.left_until := greatest(v_mark.left_until, (
      select pg_catalog.max(d.leased_until) from pg_catalog.unnest(
        outbox.deliveries_to_mark(p_mark, p_endpoint_id, true, 1000, p_now)) d));
  end if;
  return v_mark;
end
$$;
comment on function outbox.mark_endpoint(
  outbox.delivered_mark, uuid, integer, timestamptz) is
  'Ends up to p_most deliveries of one endpoint for a job of mark_delivered(); returns the job '
  'with its new marked and left_until, and with this endpoint as at_endpoint if it is finished. '
  'After 1 s it begins with no other delivery. locks: the caller holds the gate.';

create function outbox.mark_next(
  p_mark outbox.delivered_mark, p_now timestamptz
) returns outbox.delivered_mark
language plpgsql
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_most constant integer := 200;
  v_mark outbox.delivered_mark := p_mark;
  v_endpoints uuid[];
  v_locked uuid[];
  v_endpoint uuid;
  v_more integer;
begin
  v_endpoints := array(
    select e.id
    from outbox.endpoint e
    join outbox.endpoint_kind k on k.kind = e.kind and k.managed_as is null
    cross join lateral (
      select g.depth from outbox.gate g
      where g.endpoint_id = e.id order by g.changed_at desc limit 1
    ) g
    where e.id > coalesce(p_mark.at_endpoint, '00000000-0000-0000-0000-000000000000'::uuid)
      and e.id = coalesce(p_mark.endpoint_id, e.id) and e.org_id = coalesce(p_mark.org_id, e.org_id)
      and e.status <> 'deleted' and g.depth > 0
    order by e.id limit 20);
  v_locked := outbox.lock_free_gates(v_endpoints, '{}');
  foreach v_endpoint in array v_endpoints loop
    if v_endpoint <> all (v_locked) then
      v_mark.at_endpoint := v_endpoint;
      v_mark.left_until := greatest(v_mark.left_until, p_now + interval '10 s');
      continue;
    end if;
    v_more := v_most - (v_mark.marked - p_mark.marked);
    exit when v_more = 0;
    v_mark := outbox.mark_endpoint(v_mark, v_endpoint, v_more, p_now);
    exit when v_mark.at_endpoint is distinct from v_endpoint;
  end loop;
  if pg_catalog.cardinality(v_endpoints) > 0 then
    return v_mark;
  elsif v_mark.left_until is null then
    v_mark.finished_at := p_now;
  else
    v_mark.resume_at := v_mark.left_until;
    v_mark.left_until := null;
    v_mark.at_endpoint := null;
  end if;
  return v_mark;
end
$$;
comment on function outbox.mark_next(outbox.delivered_mark, timestamptz) is
  'Ends up to 200 deliveries of the next endpoints that have open ones, 20 at most, or ends the '
  'pass if there is none; returns the job as it is to be stored. An endpoint whose gate somebody '
  'holds is left out until the next pass. locks: the gates by id.';

create function outbox.work_delivered_mark(
  p_mark outbox.delivered_mark, p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_mark outbox.delivered_mark := p_mark;
begin
  if p_mark.routed then
    v_mark := outbox.mark_next(p_mark, p_now);
  elsif outbox.route_all(p_now, pg_catalog.clock_timestamp() + interval '0.2 s') then
    -- Runs that do not deliver do not route either. After it, because an event whose routing fails
    -- waits too.
    perform outbox.stop_marked(p_mark);
    v_mark.routed := true;
  end if;
  update outbox.delivered_mark m set
    routed = v_mark.routed, at_endpoint = v_mark.at_endpoint, left_until = v_mark.left_until,
    resume_at = v_mark.resume_at, marked = v_mark.marked, finished_at = v_mark.finished_at
  where m.id = p_mark.id;
end
$$;
comment on function outbox.work_delivered_mark(outbox.delivered_mark, timestamptz) is
  'One step of a job of mark_delivered(): routes events, or ends up to 200 deliveries, or ends the '
  'pass or the job. locks: the caller holds the job; then the router with SKIP LOCKED and the '
  'gates of a batch by id, or the gates of up to 20 endpoints by id.';

create function outbox.work_delivered_marks(p_now timestamptz) returns boolean
language plpgsql
set search_path = ''
set enable_seqscan = off
set lock_timeout = '100ms'
as $$
declare
  v_mark outbox.delivered_mark;
  v_member text;
begin
  if not exists (select from outbox.delivered_mark m where m.finished_at is null) then
    return false;
  end if;
  select * into v_mark from outbox.delivered_mark m
  where m.finished_at is null and m.resume_at <= p_now
    and not outbox.rests('outbox.work_delivered_marks', 'job ' || m.id, p_now)
  order by m.id limit 1 for update skip locked;
  if not found then
    return false;
  end if;
  v_member := 'job ' || v_mark.id;
  begin
    perform outbox.work_delivered_mark(v_mark, p_now);
    perform outbox.admit_upkeep('outbox.work_delivered_marks', v_member);
  exception when query_canceled or assert_failure or others then
    if outbox.fails_upkeep(sqlstate) then
      raise;
    end if;
    perform outbox.refuse_upkeep('outbox.work_delivered_marks', v_member, sqlstate, sqlerrm,
      '5 minutes');
  end;
  return true;
end
$$;
comment on function outbox.work_delivered_marks(timestamptz) is
  'Executes one step of the oldest job of mark_delivered() whose turn has come, in the caller''s '
  'transaction; false if there is none. A step that fails is shown by queue_health, and tried '
  'again after 10 s. locks: delivered_mark with SKIP LOCKED, then as work_delivered_mark(); each '
  'wait ends after 100 ms.';
