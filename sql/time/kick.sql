-- Starting runs. A kick is one HTTP request to the function `deliver`, sent by pg_net. pg_net loses
-- some requests: a lost kick makes a delivery later, never lost.
--
--   1 A commit that published kicks if no run is awake: kick_on_commit(), is_quiet(), kick().
--   2 Each second pg_cron calls tick(). It does the upkeep, one step after the other, and kicks if
--     work is due and no run is awake, or if work has waited for 1 s and more runs are allowed.
--
-- An example, with kick.quiet_ms at 500 and worker.max_runs at 2:
--
--   12:00:00.0   An event is published, and no run is awake: the commit kicks, and run R1 starts.
--   12:00:00.4   Another event is published. No kick: the last one was less than 500 ms ago.
--   12:00:01.0   The tick finds nothing due, because R1 has claimed all. No kick.
--   12:00:05.0   10,000 events were published, and a gate has been due since 12:00:04: R1 alone is
--                too slow. One run is less than worker.max_runs: the tick kicks, and R2 starts.
--   12:00:06.0   The gate is still due, but two runs are alive. No kick.
--
-- A kick sends no secret: its header is a MAC of the time, valid for five minutes. A replayed kick
-- starts a run that finds enough runs alive and stops.

-- The time of the last kick in milliseconds since 1970. A sequence, because all sessions see a new
-- value at once, without a lock, and a rollback keeps it.
create sequence outbox.last_kick minvalue 0 start 0;
-- The numbers of kicks, and the time at which the last tick ended. After a crash the numbers may be
-- up to 32 too high. Before the first tick, last_tick holds the time of the installation, and
-- is_called is false.
create sequence outbox.kicks_on_commit minvalue 0 start 0;
create sequence outbox.kicks_by_tick minvalue 0 start 0;
create sequence outbox.last_tick minvalue 0 start 0;

create function outbox.configure(p_functions_url text, p_worker_secret text) returns jsonb
language plpgsql security definer set search_path = ''
as $$
begin
  if p_functions_url is null
    or p_functions_url !~ '^https?://[^[:space:]/?#@]+(/[^[:space:]?#]*)?$'
  then
    -- The value is not shown, because it may contain a password or a key.
    perform outbox.invalid('functions_url',
      'is not an http or https URL without credentials and query',
      'Expected https://<project>.supabase.co/functions/v1; inside the CLI''s containers '
      'http://kong:8000/functions/v1');
  end if;
  if p_worker_secret is null or pg_catalog.length(p_worker_secret) < 32 then
    perform outbox.invalid('worker_secret', 'has fewer than 32 characters',
      'Use a random secret, for example from openssl rand -hex 32, and set the same value as '
      'OUTHOOK_WORKER_SECRET of the functions');
  end if;
  if p_worker_secret ~ '[,[:space:]]' then
    perform outbox.invalid('worker_secret', 'contains a comma or white space',
      'The functions read OUTHOOK_WORKER_SECRET as a list with commas, for a rotation; pass only '
      'the new secret here');
  end if;
  perform outbox.keep_secret('outhook_functions_url', pg_catalog.rtrim(p_functions_url, '/'),
    'Where Outhook''s functions are');
  perform outbox.keep_secret('outhook_worker_secret', p_worker_secret,
    'Shared with the deliver function to sign kicks');
  perform outbox.reload_jobs();
  return pg_catalog.jsonb_build_object(
    'functions_url', pg_catalog.rtrim(p_functions_url, '/'),
    'problems', pg_catalog.to_jsonb(
      pg_catalog.array_remove(array[outbox.tick_problem(), outbox.contract_problem(outbox.clock())],
        null)));
end
$$;
comment on function outbox.configure(text, text) is
  'Stores the URL of the functions and the secret that signs kicks in Vault. Returns '
  '{"functions_url", "problems": texts about the tick and the versions}. Call it again to '
  'change either. OH001.';

create function outbox.keep_secret(p_name text, p_value text, p_description text) returns void
language plpgsql set search_path = ''
as $$
declare
  v_id uuid;
begin
  select s.id into v_id from vault.secrets s where s.name = p_name;
  if found then
    perform vault.update_secret(v_id, p_value, p_name, p_description);
  else
    perform vault.create_secret(p_value, p_name, p_description);
  end if;
end
$$;
comment on function outbox.keep_secret(text, text, text) is
  'Creates or replaces a secret in Vault by its name.';

-- If pg_net is missing, forbidden, broken or locked, the caller's transaction goes on, after at
-- most the lock timeout.
create function outbox.kick(p_why text) returns boolean
language plpgsql security definer
set search_path = ''
set lock_timeout = '50ms'
as $$
declare
  v_now timestamptz := outbox.clock();
  v_at text := pg_catalog.floor(extract(epoch from pg_catalog.clock_timestamp()))::bigint::text;
  v_url text;
  v_secret text;
begin
  select pg_catalog.max(s.decrypted_secret) filter (where s.name = 'outhook_functions_url'),
    pg_catalog.max(s.decrypted_secret) filter (where s.name = 'outhook_worker_secret')
  into v_url, v_secret
  from vault.decrypted_secrets s
  where s.name in ('outhook_functions_url', 'outhook_worker_secret');
  if v_url is null or v_secret is null then
    return false;
  end if;
  perform pg_catalog.setval('outbox.last_kick', (extract(epoch from v_now) * 1000)::bigint);
  perform net.http_post(
    url => v_url || '/deliver/run',
    body => pg_catalog.jsonb_build_object('why', p_why),
    headers => pg_catalog.jsonb_build_object(
      'Content-Type', 'application/json',
      'x-outhook-kick', 't=' || v_at || ',v1='
        || pg_catalog.encode(extensions.hmac(v_at, v_secret, 'sha256'), 'hex')),
    timeout_milliseconds => 2000);
  perform pg_catalog.nextval(case p_why
    when 'commit' then 'outbox.kicks_on_commit' else 'outbox.kicks_by_tick'
  end::regclass);
  return true;
exception when others then
  return false;
end
$$;
comment on function outbox.kick(text) is
  'Queues a request to start a run, which pg_net sends after the commit; true if it was queued. '
  'Never raises, and waits at most 50 ms for a lock.';

create function outbox.is_quiet(p_now timestamptz) returns boolean
language plpgsql stable set search_path = ''
as $$
declare
  v_since timestamptz := p_now - outbox.setting_int('kick.quiet_ms') * interval '1 ms';
  -- Ignore later times: the clock was ahead then, and they would prevent kicks until it is then.
  v_until timestamptz := p_now + interval '10 s';
begin
  return not exists (
      select from outbox.run r
      where r.ended_at is null and r.polled_at > v_since and r.polled_at <= v_until)
    and (
      select s.last_value not between extract(epoch from v_since) * 1000
        and extract(epoch from v_until) * 1000
      from outbox.last_kick s);
end
$$;
comment on function outbox.is_quiet(timestamptz) is
  'Whether no run has polled and no kick was sent within the setting kick.quiet_ms.';

create function outbox.kick_on_commit() returns void
language plpgsql set search_path = ''
as $$
begin
  if pg_catalog.current_setting('outbox.kicked', true) = pg_catalog.pg_current_xact_id()::text then
    return;
  end if;
  perform pg_catalog.set_config('outbox.kicked', pg_catalog.pg_current_xact_id()::text, true);
  if outbox.setting_on('worker.enabled') and outbox.setting_on('kick.on_commit')
    and outbox.is_quiet(outbox.clock())
  then
    perform outbox.kick('commit');
  end if;
end
$$;
comment on function outbox.kick_on_commit() is
  'Kicks if no run is awake, at most once in a transaction.';

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
exception when others then
  if outbox.is_passing(sqlstate) then
    raise;
  elsif pg_catalog.cardinality(p_gates) < 2 then
    raise warning 'outbox: gate % cannot be woken: % %', p_gates[1], sqlstate, sqlerrm;
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
language plpgsql set search_path = ''
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
    for no key update of g skip locked
  ) w;
  if v_gates is not null then
    perform outbox.wake(v_gates, v_next_at, p_now);
  end if;
end
$$;
comment on function outbox.wake_changed(timestamptz) is
  'Makes the gates of changed endpoints due, so that a resume or a new limit takes effect within '
  'one tick. locks: gates with SKIP LOCKED.';

create function outbox.wake_missed(p_now timestamptz) returns void
language plpgsql
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_from timestamptz := outbox.ring_from(p_now);
  -- The whole ring only once a minute, because that may read all dead index entries before its
  -- start.
  v_since timestamptz := case
    when pg_catalog.floor(extract(epoch from p_now))::bigint % 60 = 0 then '-infinity'
    else v_from - interval '15 s'
  end;
  v_gates bigint[];
begin
  select pg_catalog.array_agg(o.id) into v_gates
  from (
    select o.id from outbox.gate o
    where o.next_at >= v_since and o.next_at < v_from and o.next_at < 'infinity'
    for no key update skip locked
  ) o;
  if v_gates is not null then
    perform outbox.wake(v_gates,
      pg_catalog.array_fill(p_now, array[pg_catalog.cardinality(v_gates)]), p_now);
  end if;
end
$$;
comment on function outbox.wake_missed(timestamptz) is
  'Makes gates due that are before the start of the ring, because their change took long to '
  'commit or the clock was set back. locks: gates with SKIP LOCKED.';

create function outbox.upkeep(p_now timestamptz) returns void
language plpgsql set search_path = ''
as $$
begin
  -- Each step in its own block, so that an error in one prevents neither the others nor the kick.
  -- Replay jobs come first, because they wait for gates; the other steps use SKIP LOCKED.
  begin
    perform outbox.work_replay_jobs(p_now);
  exception when others then
    raise warning 'outbox.work_replay_jobs(): %', sqlerrm;
  end;
  begin
    perform outbox.wake_changed(p_now);
    perform outbox.wake_missed(p_now);
  exception when others then
    raise warning 'outbox.wake_changed(), outbox.wake_missed(): %', sqlerrm;
  end;
  begin
    perform outbox.apply_callbacks();
  exception when others then
    raise warning 'outbox.apply_callbacks(): %', sqlerrm;
  end;
  begin
    perform outbox.purge_deleted(1000);
    perform outbox.expire_deliveries(200);
  exception when others then
    raise warning 'outbox.purge_deleted(), outbox.expire_deliveries(): %', sqlerrm;
  end;
  begin
    if pg_catalog.floor(extract(epoch from p_now))::bigint % 10 = 0 then
      perform outbox.fold_counters();
    end if;
  exception when others then
    raise warning 'outbox.fold_counters(): %', sqlerrm;
  end;
end
$$;
comment on function outbox.upkeep(timestamptz) is
  'What the tick does besides kicking: goes on with replay jobs, wakes what was changed, applies '
  'the callbacks that wait, cancels what deleted endpoints left, expires what has been open too '
  'long, adds counters up.';

create function outbox.tick() returns jsonb
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
  perform outbox.upkeep(v_now);
  -- With a worker.poll_interval_ms of n seconds, the tick checks for work every n seconds.
  if outbox.setting_on('worker.enabled')
    and pg_catalog.floor(extract(epoch from v_now))::bigint
      % greatest(1, outbox.setting_int('worker.poll_interval_ms') / 1000) = 0
    and outbox.has_due(v_now)
  then
    select pg_catalog.count(*)
    into v_live
    from outbox.run r
    where r.ended_at is null and r.polled_at > v_now - interval '2 s'
      and r.polled_at <= v_now + interval '10 s';
    -- If work has waited for a second although a run is alive, one more run is needed.
    v_behind := exists (
      select from outbox.gate g
      where g.next_at >= v_from and g.next_at <= v_now - interval '1 s' and g.next_at < 'infinity'
    );
    v_kicked := (outbox.is_quiet(v_now)
        or v_behind and v_live < outbox.setting_int('worker.max_runs'))
      and outbox.kick('tick');
  end if;
  perform pg_catalog.setval('outbox.last_tick',
    (extract(epoch from pg_catalog.clock_timestamp()) * 1000)::bigint);
  return pg_catalog.jsonb_strip_nulls(
    pg_catalog.jsonb_build_object('kicked', v_kicked, 'runs', v_live));
end
$$;
comment on function outbox.tick() is
  'Called by pg_cron every second: does the upkeep, and kicks if work is due and too few runs are '
  'alive. Returns {"kicked": boolean, "runs": how many are alive, absent if nothing is due}.';
