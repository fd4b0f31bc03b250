-- Plays a script, step by step, and returns what was done and seen: one call a sequence, since round trips
-- would cost more than the steps. A step names endpoints, claims and deliveries by numbers, which are taken
-- modulo what is there, so that a script stays one when fast-check shortens it.

-- The nth of the claims that a run may report: of an ordered lane only the first, as a run sends it.
create function property.pick_claim(p_run integer, p_pick integer, p_again boolean) returns property.claim language plpgsql as $$
declare
  v_claims property.claim[];
begin
  select array_agg(c order by c.n) into v_claims from property.claim c
  where case when p_again then c.reported and not c.abandoned else
    not c.reported and c.run = p_run and not exists (
      select from property.claim b where c.ordered and b.call = c.call and b.lane = c.lane and b.endpoint_id = c.endpoint_id and not b.reported and b.n < c.n) end;
  return v_claims[1 + p_pick % cardinality(v_claims)];
end
$$;

create function property.result(p_claim property.claim, p_outcome jsonb) returns jsonb language sql immutable as $$
  select p_outcome || jsonb_build_object('event', p_claim.event_id, 'endpoint', p_claim.endpoint_id, 'attempt', p_claim.attempt)
$$;

create function property.results(p_step jsonb) returns jsonb language plpgsql as $$
declare
  v_run integer := p_step -> 'run';
  v_results jsonb := '[]';
  v_given jsonb;
  v_claim property.claim;
begin
  for v_given in select g from jsonb_array_elements(p_step -> 'results') g loop
    v_claim := property.pick_claim(v_run, (v_given ->> 'pick')::integer, (v_given ->> 'again')::boolean);
    continue when v_claim.n is null;
    -- Asked for any claim, ordered or not: what is not to be renewed must be left alone.
    if v_given #>> '{outcome,outcome}' = 'renew' then
      v_results := v_results || property.result(v_claim, v_given -> 'outcome');
      continue;
    end if;
    v_results := v_results || property.result(v_claim, v_given -> 'outcome');
    continue when (v_given ->> 'again')::boolean;
    update property.claim c set reported = true where c.n = v_claim.n;
    -- A run gives the rest of an ordered lane back after a failure, unless it dies there.
    if v_claim.ordered and v_given #>> '{outcome,outcome}' <> 'delivered' then
      with rest as (
        update property.claim c set reported = true, abandoned = (v_given ->> 'dies')::boolean
        where c.call = v_claim.call and c.lane = v_claim.lane and c.endpoint_id = v_claim.endpoint_id and not c.reported returning c.*
      )
      select v_results || coalesce(jsonb_agg(property.result(r::property.claim, '{"outcome": "released"}') order by r.n) filter (where not (v_given ->> 'dies')::boolean), '[]')
      into v_results from rest r;
    end if;
  end loop;
  return v_results;
end
$$;

create function property.call(p_step jsonb) returns jsonb language plpgsql as $$
declare
  v_run integer := p_step -> 'run';
  v_call property.call;
  v_held integer;
  v_answer jsonb;
begin
  if p_step ->> 'op' = 'repeat' then
    select c.* into v_call from property.call c where c.run = v_run order by c.seq desc limit 1 offset (p_step ->> 'back')::integer;
    if not found then
      return '{}';
    end if;
  else
    v_call := row((select count(*) from property.call), v_run, (select count(*) from property.call c where c.run = v_run), property.results(p_step), (p_step ->> 'room')::integer);
    insert into property.call select v_call.*;
  end if;
  -- What the run has not reported, as long as its lease lasts.
  v_held := (
    select count(*) from property.claim c join outbox.delivery d on d.event_id = c.event_id and d.endpoint_id = c.endpoint_id and d.attempt = c.attempt
    where c.run = v_run and not c.reported and d.leased_until is not null);
  v_answer := outbox.dispatch(property.run_id(v_run), v_call.seq, v_call.results, v_call.room, 'edge', coalesce((p_step ->> 'ended')::boolean, false),
    p_held => v_held);
  if p_step ->> 'op' <> 'repeat' then
    insert into property.claim (call, run, event_id, endpoint_id, attempt, lane, ordered)
    select v_call.n, v_run, (d ->> 'event')::uuid, (d ->> 'endpoint')::uuid, (d ->> 'attempt')::integer, d ->> 'lane', (d ->> 'ordered')::boolean
    from jsonb_array_elements(v_answer -> 'deliveries') with ordinality x (d, place) order by x.place;
  end if;
  return jsonb_build_object('results', v_call.results, 'held', v_held, 'answer', v_answer - '{events,endpoints,settings}'::text[]);
end
$$;

-- The pair that a step is about: the nth of those open, of those finished, or of all.
create function property.pick_pair(p_pick integer, p_of text) returns property.pair language plpgsql as $$
declare
  v_pairs property.pair[];
begin
  select array_agg(p order by p.event_id, p.endpoint_id) into v_pairs from property.pair p
  where case p_of
    when 'open' then exists (select from outbox.delivery d where d.event_id = p.event_id and d.endpoint_id = p.endpoint_id)
    when 'finished' then not exists (select from outbox.delivery d where d.event_id = p.event_id and d.endpoint_id = p.endpoint_id)
    when 'dead' then exists (select from outbox.dead_letter d where d.event_id = p.event_id and d.endpoint_id = p.endpoint_id)
    else true end;
  return v_pairs[1 + p_pick % cardinality(v_pairs)];
end
$$;

create function property.act(p_step jsonb) returns jsonb language plpgsql as $$
declare
  v_op text := p_step ->> 'op';
  v_endpoint uuid := property.endpoint_id((p_step ->> 'endpoint')::integer);
  v_pair property.pair := property.pick_pair((p_step ->> 'pick')::integer, p_step ->> 'of');
  v_answer jsonb;
begin
  if p_step ? 'pick' and v_pair.event_id is null then
    return '{}';
  end if;
  v_answer := case v_op
    when 'dispatch' then property.call(p_step)
    when 'repeat' then property.call(p_step)
    when 'publish' then jsonb_build_object('event', outbox.publish(p_step ->> 'type', '{}', p_partition_key => p_step ->> 'key',
      p_idempotency_key => p_step ->> 'idem', p_endpoint_id => v_endpoint,
      p_deliver_at => outbox.clock() + (p_step ->> 'delay')::integer * interval '1 s'))
    when 'pause' then outbox.pause_endpoint(v_endpoint)
    when 'resume' then outbox.resume_endpoint(v_endpoint)
    when 'disable' then outbox.disable_endpoint(v_endpoint)
    when 'delete' then outbox.delete_endpoint(v_endpoint)
    when 'resume_lane' then outbox.resume_lane(v_endpoint, p_step ->> 'key')
    when 'replay' then outbox.replay(v_pair.event_id, v_pair.endpoint_id)
    when 'retry_now' then outbox.retry_now(v_pair.event_id, v_pair.endpoint_id)
    when 'cancel' then outbox.cancel_delivery(v_pair.event_id, v_pair.endpoint_id)
    when 'discard' then outbox.discard_dead_letter(v_pair.event_id, v_pair.endpoint_id, 'reviewed')
    when 'replay_many' then outbox.replay_many(p_endpoint_id => v_endpoint, p_rate_per_second => (p_step ->> 'rate')::integer)
    when 'tick' then outbox.tick()
    when 'cleanup' then outbox.cleanup()
    when 'worker' then outbox.set_setting('worker.enabled', p_step -> 'on')
    when 'batch' then outbox.set_setting('route.batch_size', p_step -> 'size')
    else '{}' end;
  if v_op = 'discard' then
    update property.pair p set discarded = true where p.event_id = v_pair.event_id and p.endpoint_id = v_pair.endpoint_id;
  end if;
  return v_answer || case when v_pair.event_id is null then '{}' else jsonb_build_object('pair', to_jsonb(v_pair)) end;
exception when sqlstate 'OH001' or sqlstate 'OH002' or sqlstate 'OH003' or sqlstate 'OH004' then
  return jsonb_build_object('refused', sqlstate) || case when v_pair.event_id is null then '{}' else jsonb_build_object('pair', to_jsonb(v_pair)) end;
end
$$;

create function property.step(p_step jsonb) returns jsonb language plpgsql as $$
begin
  -- A microsecond a step, as a clock that goes on would show.
  update outbox.test_clock set at = at + interval '1 microsecond' * (1 + coalesce((p_step ->> 'by')::bigint, 0));
  if p_step ->> 'op' = 'next_due' then
    update outbox.test_clock c set at = greatest(c.at + interval '100 ms', least(
      (select min(least(g.next_at, g.isolated_at)) from outbox.gate g where least(g.next_at, g.isolated_at) < 'infinity'), (select min(d.leased_until) from outbox.delivery d where d.leased_until > c.at)));
  end if;
  update property.latest l set at = greatest(l.at, outbox.clock());
  return jsonb_build_object('step', p_step, 'did', property.act(p_step)) || property.observe();
end
$$;

-- The clock runs on, everybody answers 200 and nobody holds anything back: the steps of one round.
create function property.recovery_round(p_first boolean) returns setof jsonb language plpgsql as $$
begin
  if p_first then
    return query values ('{"op": "worker", "on": true}'::jsonb);
  end if;
  return query
  select jsonb_build_object('op', 'resume', 'endpoint', right(e.id::text, 1)::integer) from outbox.endpoint e where e.status in ('paused', 'disabled')
  union all
  select distinct jsonb_build_object('op', 'resume_lane', 'endpoint', right(e.id::text, 1)::integer, 'key', v.partition_key)
  from outbox.lane l join outbox.gate g on g.id = l.gate_id join outbox.endpoint e on e.id = g.endpoint_id
  join outbox.delivery d on d.lane_id = l.id join outbox.event v on v.id = d.event_id
  where l.halted and e.status <> 'deleted'
  union all values ('{"op": "tick"}'::jsonb);
  return next jsonb_build_object('op', 'dispatch', 'run', 9, 'room', 100, 'results', (
    select coalesce(jsonb_agg('{"pick": 0, "again": false, "dies": false, "outcome": {"outcome": "delivered", "status": 200}}'::jsonb), '[]')
    from property.claim c where c.run = 9 and not c.reported));
  return query values ('{"op": "next_due"}'::jsonb);
end
$$;

create function property.is_settled() returns boolean language sql as $$
  select not exists (select from outbox.delivery) and not exists (select from outbox.unrouted)
    and not exists (select from outbox.replay_job j where j.status = 'running')
$$;

create function property.play(p_script jsonb, p_rounds integer) returns jsonb language plpgsql as $$
declare
  v_trace jsonb[] := '{}';
  v_step jsonb;
  v_rounds integer := 0;
begin
  begin
    perform property.begin_world(p_script -> 'endpoints');
    for v_step in select s from jsonb_array_elements(p_script -> 'steps') s loop
      v_trace := v_trace || property.step(v_step);
    end loop;
    while v_rounds < p_rounds and not property.is_settled() loop
      for v_step in select r from property.recovery_round(v_rounds = 0) r loop
        v_trace := v_trace || property.step(v_step);
      end loop;
      v_rounds := v_rounds + 1;
    end loop;
    v_trace := v_trace || jsonb_build_object('settled', property.is_settled(), 'rounds', v_rounds);
    raise sqlstate 'PT000';
  exception when sqlstate 'PT000' then
    null;
  end;
  return to_jsonb(v_trace);
end
$$;
