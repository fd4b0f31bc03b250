-- The tick, which a job of pg_cron calls once a second (see time/cron). It does the periodic work
-- that no run does (upkeep()), and kicks a run if work is due. The kick itself is in
-- engine/run/kick.

insert into outbox.tick_step (name, calls, most) values ('traffic', 'outbox.note_traffic', 1);

create function outbox.wake(
  p_gates bigint[], p_next_at timestamptz[], p_now timestamptz
) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
begin
  update outbox.gate g set
    next_at = w.next_at, changed_at = pg_catalog.date_trunc('second', p_now)
  from unnest(p_gates, p_next_at) as w (id, next_at)
  where g.id = w.id;
exception when query_canceled or assert_failure or others then
  if outbox.fails_upkeep(sqlstate) or outbox.is_timeout(sqlstate) then
    raise;
  elsif pg_catalog.cardinality(p_gates) < 2 then
    perform outbox.refuse_upkeep('outbox.wake', 'gate ' || p_gates[1], sqlstate, sqlerrm,
      '5 minutes');
  else
    for v_place in 1 .. pg_catalog.cardinality(p_gates) loop
      perform outbox.wake(p_gates[v_place:v_place], p_next_at[v_place:v_place], p_now);
    end loop;
  end if;
end
$$;
comment on function outbox.wake(bigint[], timestamptz[], timestamptz) is
  'Makes gates due at these times; if the database refuses to change one, all others are changed. '
  'locks: the caller holds the gates.';

create function outbox.wake_changed(p_now timestamptz) returns void
language plpgsql
set search_path = ''
-- Rows are looked up one by one, whatever statistics say: see foundation/setup. Planning would cost
-- more than all else of an idle tick.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
-- SKIP LOCKED may wait (see engine/queue/gate).
set lock_timeout = '20ms'
as $$
declare
  v_gates bigint[];
  v_next_at timestamptz[];
begin
  -- Each change is processed for 6 s, because it may commit late, and its gate may be locked now.
  select pg_catalog.array_agg(w.id), pg_catalog.array_agg(w.next_at) into v_gates, v_next_at
  from (
    select g.id, t.next_at
    from outbox.endpoint e
    join outbox.gate g on g.endpoint_id = e.id
    cross join lateral (
      select greatest(p_now, outbox.next_token_at(g.tokens, g.tokens_at, e.rate_per_second))
        as next_at
    ) t
    where e.updated_at > p_now - interval '6 s' and e.status = 'enabled' and g.depth > 0
      and g.next_at > t.next_at and g.next_at < 'infinity'
      and (g.breaker = 'closed' or not e.breaker_enabled) and g.not_before <= p_now
      and outbox.first_lane_at(g.id, least(g.lanes_from, p_now)) <= p_now
    -- Not only "no key update": wake() changes a part of the key, and would wait for a key share.
    for update of g skip locked
  ) w;
  if v_gates is not null then
    perform outbox.wake(v_gates, v_next_at, p_now);
  end if;
exception when lock_not_available then
  -- The gate is locked, so its change is processed by the next tick.
  return;
end
$$;
comment on function outbox.wake_changed(timestamptz) is
  'Makes the gates of changed endpoints due, so that a resume or a new limit takes effect within '
  'one tick. locks: gates with SKIP LOCKED.';

create function outbox.comes_round(p_every integer, p_now timestamptz) returns boolean
language plpgsql stable set search_path = ''
as $$
declare
  v_now bigint := pg_catalog.floor(extract(epoch from p_now));
begin
  return v_now % p_every = 0
    or v_now / p_every is distinct from
      pg_catalog.pg_sequence_last_value('outbox.last_tick_second') / p_every;
end
$$;
comment on function outbox.comes_round(integer, timestamptz) is
  'Whether the work that is due every p_every seconds is due in this tick: its second has come '
  'since the last tick. A tick may skip that second, with some jobs in each minute.';

create function outbox.wake_missed(p_now timestamptz) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
-- SKIP LOCKED may wait (see engine/queue/gate).
set lock_timeout = '20ms'
as $$
declare
  v_from timestamptz := outbox.ring_from(p_now);
  -- Read the whole ring only once a minute, because that may read all dead index entries before
  -- the start of the ring.
  v_since timestamptz := case
    when outbox.comes_round(60, p_now) then '-infinity'
    else v_from - interval '15 s'
  end;
  v_gates bigint[];
begin
  select pg_catalog.array_agg(o.id) into v_gates
  from (
    select o.id from outbox.gate o
    where o.next_at >= v_since and o.next_at < v_from and o.next_at < 'infinity'
    for update skip locked
  ) o;
  if v_gates is not null then
    perform outbox.wake(v_gates,
      pg_catalog.array_fill(p_now, array[pg_catalog.cardinality(v_gates)]), p_now);
  end if;
exception when lock_not_available then
  -- A later tick reads the same gates again.
  return;
end
$$;
comment on function outbox.wake_missed(timestamptz) is
  'Makes gates due that are before the start of the ring, because their change took long to '
  'commit or the clock was set back. locks: gates with SKIP LOCKED.';

create function outbox.wake_refused(p_now timestamptz) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_endpoints uuid[];
begin
  if not exists (select from outbox.endpoint_refusal) then
    return;
  end if;
  v_endpoints := outbox.try_lock_gates(array(
    select r.endpoint_id
    from outbox.endpoint_refusal r
    join outbox.gate g on g.endpoint_id = r.endpoint_id
    where r.again_at <= p_now and g.depth > 0 and g.next_at > p_now
    order by r.again_at
    limit 100));
  perform outbox.set_refusing(true);
  perform outbox.park_apart(v_endpoints, p_now);
  perform outbox.set_refusing(false);
end
$$;
comment on function outbox.wake_refused(timestamptz) is
  'Parks the gates of refused endpoints again: what the database refused may have been the change '
  'of next_at, without which the gate would never be due. locks: gates with SKIP LOCKED.';

create function outbox.upkeep(p_now timestamptz, p_until timestamptz) returns void
language plpgsql
set search_path = ''
-- Of whatever sets no shorter one: nobody who holds a row stops the tick.
set lock_timeout = '500ms'
as $$
declare
  v_second bigint := pg_catalog.floor(extract(epoch from p_now));
  v_step outbox.tick_step;
  v_detail text;
begin
  -- Each step in its own block, so that an error in one prevents neither the others nor the kick.
  -- Replay jobs come first, because they wait for gates, for a moment; the other steps use SKIP
  -- LOCKED.
  begin
    perform outbox.work_replay_jobs(p_now);
  exception when query_canceled or assert_failure or others then
    raise warning 'outbox.work_replay_jobs(): %', sqlerrm;
  end;
  -- Each second begins with another step, so that none waits forever if the time is short.
  for v_turn in v_second .. v_second + 3 loop
    exit when pg_catalog.clock_timestamp() >= p_until;
    if v_turn % 4 = 0 then
      begin
        perform outbox.route_waiting(p_now, 100);
      exception when query_canceled or assert_failure or others then
        raise warning 'outbox.route_waiting(): %', sqlerrm;
      end;
      begin
        perform outbox.create_waiting(p_now, 100);
      exception when query_canceled or assert_failure or others then
        raise warning 'outbox.create_waiting(): %', sqlerrm;
      end;
      begin
        perform outbox.wake_changed(p_now);
      exception when query_canceled or assert_failure or others then
        raise warning 'outbox.wake_changed(): %', sqlerrm;
      end;
      begin
        perform outbox.wake_missed(p_now);
      exception when query_canceled or assert_failure or others then
        raise warning 'outbox.wake_missed(): %', sqlerrm;
      end;
      begin
        perform outbox.wake_refused(p_now);
      exception when query_canceled or assert_failure or others then
        raise warning 'outbox.wake_refused(): %', sqlerrm;
      end;
    elsif v_turn % 4 = 1 then
      for v_step in select s.* from outbox.tick_step s order by s.name loop
        begin
          execute pg_catalog.format('select %s($1, $2)', v_step.calls) using p_now, v_step.most;
        exception when query_canceled or assert_failure or others then
          perform outbox.refuse_upkeep(v_step.calls, 'the whole step', sqlstate, sqlerrm,
            '5 minutes');
        end;
      end loop;
    elsif v_turn % 4 = 2 then
      begin
        perform outbox.purge_deleted(1000);
      exception when query_canceled or assert_failure or others then
        raise warning 'outbox.purge_deleted(): %', sqlerrm;
      end;
      begin
        perform outbox.expire_deliveries(200);
      exception when query_canceled or assert_failure or others then
        raise warning 'outbox.expire_deliveries(): %', sqlerrm;
      end;
      begin
        if v_second % 10 = 5 then
          perform outbox.drop_ended_subscriptions(p_now, 1000);
        end if;
      exception when query_canceled or assert_failure or others then
        get stacked diagnostics v_detail = pg_exception_detail;
        if not outbox.refuse_slow('outbox.drop_ended_subscriptions', sqlstate, sqlerrm, v_detail,
          '25 hours')
        then
          -- After a timeout, the rows are changed one by one, so that the next one has a name.
          perform outbox.refuse_upkeep('outbox.drop_ended_subscriptions', 'the whole step',
            sqlstate, sqlerrm, '5 minutes');
        end if;
      end;
    elsif outbox.comes_round(10, p_now) then
      begin
        loop
          exit when outbox.fold_counters() < 20000 or pg_catalog.clock_timestamp() >= p_until;
        end loop;
      exception when query_canceled or assert_failure or others then
        raise warning 'outbox.fold_counters(): %', sqlerrm;
      end;
    end if;
  end loop;
end
$$;
comment on function outbox.upkeep(timestamptz, timestamptz) is
  'The periodic work of the tick, besides kicks: continues replay jobs, routes events again that '
  'were set aside for a while, makes changed gates due, calls the steps of modules (tick_step), '
  'cancels the deliveries of deleted endpoints, expires deliveries that were open too long, '
  'removes ended subscriptions, adds up the counters. After p_until it begins no step, and the '
  'next tick begins with another one. No wait for a lock takes more than 500 ms.';

create function outbox.tick(p_until timestamptz default 'infinity') returns jsonb
language plpgsql security definer set search_path = ''
as $$
declare
  v_now timestamptz := outbox.clock();
  v_kicked boolean := false;
  v_live integer;
  v_from timestamptz := outbox.ring_from(v_now);
  v_behind boolean;
begin
  -- A constraint that is checked at the commit would fail the whole tick, so check after each
  -- statement.
  set constraints all immediate;
  -- A restore brings the jobs of pg_cron before the data of this schema.
  if outbox.is_restoring() then
    return '{"kicked": false, "restoring": true}'::jsonb;
  end if;
  perform outbox.upkeep(v_now, p_until);
  -- With a worker.poll_interval_ms of n seconds, the tick checks for work every n seconds.
  if outbox.setting_on('worker.enabled')
    and outbox.comes_round(greatest(1, outbox.setting_int('worker.poll_interval_ms') / 1000), v_now)
    and outbox.has_due(v_now)
  then
    v_live := outbox.live_runs(v_now);
    -- If work has waited for a second although a run is alive, one more run is needed.
    -- A new run holds nothing, so it can claim an isolated delivery.
    v_behind := outbox.has_isolated(v_now - interval '1 s') or exists (
      select from outbox.gate g
      where g.next_at >= v_from and g.next_at <= v_now - interval '1 s' and g.next_at < 'infinity'
    );
    v_kicked := v_live < outbox.setting_int('worker.max_runs')
      and (v_behind or outbox.is_quiet(v_now))
      and outbox.kick('tick');
  end if;
  perform pg_catalog.setval('outbox.last_tick_second',
    pg_catalog.floor(extract(epoch from v_now))::bigint);
  perform pg_catalog.setval('outbox.last_tick',
    (extract(epoch from pg_catalog.clock_timestamp()) * 1000)::bigint);
  return pg_catalog.jsonb_strip_nulls(
    pg_catalog.jsonb_build_object('kicked', v_kicked, 'runs', v_live));
end
$$;
comment on function outbox.tick(timestamptz) is
  'Called by the job outhook-tick every second: calls upkeep(), which begins nothing after '
  'p_until, and kicks if work is due and too few runs are alive. Returns {"kicked": boolean, '
  '"runs": live_runs(), absent if nothing is due; "restoring": true while is_restoring()}.';
