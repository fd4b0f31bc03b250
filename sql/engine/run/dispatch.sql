-- dispatch() is the only call that a run makes: one round trip, one transaction. It records
-- results, renews leases of ordered lanes, routes new events unless another call does, and claims
-- as many deliveries as the run has free slots for. Calls are numbered: if a response is lost, the
-- run repeats the call, which records nothing and returns the deliveries that are still leased.

create function outbox.has_due(p_now timestamptz) returns boolean
language plpgsql stable
set search_path = ''
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_from timestamptz := outbox.ring_from(p_now);
begin
  return exists (
      select from outbox.gate g
      where g.next_at >= v_from and g.next_at <= p_now and g.next_at < 'infinity'
    )
    -- Of any kind: due_gates() parks those that the run cannot send.
    or exists (
      select from outbox.gate g where g.isolated_at <= p_now and g.isolated_at < 'infinity'
    )
    or outbox.has_unrouted();
end
$$;
comment on function outbox.has_due(timestamptz) is
  'Whether a run would find work: a gate is due, or an event is unrouted.';

create function outbox.full_orgs(p_contract jsonb) returns text[]
language plpgsql immutable set search_path = ''
as $$
begin
  if pg_catalog.jsonb_typeof(p_contract -> 'full') is distinct from 'array' then
    return '{}'::text[];
  end if;
  return array(
    select o from pg_catalog.jsonb_array_elements_text(p_contract -> 'full') o
    where o is not null);
end
$$;
comment on function outbox.full_orgs(jsonb) is
  'The organisations that hold their share of a run, by what it says about itself.';

create function outbox.dispatch(
  p_run uuid,
  p_seq bigint,
  p_results jsonb default '[]',
  p_limit integer default 0,
  p_kind text default 'edge',
  p_ended boolean default false,
  p_known jsonb default '{}',
  p_contract jsonb default null,
  p_held integer default null
) returns json
language plpgsql security definer
set search_path = ''
set statement_timeout = '5s'
-- These settings also apply to the functions that it calls. Each plan is made once. A batch looks
-- up each row once, so there is nothing to memoize.
set plan_cache_mode = force_generic_plan
set enable_memoize = off
set jit = off
as $$
declare
  v_now timestamptz := outbox.clock();
  v_contract integer := outbox.agreed_contract(p_contract);
  v_kinds text[] := outbox.set_run_kinds(p_contract -> 'kinds');
  v_foreign text := case
    when v_contract is not null then outbox.check_binding(p_run, p_kind, p_contract, v_now)
  end;
  v_problem text := case
    when v_foreign is not null then outbox.stop_problem(v_foreign, p_contract)
  end;
  v_stop text := case
    when v_foreign is not null then v_foreign
    when v_contract is not null
    then outbox.touch_run(p_run, p_kind, v_now, p_ended, v_kinds, p_contract)
  end;
  v_limit integer := case
    when v_stop is null then least(coalesce(p_limit, 0), outbox.setting_int('worker.batch_size'))
    else 0
  end;
  v_given integer := pg_catalog.jsonb_array_length(coalesce(p_results, '[]'));
  v_reported outbox.reported;
  v_results outbox.result[];
  v_renewals outbox.result[];
  v_batch outbox.routing;
  v_touched uuid[];
  v_done outbox.completed := row(0, 0, null);
  v_route jsonb := '{"routed": 0, "error": null}'::jsonb;
  v_handed outbox.handed;
  v_claim_error text;
  v_failing uuid[];
  v_retries json;
  v_renewed json;
begin
  -- A constraint that is checked at the commit would fail the whole call, so check after each
  -- statement.
  set constraints all immediate;
  perform outbox.set_refusing(coalesce(p_contract -> 'refuse' = 'true', false));
  if v_contract is null then
    return outbox.refuse_contract(p_run, p_contract, p_kind,
      outbox.record_refused(p_results, v_now), v_now);
  end if;
  if v_foreign is not null and v_given = 0 then
    return outbox.build_response(0, 0, 0, false, v_stop, null, null, null, null, v_problem);
  end if;
  if v_limit > 0 then
    perform outbox.fall_asleep(p_contract);
  end if;
  -- An idle call writes no row of run_batch. A repeated one does: the call before it may still be
  -- on its way, and would claim deliveries for a run that no longer waits for its response.
  if v_given = 0 and p_contract -> 'repeat' is distinct from 'true' and (
    select (v_stop is not null or not outbox.has_due(v_now)) and not exists (
      select from outbox.run_batch b where b.run_id = p_run and b.seq = p_seq))
  then
    perform outbox.forget_batches(p_run, p_seq);
    return outbox.build_response(0, 0, 0, false, v_stop, null, null, null, null);
  end if;
  insert into outbox.run_batch (run_id, seq, at)
  values (p_run, p_seq, v_now)
  on conflict do nothing;
  if not found then
    v_handed := outbox.hand_out(outbox.claimed_before(p_run, p_seq, v_now), p_known, v_now);
    return outbox.build_response(0, 0, 0, true, v_stop, v_handed.parcel, null, null, null,
      v_problem);
  end if;
  perform outbox.forget_batches(p_run, p_seq);
  if v_given > 0 then
    v_reported := outbox.read_results(p_results);
    select pg_catalog.array_agg(r) filter (where r.outcome is distinct from 'renew'),
      pg_catalog.array_agg(r) filter (where r.outcome = 'renew')
    into v_results, v_renewals
    from pg_catalog.unnest(v_reported.results) r;
    v_given := coalesce(pg_catalog.cardinality(v_results), 0)
      + coalesce(pg_catalog.cardinality(v_reported.bad), 0);
  end if;
  if v_stop is null then
    begin
      v_batch := outbox.read_unrouted();
      -- Not only at the end: the publishers of these milliseconds need not notify.
      if v_batch.events is not null then
        perform outbox.stay_awake();
      end if;
    exception when query_canceled or assert_failure or others then
      v_route := pg_catalog.jsonb_build_object(
        'routed', 0, 'error', sqlerrm, 'out_of_time', sqlstate = '57014');
      -- A cancelled read timed out; no other temporary error is caused by the events.
      if sqlstate = '57014' or not outbox.is_passing(sqlstate) then
        perform outbox.shrink_routing(null, sqlerrm, v_now);
      end if;
    end;
  end if;
  v_touched := array(
    select r.endpoint from pg_catalog.unnest(v_results || v_renewals || v_reported.bad) r
    where r.endpoint is not null
    union
    select p.endpoint_id from pg_catalog.unnest(v_batch.pairs) p);
  if pg_catalog.cardinality(v_touched) > 0 then
    perform outbox.lock_gates(v_touched);
  end if;
  if v_given > 0 then
    v_done := outbox.record_results(v_results, v_reported, v_now);
    perform outbox.count_up('stale_results', '{}', v_given - v_done.applied - v_done.refused);
    v_failing := array(
      select distinct r.endpoint from pg_catalog.unnest(v_results) r where r.outcome = 'failed');
    if pg_catalog.cardinality(v_failing) > 0 then
      v_retries := outbox.retries_at(v_failing, v_now);
    end if;
  end if;
  if v_renewals is not null then
    v_renewed := outbox.renew_apart(v_renewals, v_now);
  end if;
  if v_batch.events is not null then
    v_route := outbox.route(v_batch, v_now);
  end if;
  -- An error of claiming does not fail the call, because its results are recorded. So the run does
  -- not repeat the call, and cannot ask the database to refuse a row: refusing is on here.
  perform outbox.set_refusing(true);
  begin
    -- The statement timeout fires only once, so claim nothing after it.
    v_handed := outbox.hand_out(
      outbox.claim_for(p_run, p_held,
        case when (v_route -> 'out_of_time')::boolean then 0 else v_limit end, v_touched, v_now,
        outbox.full_orgs(p_contract)),
      p_known, v_now);
    perform outbox.note_batch(p_run, p_seq, v_handed.claimed);
  exception when query_canceled or assert_failure or others then
    v_claim_error := sqlerrm;
    v_handed := null;
    perform outbox.park_apart(v_touched, v_now);
  end;
  -- After an error of routing or claiming, work waits that the next poll tries again: a
  -- notification would only repeat the error at once.
  if (v_handed.claimed).events is not null or v_claim_error is not null
    or v_route ->> 'error' is not null
  then
    perform outbox.stay_awake();
  end if;
  return outbox.build_response(v_done.applied, v_given - v_done.applied - v_done.refused,
    (v_route ->> 'routed')::integer, false, v_stop, v_handed.parcel, v_retries, v_renewed,
    pg_catalog.json_strip_nulls(pg_catalog.json_build_object('results', v_done.error,
      'route', v_route ->> 'error', 'claim', v_claim_error)), v_problem,
    outbox.is_cut(v_handed.claimed, v_limit, (v_route ->> 'routed')::integer, v_now));
end
$$;
comment on function outbox.dispatch(
  uuid, bigint, jsonb, integer, text, boolean, jsonb, jsonb, integer) is
  'The only call that a run makes. p_results: [{"event", "endpoint", "attempt", "outcome": '
  '"delivered" | "failed" | "released" | "renew" (a new lease for its ordered lane), "status", '
  '"error_class", "error", "retry_after", "duration_ms", "response", "lossy", "code", '
  '"provider_id", "provider", "cut", "resent", "endpoint_version"}]; p_limit: free slots; '
  'p_ended: the run''s last call; p_known: {endpoint id: revision} of the endpoints that the run '
  'has from an earlier response; those with the same revision are left out of this one; '
  'p_contract: what the run says '
  'about itself: the contracts that it supports and its project, {"oldest", "newest", "project": '
  'name or URL, "kick": the server_id() of the kick that started it, "refuse": true if temporary '
  'errors have failed the call several times (fails_call()), "kinds": the kinds of endpoints that '
  'it can send, absent for all, "full": organisations of which nothing is claimed, because they '
  'hold their share of the run, "listens": true if notify_workers() wakes it, "repeat": true if the'
  ' same call was made before and its response was lost, "worker": worker_facts(), of a worker}, '
  'null for contract 1; for a run that '
  'supports none of contracts() the call only records results and returns refuse_contract(); for a '
  'run of another project it only records results, and "stop" is the reason (check_binding()); '
  'p_held: how many deliveries the run holds besides those in p_results, null counts as none: only '
  'a run that holds none gets an isolated delivery. Returns {"applied", "stale", "routed", '
  '"repeat", "stop", "more": is_cut(), "settings", "error" ({"results", "route", "claim"}, or '
  'null), "retries", "renewed", "deliveries", "events", "endpoints", "contracts", "problem": '
  'stop_problem() or tick_problem(), "now_ms": the time of the database}. If the database refuses '
  'a result, a delivery or an endpoint, all others are processed (see refusal). An error that '
  'fails_call() '
  'fails the call, and the run repeats it. If a response was lost, the run repeats the call with '
  'the same p_run and p_seq; that response has only the deliveries, events and endpoints of the '
  'lost response, without retries and renewals. locks: router with SKIP LOCKED, then the gates of '
  'results, renewals and new deliveries by id, then due gates with SKIP LOCKED.';

create function outbox.forget_batches(p_run uuid, p_seq bigint) returns void
language plpgsql set search_path = ''
as $$
begin
  -- A run has no call in flight that is more than 7 numbers older (functions/deliver/due.ts), so
  -- it does not request older batches again. The range has a lower bound, because otherwise the
  -- query would scan all dead rows that a long open transaction keeps.
  -- SKIP LOCKED: the call before this one may still be deleting some of them, and this call would
  -- wait until its end.
  delete from outbox.run_batch b
  where b.ctid = any (array(
    select o.ctid from outbox.run_batch o
    where o.run_id = p_run and o.seq between p_seq - 16 and p_seq - 9
    for update skip locked));
exception when query_canceled or assert_failure or others then
  if outbox.fails_call(sqlstate) then
    raise;
  end if;
  raise warning 'outbox: old batches of run % cannot be deleted: % %', p_run, sqlstate, sqlerrm;
end
$$;
comment on function outbox.forget_batches(uuid, bigint) is
  'Deletes the old batches of a run, which it will not request again. locks: rows of run_batch '
  'with SKIP LOCKED.';

create function outbox.note_batch(
  p_run uuid, p_seq bigint, p_claimed outbox.claimed
) returns void
language plpgsql set search_path = ''
as $$
begin
  if p_claimed.events is not null then
    update outbox.run_batch b set
      events = p_claimed.events, endpoints = p_claimed.endpoints, attempts = p_claimed.attempts
    where b.run_id = p_run and b.seq = p_seq;
  end if;
exception when query_canceled or assert_failure or others then
  if outbox.fails_call(sqlstate) then
    raise;
  end if;
  -- If this response is lost, its leases expire.
  raise warning 'outbox: batch % of run % cannot be stored: % %', p_seq, p_run, sqlstate, sqlerrm;
end
$$;
comment on function outbox.note_batch(uuid, bigint, outbox.claimed) is
  'Stores what a call has claimed, for a repeat of the same call.';

create function outbox.record_results(
  p_results outbox.result[], p_reported outbox.reported, p_now timestamptz
) returns outbox.completed
language plpgsql set search_path = ''
as $$
declare
  v_done outbox.completed := row(0, 0, null);
begin
  if pg_catalog.cardinality(p_results) > 0 then
    v_done := outbox.complete_apart(p_results, p_now);
  end if;
  for v_place in 1 .. coalesce(pg_catalog.cardinality(p_reported.bad), 0) loop
    perform outbox.refuse_result(p_reported.bad[v_place], p_reported.sqlstates[v_place],
      p_reported.errors[v_place], p_now);
    v_done.refused := v_done.refused + 1;
    v_done.error := coalesce(v_done.error,
      p_reported.sqlstates[v_place] || ' ' || p_reported.errors[v_place]);
  end loop;
  return v_done;
end
$$;
comment on function outbox.record_results(outbox.result[], outbox.reported, timestamptz) is
  'Applies the results of a run, and records a refusal for each unreadable result. locks: the '
  'caller holds the gates.';

create function outbox.record_refused(p_results jsonb, p_now timestamptz) returns integer
language plpgsql set search_path = ''
as $$
declare
  v_reported outbox.reported;
  v_results outbox.result[];
begin
  if pg_catalog.jsonb_array_length(coalesce(p_results, '[]')) = 0 then
    return 0;
  end if;
  v_reported := outbox.read_results(p_results);
  v_results := array(
    select r from pg_catalog.unnest(v_reported.results) r
    where r.outcome in ('delivered', 'failed', 'released'));
  perform outbox.lock_gates(array(
    select distinct r.endpoint from pg_catalog.unnest(v_results || v_reported.bad) r
    where r.endpoint is not null));
  return (outbox.record_results(v_results, v_reported, p_now)).applied;
end
$$;
comment on function outbox.record_refused(jsonb, timestamptz) is
  'Records the results of a run whose contract this database does not support: these requests were '
  'sent, and without a result each would be sent again. Every contract has the members "event", '
  '"endpoint", "attempt" and "outcome" of a result. Returns how many were applied. locks: the '
  'gates of the results by id.';
