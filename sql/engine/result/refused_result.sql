-- Results that the database refuses to store. Normally one statement stores the whole batch. If it
-- fails, each half of the batch is stored alone, and a half that fails is divided again, until each
-- refused result is alone. A refused result has no row in attempt: its delivery is released and
-- waits, and after the third refusal it is set aside.
--
-- Each half runs in its own block, and a failure rolls back only that block. The locks on the gates
-- were taken before the blocks and stay, so no other transaction changes a lane or a delivery in
-- between.

create function outbox.complete_apart(
  p_results outbox.result[], p_now timestamptz
) returns outbox.completed
language plpgsql set search_path = ''
as $$
declare
  v_done outbox.completed;
  v_rest outbox.completed;
  v_sqlstate text;
  v_error text;
  v_half integer := pg_catalog.cardinality(p_results) / 2;
begin
  begin
    v_done.applied := outbox.complete(p_results, p_now);
    v_done.refused := 0;
    return v_done;
  exception when query_canceled or assert_failure or others then
    -- No run repeats a call that records a lost lease.
    if outbox.fails_call(sqlstate) and not (
      outbox.may_stay(sqlstate) and not outbox.is_timeout(sqlstate)
      and coalesce(p_results[1].error_class, '') = 'lease_expired')
    then
      raise;
    end if;
    v_sqlstate := sqlstate;
    v_error := sqlerrm;
  end;
  if v_half = 0 then
    perform outbox.refuse_result(p_results[1], v_sqlstate, v_error, p_now);
    v_done.applied := 0;
    v_done.refused := 1;
    v_done.error := v_sqlstate || ' ' || v_error;
    return v_done;
  end if;
  v_done := outbox.complete_apart(p_results[1:v_half], p_now);
  v_rest := outbox.complete_apart(p_results[v_half + 1:], p_now);
  v_done.applied := v_done.applied + v_rest.applied;
  v_done.refused := v_done.refused + v_rest.refused;
  v_done.error := coalesce(v_done.error, v_rest.error);
  return v_done;
end
$$;
comment on function outbox.complete_apart(outbox.result[], timestamptz) is
  'Applies results as complete() does; if the database refuses one, all others are applied. An '
  'error that fails_call() is raised, except for a lost lease whose error may_stay(): it is '
  'refused. locks: the caller holds the gates.';

create function outbox.refuse_result(
  p_result outbox.result, p_sqlstate text, p_error text, p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_delivery outbox.delivery;
  v_again_at timestamptz;
begin
  select d.* into v_delivery from outbox.delivery d
  where d.event_id = p_result.event and d.endpoint_id = p_result.endpoint
    and d.attempt = p_result.attempt and d.leased_until is not null;
  if not found then
    return;
  end if;
  v_again_at := outbox.refused_again_at(p_result.event, p_result.endpoint, p_now);
  begin
    perform outbox.note_refusal(p_result.event, p_result.endpoint, 'result', p_sqlstate, p_error,
      v_again_at, p_now);
  exception when query_canceled or assert_failure or others then
    if outbox.fails_call(sqlstate) then
      raise;
    end if;
    -- If its refusals cannot be counted, the delivery is set aside at once.
    v_again_at := 'infinity';
    raise warning 'outbox: the refusal of event % for endpoint % cannot be recorded: % %',
      p_result.event, p_result.endpoint, sqlstate, sqlerrm;
  end;
  begin
    perform outbox.lay_aside(v_delivery, v_again_at, p_now);
  exception when query_canceled or assert_failure or others then
    if outbox.fails_call(sqlstate) then
      raise;
    end if;
    -- The row of the delivery itself is refused. It keeps its lease, and record_lost_leases()
    -- skips it.
    raise warning 'outbox: event % for endpoint % cannot be released: % %', p_result.event,
      p_result.endpoint, sqlstate, sqlerrm;
  end;
end
$$;
comment on function outbox.refuse_result(outbox.result, text, text, timestamptz) is
  'Records that a result could not be stored, and releases its delivery: it waits as after a '
  'failed attempt, and after the third refusal it is set aside. A result without a lease changes '
  'nothing. locks: the caller holds the gate.';

create function outbox.refused_again_at(
  p_event_id uuid, p_endpoint_id uuid, p_now timestamptz
) returns timestamptz
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_most constant integer := 3;
  v_failures integer := 1 + coalesce((
    select r.failures from outbox.refusal r
    where r.endpoint_id = p_endpoint_id and r.event_id = p_event_id), 0);
begin
  return case
    when v_failures < v_most then p_now + outbox.refusal_delay(p_endpoint_id, v_failures)
    else 'infinity'
  end;
end
$$;
comment on function outbox.refused_again_at(uuid, uuid, timestamptz) is
  'When a delivery that is refused now is tried again; infinity after the third refusal in a row.';

create function outbox.refusal_delay(p_endpoint_id uuid, p_failures integer) returns interval
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  return (
    select greatest(
      outbox.delay_after(coalesce(e.retry, outbox.retry_preset(e.kind)), p_failures),
      -- As after a lost lease, because the request was sent.
      (outbox.failure_rule_of(e.kind, null, 'lease_expired', null, null)).min_delay_s
        * interval '1 s',
      interval '1 s')
    from outbox.endpoint e where e.id = p_endpoint_id);
end
$$;
comment on function outbox.refusal_delay(uuid, integer) is
  'How long a delivery waits after it was refused: as long as a retry of its endpoint.';

create function outbox.lay_aside(
  p_delivery outbox.delivery, p_again_at timestamptz, p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_lane outbox.lane;
begin
  -- As a released claim: this inserts no row in attempt, which may be the refused row.
  perform outbox.apply_results(array[
    outbox.given_back(p_delivery.event_id, p_delivery.endpoint_id, p_delivery.attempt)], p_now);
  select l.* into v_lane from outbox.lane l
  where l.id = p_delivery.lane_id order by l.changed_at desc limit 1;
  if v_lane.ordered and p_again_at < 'infinity' then
    perform outbox.rest_lane(v_lane.id, p_again_at - p_now, p_now);
  elsif v_lane.ordered then
    perform outbox.leave_lane(p_delivery, v_lane, p_now);
  else
    update outbox.delivery d set due_at = greatest(p_again_at, v_lane.head_at)
    where d.event_id = p_delivery.event_id and d.endpoint_id = p_delivery.endpoint_id;
  end if;
end
$$;
comment on function outbox.lay_aside(outbox.delivery, timestamptz, timestamptz) is
  'Ends the lease of a delivery without an outcome. The delivery, and its lane if that is ordered, '
  'is due again at p_again_at; infinity sets it aside. locks: the caller holds the gate, and parks '
  'it afterwards.';

create function outbox.leave_lane(
  p_delivery outbox.delivery, p_lane outbox.lane, p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_halts boolean := (
    select e.on_dead_letter = 'halt' from outbox.endpoint e where e.id = p_delivery.endpoint_id);
  v_aside outbox.lane := outbox.replay_lane(p_lane.gate_id, 0);
begin
  -- As after a dead letter, the lane goes on or is halted, depending on on_dead_letter.
  update outbox.delivery d set lane_id = v_aside.id, due_at = 'infinity'
  where d.event_id = p_delivery.event_id and d.endpoint_id = p_delivery.endpoint_id;
  update outbox.lane l set depth = l.depth + 1 where l.id = v_aside.id;
  update outbox.lane l set
    depth = l.depth - 1,
    halted = l.halted or v_halts,
    next_at = case
      when l.depth = 1 or l.halted or v_halts then 'infinity'
      when l.leased > 0 then l.next_at
      else greatest(l.not_before, p_now)
    end
  where l.id = p_lane.id;
  delete from outbox.lane l
  where l.id = p_lane.id and l.depth = 0 and l.leased = 0 and not l.halted
    and l.not_before <= p_now;
end
$$;
comment on function outbox.leave_lane(outbox.delivery, outbox.lane, timestamptz) is
  'Sets a delivery of an ordered lane aside: moves it to the lane of single replays. locks: the '
  'caller holds the gate, and parks it afterwards.';

create function outbox.read_results(p_results jsonb) returns outbox.reported
language plpgsql set search_path = ''
as $$
declare
  v_reported outbox.reported;
  v_one jsonb;
  v_result outbox.result;
begin
  begin
    v_reported.results := array(
      select r from pg_catalog.jsonb_populate_recordset(null::outbox.result, p_results) r);
    return v_reported;
  exception when others then
    if outbox.is_passing(sqlstate) then
      raise;
    end if;
  end;
  for v_one in select j from pg_catalog.jsonb_array_elements(p_results) j loop
    begin
      v_result := pg_catalog.jsonb_populate_record(null::outbox.result, v_one);
      v_reported.results := v_reported.results || v_result;
    exception when others then
      if outbox.is_passing(sqlstate) then
        raise;
      end if;
      v_reported := outbox.unreadable_result(v_reported, v_one, sqlstate, sqlerrm);
    end;
  end loop;
  return v_reported;
end
$$;
comment on function outbox.read_results(jsonb) is
  'The results of a run, with those that cannot be read listed separately.';

create function outbox.unreadable_result(
  p_reported outbox.reported, p_result jsonb, p_sqlstate text, p_error text
) returns outbox.reported
language plpgsql set search_path = ''
as $$
declare
  v_result outbox.result;
begin
  -- The ids of the delivery can nearly always be read.
  v_result.event := (p_result ->> 'event')::uuid;
  v_result.endpoint := (p_result ->> 'endpoint')::uuid;
  v_result.attempt := (p_result ->> 'attempt')::integer;
  p_reported.bad := p_reported.bad || v_result;
  p_reported.sqlstates := p_reported.sqlstates || p_sqlstate;
  p_reported.errors := p_reported.errors || p_error;
  return p_reported;
exception when data_exception then
  -- The delivery is unknown: its lease will expire.
  raise warning 'outbox: a run reports an invalid result: % %', p_sqlstate, p_error;
  return p_reported;
end
$$;
comment on function outbox.unreadable_result(outbox.reported, jsonb, text, text) is
  'Adds a result that cannot be read to p_reported.';
