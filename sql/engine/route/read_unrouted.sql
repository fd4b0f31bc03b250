-- Reading the next batch. The steps of read_unrouted():
--
--   1 has_unrouted() checks for work before router is locked, because that lock lasts until the
--     commit.
--   2 lock_router(), then note_timeouts(): smaller batches after a call that timed out.
--   3 read_new() reads the late and the new events, and read_turn() those of waiting_part, unless
--     the call passes over them (passes_turn()). in_turn() orders them (see turn).
--   4 add_pairs() finds the endpoints of each event: at most 2,000 pairs, and one more to see
--     whether there are more.
--   5 evaluate_filters() evaluates the filters, as many as fit into the work limit of one call.
--   6 If nothing of the first organisation of waiting_part came before the limit, 4 and 5 again,
--     with its first event before all others.
--   7 cut_batch() removes the pairs above the limit, and their events wait in waiting_part. While
--     organisations wait for each other, each has 100 pairs at most; in a turn that new events have
--     passed over, it may have all.
--   8 Pairs that their filter refused are removed.

create function outbox.read_new(p_router outbox.router) returns outbox.routing
language plpgsql
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_snapshot pg_snapshot;
  v_batch outbox.routing;
  v_parts outbox.part[];
begin
  -- One statement reads the late events, the new events and its own snapshot, so that all three
  -- agree.
  select pg_catalog.pg_current_snapshot(), l.events || n.events, l.rows_at || n.rows_at,
    l.behind || n.behind, l.orgs || n.orgs, l.parts || n.parts,
    case when l.is_part then null else n.upto end
  into v_snapshot, v_batch.events, v_batch.rows_at, v_batch.behind, v_batch.orgs, v_parts,
    v_batch.watermark
  from outbox.read_late(p_router) l
  cross join outbox.read_above(p_router) n;
  v_batch.seen_below := pg_catalog.pg_snapshot_xmax(v_snapshot);
  -- This transaction counts as open, because it may publish after this read.
  v_batch.open_xids := array(
    select x from pg_catalog.pg_snapshot_xip(v_snapshot) x
    union
    select pg_catalog.pg_current_xact_id_if_assigned());
  if pg_catalog.cardinality(v_parts) > 0 then
    perform outbox.wait_for_turns(v_parts);
  end if;
  if exists (select from outbox.waiting_part) then
    v_batch := outbox.without_waiting(v_batch);
  end if;
  return v_batch;
end
$$;
comment on function outbox.read_new(outbox.router) is
  'A batch of the events that routing has not read, fewer than two batches, without those that '
  'wait for a turn. locks: the caller holds router.';

create function outbox.read_unrouted() returns outbox.routing
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_router outbox.router;
  v_batch outbox.routing;
  v_read outbox.routing;
  v_is_again boolean := false;
  v_is_shared boolean;
  v_is_whole boolean;
  v_has_new boolean;
  v_is_passing boolean := false;
  v_most integer := 2000;
  v_end integer;
  -- Only while organisations wait for each other, and nobody has passed over them.
  v_most_of_org integer := 100;
  -- In steps of at most 0.5 us. The filters of one pair may take 100,000 (see evaluate_filters).
  v_most_work bigint := 262144;
begin
  if not outbox.has_unrouted() then
    return null;
  end if;
  v_router := outbox.lock_router();
  if v_router.turn is null then
    return null;
  end if;
  v_router.batch := outbox.note_timeouts(v_router, outbox.clock());
  -- After a restore from a dump, transaction ids start again, so read everything.
  if v_router.seen_below > pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot()) then
    v_router.seen_below := '0';
    v_router.watermark := '00000000-0000-0000-0000-000000000000';
  end if;
  v_is_shared := outbox.is_shared(v_router, outbox.clock());
  v_is_whole := v_router.batch >= outbox.setting_int('route.batch_size');
  if v_is_shared then
    -- Others wait for each call, so it does less.
    v_router.batch := greatest(1, v_router.batch / 4);
    v_most := v_most / 8;
    v_most_work := v_most_work / 16;
  end if;
  if outbox.is_for_new(v_router) then
    v_batch := outbox.read_new(v_router);
  end if;
  v_has_new := coalesce(pg_catalog.cardinality(v_batch.events), 0) > 0;
  if not v_has_new or exists (select from outbox.waiting_part) then
    -- Not after a timeout: next_unrouted() must know which event the next call begins with. It does
    -- not matter how long ago organisations last waited for each other: a turn that fails may have
    -- taken longer than that.
    v_is_passing := v_has_new and v_is_whole and outbox.passes_turn();
    if v_is_passing then
      v_batch.turn_orgs := '{}'::text[];
      v_batch.is_shared := true;
    else
      if not outbox.passes_turn() then
        -- New events have passed over it, so that it has five times as much as they.
        v_most_of_org := v_most;
      end if;
      perform outbox.begin_turn();
      v_batch := outbox.read_turn(v_router, v_batch);
    end if;
  end if;
  if v_batch.orgs[1] <> any (v_batch.orgs) then
    v_batch := outbox.in_turn(v_batch);
  end if;
  if pg_catalog.cardinality(v_batch.events) = 0 then
    perform outbox.remove_done_parts(v_batch);
    return null;
  end if;
  v_read := v_batch;
  loop
    v_end := v_most;
    v_batch := outbox.add_pairs(v_batch, v_most + 1);
    if v_is_passing and not v_is_again then
      perform outbox.count_passed(v_batch);
    end if;
    if v_batch.questions is not null then
      v_batch := outbox.evaluate_filters(
        v_batch, v_most_work, pg_catalog.cardinality(v_batch.pairs) <= v_most);
      if v_batch.questions is not null then
        v_end := least(v_end, pg_catalog.cardinality(v_batch.pairs) - 1);
      end if;
    end if;
    if v_is_shared then
      v_end := least(v_end, outbox.org_pairs_end(v_batch, v_most_of_org) - 1);
    end if;
    exit when v_is_again or outbox.serves_first(v_batch, v_end);
    v_batch := outbox.first_ahead(v_read);
    v_is_again := true;
  end loop;
  if pg_catalog.cardinality(v_batch.pairs) > v_end then
    v_batch := outbox.cut_batch(v_batch, v_end);
  end if;
  if exists (select from pg_catalog.unnest(v_batch.pairs) p where p.problem = '') then
    v_batch.pairs := array(
      select p from pg_catalog.unnest(v_batch.pairs) p where p.problem is distinct from '');
  end if;
  return v_batch;
end
$$;
comment on function outbox.read_unrouted() is
  'The next batch to route and the state of router after it; null if there is nothing to route or '
  'another call is routing. locks: router with SKIP LOCKED, until the transaction ends.';

create function outbox.cut_batch(
  p_batch outbox.routing, p_most integer
) returns outbox.routing
language plpgsql
set search_path = ''
as $$
declare
  v_cut uuid := p_batch.pairs[p_most + 1].event_id;
  v_place integer := pg_catalog.array_position(p_batch.events, v_cut);
  v_served text[];
  v_left integer;
begin
  if p_batch.pairs[p_most].event_id = v_cut then
    p_batch.cut_event := v_cut;
    p_batch.cut_endpoint := p_batch.pairs[p_most].endpoint_id;
  end if;
  perform outbox.wait_for_turns(array(
    select row(e.org_id, outbox.period_of(e.event_id))::outbox.part
    from unnest(p_batch.events[v_place:], p_batch.orgs[v_place:]) as e (event_id, org_id)));
  -- An organisation that got nothing in this call has not had its turn: the next call begins with
  -- the first one of them.
  v_served := p_batch.orgs[
    1:case when p_batch.cut_event is null then v_place - 1 else v_place end];
  v_left := (
    select pg_catalog.min(o.place)
    from pg_catalog.unnest(p_batch.turn_orgs) with ordinality as o (org_id, place)
    where o.org_id = any (p_batch.orgs) and o.org_id <> all (v_served));
  p_batch.turn_of := case
    when p_batch.turn_orgs is null then v_served[pg_catalog.cardinality(v_served)]
    when v_left is null then p_batch.turn_of
    else p_batch.turn_orgs[v_left - 1]
  end;
  p_batch.pairs := p_batch.pairs[1:p_most];
  p_batch.events := p_batch.events[1:v_place - 1];
  p_batch.rows_at := p_batch.rows_at[1:v_place - 1];
  p_batch.behind := p_batch.behind[1:v_place - 1];
  p_batch.orgs := p_batch.orgs[1:v_place - 1];
  return p_batch;
end
$$;
comment on function outbox.cut_batch(outbox.routing, integer) is
  'A batch cut to p_most pairs. The events from the cut on wait for the turns of their '
  'organisations; the one at the cut goes on after the last endpoint that was processed. locks: '
  'the caller holds router.';
