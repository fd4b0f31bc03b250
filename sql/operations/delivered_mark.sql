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
-- So an event for later, or a retry that came only after that time, is still sent.

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
  marked bigint not null default 0,
  finished_at timestamptz
);
-- The tick looks for an open one each second.
create index delivered_mark_open on outbox.delivered_mark (id) where finished_at is null;
comment on table outbox.delivered_mark is
  'The calls of mark_delivered(), which are stored for ever: until_at, org_id and endpoint_id are '
  'its arguments (null: all), started_by is the role that called. routed: the events of before the '
  'call have their deliveries; at_endpoint: the last endpoint that is finished; marked: how many '
  'deliveries were ended. finished_at is null while the job continues.';

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
  v_id bigint;
begin
  if p_until is null or not pg_catalog.isfinite(p_until) or p_until > v_now then
    perform outbox.invalid('until',
      pg_catalog.format('is %s', coalesce(p_until::text, 'null')), 'Expected a time in the past');
  elsif p_why is null or p_why = '' or pg_catalog.length(p_why) > 200 then
    perform outbox.invalid('why', 'is missing or longer than 200 characters',
      'Say in a few words why these deliveries are not to be sent');
  elsif p_endpoint_id is not null then
    perform outbox.org_endpoint(
      coalesce(p_org_id, (outbox.check_endpoint(p_endpoint_id)).org_id), p_endpoint_id);
  end if;
  insert into outbox.delivered_mark (until_at, org_id, endpoint_id, why, started_by, created_at)
  values (p_until, p_org_id, p_endpoint_id, p_why, session_user, v_now)
  returning id into v_id;
  return pg_catalog.jsonb_build_object(
    'id', v_id::text, 'enabled', outbox.setting_on('worker.enabled'));
end
$$;
comment on function outbox.mark_delivered(timestamptz, text, uuid, text) is
  'Starts a job that ends the open deliveries that were due until p_until, of one organisation, of '
  'one endpoint, or of all: {"id", "enabled": whether runs deliver meanwhile: what they send '
  'before the job comes to it is sent a second time}. Each gets an attempt of kind close with the '
  'number of the job and p_why, and can be replayed. outbox.delivered_mark has the progress. '
  'OH001, OH002.';

create function outbox.deliveries_to_mark(
  p_mark outbox.delivered_mark, p_endpoint_id uuid, p_most integer, p_now timestamptz
) returns outbox.delivery[]
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
as $$
begin
  return array(
    select d
    from outbox.gate g
    join outbox.lane l on l.gate_id = g.id
    join outbox.delivery d on d.lane_id = l.id and d.lane_id > 0
    where g.endpoint_id = p_endpoint_id
      and coalesce(d.leased_until, '-infinity') <= p_now
      and case
        when d.attempt = 0 then greatest(outbox.uuid_v7_time(d.event_id), d.deliver_at)
        else d.due_at
      end <= p_mark.until_at
      -- The retry of an ordered delivery is the time of its lane, and all others wait behind it.
      and (not l.ordered or l.not_before <= p_mark.until_at)
    limit p_most);
end
$$;
comment on function outbox.deliveries_to_mark(
  outbox.delivered_mark, uuid, integer, timestamptz) is
  'Up to p_most deliveries of an endpoint that a job of mark_delivered() has to end. Those that a '
  'run holds are left out.';

create function outbox.mark_endpoint(
  p_mark outbox.delivered_mark, p_endpoint_id uuid, p_most integer, p_now timestamptz
) returns integer
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_why constant text :=
    pg_catalog.format('marked as delivered, job %s: %s', p_mark.id, p_mark.why);
  v_found outbox.delivery[];
  v_one outbox.delivery;
begin
  perform outbox.lock_gates(array[p_endpoint_id]);
  v_found := outbox.deliveries_to_mark(p_mark, p_endpoint_id, p_most, p_now);
  foreach v_one in array v_found loop
    perform outbox.record_lost_lease(v_one, p_now);
    select * into v_one from outbox.delivery d
    where d.event_id = v_one.event_id and d.endpoint_id = p_endpoint_id;
    -- The lost lease may have been its last one: then it is a dead letter.
    if found then
      perform outbox.close_delivery(v_one, 'cancelled', v_why, p_now);
    end if;
  end loop;
  return pg_catalog.cardinality(v_found);
end
$$;
comment on function outbox.mark_endpoint(
  outbox.delivered_mark, uuid, integer, timestamptz) is
  'Ends up to p_most deliveries of one endpoint for a job of mark_delivered(); returns how many. '
  'locks: the gate.';

create function outbox.work_delivered_mark(
  p_mark outbox.delivered_mark, p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_most constant integer := 200;
  v_endpoint uuid;
  v_n integer;
begin
  if not p_mark.routed then
    -- Runs that do not deliver do not route either.
    update outbox.delivered_mark m set routed = true
    where m.id = p_mark.id
      and outbox.route_all(p_now, pg_catalog.clock_timestamp() + interval '0.2 s');
    return;
  end if;
  select e.id into v_endpoint
  from outbox.endpoint e
  where e.id > coalesce(p_mark.at_endpoint, '00000000-0000-0000-0000-000000000000'::uuid)
    and e.id = coalesce(p_mark.endpoint_id, e.id) and e.org_id = coalesce(p_mark.org_id, e.org_id)
    and e.status <> 'deleted'
  order by e.id limit 1;
  if not found then
    update outbox.delivered_mark m set finished_at = p_now where m.id = p_mark.id;
    return;
  end if;
  v_n := outbox.mark_endpoint(p_mark, v_endpoint, v_most, p_now);
  update outbox.delivered_mark m set
    marked = m.marked + v_n,
    at_endpoint = case when v_n < v_most then v_endpoint else m.at_endpoint end
  where m.id = p_mark.id;
end
$$;
comment on function outbox.work_delivered_mark(outbox.delivered_mark, timestamptz) is
  'One step of a job of mark_delivered(): routes events, or ends up to 200 deliveries of one '
  'endpoint, or finds that none is left. locks: the caller holds the job; then the router with '
  'SKIP LOCKED, and the gates of a batch by id, or one gate.';

create function outbox.work_delivered_marks(p_now timestamptz) returns boolean
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_mark outbox.delivered_mark;
  v_member text;
begin
  if not exists (select from outbox.delivered_mark m where m.finished_at is null) then
    return false;
  end if;
  select * into v_mark from outbox.delivered_mark m
  where m.finished_at is null
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
  'Executes one step of the oldest job of mark_delivered(), in the caller''s transaction; false if '
  'there is none. A step that fails is shown by queue_health, and tried again after 10 s. locks: '
  'delivered_mark with SKIP LOCKED, then as work_delivered_mark().';
