-- Deliveries that the database refuses to lease, because of a trigger of the user, a constraint or
-- a damaged row. One of them must not stop the others of its endpoint. So if the database refuses
-- to claim from an endpoint, serve_one() does this:
--
--   1 refuse_rows() tries the lease of each delivery that a small batch may have, and undoes it. If
--     all are refused, it tries further ones, because good ones may be behind them.
--   2 refuse_claim() records each refused one. It waits as after a failed attempt, and after the
--     third refusal it is set aside until retry_now().
--   3 The endpoint is served again, without the refused deliveries.
--   4 If the database still refuses, the cause is the gate or a lane: refuse_endpoint() leaves the
--     endpoint out for a while.
--
-- A refused delivery leaves the head of its lane, if the database allows that change of its row.
-- Otherwise it stays where it is, and lease_deliveries() leaves it out by its row in refusal.
--
-- A trigger that takes too long uses up the time of the call. The next claims serve this endpoint
-- alone and begin with step 1, so the delivery that takes the time is known. If each delivery is
-- slow, step 1 ends after 1.5 s, and the claim takes only the deliveries that it has tried. From
-- then on step 2 changes no delivery: the trigger may take as long for each of them, and the
-- statement timeout fires only once.

create function outbox.is_late_claim() returns boolean
language sql volatile set search_path = ''
as $$
  select pg_catalog.clock_timestamp() - pg_catalog.statement_timestamp() >= interval '1.5 s'
$$;
comment on function outbox.is_late_claim() is
  'Whether a claim that looks for refused deliveries has used up its time: it tries no further '
  'one, and changes none of those that it has found.';

create function outbox.refuse_rows(
  p_endpoint_id uuid, p_isolated boolean, p_most integer, p_now timestamptz
) returns integer
language plpgsql set search_path = ''
as $$
declare
  v_rows outbox.delivery[] := outbox.rows_to_lease(p_endpoint_id, p_isolated, p_most, p_now);
  v_delivery outbox.delivery;
  v_refused outbox.delivery[] := array[]::outbox.delivery[];
  v_sqlstates text[] := array[]::text[];
  v_errors text[] := array[]::text[];
  v_lane bigint;
  v_good integer := 0;
  v_tried integer := 0;
  v_leasable integer := 0;
  v_is_cut boolean := false;
begin
  foreach v_delivery in array v_rows loop
    -- The claim takes as long again, and a call has 5 s. So a delivery that is started before this
    -- and times out is slower than all before it.
    v_is_cut := v_leasable > 0 and outbox.is_late_claim();
    exit when v_is_cut;
    if v_delivery.lane_id is distinct from v_lane then
      v_lane := v_delivery.lane_id;
      v_good := 0;
    end if;
    -- A claim reads no further.
    continue when v_good >= p_most;
    v_tried := v_tried + 1;
    begin
      perform outbox.try_lease(v_delivery, p_now);
      v_good := v_good + 1;
      v_leasable := v_leasable + 1;
    exception when query_canceled or assert_failure or others then
      if outbox.is_passing(sqlstate) and not outbox.may_stay(sqlstate) then
        raise;
      end if;
      v_refused := v_refused || v_delivery;
      v_sqlstates := v_sqlstates || sqlstate;
      v_errors := v_errors || sqlerrm;
      -- The statement timeout fires only once, so nothing more is tried after it.
      exit when outbox.is_timeout(sqlstate);
    end;
  end loop;
  -- If all are refused, the cause is not one of them, unless a newer one can be leased, or each was
  -- the cause before.
  if pg_catalog.cardinality(v_refused) >= 10
    and pg_catalog.cardinality(v_refused) = v_tried
    and not outbox.is_timeout('57014')
    and outbox.has_unrefused(v_refused)
    and (p_isolated or not outbox.can_lease_one(
      outbox.newest_to_lease(p_endpoint_id, 10, p_now), p_now))
  then
    return p_most;
  end if;
  for v_place in 1 .. pg_catalog.cardinality(v_refused) loop
    perform outbox.refuse_claim(v_refused[v_place], v_sqlstates[v_place], v_errors[v_place],
      p_now);
  end loop;
  return case
    when not v_is_cut and pg_catalog.cardinality(v_refused) > 0 and outbox.is_timeout('57014')
    then 0
    -- Those that it has not tried come after them.
    when v_leasable > 0 then least(v_leasable, p_most)
    else p_most
  end;
end
$$;
comment on function outbox.refuse_rows(uuid, boolean, integer, timestamptz) is
  'Finds the deliveries of an endpoint that the database refuses to lease, among those that a '
  'claim of up to p_most may have, and refuses them. If ten or more were tried and all refused, '
  'not all of them for the second time, it refuses none: then the cause is the endpoint. Returns '
  'how many deliveries the claim may take now: as many as can be leased; p_most if that is '
  'unknown; 0 if one delivery has used up the time of the call. locks: the caller holds the gate.';

create function outbox.refuse_claim(
  p_delivery outbox.delivery, p_sqlstate text, p_error text, p_now timestamptz
) returns void
language plpgsql set search_path = ''
as $$
declare
  v_again_at timestamptz := outbox.refused_again_at(
    p_delivery.event_id, p_delivery.endpoint_id, p_now);
begin
  perform outbox.note_refusal(p_delivery.event_id, p_delivery.endpoint_id, 'claim', p_sqlstate,
    p_error, v_again_at, p_now);
  perform outbox.let_pass(p_delivery, v_again_at,
    outbox.is_timeout(p_sqlstate) or outbox.is_late_claim(), p_now);
exception when query_canceled or assert_failure or others then
  if outbox.is_passing(sqlstate) and not outbox.may_stay(sqlstate) then
    raise;
  end if;
  -- Without the row in refusal, each claim meets the delivery again: the endpoint is refused.
  raise warning 'outbox: the refusal of event % for endpoint % cannot be recorded: % %',
    p_delivery.event_id, p_delivery.endpoint_id, sqlstate, sqlerrm;
end
$$;
comment on function outbox.refuse_claim(outbox.delivery, text, text, timestamptz) is
  'Records that a delivery could not be leased. It waits as after a failed attempt, and after the '
  'third refusal it is set aside. locks: the caller holds the gate, and parks it afterwards.';

create function outbox.let_pass(
  p_delivery outbox.delivery, p_again_at timestamptz, p_is_slow boolean, p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_lane outbox.lane;
begin
  select l.* into v_lane from outbox.lane l
  where l.id = p_delivery.lane_id order by l.changed_at desc limit 1;
  if v_lane.ordered and p_again_at < 'infinity' then
    -- The order stays: the whole lane waits.
    perform outbox.rest_lane(v_lane.id, p_again_at - p_now, p_now);
    return;
  end if;
  -- Each change of a slow row takes the time again, and the timeout may have fired already.
  if not p_is_slow then
    begin
      if v_lane.ordered then
        perform outbox.leave_lane(p_delivery, v_lane, p_now);
      else
        update outbox.delivery d set due_at = greatest(p_again_at, v_lane.head_at)
        where d.event_id = p_delivery.event_id and d.endpoint_id = p_delivery.endpoint_id;
      end if;
      return;
    exception when query_canceled or assert_failure or others then
      if outbox.is_passing(sqlstate) and not outbox.may_stay(sqlstate) then
        raise;
      end if;
    end;
  end if;
  -- The row stays in its lane, and claims leave it out. As after a dead letter, an ordered lane
  -- goes on or is halted, depending on on_dead_letter.
  update outbox.lane l set halted = true, next_at = 'infinity'
  from outbox.endpoint e
  where l.id = v_lane.id and l.ordered
    and e.id = p_delivery.endpoint_id and e.on_dead_letter = 'halt';
end
$$;
comment on function outbox.let_pass(outbox.delivery, timestamptz, boolean, timestamptz) is
  'Moves a delivery that could not be leased, so that the deliveries behind it are claimed. '
  'p_again_at: when it is due again; infinity sets it aside. p_is_slow: its row is not changed, '
  'because that could take too long. locks: the caller holds the gate, and parks it afterwards.';

create function outbox.refused_until(
  p_gate_id bigint, p_lane_id bigint, p_now timestamptz
) returns timestamptz
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
as $$
begin
  return (
    select pg_catalog.min(r.again_at)
    from (
      select g.endpoint_id from outbox.gate g
      where g.id = p_gate_id order by g.changed_at desc limit 1
    ) g
    join outbox.refusal r on r.endpoint_id = g.endpoint_id and r.step = 'claim'
    join outbox.delivery d on d.event_id = r.event_id and d.endpoint_id = r.endpoint_id
    where r.again_at > p_now and r.again_at < 'infinity' and d.lane_id = p_lane_id);
end
$$;
comment on function outbox.refused_until(bigint, bigint, timestamptz) is
  'When the next delivery of a lane that could not be leased is due again; null if none waits.';
